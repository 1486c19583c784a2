"""The colours of a map's points: the columns to choose from, and the points of each colour.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np

from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.columns import kind_of_column, numbers_of
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.controls import COLOR
from contextlens.figures.theme import (
    CATEGORICAL,
    MAX_COLORED,
    NEUTRAL,
    hue_color,
    plain,
    ramp_color,
)
from contextlens.maps.points import Points, Unit, label_title
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
    given = [] if corpus is None else [label_title(title) for title in corpus.labels]
    return list(dict.fromkeys([*given, *columns, GROUPS, LAYER, *measures, NOTHING]))


def usual_color(request: MapRequest, corpus: Corpus | None) -> str:
    """The default column for the colours."""
    if corpus is None or not corpus.labels:
        return GROUPS
    if corpus.spans is not None:  # chosen words: coloured by word, a single word by its senses
        return "sense" if len(request.only) == 1 and request.unit == "words" else "word"
    usable = (label_title(title) for title in corpus.labels if _is_usable(corpus, title))
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
        order: every category: given ones first, then a scale in its order, else by frequency.
        dates: True if the numbers are days since 1970.
        is_scale: True if the categories are a scale, such as stars or grades.
    """

    title: str
    kind: Literal["category", "measure", "none"]
    values: Sequence[str] | FloatArray = ()
    order: tuple[str, ...] = ()
    dates: bool = False
    is_scale: bool = False

    @cached_property
    def colors(self) -> Mapping[str, str]:
        """The colour of each category: one hue for a scale, the palette for a few, else all hues.

        All hues follow the order of the categories, so that a map can have like ones side by side.
        """
        n = len(self.order)
        if self.is_scale:
            return {name: ramp_color(i, n) for i, name in enumerate(self.order)}
        if n <= MAX_COLORED:
            return dict(zip(self.order, CATEGORICAL, strict=False))
        return {name: hue_color(i / n) for i, name in enumerate(self.order)}

    @cached_property
    def shown(self) -> Mapping[str, str]:
        """Each category as people read it: "python: animal" is "animal" if all are of python."""
        parts = [name.partition(": ") for name in self.order]
        if len(parts) > 1 and len({first for first, *_ in parts}) == 1 and all(p[2] for p in parts):
            return {name: rest for name, (*_, rest) in zip(self.order, parts, strict=True)}
        return {name: name.replace(": ", " · ", 1) for name in self.order}


UNCOLORED = Coloring("", "none")


@dataclass(frozen=True, eq=False)
class PointGroup:
    """The points of one trace: its name in the legend, its colour, its points' indices."""

    name: str
    color: str
    rows: IntArray
    numbers: FloatArray | None = None
    last: bool = False  # True if the legend has it last: no label, or no value
    colors: tuple[str, ...] = ()  # of each point, where a trace has many categories

    def color_at(self, index: int) -> str:
        """The colour of a point, by its index in the trace."""
        return self.colors[index] if self.colors else self.color


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
    is_given = by in points.labels and by not in extra
    kind = kind_of_column(texts) if is_given else "category"
    if kind != "category":
        numbers = numbers_of(texts, kind)
        return Coloring(by, "measure", numbers, dates=kind == "date")
    scale = scale_of(by, {*texts} - {""}) if is_given else ()
    return Coloring(
        by, "category", texts, order=_ordered(texts, order or scale), is_scale=bool(scale)
    )


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
    """The points by category, those without one first, so that coloured ones are drawn over them.

    Many categories share one trace, without a name in the legend: their names are on the map.
    """
    order = color.order or _ordered([str(value) for value in color.values], ())
    numbers = {category: i for i, category in enumerate(order)}
    codes = np.array([numbers.get(str(v), -1) if v else -1 for v in color.values], dtype=int)
    colors = replace(color, order=order).colors
    traces = [PointGroup(_NO_LABEL, NEUTRAL, np.flatnonzero(codes < 0), last=True)]
    if len(order) > MAX_COLORED:
        rows = np.flatnonzero(codes >= 0)
        own = tuple(colors[order[code]] for code in codes[rows].tolist())
        traces.append(PointGroup("", NEUTRAL, rows, colors=own))
    else:
        traces += [
            PointGroup(plain(color.shown.get(name, name)), colors[name], np.flatnonzero(codes == i))
            for i, name in enumerate(order)
        ]
    return tuple(group for group in traces if len(group.rows))


# --- Scales

_SCALES = (
    ("negative", "neutral", "positive"),
    ("negative", "mixed", "positive"),
    ("low", "medium", "high"),
    ("small", "medium", "large"),
    ("easy", "medium", "hard"),
    ("beginner", "intermediate", "advanced"),
    ("a1", "a2", "b1", "b2", "c1", "c2"),
    ("a", "b", "c", "d", "e", "f"),
)
_SCALE_NAMES = ("star", "rating", "score", "grade", "level", "year", "rank", "stage")
"""Words in a column's title, or beside its numbers, that make whole numbers a scale."""
_NUMBERED = re.compile(r"(\D*)(\d{1,4})(\D*)")


def scale_of(title: str, labels: Collection[str]) -> tuple[str, ...]:
    """Return labels in their order if they are a scale, such as stars or grades; else ().

    Args:
        title: the title of their column.
        labels: the labels, each once.
    """
    by_words = {label.strip().casefold(): label for label in labels}
    if len(by_words) < 3 or len(by_words) < len(labels):
        return ()
    for scale in _SCALES:
        if set(by_words) <= set(scale):
            return tuple(by_words[word] for word in scale if word in by_words)
    found = {label: _NUMBERED.fullmatch(words) for words, label in by_words.items()}
    around = {
        (match[1], match[3].removesuffix("s")) if match is not None else None
        for match in found.values()
    }
    if None in around or len(around) != 1:
        return ()
    words = f"{title.casefold()} {next(iter(around))}"
    if not any(name in words for name in _SCALE_NAMES):
        return ()
    numbers = {label: int(match[2]) for label, match in found.items() if match is not None}
    return tuple(sorted(numbers, key=lambda label: numbers[label]))


def by_place(positions: FloatArray, values: Sequence[str]) -> tuple[str, ...]:
    """Return labels by the direction in which they lie on a map, so that like ones look alike."""
    middle = np.median(positions[:, :2], axis=0)
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        if value:
            rows.setdefault(value, []).append(row)
    ways = {name: np.median(positions[own, :2], axis=0) - middle for name, own in rows.items()}
    angles = {name: float(np.arctan2(way[1], way[0])) for name, way in ways.items()}
    return tuple(sorted(angles, key=lambda name: (angles[name], name)))
