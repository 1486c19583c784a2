"""Numbers and texts as readings word them."""

from __future__ import annotations

import numpy as np
import pytest

from components.content.wording import (
    MARGIN,
    are_alike,
    bold,
    leading,
    occurrence,
    percent,
    placed,
    quoted,
    several,
    shortened,
    span,
    two,
)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0%"),
        (0.004, "under 1%"),
        (0.25, "25%"),
        (0.996, "over 99%"),
        (1, "100%"),
        (1.2, "120%"),
        (-0.001, "just below 0%"),
        (-0.2, "-20%"),
    ],
)
def test_a_share_is_none_or_all_only_where_it_is(share: float, said: str) -> None:
    assert percent(share) == said


def test_a_text_is_cut_to_one_line_of_so_many_characters() -> None:
    assert shortened(" one\n two\t", 7) == "one two"
    assert shortened("one two", 6) == "one t…"
    assert shortened("*one*", 9) == "*one*"
    assert quoted("*one* two", 6) == r"“\*one\*…”"


def test_a_name_that_stands_there_twice_gets_its_position() -> None:
    labels = ["[CLS]", "the", "*cat*", "the"]
    assert placed("the", 3, labels) == "“the” at position 3"
    assert placed("*cat*", 2, labels) == r"“\*cat\*”"
    assert occurrence("the", 1, labels) == "the at position 1"
    assert occurrence("*cat*", 2, labels) == "*cat*"


def test_names_that_are_cut_alike_are_told_apart_too() -> None:
    labels = ["a" * 30 + "b", "a" * 30 + "c"]
    assert placed(labels[1], 1, labels) == f"“{'a' * 23}…” at position 1"
    assert placed(labels[1], 1, labels, 40) == f"“{labels[1]}”"


@pytest.mark.parametrize(
    ("names", "said"), [("a", "a"), ("ab", "a and b"), ("abc", "a and 2 others")]
)
def test_many_names_are_counted(names: str, said: str) -> None:
    assert several(names) == said


def test_what_leads_is_highest_to_within_the_margin() -> None:
    assert leading([0.5, 0.9, 0.895, 0.889]) == [1, 2]
    assert leading([0.5]) == [0]
    assert leading([]) == []


def test_what_leads_is_never_last_and_never_prints_as_what_does_not() -> None:
    random = np.random.default_rng(0)
    for decimals in (3, 4, 5) * 100:
        values = random.uniform(0.4, 0.5, 6).round(decimals).tolist()
        high, low = leading(values), leading([-value for value in values])
        assert are_alike(values) == (max(values) - min(values) <= 2 * MARGIN)
        if not are_alike(values):
            assert not set(high) & set(low)
            others = {two(value) for i, value in enumerate(values) if i not in high}
            assert two(values[high[0]]) not in others


def test_a_span_that_reads_alike_is_one_number() -> None:
    assert span([0.501, 0.504]) == "0.50"
    assert span([0.52, 0.501], bold) == "**0.50** to **0.52**"
