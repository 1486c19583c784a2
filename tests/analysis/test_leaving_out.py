"""What is left of a text without some of its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.analysis.leaving_out import cut_out
from contextlens.core.words import split_words

PARTS = st.sampled_from(
    ["my", "pet", "python", ",", ".", " ", "  ", "\n", "don't", "3.5", "蛇", "(", "é"]
)


@pytest.mark.parametrize(
    ("text", "words", "left"),
    [
        ("I love my pet python", ["pet"], "I love my python"),
        ("I love my pet python", ["python"], "I love my pet"),
        ("I love my pet python", ["my", "pet"], "I love python"),
        ("I love my pet python", ["I", "love"], "my pet python"),
        ("my pet, and you", [","], "my pet and you"),
        ("rock/paper", ["/"], "rock paper"),
        ("(pet)", ["pet"], "()"),
        ("  pet ", ["pet"], "  "),
        ("love. Hate.", ["."], "love Hate."),
    ],
)
def test_what_is_left_reads_as_a_text(text: str, words: list[str], left: str) -> None:
    assert cut_out(text, [(text.index(w), text.index(w) + len(w)) for w in words]).text == left


@given(st.lists(PARTS, max_size=10), st.data())
def test_all_other_words_stay_and_are_found(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    words = split_words(text)
    gone = set(data.draw(st.lists(st.sampled_from(words), unique=True))) if words else set()
    left = cut_out(text, sorted(gone))
    assert len(left.positions) == len(text)
    for span in words:
        moved = left.moved(span)
        if span in gone:
            assert moved is None
        else:
            assert left.text[slice(*moved)] == text[slice(*span)]
    kept = "".join(text[slice(*span)] for span in words if span not in gone)
    assert "".join(left.text.split()) == "".join(kept.split())
