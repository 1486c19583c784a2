"""The elements of the Map's figures: points, colours, hover texts, labels, marks."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.columns import date_of, kind_of_column, numbers_of
from contextlens.features.map.group_names import MAX_NAME
from contextlens.figures.theme import (
    CATEGORICAL,
    INK,
    MAP_AXIS,
    NEUTRAL,
    SEQUENTIAL,
    SMALLEST,
    plain,
)
from contextlens.maps.clusters import ClusterLabel
from contextlens.maps.points import Points, context

# --- The frame of a map: axes without numbers

NAME_FONT = {"size": SMALLEST, "weight": 700, "color": INK, "shadow": "auto"}
"""The font of names on a map: a contrasting halo keeps them readable over points."""
STALE = {
    "text": "Drawn with earlier settings",
    "x": 0,
    "xref": "paper",
    "xanchor": "left",
    "xshift": 8,
    "y": 1,
    "yref": "paper",
    "yanchor": "top",
    "yshift": -8,
    "showarrow": False,
    "font": {"size": SMALLEST},
    "bgcolor": "rgba(128,128,128,0.25)",
}
_LINES = {"showgrid": True, "gridcolor": NEUTRAL, "gridwidth": 1, "zeroline": False}
_CAMERA = {"eye": {"x": 1.1, "y": 1.1, "z": 0.8}}
_EDGE, _BAR, _LINE, _SMALL_LINE = 8, 34, 26, 26
"""Pixels above a map, row by row: its edge, plotly's bar, a line of the title, a line below it."""
_LONGEST_LINE = 120
_LEGEND = {
    "orientation": "h",
    "x": 0,
    "y": -0.02,
    "yanchor": "top",
    "itemsizing": "constant",
}


def axes_of(places: FloatArray) -> dict[str, Any]:
    """Coordinates by axis, as float32, which plotly sends as bytes."""
    return {
        axis: np.ascontiguousarray(places[:, i], dtype=np.float32)
        for i, axis in enumerate("xyz"[: places.shape[1]])
    }


def font_of(kind: str) -> dict[str, Any]:
    """The font of names in traces of a kind; only SVG has halos."""
    return {k: v for k, v in NAME_FONT.items() if k != "shadow" or kind == "scatter"}


def above(*, subtitle: bool, narrow: bool) -> int:
    """The pixels above a map's frame: plotly's bar if it is narrow, title, subtitle."""
    rows = ((_BAR, narrow), (_LINE, True), (_LINE, narrow), (_SMALL_LINE, subtitle))
    return _EDGE + sum(pixels for pixels, is_there in rows if is_there)


def write_above(whole: go.Figure, *, subtitle: str, narrow: bool = False) -> None:
    """Put the title, and a line below it, above a map, each in its own row.

    Plotly's bar is beside the frame, or above everything if the map is narrow.
    """
    has_line = bool(subtitle)
    whole.layout.margin.t = above(subtitle=has_line, narrow=narrow)
    whole.layout.title.update(
        yref="container", y=1, yanchor="top", pad={"t": _EDGE + (_BAR if narrow else 0), "l": 8}
    )
    if has_line:
        line = {"text": plain(subtitle, _LONGEST_LINE), "font": {"size": SMALLEST}}
        whole.layout.title.subtitle = line
    tools = {"bgcolor": "rgba(0,0,0,0)", "color": NEUTRAL, "activecolor": CATEGORICAL[0]}
    whole.layout.modebar = tools | ({} if narrow else {"orientation": "v"})
    if not narrow:
        whole.layout.margin.r = _BAR


def _headed(legend: str) -> dict[str, Any]:
    title = {"text": plain(legend), "side": "left", "font": {"size": SMALLEST}}
    return {"title": title} if legend else {}


def map_layout(ranges: Sequence[tuple[float, float]], *, legend: str | None) -> dict[str, Any]:
    """Axes without numbers, a thin frame that fills the width, and a legend under the map.

    Each axis has a scale of its own in two dimensions; `map_ranges` bounds how much they differ.

    Args:
        ranges: the range of each axis.
        legend: the title of the legend; None for no legend.
    """
    layout: dict[str, Any] = {
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": legend is not None,
        "legend": {**_LEGEND, **_headed(legend or "")},
        "margin": {"l": 8, "r": 8, "b": 8, "pad": 0},
    }
    if len(ranges) == 3:
        bare = {"showticklabels": False, "title": {"text": ""}, "showbackground": False}
        axes = {f"{axis}axis": {**bare, **_LINES} for axis in "xyz"}
        return {
            **layout,
            "dragmode": "turntable",
            "scene": {**axes, "aspectmode": "data", "camera": _CAMERA},
        }
    x, y = ({"range": list(ends), **MAP_AXIS} for ends in ranges)
    return {**layout, "xaxis": x, "yaxis": y}


# --- The colours of points

MAX_COLORED = len(CATEGORICAL) - 1
"""The number of categories with their own colours if there are too many; the rest are grey."""
_NO_LABEL = "no label"


@dataclass(frozen=True, eq=False)
class Coloring:
    """A column of values, one for each point, as colours.

    Attributes:
        title: the title of the column.
        kind: "category" for labels, "measure" for numbers, "none" for one colour.
        values: n_points labels ("" for none), or (n_points,) float32 (NaN for none).
        order: every category: given ones first, then by frequency; the first ones have colours.
        scale: the ends of a measure's colour scale, or None for its own minimum and maximum.
        dates: True if the numbers are days since 1970.
    """

    title: str
    kind: Literal["category", "measure", "none"]
    values: Sequence[str] | FloatArray = ()
    order: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
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
    scale: tuple[float, float] | None = None,
) -> Coloring:
    """Return a column as the colours of a map's points.

    Args:
        points: the points.
        by: a column of `extra`, or of the points' labels or measures; "word" or "token" for their
            names, depending on the unit; "" for no colours.
        extra: more columns: clusters, or values that a page computed.
        order: the categories of another map, whose colours are kept; new ones come after them.
        scale: the ends of another map's colour scale.

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
        return Coloring(by, "measure", values.astype(np.float32), scale=scale)
    texts = tuple(str(value) for value in values)
    kind = kind_of_column(texts) if by in points.labels and by not in extra else "category"
    if kind != "category":
        numbers = numbers_of(texts, kind)
        return Coloring(by, "measure", numbers, scale=scale, dates=kind == "date")
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
    places = {category: min(i, n_colored) for i, category in enumerate(order)}
    place_of = np.array(
        [places.get(str(v), n_colored) if v else -1 for v in color.values], dtype=int
    )
    rows = {place: np.flatnonzero(place_of == place) for place in range(-1, n_colored + 1)}
    others = f"other ({len(order) - n_colored})"
    traces = [PointGroup(_NO_LABEL, NEUTRAL, rows[-1], last=True)]
    traces.append(PointGroup(others, CATEGORICAL[-1], rows[n_colored], last=True))
    traces += [PointGroup(plain(order[i]), CATEGORICAL[i], rows[i]) for i in range(n_colored)]
    return tuple(group for group in traces if len(group.rows))


# --- The ranges of a map's axes

Ranges = list[tuple[float, float]]
"""The start and end of each axis."""
_AIR, _MOST_AIR = 0.05, 0.19  # maximum margin as a share of the longest side and of its own
_THIN_MARGIN = 0.02  # minimum margin as a share of the longest side, for points that lie on a line
_SHAPES = 0.3, 3.3
"""Bounds of a frame's width in units of its height: they keep a thin cloud of points thin."""


def map_ranges(places: FloatArray) -> Ranges:
    """The range of each axis: all points, with a margin; in two dimensions, of a bounded shape."""
    if not len(places):
        return [(-1.0, 1.0)] * places.shape[1]
    low, high = (edge.astype(float) for edge in (places.min(axis=0), places.max(axis=0)))
    spans = high - low
    longest = max(float(spans.max()), 1e-6)
    air = np.clip(_MOST_AIR * spans, _THIN_MARGIN * longest, _AIR * longest)
    low, high = low - air, high + air
    if len(spans) == 2:
        width, height = high - low
        least, most = _SHAPES
        missing = np.array([max(0.0, least * height - width), max(0.0, width / most - height)])
        low, high = low - missing / 2, high + missing / 2
    return list(zip(low.tolist(), high.tolist(), strict=True))


def fill(places: FloatArray, ranges: Ranges) -> tuple[float, float]:
    """The share of a frame's width and of its height that points span, in [0, 1]."""
    inside = [
        np.clip(places[:, i].astype(float), low, high) for i, (low, high) in enumerate(ranges[:2])
    ]
    width, height = (
        float(np.ptp(values) / (high - low)) if len(values) else 0.0
        for values, (low, high) in zip(inside, ranges[:2], strict=True)
    )
    return width, height


# --- The hover text of a map's points

HOVER_BYTES = 6_400_000
"""Maximum size of all hover texts together in the figure's JSON."""
_WIDTH = 48  # characters of a line
_MAX_HOVER_LABELS = 4
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class _HoverFormat:
    longest: int  # characters of the sentence
    n_labels: int
    has_name: bool = True  # False leaves out a word's name, which its sentence shows in bold


_HOVER_FORMATS = (
    *(
        _HoverFormat(90, _MAX_HOVER_LABELS),
        _HoverFormat(72, 1),
        _HoverFormat(60, 0, has_name=False),
    ),
    *(_HoverFormat(n, 0, has_name=False) for n in (44, 32, 16)),
)


def hover_texts(points: Points, color: Coloring, *, budget: int = HOVER_BYTES) -> list[str]:
    """A hover text for each point, safe for plotly, within a total number of bytes.

    If many points would exceed it, sentences are shortened first, then labels are left out, and
    finally only names remain.
    """
    n_tried = min(points.n_points, 1_000)
    sample = np.linspace(0, points.n_points - 1, n_tried).astype(int).tolist()
    for plan in _HOVER_FORMATS:
        guess = _bytes([_text(points, point, color, plan) for point in sample])
        if guess * points.n_points <= 0.98 * budget * len(sample):
            texts = [_text(points, point, color, plan) for point in range(points.n_points)]
            if _bytes(texts) <= budget:
                return texts
    return _shortest(points, budget)


def _bytes(texts: Sequence[str]) -> int:
    """The size of texts in plotly's JSON, which writes <, > and / as six characters each."""
    packed = json.dumps(texts)
    return len(packed) + 5 * sum(packed.count(sign) for sign in "<>/")


def _shortest(points: Points, budget: int) -> list[str]:
    """Names alone, cut as short as necessary."""
    for longest in (24, 12, 6, 2):
        texts = [plain(name, longest) for name in points.names]
        if _bytes(texts) <= budget:
            return texts
    return ["" for _ in points.names]


def _text(points: Points, point: int, color: Coloring, plan: _HoverFormat) -> str:
    named = points.unit == "tokens" or (points.unit == "words" and plan.has_name)
    lines = [f"<b>{plain(points.names[point])}</b>"] if named else []
    lines.append(_sentence(context(points, point, longest=plan.longest)))
    titles = [title for title in points.labels if title != color.title][: plan.n_labels]
    lines += [
        _line(title, points.labels[title][point]) for title in titles if points.labels[title][point]
    ]
    if color.kind != "none":
        written = points.labels.get(color.title, color.values)  # numbers and dates as in the file
        lines.append(_line(color.title, written[point]))
    return "<br>".join(line for line in lines if line)


def _line(title: str, value: str | float) -> str:
    written = plain(value) if isinstance(value, str) else f"{float(value):.4f}"
    return f"{plain(title)}: {written}" if value != "" and written != "nan" else ""


def _sentence(parts: tuple[str, str, str]) -> str:
    """The text around a point, broken into lines, with the point itself in bold."""
    flat = [_BLANK.sub(" ", part) for part in parts]
    whole = "".join(flat)
    start = len(flat[0])
    end = start + len(flat[1])
    pieces = []
    for first, last in _lines(whole):
        cuts = [min(max(first, cut), last) for cut in (first, start, end, last)]
        left, point, right = (html.escape(whole[a:b], quote=False) for a, b in pairwise(cuts))
        bold = f"<b>{point}</b>" if point and (flat[0] or flat[2]) else point
        pieces.append(left + bold + right)
    return "<br>".join(pieces)


def _lines(text: str) -> list[tuple[int, int]]:
    """The start and end of each line of a text, broken at blanks, or anywhere if there is none.

    A break replaces its blank.
    """
    lines = []
    first = 0
    while len(text) - first > _WIDTH:
        cut = text.rfind(" ", first + 1, first + _WIDTH + 1)
        lines.append((first, cut if cut > 0 else first + _WIDTH))
        first = cut + 1 if cut > 0 else first + _WIDTH
    return [*lines, (first, len(text))]


# --- The names of a map's clusters

MAX_LABELS = 12
_WIDE = (650.0, 430.0)  # a small desk's frame and a phone's, in pixels: labels must not touch there
_NARROW = (340.0, 300.0)
_LETTER_WIDTH, _LABEL_HEIGHT, _LABEL_MARGIN = 7.6, 17.0, 8.0  # pixels, at the font size of labels
_LONGEST_LABEL = MAX_NAME
_ABOVE = 16  # pixels above the middle of a cluster, so that the label does not hide it

_STYLE: dict[str, Any] = {"showarrow": False, "font": NAME_FONT}


def cluster_notes(
    labels: Sequence[ClusterLabel],
    ranges: Sequence[tuple[float, float]],
    *,
    narrow: bool = False,
) -> list[dict[str, Any]]:
    """Annotations for at most `MAX_LABELS` clusters, the largest first.

    Args:
        labels: the texts and their positions.
        ranges: the ranges of the map's two axes.
        narrow: True if the map has a phone's width, which has room for fewer names.
    """
    frame = _NARROW if narrow else _WIDE
    per_unit = _per_unit(frame, ranges)
    taken: list[FloatArray] = []
    notes: list[dict[str, Any]] = []
    for label in sorted(labels, key=lambda label: (-label.n_points, label.cluster)):
        lines = _word_lines(label.words)
        if not lines or len(notes) == MAX_LABELS:
            continue
        box = _box(label.place, lines, per_unit)
        if all(_apart(box, other) for other in taken):
            taken.append(box)
            where = {
                "x": label.place[0],
                "y": label.place[1],
                "yshift": _ABOVE,
                "xshift": _inwards(box, ranges[0], per_unit[0]),
            }
            notes.append({**where, "text": "<br>".join(lines)})
    return [{**note, **_STYLE} for note in notes]


def _word_lines(words: Sequence[str]) -> list[str]:
    """The words in one or more short lines, safe for plotly."""
    lines: list[list[str]] = []
    for word in words:
        if lines and sum(len(other) + 3 for other in lines[-1]) + len(word) <= _LONGEST_LABEL:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [" · ".join(plain(word, _LONGEST_LABEL) for word in line) for line in lines]


def _per_unit(frame: tuple[float, float], ranges: Sequence[tuple[float, float]]) -> NDArray[Any]:
    """(2,) the pixels of a unit of each axis, in a frame of this size."""
    return np.array(frame) / [high - low for low, high in ranges]


def _box(place: Sequence[float], lines: Sequence[str], per_unit: NDArray[Any]) -> FloatArray:
    """Left, bottom, right and top of a label, in pixels."""
    half = (
        np.array(
            [
                max(map(len, lines)) * _LETTER_WIDTH + _LABEL_MARGIN,
                len(lines) * _LABEL_HEIGHT + _LABEL_MARGIN,
            ]
        )
        / 2
    )
    middle = np.array(place[:2]) * per_unit
    return np.concatenate([middle - half, middle + half]).astype(np.float32)


def _inwards(box: FloatArray, ends: tuple[float, float], per_unit: float) -> float:
    """The pixels by which a label must move so that its ends are inside the frame."""
    left, right = (end * per_unit for end in ends)
    return round(float(max(0, left - box[0]) - max(0, box[2] - right)))


def _apart(one: FloatArray, other: FloatArray) -> bool:
    return bool((one[:2] > other[2:]).any() or (other[:2] > one[2:]).any())


# --- The side of a point on which its number is written

SIDES: Mapping[str, tuple[int, int]] = {
    "top center": (0, 1),
    "middle right": (1, 0),
    "bottom center": (0, -1),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
    "top left": (-1, 1),
}
"""Text positions in plotly, the default first, with directions across and up from the point."""
_DIGIT_WIDTH, _DIGIT_HEIGHT, _RING = (
    8.5,
    15.0,
    8.0,
)  # pixels: a character, a line, and from a ring's centre to the text


def sides(places: FloatArray, labels: Mapping[int, str], ranges: Ranges) -> dict[int, str]:
    """For each labelled point, the side of its label.

    Args:
        places: (n, 2) or (n, 3) of all points; in three dimensions all have the default side.
        labels: the texts, by the points' indices.
        ranges: the ranges of the axes.
    """
    usual = next(iter(SIDES))
    if places.shape[1] != 2 or not labels:
        return dict.fromkeys(labels, usual)
    per_unit = _per_unit(_WIDE, ranges)
    at = {row: places[row].astype(float) * per_unit for row in labels}
    taken = [
        _number_box(point, np.full(2, 2 * _RING)) for point in at.values()
    ]  # the rings themselves
    chosen = {}
    for i, (row, text) in enumerate(labels.items()):
        others = [*taken[:i], *taken[i + 1 :]]
        boxes = [_beside(at[row], text, direction) for direction in SIDES.values()]
        over = [sum(_common(box, other) for other in others) for box in boxes]
        best = int(np.argmin(over))
        chosen[row] = list(SIDES)[best]
        taken.append(boxes[best])
    return chosen


def _beside(point: NDArray[Any], text: str, direction: tuple[int, int]) -> NDArray[Any]:
    size = np.array([_DIGIT_WIDTH * max(1, len(text)), _DIGIT_HEIGHT])
    return _number_box(point + np.array(direction) * (size / 2 + _RING), size)


def _number_box(middle: NDArray[Any], size: NDArray[Any]) -> NDArray[Any]:
    """(2, 2) the lower and the upper corner."""
    return np.stack([middle - size / 2, middle + size / 2])


def _common(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The area that two boxes share, in square pixels."""
    shared = np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])
    return float(np.clip(shared, 0, None).prod())


# --- Highlighted points

_SYMBOLS = ("square-open", "diamond-open", "triangle-up-open", "hexagon-open")
_IN_SPACE = ("square-open", "diamond-open")  # the symbols that plotly also has in three dimensions
_FOCUS, _NEAR = "the point", "its neighbours"


@dataclass(frozen=True)
class MapMarks:
    """The marked points of a map, by index.

    Attributes:
        chosen: the selected points; all others fade. None if nothing is selected.
        rings: groups of points by title ("Found", "Pinned"), each with its own ring symbol.
        focus: the point with lines to its neighbours, or None.
        neighbours: the ends of these lines.
        labels: the text beside points with a ring or a trail: a number, a letter.
    """

    chosen: Sequence[int] | None = None
    rings: Mapping[str, Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))
    focus: int | None = None
    neighbours: Sequence[int] = ()
    labels: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))


NO_MARKS = MapMarks()


def mark_rows(marks: MapMarks) -> list[IntArray]:
    """The points of each trace of `mark_traces`, in the same order."""
    lines = [np.zeros(0, dtype=np.int64)] if _has_lines(marks) else []
    return [*lines, *(np.asarray(rows, dtype=np.int64) for rows in _ringed(marks).values())]


def mark_traces(
    places: FloatArray, marks: MapMarks, *, kind: str, size: float, frame: Ranges
) -> list[dict[str, Any]]:
    """Lines, then rings, to draw over the points; trace kind and size match the points'."""
    ringed, where = _ringed(marks), sides(places, marks.labels, frame)
    waiting = dict(marks.labels)  # a label is written once, even if its point has several rings
    traces = [_focus_lines(kind, places, marks)] if _has_lines(marks) else []
    for title, symbol in zip(ringed, _symbols(ringed, marks, kind), strict=True):
        rows = ringed[title]
        labels = [plain(waiting.pop(row, "")) for row in rows]
        text = {"mode": "markers+text", "text": labels, "textfont": font_of(kind)}
        text["textposition"] = [where.get(row, "top center") for row in rows]
        ring = {"symbol": symbol, "size": size + (3 if symbol == "circle" else 7), "color": INK}
        traces.append(
            {
                "type": kind,
                "mode": "markers",
                **axes_of(places[np.asarray(rows, dtype=np.int64)]),
                "marker": {**ring, "line": {"width": 2, "color": INK}},
                "name": plain(title),
                "hoverinfo": "skip",
                **(text if any(labels) else {}),
            }
        )
    return traces


def trail_label(marks: MapMarks, point: int) -> str:
    """The text at the end of a point's trail: its label, or "" if a ring shows it."""
    has_ring = any(point in rows for rows in _ringed(marks).values())
    return "" if has_ring else plain(marks.labels.get(point, ""))


def _symbols(ringed: Mapping[str, Any], marks: MapMarks, kind: str) -> list[str]:
    """A disc for the selected point, circles for its neighbours, another symbol for each group."""
    shapes = _IN_SPACE if kind == "scatter3d" else _SYMBOLS
    others = [title for title in ringed if title in marks.rings]
    rings = {title: shapes[i % len(shapes)] for i, title in enumerate(others)}
    return [({_FOCUS: "circle", _NEAR: "circle-open"} | rings)[title] for title in ringed]


def _has_lines(marks: MapMarks) -> bool:
    return marks.focus is not None and len(marks.neighbours) > 0


def _ringed(marks: MapMarks) -> dict[str, Sequence[int]]:
    near: dict[str, Sequence[int]] = {} if marks.focus is None else {_FOCUS: [marks.focus]}
    if len(marks.neighbours):
        near[_NEAR] = marks.neighbours
    return {title: rows for title, rows in {**near, **marks.rings}.items() if len(rows)}


def _focus_lines(kind: str, places: FloatArray, marks: MapMarks) -> dict[str, Any]:
    """One trace with a separate line from the focus to each neighbour."""
    gap = np.full(places.shape[1], np.nan, dtype=np.float32)
    ends = [row for near in marks.neighbours for row in (places[marks.focus], places[near], gap)]
    return {
        "type": kind,
        "mode": "lines",
        **axes_of(np.array(ends)),
        "line": {"color": INK, "width": 1.5},
        "opacity": 0.6,
        "hoverinfo": "skip",
        "showlegend": False,
    }


# --- The density of points, under them

_CELLS = 96, 64  # across and up
_BLUR = 1.6  # the kernel's standard deviation, in cells
_SHADES = [[0, "rgba(128,128,128,0)"], [1, "rgba(128,128,128,0.6)"]]


def add_density(
    chart: go.Figure, coordinates: FloatArray, frames: Sequence[Ranges], row: int
) -> None:
    """Shade a figure's ground where many points lie over each other, in each of its frames.

    The shade grows with the square root of the number of points around, blurred by a Gaussian
    kernel: otherwise one heap would leave no shade for all others. It has its own trace, the last.

    Args:
        chart: the figure of a map in two dimensions.
        coordinates: (n_layers, n_points, 2).
        frames: the ranges of the axes at each layer.
        row: the shown layer's row.
    """
    shades = [_density(places, own) for places, own in zip(coordinates, frames, strict=True)]
    chart.add_trace(shades[row])
    for frame, shade in zip(chart.frames, shades, strict=False):  # no frames if it does not play
        frame.data = (*frame.data, shade)
        frame.traces = (*frame.traces, len(chart.data) - 1)


def _density(places: FloatArray, ranges: Ranges) -> dict[str, Any]:
    from scipy.ndimage import gaussian_filter

    counts, *edges = np.histogram2d(places[:, 0], places[:, 1], bins=_CELLS, range=ranges)
    density = np.sqrt(gaussian_filter(counts, _BLUR, mode="constant"))
    x, y = ((edge[:-1] + edge[1:]) / 2 for edge in edges)
    return {
        "type": "heatmap",
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "z": density.T.astype(np.float32),
        "colorscale": _SHADES,
        "showscale": False,
        "showlegend": False,
        "hoverinfo": "skip",
        "zsmooth": "best",
    }


# --- The points of a map as traces

MAX_SVG = 2_000
"""Up to this many points are drawn as SVG, which works in every browser and stays sharp. More are
drawn by WebGL; a browser without it shows a grey box instead of the map."""
SHAPES = ("circle", "diamond", "square", "x", "cross")
"""Shapes of the most frequent values of a second column; the last is for all others."""
_FADED = 0.12
_N_DATES = 4  # on a colour bar
_SIZES = ((300, 9.0, 0.85), (2_000, 7.0, 0.8), (10_000, 5.0, 0.7), (10**9, 3.5, 0.6))
"""For each maximum number of points, their size in pixels and their opacity."""


def point_traces(
    points: Points,
    places: FloatArray,
    color: Coloring,
    *,
    chosen: Sequence[int] | None = None,
    strength: float = 1.0,
    shapes: Coloring = UNCOLORED,
) -> list[dict[str, Any]]:
    """A trace for each group of points: for each category, or one for all.

    If some points are selected, all others fade; a strength below 1 makes all paler.
    """
    texts = hover_texts(points, color)
    size, opacity = point_size(points.n_points, places.shape[1]), _look(points.n_points)[1]
    kind = kind_of(points.n_points, places.shape[1])
    is_chosen = np.zeros(points.n_points, dtype=bool)
    is_chosen[np.asarray([] if chosen is None else chosen, dtype=np.int64)] = True
    traces = []
    for group in groups(color, points.n_points):
        trace: dict[str, Any] = {
            "type": kind,
            "mode": "markers",
            **axes_of(places[group.rows]),
            "marker": _marker(group, color, size=size, opacity=opacity * strength),
            "name": group.name,
            "legendrank": 1001 if group.last else 1000,
            "hovertext": [texts[i] for i in group.rows],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
        if shapes.kind == "category":
            trace["marker"]["symbol"] = [_shape(shapes, i) for i in group.rows]
        if kind != "scatter3d":
            trace["unselected"] = {"marker": {"opacity": _FADED}}
            if chosen is not None:
                trace["selectedpoints"] = np.flatnonzero(is_chosen[group.rows]).tolist()
        traces.append(trace)
    return traces


def shape_traces(shapes: Coloring, kind: str) -> list[dict[str, Any]]:
    """The legend of the shapes: traces with no visible point."""
    if shapes.kind != "category":
        return []
    named = shapes.order[: len(SHAPES) - 1]
    entries = list(zip(map(plain, named), SHAPES, strict=False))
    if set(shapes.values) - set(named):
        entries.append(("other", SHAPES[-1]))
    return [
        {
            "type": kind,
            "mode": "markers",
            **{axis: [None] for axis in ("xyz" if kind == "scatter3d" else "xy")},
            "marker": {"symbol": shape, "color": NEUTRAL, "size": 9},
            "name": name,
            "hoverinfo": "skip",
        }
        for name, shape in entries
    ]


def _shape(shapes: Coloring, point: int) -> str:
    named = shapes.order[: len(SHAPES) - 1]
    value = str(shapes.values[point])
    return SHAPES[named.index(value)] if value in named else SHAPES[-1]


def kind_of(n_points: int, n_axes: int) -> str:
    """The kind of trace for this many points.

    A whole map has one kind: WebGL lies over SVG, so points would hide rings drawn as SVG.
    """
    if n_axes == 3:
        return "scatter3d"
    return "scatter" if n_points <= MAX_SVG else "scattergl"


def point_size(n_points: int, n_axes: int = 2) -> float:
    """The size, in pixels, of each point on a map with this many."""
    size = _look(n_points)[0]
    return size if n_axes == 2 else size / 2


def _look(n_points: int) -> tuple[float, float]:
    return next((size, opacity) for most, size, opacity in _SIZES if n_points <= most)


def _marker(group: PointGroup, color: Coloring, *, size: float, opacity: float) -> dict[str, Any]:
    marker: dict[str, Any] = {"size": size, "opacity": opacity, "line": {"width": 0}}
    if group.numbers is None:
        return {**marker, "color": group.color}
    low, high = color.scale or (float(group.numbers.min()), float(group.numbers.max()))
    bar = {"title": {"text": plain(color.title), "side": "right"}, "thickness": 8, "len": 0.9}
    if color.dates:
        ticks = np.unique(np.linspace(low, high, _N_DATES).round()).tolist()
        bar |= {"tickvals": ticks, "ticktext": [date_of(tick) for tick in ticks]}
    ends = {"cmin": low, "cmax": high, "colorscale": SEQUENTIAL, "colorbar": bar}
    return {**marker, "color": group.numbers, **ends}
