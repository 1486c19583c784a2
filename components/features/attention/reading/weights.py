"""Attention, said in words: a head's habit, what one token looks at, and what that does not mean.

A habit is only told where it takes a good part of the attention and more than even attention would.
One weight is only called more than another where they are apart by 0.01, or by a tenth of small
ones; what lies within that shares the place.
"""

from __future__ import annotations

from collections.abc import Sequence

from components.content.wording import (
    MARGIN,
    are_alike,
    escape,
    leading,
    occurrence,
    placed,
    several,
    span,
    two,
)
from components.features.attention.measures.grid import Grid, Item
from components.features.attention.measures.selection import Selection

__all__ = ["attention_reading", "attention_title", "habit_names"]

_MUCH = 0.3  # of a head's attention, at least, to be called its habit
_CLEARLY = 1.5  # times what even attention gives
_SAID = 0.005  # a second weight that is worth telling
_OF_SMALL = 0.1  # of the largest weight, where that is small
_LEAST = 0.0001  # a weight that is told by its digits
_PLACES = {
    "previous": "the token before, where there is one",
    "next": "the token after, where there is one",
    "word": "the token itself or its own word",
}
_SHORT = {"previous": "previous token", "next": "next token", "word": "its own word"}
_VERBS = {
    (False, "from"): ("{} looks most at", "{} looks at", "{} looks at all about alike"),
    (False, "to"): ("{} gets most from", "{} gets a part from", "{} gets about as much from all"),
    (True, "from"): (
        "the largest part of {} comes from",
        "a part of {} comes from",
        "{} comes from all about alike",
    ),
    (True, "to"): (
        "{} has its largest part in",
        "{} has a part in",
        "{} has about the same part in all",
    ),
}
"""Of rollout or not, and of a side: with most, with one alone, and where all are alike."""
_UNTRAINED = (
    "Nothing shows that the encoder of this model was trained: every bias is exactly 0, so take "
    "its patterns for chance."
)
_WARNING = "Attention shows where {who} input from; it does not explain what the model concludes."


def attention_title(selection: Selection, grid: Grid) -> str:
    """The finding of the main picture, short."""
    if selection.scope == "head":
        return _head_title(selection)
    names = {"layer": f"Layer {selection.layer}, mean", "all": "Mean of all heads"}
    name = names.get(selection.scope, f"Rollout to layer {selection.layer}")
    means = _means(grid)
    if not means:
        return name
    if _alike(means):
        return f"{name}: all about alike ({span(means, _share)})"
    best = leading(means, _margin(means))
    labels = [item.label for item in grid.columns]
    favourites = [occurrence(labels[i], grid.columns[i].positions[0], labels) for i in best]
    return f"{name}: {several(favourites)} {span([means[i] for i in best], _share)}"


def attention_reading(selection: Selection, grid: Grid, picked: tuple[str, int]) -> list[str]:
    """Two to four sentences: the habit, one token's look, and the warning.

    Args:
        selection: what the numbers are.
        grid: the numbers.
        picked: "from" and a row, or "to" and a column.
    """
    who = {"head": "a head takes its", "rollout": "each position takes its"}
    said = [
        "" if selection.trained else _UNTRAINED,
        _head_said(selection, grid) if selection.scope == "head" else _mean_said(selection, grid),
        _picked_said(selection, grid, picked),
        _WARNING.format(who=who.get(selection.scope, "heads take their")),
    ]
    return [sentence for sentence in said if sentence]


def habit_names(selection: Selection) -> list[str]:
    """The habits but the entropy, in their order, with this model's own special tokens."""
    first, others = selection.names["first"], selection.names["separators"]
    rest = f"{others} (others)" if others == first else others
    return ["previous token", "next token", first, rest, "same word"]


def _share(value: float) -> str:
    """A share in two decimals; a small one, as in a long text, by its first two digits."""
    if value >= 0.0995 or value == 0:
        return two(value)
    return f"{value:.2g}" if value >= _LEAST else f"under {_LEAST:.4f}"


def _bold(value: float) -> str:
    return f"**{_share(value)}**"


def _margin(values: Sequence[float]) -> float:
    return max(min(MARGIN, _OF_SMALL * max(values)), _LEAST / 2)


def _alike(values: Sequence[float]) -> bool:
    return len(values) > 1 and are_alike(values, _margin(values))


# One head


def _head_title(selection: Selection) -> str:
    place = f"Layer {selection.layer}, head {selection.head}: "
    found = _habits(selection)
    if not found:
        return f"{place}no single habit"
    short = several([_SHORT.get(each, selection.names.get(each, each)) for each in found])
    return f"{place}{short} {span([selection.shares[each] for each in found], _share)}"


def _habits(selection: Selection) -> list[str]:
    """The habits with the largest share, where it is worth the name; most often one or none."""
    clear = [
        name
        for name, share in selection.shares.items()
        if share >= max(_MUCH, _CLEARLY * selection.even[name])
    ]
    return [clear[i] for i in leading([selection.shares[name] for name in clear])]


def _head_said(selection: Selection, grid: Grid) -> str:
    found, head = _habits(selection), f"layer {selection.layer}, head {selection.head}"
    counted = _counted(grid)
    if not found:
        return f"{head.capitalize()} has no single habit here: {_largest(selection)}{counted}."
    share = _bold(selection.shares[found[0]])
    where = ", and about as much to ".join(_place(selection, each) for each in found)
    even = span([selection.even[each] for each in found], _share)
    return (
        f"In {head}, {share} of the attention goes to {where} "
        f"(spread evenly, it would be {even}){counted}."
    )


def _largest(selection: Selection) -> str:
    """The largest share of one that has no habit."""
    names, shares = list(selection.shares), list(selection.shares.values())
    if are_alike(shares):
        return f"its shares are about alike, {span(shares, _bold)}"
    best = leading(shares)
    where = several([_place(selection, names[i]) for i in best])
    share, goes = ("shares", "go") if len(best) > 1 else ("share", "goes")
    even = span([selection.even[names[i]] for i in best], _share)
    own = span([shares[i] for i in best], _bold)
    return f"the largest {share}, {own}, {goes} to {where} (spread evenly, {even})"


def _counted(grid: Grid) -> str:
    """What a head's shares are over, where it is not what the grid shows."""
    whole = not grid.hidden and grid.is_square
    return "" if whole else ", counted over all tokens, special ones included"


def _place(selection: Selection, habit: str) -> str:
    return _PLACES.get(habit) or escape(selection.names.get(habit, habit))


# A mean or rollout


def _mean_said(selection: Selection, grid: Grid) -> str:
    through = f"layers 1 to {selection.layer}" if selection.layer > 1 else "layer 1"
    over = {
        "layer": f"Averaged over the heads of layer {selection.layer}",
        "all": "Averaged over all heads of all layers",
    }.get(selection.scope, f"Followed back through {through}")
    means = _means(grid)
    if not means:
        return ""
    best = leading(means, _margin(means))
    names, own = several(_names(grid.columns, best)), [means[i] for i in best]
    if _alike(means):
        said, own = "all have about the same part", means
    elif len(means) == 1:
        said = f"{names} has a part"
    else:
        said = f"{names} {'has' if len(best) == 1 else 'have'} the largest part"
    what = "in a position" if selection.scope == "rollout" else "of the attention"
    return f"{over}, {_of_shown(grid)}{said} {what}: {span(own, _bold)} on average."


def _means(grid: Grid) -> list[float]:
    """What each column gets on average from rows that are no padding."""
    real = [i for i, item in enumerate(grid.rows) if item.kind != "padding"]
    if not real or not grid.columns:
        return []
    return [float(mean) for mean in grid.weights[real].mean(axis=0)]


def _of_shown(grid: Grid) -> str:
    """That what is not shown may have more."""
    return "of what is shown, " if grid.hidden or not grid.is_square else ""


# The picked token


def _picked_said(selection: Selection, grid: Grid, picked: tuple[str, int]) -> str:
    """What the picked token looks at, or what looks at it."""
    side, index = picked
    own, others = (grid.rows, grid.columns) if side == "from" else (grid.columns, grid.rows)
    values = (grid.weights[index] if side == "from" else grid.weights[:, index]).tolist()
    name = _names(own, [index])[0]
    if not values or max(values) <= 0:
        return _nothing(own[index], name, side)
    most, only, alike = _VERBS[selection.scope == "rollout", side]
    if len(values) == 1:
        said = f"{only.format(name)} {_names(others, [0])[0]} ({_bold(values[0])})."
    elif _alike(values):
        said = f"{alike.format(name)} ({span(values, _bold)})."
    else:
        said = f"{most.format(name)} {_best(values, others)}."
    whole = f"{_of_shown(grid)}{said}"
    return whole[:1].upper() + whole[1:]


def _best(values: Sequence[float], others: Sequence[Item]) -> str:
    """What has the largest weight, to within a margin, and then the next."""
    first = leading(values, _margin(values))
    rest = [i for i in range(len(values)) if i not in set(first)]
    behind = [values[i] for i in rest]
    second = [rest[i] for i in leading(behind, _margin(behind))] if behind else []
    told = [first, second] if second and values[second[0]] >= _SAID else [first]
    return ", then ".join(
        f"{several(_names(others, each))} ({span([values[i] for i in each], _bold)})"
        for each in told
    )


def _names(items: Sequence[Item], indices: Sequence[int]) -> list[str]:
    """Names in quotation marks, with positions where several read alike."""
    labels = [item.label for item in items]
    return [placed(labels[i], items[i].positions[0], labels) for i in indices]


def _nothing(own: Item, name: str, side: str) -> str:
    if own.kind == "padding" and side == "to":
        return f"{name} is padding: nothing looks at it, its weights are exactly 0."
    return f"{name} has no weight among what is shown."
