"""Why something is unknown, and which pieces a query finds in the vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.tokens import find_pieces, kinds, source, unknown_reason
from components.core import BUNDLED_ID, EncoderService
from tests.support.tiny_models import FAMILIES

by_family = pytest.mark.parametrize("family", FAMILIES)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


# Unknown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("🐍", "🐍 (U+1F40D) is not in the vocabulary, so the whole word"),
        ("py🐍🍕", "🐍 (U+1F40D), 🍕 (U+1F355) are not in the vocabulary"),
        ("a" * 101, "longer than 100 characters"),
        ("\u200e", "U+200E is not"),
    ],
)
def test_why_a_word_is_unknown(service: EncoderService, text: str, said: str) -> None:
    assert said in unknown_reason(text, service.vocabulary(BUNDLED_ID))


def test_a_word_whose_characters_are_known_may_be_unknown(
    tiny_service: EncoderService,
) -> None:
    """A vocabulary with pieces that cannot be put together."""
    vocabulary = tiny_service.vocabulary("folder:bert")
    assert "no pieces that put them together" in unknown_reason("abc", vocabulary)


def test_only_the_characters_are_unknown_where_a_word_is_not_cut_as_one(
    tiny_service: EncoderService,
) -> None:
    vocabulary = tiny_service.vocabulary("folder:albert")
    assert unknown_reason("İ", vocabulary) == "İ (U+0130) is not in the vocabulary."


@by_family
@settings(deadline=None)
@given(text=texts)
def test_every_unknown_token_has_a_reason(
    tiny_service: EncoderService, family: str, text: str
) -> None:
    model = f"folder:{family}"
    vocabulary = tiny_service.vocabulary(model)
    tokens = tiny_service.tokenize(model, [text])[0]
    for i, kind in enumerate(kinds(tokens, vocabulary)):
        if kind == "unknown":
            reason = unknown_reason(
                tiny_service.normalize(model, [source(tokens, i)])[0].strip(), vocabulary
            )
            assert reason.endswith(".")
            assert reason.isprintable()


# The vocabulary


@pytest.mark.parametrize("kind", ["all", "start", "continuation", "special"])
@pytest.mark.parametrize("query", ["an", "##an", "##", "", "[", "python", "sinan", "ZZ", "é"])
def test_pieces_that_begin_with_a_query_are_found(
    service: EncoderService, query: str, kind: Any
) -> None:
    vocabulary = service.vocabulary(BUNDLED_ID)
    expected = [
        i
        for i, piece in enumerate(vocabulary.pieces)
        if (piece.startswith(query) or piece.removeprefix("##").startswith(query))
        and kind in ("all", vocabulary.kinds[i])
    ]
    found = find_pieces(vocabulary, query, kind=kind)
    assert sorted(found) == expected
    exact = [i for i in found if query in (vocabulary.pieces[i], vocabulary.texts[i])]
    assert found[: len(exact)] == sorted(exact)
    assert found[len(exact) :] == sorted(set(found) - set(exact))


def test_a_query_is_looked_for_as_typed_and_as_read(service: EncoderService) -> None:
    vocabulary = service.vocabulary(BUNDLED_ID)
    assert find_pieces(vocabulary, "An") == []
    assert find_pieces(vocabulary, "An", "an") == find_pieces(vocabulary, "an")
    assert find_pieces(vocabulary, "an", "an") == find_pieces(vocabulary, "an")


@by_family
def test_an_empty_query_gives_every_piece_once(tiny_service: EncoderService, family: str) -> None:
    vocabulary = tiny_service.vocabulary(f"folder:{family}")
    assert find_pieces(vocabulary, "") == list(range(len(vocabulary.pieces)))
    each = [find_pieces(vocabulary, "", kind=k) for k in ("start", "continuation", "special")]
    assert sorted([*each[0], *each[1], *each[2]]) == list(range(len(vocabulary.pieces)))
