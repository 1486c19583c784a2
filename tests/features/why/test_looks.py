"""An edit as it is shown: what is new is marked, and of a long text what stands around it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.features.why.looks import _marked


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("I love it", "I do not love it", "I [do] [not] love it"),
        ("the dog bit the man", "the man bit the dog", "the [man] bit the [dog]"),
        ("I love", "I LOVE", "I [LOVE]"),
        ("a *b*", "a *c*", "a *[c]*"),
        ("same", "same", "same"),
        ("", "new", "[new]"),
        ("gone", "", ""),
    ],
)
def test_new_words_are_marked(before: str, after: str, expected: str) -> None:
    shown = _marked(before, after).replace(":blue-background", "")
    assert re.sub(r"\\(.)", r"\1", shown) == expected


def test_of_a_long_text_only_what_stands_around_the_change_is_shown() -> None:
    shown = _marked("yes " * 2_000 + "is", "yes " * 2_000 + "is not")
    assert shown.startswith("…")
    assert shown.endswith(":blue-background[not]")
    assert len(shown) < 300
    assert len(_marked("yes " * 2_000, "YES " * 2_000)) < 1_500


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_shown(before: str, after: str) -> None:
    _marked(before, after)
