"""Attention's weights in words, where the expected story fails too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.features.attention.measures.grid import Grid, Item
from components.features.attention.measures.selection import Selection
from components.features.attention.reading.weights import attention_reading, attention_title

EVEN = {"previous": 0.14, "next": 0.14, "first": 0.14, "separators": 0.14, "word": 0.14}
LOW = dict.fromkeys(EVEN, 0.1)
SELECTION = Selection(
    scope="head",
    layer=1,
    head=2,
    shares={**LOW, "previous": 1.0},
    even=EVEN,
    names={"first": "[CLS]", "separators": "[SEP]"},
)
WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.0, 1.0]], np.float32)


def grid(*labels: str, weights: np.ndarray = WEIGHTS, kinds: str = "ttt", **more: Any) -> Grid:
    names = {"t": "token", "p": "padding", "s": "special"}
    items = tuple(
        Item(label, (i,), names[kind], 0)  # type: ignore[arg-type]
        for i, (label, kind) in enumerate(zip(labels, kinds, strict=True))
    )
    settings = {"hidden": (), "renormalised": False, **more}
    return Grid(rows=items, columns=items, weights=weights, **settings)


def said(
    selection: Selection = SELECTION, which: Grid | None = None, picked: Any = ("from", 1)
) -> str:
    return " ".join(attention_reading(selection, which or grid("a", "b", "c"), picked))


def test_a_habit_is_told_with_its_share_and_what_even_attention_gives() -> None:
    text = said()
    assert "**1.00** of the attention goes to the token before" in text
    assert "it would be 0.14)." in text
    assert "“b” looks most at “b” (**0.50**), then “c” (**0.30**)" in text
    assert text.endswith("it does not explain what the model concludes.")
    assert attention_title(SELECTION, grid("a", "b", "c")) == "Layer 1, head 2: previous token 1.00"


@pytest.mark.parametrize(
    ("habit", "place"),
    [
        ("next", "the token after, where there is one"),
        ("first", r"\[CLS\]"),
        ("separators", r"\[SEP\]"),
        ("word", "the token itself or its own word"),
    ],
)
def test_each_habit_has_its_words(habit: str, place: str) -> None:
    text = said(replace(SELECTION, shares={**LOW, habit: 0.6}))
    assert f"**0.60** of the attention goes to {place} (" in text


@pytest.mark.parametrize("share", [0.2, 0.29])
def test_a_small_share_is_no_habit(share: float) -> None:
    selection = replace(SELECTION, shares={**LOW, "next": share})
    assert f"no single habit here: the largest share, **{share:.2f}**" in said(selection)
    assert attention_title(selection, grid("a", "b", "c")).endswith("no single habit")


def test_a_share_that_is_nearly_even_is_no_habit() -> None:
    """With three tokens half of the attention is hardly more than a third of it."""
    selection = replace(SELECTION, shares={**LOW, "first": 0.45}, even=dict.fromkeys(EVEN, 0.33))
    assert "no single habit" in said(selection)


def test_in_a_long_text_even_attention_is_told_by_its_first_digits() -> None:
    assert "it would be 0.002)" in said(replace(SELECTION, even=dict.fromkeys(EVEN, 1 / 512)))


def test_a_second_weight_that_rounds_to_zero_is_not_told() -> None:
    assert "“c” looks most at “c” (**1.00**)." in said(picked=("from", 2))


def test_a_column_says_who_looks_at_it() -> None:
    assert "“c” gets most from “c” (**1.00**), then “b” (**0.30**)." in said(picked=("to", 2))


def test_nothing_looks_at_padding_and_that_is_said() -> None:
    weights = np.array([[0.9, 0.1, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]], np.float32)
    which = grid("a", "b", "[PAD]", weights=weights, kinds="ttp")
    assert "is padding: nothing looks at it" in said(which=which, picked=("to", 2))


def test_a_mean_says_who_gets_most_and_leaves_the_rows_of_padding_out() -> None:
    weights = np.array([[0.2, 0.8, 0], [0.4, 0.6, 0], [1, 0, 0]], np.float32)
    which = grid("a", "b", "[PAD]", weights=weights, kinds="ttp")
    text = said(replace(SELECTION, scope="layer", layer=3), which)
    assert (
        "Averaged over the heads of layer 3, “b” has the largest part of the attention: **0.70** "
        "on average." in text
    )
    assert "where heads take their input from" in text
    assert attention_title(replace(SELECTION, scope="all"), which) == "Mean of all heads: b 0.70"


def test_rollout_is_told_as_what_a_position_is_mixed_from() -> None:
    text = said(replace(SELECTION, scope="rollout", layer=6))
    assert (
        "Followed back through layers 1 to 6, “c” has the largest part in a position: **0.43** on "
        "average. The largest part of “b” comes from “b” (**0.50**), then “c” (**0.30**)." in text
    )
    to = said(replace(SELECTION, scope="rollout", layer=1), picked=("to", 1))
    assert "Followed back through layer 1, " in to
    assert "“b” has its largest part in “b” (**0.50**), then “a” (**0.10**)." in to


def even(n: int = 3) -> Grid:
    return grid(*"abc"[:n], weights=np.full((n, n), 1 / n, np.float32))


@pytest.mark.parametrize(
    ("scope", "side", "told"),
    [
        ("head", "from", "“b” looks at all about alike (**0.33**)."),
        ("head", "to", "“b” gets about as much from all (**0.33**)."),
        ("rollout", "from", "“b” comes from all about alike (**0.33**)."),
        ("rollout", "to", "“b” has about the same part in all (**0.33**)."),
        ("layer", "from", "layer 1, all have about the same part of the attention: **0.33** on"),
        ("rollout", "from", "all have about the same part in a position: **0.33** on average."),
    ],
)
def test_even_attention_has_no_favourite(scope: str, side: str, told: str) -> None:
    selection = replace(SELECTION, scope=scope)
    assert told in said(selection, even(), (side, 1))
    assert attention_title(replace(SELECTION, scope="all"), even()).endswith(
        "all about alike (0.33)"
    )


def test_equal_weights_share_their_place() -> None:
    weights = np.array([[0.4, 0.4, 0.2], [0.6, 0.2, 0.2], [0.3, 0.35, 0.35]], np.float32)
    which = grid("a", "b", "c", weights=weights)
    assert "“a” looks most at “a” and “b” (**0.40**), then “c” (**0.20**)." in said(
        which=which, picked=("from", 0)
    )
    assert "“b” looks most at “a” (**0.60**), then “b” and “c” (**0.20**)." in said(which=which)
    four = np.array([[0.3, 0.3, 0.3, 0.1]] * 4, np.float32)
    wide = grid("a", "b", "c", "d", weights=four, kinds="tttt")
    assert "“a” looks most at “a” and 2 others (**0.30**), then “d” (**0.10**)." in said(
        which=wide, picked=("from", 0)
    )


def test_small_weights_are_told_by_their_first_digits() -> None:
    weights = np.full((3, 3), 0.002, np.float32)
    weights[1] = [0.001, 0.0204, 0.012]
    which = grid("a", "b", "c", weights=weights)
    assert "“b” looks most at “b” (**0.02**), then “c” (**0.012**)." in said(which=which)


def test_a_single_column_is_no_favourite() -> None:
    one = grid("a", "b", "c")
    part = Grid(one.rows, one.columns[:1], one.weights[:, :1], (), renormalised=False)
    assert "Of what is shown, “b” looks at “a” (**0.20**)." in said(which=part)


def test_a_repeated_token_is_told_by_its_position() -> None:
    assert "“the” at position 1 looks most at “the” at position 1 (**0.50**), then “c”" in said(
        which=grid("the", "the", "c")
    )
    title = attention_title(replace(SELECTION, scope="all"), grid("the", "c", "c"))
    assert title == "Mean of all heads: c at position 2 0.43"


def test_what_is_hidden_may_have_more_and_that_is_said() -> None:
    text = said(which=grid("a", "b", "c", hidden=(3,)))
    assert (
        "(spread evenly, it would be 0.14), counted over all tokens, special ones included." in text
    )
    assert "Of what is shown, “b” looks most at" in text
    mean = said(replace(SELECTION, scope="layer"), grid("a", "b", "c", hidden=(3,)))
    assert "of layer 1, of what is shown, “c” has the largest part" in mean


def test_shares_that_are_alike_are_no_single_habit() -> None:
    flat = replace(SELECTION, shares=dict.fromkeys(EVEN, 0.14))
    assert "no single habit here: its shares are about alike, **0.14**." in said(flat)
    two = replace(SELECTION, shares={**LOW, "first": 0.2, "separators": 0.195})
    assert r"the largest shares, **0.20**, go to \[CLS\] and \[SEP\] (spread evenly, 0.14)" in said(
        two
    )
    both = replace(SELECTION, shares={**LOW, "previous": 0.9, "first": 0.895})
    assert (
        r"**0.90** of the attention goes to the token before, where there is one, and about as "
        r"much to \[CLS\] (spread evenly, it would be 0.14)." in said(both)
    )
    title = attention_title(both, grid("a", "b", "c"))
    assert title == "Layer 1, head 2: previous token and [CLS] 0.90"


def test_the_patterns_of_an_untrained_encoder_are_called_chance() -> None:
    assert said(replace(SELECTION, trained=False)).startswith(
        "Nothing shows that the encoder of this model was trained: every bias is exactly 0"
    )


def test_typed_markup_is_shown_as_typed() -> None:
    assert r"“\<b\>\*x\*”" in said(which=grid("<b>*x*", "b", "c"), picked=("from", 0))
