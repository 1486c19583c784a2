"""Attention, said in words: a head's habit, what one token looks at, and what that does not mean.

A habit is only told where it takes a good part of the attention and more than even attention would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from components.content.wording import bold, escape, quoted, two
from components.core.schema import FloatArray
from components.features.attention.measures.grid import Grid, Item

__all__ = ["AttentionShown", "attention_reading", "attention_title", "special_note"]

_MUCH = 0.3  # of a head's attention, at least, to be called its habit
_CLEARLY = 1.5  # times what even attention gives
_SAID = 0.005  # a second weight that does not round to zero
_PLACES = {
    "previous": "the token before",
    "next": "the token after",
    "word": "the token itself or its own word",
}
_SHORT = {"previous": "previous token", "next": "next token", "word": "its own word"}
_WARNING = (
    "Attention shows where {who} its input from; it does not explain what the model concludes."
)


@dataclass(frozen=True, eq=False)
class AttentionShown:
    """What a reading is about.

    Attributes:
        show: one head, a layer's mean, the mean of all, or rollout.
        layer: of the head or mean, or the last one of the rollout.
        head: counted from 0; of no meaning but for one head.
        shares: the head's shares of attention by habit, without the entropy.
        even: the same for evenly spread attention.
        names: what the first and the separating special tokens are called: "[CLS]", "[SEP]".
        trained: whether the encoder is.
    """

    show: Literal["head", "layer", "all", "rollout"]
    layer: int
    head: int
    shares: Mapping[str, float]
    even: Mapping[str, float]
    names: Mapping[str, str]
    trained: bool = True


def attention_title(shown: AttentionShown, grid: Grid) -> str:
    """The finding of the main picture, short."""
    if shown.show == "head":
        habit = _habit(shown)
        place = f"Layer {shown.layer}, head {shown.head}: "
        return place + (
            f"{_short(shown, habit)} {two(shown.shares[habit])}" if habit else "no single habit"
        )
    names = {"layer": f"Layer {shown.layer}, mean", "all": "Mean of all heads"}
    name = names.get(shown.show, f"Rollout to layer {shown.layer}")
    most = _favourite(grid)
    return name if most is None else f"{name}: {most[0].label} {two(most[1])}"


def attention_reading(shown: AttentionShown, grid: Grid, picked: tuple[str, int]) -> list[str]:
    """Two to four sentences: the habit, one token's look, and the warning.

    Args:
        shown: what the numbers are.
        grid: the numbers.
        picked: "from" and a row, or "to" and a column.
    """
    who = {"head": "a head takes", "rollout": "each position takes"}.get(shown.show, "heads take")
    said = [
        "" if shown.trained else "The encoder of this model is untrained: its patterns are chance.",
        _head_said(shown) if shown.show == "head" else _mean_said(shown, grid),
        _picked_said(shown, grid, picked),
        _WARNING.format(who=who),
    ]
    return [sentence for sentence in said if sentence]


def special_note(grid: Grid, names: Sequence[str], *, asked: bool) -> str:
    """What hiding the special tokens did to the numbers; empty where nothing was asked."""
    if not asked:
        return ""
    if not grid.hidden:
        return "Without its special tokens nothing would be left, so they are shown."
    gone = escape(", ".join(dict.fromkeys(names)))
    if grid.renormalised:
        return (
            f"{gone} are hidden and each row is divided by what is left of it, so rows sum to 1 "
            "again: these are shares of the attention among the other tokens."
        )
    return f"{gone} are hidden and rows are as they were: what is missing to 1 went to them."


def _short(shown: AttentionShown, habit: str) -> str:
    return _SHORT.get(habit, shown.names.get(habit, habit))


def _place(shown: AttentionShown, habit: str) -> str:
    return _PLACES.get(habit) or escape(shown.names.get(habit, habit))


def _habit(shown: AttentionShown) -> str:
    """The habit with the largest share, where it is worth the name; else empty."""
    clear = {
        name: share
        for name, share in shown.shares.items()
        if share >= max(_MUCH, _CLEARLY * shown.even[name])
    }
    return max(clear, key=lambda name: clear[name], default="")


def _even(share: float) -> str:
    """A share; a small one, as in a long text, by its first digits."""
    return two(share) if share >= 0.01 or not share else f"{share:.1g}"


def _head_said(shown: AttentionShown) -> str:
    habit = _habit(shown)
    head = f"layer {shown.layer}, head {shown.head}"
    if habit:
        return (
            f"In {head}, **{two(shown.shares[habit])}** of the attention goes to "
            f"{_place(shown, habit)} (spread evenly, it would be {_even(shown.even[habit])})."
        )
    most = max(shown.shares, key=lambda name: shown.shares[name])
    return (
        f"{head.capitalize()} has no single habit here: the largest share, "
        f"{bold(shown.shares[most])}, goes to {_place(shown, most)} "
        f"(spread evenly, {_even(shown.even[most])})."
    )


def _mean_said(shown: AttentionShown, grid: Grid) -> str:
    what = {
        "layer": f"Averaged over the heads of layer {shown.layer}",
        "all": "Averaged over all heads of all layers",
    }.get(shown.show, f"Followed through layers 1 to {shown.layer}")
    most = _favourite(grid)
    if most is None:
        return ""
    if shown.show == "rollout":
        said = "a position takes in most of"
        return f"{what}, {said} {quoted(most[0].label)} ({bold(most[1])} on average)."
    return f"{what}, {quoted(most[0].label)} gets most: {bold(most[1])} of a token's attention."


def _favourite(grid: Grid) -> tuple[Item, float] | None:
    """The column with the highest mean over rows that are no padding."""
    real = [i for i, item in enumerate(grid.rows) if item.kind != "padding"]
    if not real or not grid.columns:
        return None
    means: FloatArray = grid.weights[real].mean(axis=0)
    best = int(means.argmax())
    return grid.columns[best], float(means[best])


def _picked_said(shown: AttentionShown, grid: Grid, picked: tuple[str, int]) -> str:
    side, index = picked
    values = grid.weights[index] if side == "from" else grid.weights[:, index]
    others = grid.columns if side == "from" else grid.rows
    own = (grid.rows if side == "from" else grid.columns)[index]
    order = np.argsort(-values, kind="stable")
    if not len(order) or values[order[0]] <= 0:
        return _nothing(own, side)
    named = [
        f"{quoted(others[i].label)} ({bold(values[i])})"
        for n, i in enumerate(order[:2])
        if n == 0 or values[i] >= _SAID
    ]
    best = ", then ".join(named)
    if shown.show == "rollout":
        verb = "is made most of" if side == "from" else "goes most into"
        return f"{quoted(own.label)} {verb} {best}."
    if side == "from":
        return f"{quoted(own.label)} looks most at {best}."
    return f"{quoted(own.label)} gets most from {best}."


def _nothing(own: Item, side: str) -> str:
    if own.kind == "padding" and side == "to":
        return f"{quoted(own.label)} is padding: nothing looks at it, its weights are exactly 0."
    return f"{quoted(own.label)} has no weight among what is shown."
