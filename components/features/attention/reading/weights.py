"""Attention, said in words: a head's habit, what one token looks at, and what that does not mean.

A habit is only told where it takes a good part of the attention and more than even attention would.
"""

from __future__ import annotations

import numpy as np

from components.content.wording import bold, escape, quoted, two
from components.core.schema import FloatArray
from components.features.attention.measures.grid import Grid, Item
from components.features.attention.measures.selection import Selection

__all__ = ["attention_reading", "attention_title", "habit_names"]

_MUCH = 0.3  # of a head's attention, at least, to be called its habit
_CLEARLY = 1.5  # times what even attention gives
_SAID = 0.005  # a second weight that does not round to zero
_PLACES = {
    "previous": "the token before",
    "next": "the token after",
    "word": "the token itself or its own word",
}
_SHORT = {"previous": "previous token", "next": "next token", "word": "its own word"}
_UNTRAINED = "The encoder of this model is untrained: its patterns are chance."
_WARNING = (
    "Attention shows where {who} its input from; it does not explain what the model concludes."
)


def attention_title(selection: Selection, grid: Grid) -> str:
    """The finding of the main picture, short."""
    if selection.scope == "head":
        return _head_title(selection)
    names = {"layer": f"Layer {selection.layer}, mean", "all": "Mean of all heads"}
    name = names.get(selection.scope, f"Rollout to layer {selection.layer}")
    most = _favourite(grid)
    return name if most is None else f"{name}: {most[0].label} {two(most[1])}"


def attention_reading(selection: Selection, grid: Grid, picked: tuple[str, int]) -> list[str]:
    """Two to four sentences: the habit, one token's look, and the warning.

    Args:
        selection: what the numbers are.
        grid: the numbers.
        picked: "from" and a row, or "to" and a column.
    """
    who = {"head": "a head takes", "rollout": "each position takes"}
    said = [
        "" if selection.trained else _UNTRAINED,
        _head_said(selection) if selection.scope == "head" else _mean_said(selection, grid),
        _picked_said(selection, grid, picked),
        _WARNING.format(who=who.get(selection.scope, "heads take")),
    ]
    return [sentence for sentence in said if sentence]


def habit_names(selection: Selection) -> list[str]:
    """The habits but the entropy, in their order, with this model's own special tokens."""
    names = selection.names
    return ["previous token", "next token", names["first"], names["separators"], "same word"]


def _head_title(selection: Selection) -> str:
    habit = _habit(selection)
    place = f"Layer {selection.layer}, head {selection.head}: "
    if not habit:
        return f"{place}no single habit"
    return f"{place}{_short(selection, habit)} {two(selection.shares[habit])}"


def _short(selection: Selection, habit: str) -> str:
    return _SHORT.get(habit, selection.names.get(habit, habit))


def _place(selection: Selection, habit: str) -> str:
    return _PLACES.get(habit) or escape(selection.names.get(habit, habit))


def _habit(selection: Selection) -> str:
    """The habit with the largest share, where it is worth the name; else empty."""
    clear = {
        name: share
        for name, share in selection.shares.items()
        if share >= max(_MUCH, _CLEARLY * selection.even[name])
    }
    return max(clear, key=lambda name: clear[name], default="")


def _even(share: float) -> str:
    """A share; a small one, as in a long text, by its first digits."""
    return two(share) if share >= 0.01 or not share else f"{share:.1g}"


def _head_said(selection: Selection) -> str:
    habit = _habit(selection)
    head = f"layer {selection.layer}, head {selection.head}"
    if habit:
        even = _even(selection.even[habit])
        return (
            f"In {head}, {bold(selection.shares[habit])} of the attention goes to "
            f"{_place(selection, habit)} (spread evenly, it would be {even})."
        )
    most = max(selection.shares, key=lambda name: selection.shares[name])
    return (
        f"{head.capitalize()} has no single habit here: the largest share, "
        f"{bold(selection.shares[most])}, goes to {_place(selection, most)} "
        f"(spread evenly, {_even(selection.even[most])})."
    )


def _mean_said(selection: Selection, grid: Grid) -> str:
    over = {
        "layer": f"Averaged over the heads of layer {selection.layer}",
        "all": "Averaged over all heads of all layers",
    }.get(selection.scope, f"Followed through layers 1 to {selection.layer}")
    most = _favourite(grid)
    if most is None:
        return ""
    if selection.scope == "rollout":
        said = "a position takes in most of"
        return f"{over}, {said} {quoted(most[0].label)} ({bold(most[1])} on average)."
    return f"{over}, {quoted(most[0].label)} gets most: {bold(most[1])} of a token's attention."


def _favourite(grid: Grid) -> tuple[Item, float] | None:
    """The column with the highest mean over rows that are no padding."""
    real = [i for i, item in enumerate(grid.rows) if item.kind != "padding"]
    if not real or not grid.columns:
        return None
    means: FloatArray = grid.weights[real].mean(axis=0)
    best = int(means.argmax())
    return grid.columns[best], float(means[best])


def _picked_said(selection: Selection, grid: Grid, picked: tuple[str, int]) -> str:
    """What the picked token looks at, or what looks at it."""
    side, index = picked
    own = (grid.rows if side == "from" else grid.columns)[index]
    best = _best(grid, side, index)
    if not best:
        return _nothing(own, side)
    if selection.scope == "rollout":
        verb = "is made most of" if side == "from" else "goes most into"
    else:
        verb = "looks most at" if side == "from" else "gets most from"
    return f"{quoted(own.label)} {verb} {best}."


def _best(grid: Grid, side: str, index: int) -> str:
    """The two largest weights of a row or column with their tokens; empty where all are 0."""
    values = grid.weights[index] if side == "from" else grid.weights[:, index]
    others = grid.columns if side == "from" else grid.rows
    order = np.argsort(-values, kind="stable")
    if not len(order) or values[order[0]] <= 0:
        return ""
    return ", then ".join(
        f"{quoted(others[i].label)} ({bold(values[i])})"
        for n, i in enumerate(order[:2])
        if n == 0 or values[i] >= _SAID
    )


def _nothing(own: Item, side: str) -> str:
    if own.kind == "padding" and side == "to":
        return f"{quoted(own.label)} is padding: nothing looks at it, its weights are exactly 0."
    return f"{quoted(own.label)} has no weight among what is shown."
