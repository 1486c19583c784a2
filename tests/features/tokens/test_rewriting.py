"""What a tokenizer rewrites and loses, for any text."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.tokens.rewriting import Change, Stretch, find_changes, split_by_fate

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@pytest.fixture(scope="module")
def changes(service: EncoderService) -> Callable[[str], list[Change]]:
    """Finds the bundled tokenizer's changes to a text."""

    def ask(text: str) -> list[Change]:
        tokens = service.tokenize(BUNDLED_ID, [text])[0]
        vocabulary = service.vocabulary(BUNDLED_ID)
        return find_changes(tokens, vocabulary, 0, partial(service.normalize, BUNDLED_ID))

    return ask


def parts(service: EncoderService, text: str, **options: int) -> list[Stretch]:
    tokens = service.tokenize(BUNDLED_ID, [text], **options)[0]
    normalize = partial(service.normalize, BUNDLED_ID)
    return split_by_fate(tokens, service.vocabulary(BUNDLED_ID), 0, normalize)


def test_capitals_and_accents_are_told_apart_and_counted(
    changes: Callable[[str], list[Change]],
) -> None:
    assert changes("Zoë ordered a CRÈME BRÛLÉE in Málaga") == [
        Change("capitals", "Z", "z", 10),
        Change("accents", "ë", "e", 5),
    ]


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("e\u0301", ["accents"]),
        ("É", ["accents"]),
        ("\x00", ["dropped"]),
        ("a\tb\u00a0c", ["spaces"]),
        ("한", ["other"]),
        ("plain words, and  signs! 漢字 [CLS] [MASK]", []),
    ],
)
def test_each_kind_of_change_has_its_name(
    changes: Callable[[str], list[Change]], text: str, ways: list[str]
) -> None:
    assert [change.way for change in changes(text)] == ways


def test_unknown_and_lost_parts_are_marked(service: EncoderService) -> None:
    assert [part.fate for part in parts(service, "my [MASK] a")] == ["kept"]
    assert parts(service, "My 🐍 ate the red pizza", max_length=6) == [
        Stretch("M", "rewritten"),
        Stretch("y ", "kept"),
        Stretch("🐍", "unknown"),
        Stretch(" ate the ", "kept"),
        Stretch("red pizza", "lost"),
    ]


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "albert"])
@settings(deadline=None)
@given(text=texts)
@example("Café 🐍 ½ İs\t한 e\u0301")
def test_the_parts_are_the_whole_text_and_agree_with_the_changes(
    tiny_service: EncoderService, family: str, text: str
) -> None:
    model = f"folder:{family}"
    tokens = tiny_service.tokenize(model, [text], pairs=[text], max_length=20)[0]
    asked = tiny_service.vocabulary(model), 1, partial(tiny_service.normalize, model)
    found = split_by_fate(tokens, *asked)
    assert "".join(part.text for part in found) == text
    assert all(one.fate != two.fate for one, two in pairwise(found))
    assert all(part.text for part in found)
    counted = sum(change.count for change in find_changes(tokens, *asked))
    assert (counted > 0) == any(part.fate == "rewritten" for part in found)
    assert ("lost" in {part.fate for part in found}) <= (tokens.n_truncated > 0)


@settings(deadline=None)
@given(text=texts)
def test_what_is_all_kept_comes_back_but_for_spaces(service: EncoderService, text: str) -> None:
    tokens = service.tokenize(BUNDLED_ID, [text])[0]
    if {part.fate for part in parts(service, text)} <= {"kept"}:
        decoded = service.decode(BUNDLED_ID, tokens.token_ids[tokens.text_ids == 0])
        assert "".join(decoded.split()) == "".join(text.split())


def test_thousands_of_marks_on_a_letter_take_no_time(
    changes: Callable[[str], list[Change]],
) -> None:
    start = time.thread_time()
    assert changes("a" + "\u0323\u0301" * 30_000)
    assert time.thread_time() - start < 1


def test_bytes_keep_everything(tiny_service: EncoderService) -> None:
    model, text = "folder:roberta", "É\ta\u00a0한  "
    tokens, vocabulary = tiny_service.tokenize(model, [text])[0], tiny_service.vocabulary(model)
    fates = split_by_fate(tokens, vocabulary, 0, partial(tiny_service.normalize, model))
    assert fates == [Stretch(text, "kept")]
