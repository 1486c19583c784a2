"""Words are taken out of a text; the others stay, and are found where they are now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.words import split_words
from components.features.why.measures import cut
from tests.support.texts import TYPED

PARTS = st.sampled_from(
    ["my", "pet", "python", ",", ".", " ", "  ", "\n", "don't", "3.5", "蛇", "(", "é"]
)


@pytest.mark.parametrize(
    ("text", "words", "left"),
    [
        ("I love my pet python", ["pet"], "I love my python"),
        ("I love my pet python", ["python"], "I love my pet"),
        ("I love my pet python", ["I"], "love my pet python"),
        ("I love my pet python", ["my", "pet"], "I love python"),
        ("I love my pet python", ["I", "love"], "my pet python"),
        ("my pet, and you", [","], "my pet and you"),
        ("rock/paper", ["/"], "rock paper"),
        ("(pet)", ["pet"], "()"),
        ("pet", ["pet"], ""),
        ("  pet ", ["pet"], "  "),
        ("love. Hate.", ["."], "love Hate."),
    ],
)
def test_what_is_left_reads_as_a_text(text: str, words: list[str], left: str) -> None:
    spans = []
    for word in words:
        start = text.index(word)
        spans.append((start, start + len(word)))
    assert cut(text, spans).text == left


@given(st.lists(PARTS, max_size=10), st.data())
def test_all_other_words_stay_and_are_found(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    words = split_words(text)
    gone = set(data.draw(st.lists(st.sampled_from(words), unique=True))) if words else set()
    left = cut(text, sorted(gone))
    for span in words:
        moved = left.moved(span)
        if span in gone:
            assert moved is None
        else:
            assert left.text[slice(*moved)] == text[slice(*span)]
    kept = "".join(text[slice(*span)] for span in words if span not in gone)
    assert "".join(left.text.split()) == "".join(kept.split())


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_can_be_cut(text: str) -> None:
    words = split_words(text)[:3]
    assert cut(text, []).text == text
    assert len(cut(text, words).places) == len(text)
