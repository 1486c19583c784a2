"""Which pieces a query finds in the vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from components.analysis.tokens import find_pieces
from components.core import BUNDLED_ID, EncoderService
from tests.support.tiny_models import FAMILIES

by_family = pytest.mark.parametrize("family", FAMILIES)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


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
