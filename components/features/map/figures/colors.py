"""What colours the points of a map: a column of labels, a column of numbers, or nothing.

A category keeps its colour between two maps side by side and between layers: it goes by the order
of the categories, which a page takes from one map and gives to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.figures.theme import CATEGORICAL, NEUTRAL, plain
from components.maps.points import Points

__all__ = ["MAX_COLORED", "UNCOLORED", "Coloring", "Group", "coloring", "groups"]

MAX_COLORED = len(CATEGORICAL) - 1
"""Categories that have a colour of their own; the palette's last, a grey, is for the others."""
_NO_LABEL = "no label"


@dataclass(frozen=True, eq=False)
class Coloring:
    """A column of values, one for each point, as colours.

    Attributes:
        title: what the column is called.
        kind: "category" for labels, "measure" for numbers, "none" for one colour.
        values: n_points labels ("" where there is none), or (n_points,) float32 (NaN where there
            is none).
        order: every category, those that get a colour first: the most frequent, unless given.
        scale: the ends of the colours of a measure, or None for its own least and largest.
    """

    title: str
    kind: Literal["category", "measure", "none"]
    values: Sequence[str] | FloatArray = ()
    order: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None


UNCOLORED = Coloring("", "none")


@dataclass(frozen=True, eq=False)
class Group:
    """The points that one trace draws: its name in the legend, its colour, its points' numbers."""

    name: str
    color: str
    rows: IntArray
    numbers: FloatArray | None = None
    last: bool = False  # whether it comes last in the legend: what has no category of its own


def coloring(
    points: Points,
    by: str,
    *,
    extra: Mapping[str, Sequence[str] | FloatArray] = MappingProxyType({}),
    order: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
) -> Coloring:
    """How a column colours the points of a map.

    Args:
        points: the points.
        by: a column of `extra`, or of the points' labels or measures; "word" or "token" for their
            names, as the unit is called; "" for no colours.
        extra: more columns: clusters, values that a page computed.
        order: categories of another map, to keep their colours; new ones come after them.
        scale: the ends of another map's colours.

    Raises:
        RequestError: there is no such column.
    """
    if not by:
        return UNCOLORED
    unit = points.unit.removesuffix("s")
    own = {} if points.unit == "sentences" else {unit: [name.casefold() for name in points.names]}
    columns = {**own, **points.measures, **points.labels, **extra}
    if by not in columns:
        known = ", ".join(columns) or "none"
        raise RequestError(f"These points have no column {by!r}; they have: {known}.")
    values = columns[by]
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return Coloring(by, "measure", values.astype(np.float32), scale=scale)
    texts = tuple(str(value) for value in values)
    return Coloring(by, "category", texts, order=_ordered(texts, order))


def groups(color: Coloring, n_points: int) -> tuple[Group, ...]:
    """The points by the trace that draws them, in the order of the traces; each point once."""
    if color.kind == "none":
        return (Group("", CATEGORICAL[0], np.arange(n_points)),)
    if len(color.values) != n_points:
        raise RequestError(
            f"{n_points} points need as many values of {color.title!r}; "
            f"{len(color.values)} were given."
        )
    return _measured(color) if color.kind == "measure" else _by_category(color)


def _ordered(values: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    counts = Counter(values)
    new = sorted(set(counts) - set(before) - {""}, key=lambda value: (-counts[value], value))
    return (*before, *new)


def _measured(color: Coloring) -> tuple[Group, ...]:
    numbers = np.asarray(color.values, dtype=np.float32)
    known = np.isfinite(numbers)
    there, missing = np.flatnonzero(known), np.flatnonzero(~known)
    found = [Group(plain(color.title), "", there, numbers[there])] if len(there) else []
    return (*([Group("no value", NEUTRAL, missing, last=True)] if len(missing) else []), *found)


def _by_category(color: Coloring) -> tuple[Group, ...]:
    """The grey ones first, so that coloured points are drawn over them."""
    order = color.order or _ordered([str(value) for value in color.values], ())
    n_colored = len(order) if len(order) <= len(CATEGORICAL) else MAX_COLORED
    places = {category: min(i, n_colored) for i, category in enumerate(order)}
    own = np.array([places.get(str(v), n_colored) if v else -1 for v in color.values], dtype=int)
    rows = {place: np.flatnonzero(own == place) for place in range(-1, n_colored + 1)}
    others = f"other ({len(order) - n_colored})"
    found = [Group(_NO_LABEL, NEUTRAL, rows[-1], last=True)]
    found.append(Group(others, CATEGORICAL[-1], rows[n_colored], last=True))
    found += [Group(plain(order[i]), CATEGORICAL[i], rows[i]) for i in range(n_colored)]
    return tuple(group for group in found if len(group.rows))
