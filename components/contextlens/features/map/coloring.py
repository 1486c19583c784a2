"""The colours of a map's points: the columns to choose from, and the points of each colour.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.columns import kind_of_column, numbers_of
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.controls import COLOR
from contextlens.figures.theme import CATEGORICAL, MAX_COLORED, NEUTRAL, plain
from contextlens.maps.points import Points, Unit
from contextlens.maps.request import MapRequest
from contextlens.maps.result import MapResult
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import ViewState

# --- The columns to choose from

GROUPS = "group on the map"
LAYER = "layer"
"""Colours by layer, for a map with the points of all layers."""
NOTHING = "nothing"
_MAX_LABELS, _MIN_REPEATS = 200, 2
"""A usable label column has at most so many labels, each so often on average."""
_GIVEN = " (label)"
"""The suffix of a label column whose name the points use already."""


def color_choice(request: MapRequest, corpus: Corpus | None) -> Choice:
    """The columns that can colour a map of these texts, the default first."""
    usual = usual_color(request, corpus)
    names = dict.fromkeys([usual, *_names(request.unit, corpus)])
    return COLOR.among({name: name for name in names}, default=usual)


def color_of(view: ViewState, result: MapResult) -> str:
    """The column that a view names for the colours; the default if the points do not have it."""
    points = result.points
    names = [*points.labels, *points.measures, GROUPS, NOTHING]
    names += ["token"] if points.unit == "tokens" else []
    names += [LAYER] if len(result.layers) > 1 else []
    columns = {name.removesuffix(_GIVEN): name for name in names} | {name: name for name in names}
    usual = usual_color(result.request, result.corpus)
    return columns.get(COLOR.among(columns, default=usual).of(view), GROUPS)


def _names(unit: Unit, corpus: Corpus | None) -> list[str]:
    columns = {
        "words": ["word", "part of text"],
        "tokens": ["token", "kind of token", "part of text"],
        "sentences": ["part of the texts"],
    }[unit]
    measures = ["sentence length in characters"]
    if unit != "sentences":
        measures.insert(0, "position in the sentence")
    given = [] if corpus is None else list(corpus.labels)
    return list(dict.fromkeys([*given, *columns, GROUPS, LAYER, *measures, NOTHING]))


def usual_color(request: MapRequest, corpus: Corpus | None) -> str:
    """The default column for the colours."""
    if corpus is None or not corpus.labels:
        return GROUPS
    if corpus.spans is not None:  # chosen words: coloured by word, a single word by its senses
        return "sense" if len(request.only) == 1 and request.unit == "words" else "word"
    usable = (title for title in corpus.labels if _is_usable(corpus, title))
    return next(usable, GROUPS)


def _is_usable(corpus: Corpus, title: str) -> bool:
    """True if a column's labels can separate: several that repeat, neither numbers nor dates."""
    n = corpus.n_kinds[title]
    if not 1 < n <= min(_MAX_LABELS, len(corpus.texts) / _MIN_REPEATS):
        return False
    kind = remembered(
        "map: kind of column",
        *(corpus.key, title),
        compute=lambda: kind_of_column(corpus.labels[title]),
    )
    return kind == "category"


# --- The colours of points

_NO_LABEL = "no label"


@dataclass(frozen=True, eq=False)
class Coloring:
    """A column of values, one for each point, as colours.

    Attributes:
        title: the title of the column.
        kind: "category" for labels, "measure" for numbers, "none" for one colour.
        values: n_points labels ("" for none), or (n_points,) float32 (NaN for none).
        order: every category: given ones first, then by frequency; the first ones have colours.
        dates: True if the numbers are days since 1970.
    """

    title: str
    kind: Literal["category", "measure", "none"]
    values: Sequence[str] | FloatArray = ()
    order: tuple[str, ...] = ()
    dates: bool = False


UNCOLORED = Coloring("", "none")


@dataclass(frozen=True, eq=False)
class PointGroup:
    """The points of one trace: its name in the legend, its colour, its points' indices."""

    name: str
    color: str
    rows: IntArray
    numbers: FloatArray | None = None
    last: bool = False  # True if the legend has it last: other categories, or no label or value


def coloring(
    points: Points,
    by: str,
    *,
    extra: Mapping[str, Sequence[str] | FloatArray] = MappingProxyType({}),
    order: Sequence[str] = (),
) -> Coloring:
    """Return a column as the colours of a map's points.

    Args:
        points: the points.
        by: a column of `extra`, or of the points' labels or measures; "word" or "token" for their
            names, depending on the unit; "" for no colours.
        extra: more columns: clusters, or values that a page computed.
        order: the categories of another map, whose colours are kept; new ones come after them.

    Raises:
        RequestError: there is no such column.
    """
    if not by:
        return UNCOLORED
    unit = points.unit.removesuffix("s")
    names = {} if points.unit == "sentences" else {unit: [name.casefold() for name in points.names]}
    columns = {**names, **points.measures, **points.labels, **extra}
    if by not in columns:
        known = ", ".join(columns) or "none"
        raise RequestError(f"These points have no column {by!r}; they have: {known}.")
    values = columns[by]
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return Coloring(by, "measure", values.astype(np.float32))
    texts = tuple(str(value) for value in values)
    kind = kind_of_column(texts) if by in points.labels and by not in extra else "category"
    if kind != "category":
        numbers = numbers_of(texts, kind)
        return Coloring(by, "measure", numbers, dates=kind == "date")
    return Coloring(by, "category", texts, order=_ordered(texts, order))


def groups(color: Coloring, n_points: int) -> tuple[PointGroup, ...]:
    """The points by trace, in the order of the traces; each point once."""
    if color.kind == "none":
        return (PointGroup("", CATEGORICAL[0], np.arange(n_points)),)
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


def _measured(color: Coloring) -> tuple[PointGroup, ...]:
    numbers = np.asarray(color.values, dtype=np.float32)
    known = np.isfinite(numbers)
    has_number, missing = np.flatnonzero(known), np.flatnonzero(~known)
    traces = (
        [PointGroup(plain(color.title), "", has_number, numbers[has_number])]
        if len(has_number)
        else []
    )
    return (
        *([PointGroup("no value", NEUTRAL, missing, last=True)] if len(missing) else []),
        *traces,
    )


def _by_category(color: Coloring) -> tuple[PointGroup, ...]:
    """The points by category, grey ones first so that coloured points are drawn over them."""
    order = color.order or _ordered([str(value) for value in color.values], ())
    n_colored = min(len(order), MAX_COLORED)
    codes_by_category = {category: min(i, n_colored) for i, category in enumerate(order)}
    codes = np.array(
        [codes_by_category.get(str(v), n_colored) if v else -1 for v in color.values], dtype=int
    )
    rows = {code: np.flatnonzero(codes == code) for code in range(-1, n_colored + 1)}
    others = f"other ({len(order) - n_colored})"
    traces = [PointGroup(_NO_LABEL, NEUTRAL, rows[-1], last=True)]
    traces.append(PointGroup(others, CATEGORICAL[-1], rows[n_colored], last=True))
    traces += [PointGroup(plain(order[i]), CATEGORICAL[i], rows[i]) for i in range(n_colored)]
    return tuple(group for group in traces if len(group.rows))
