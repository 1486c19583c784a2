"""The frame of a map: axes without numbers, their ranges, the rows above, the text inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.core.schema import FloatArray
from contextlens.features.map.controls import MAX_GROUP_LABELS, MAX_GROUP_NAME_CHARACTERS
from contextlens.figures.theme import (
    CATEGORICAL,
    GROWING,
    INK,
    MAP_AXIS,
    NEUTRAL,
    SMALLEST,
    plain,
)
from contextlens.maps.clusters import ClusterLabel

# --- Axes, title, legend

NAME_FONT = {"size": SMALLEST, "weight": 700, "color": INK, "shadow": "auto"}
"""The font of names on a map: a contrasting halo keeps them readable over points."""
_LINES = {"showgrid": True, "gridcolor": NEUTRAL, "gridwidth": 1, "zeroline": False}
_CAMERA = {"eye": {"x": 1.1, "y": 1.1, "z": 0.8}}
_EDGE, _BAR, _LINE, _SMALL_LINE, BELOW = 8, 36, 26, 26, 36
"""Pixels above a map: its edge, plotly's bar, a line of the title, one below it; and under it."""
_MAX_LINE_LENGTH = 120
_LEGEND = {
    "orientation": "h",
    "x": 0,
    "y": -0.02,
    "yanchor": "top",
    "itemsizing": "constant",
    "bgcolor": "rgba(0,0,0,0)",  # or it covers the frame above a narrow map
}
_ON_TOP = {"y": 1, "yanchor": "bottom"}


def axes_of(positions: FloatArray) -> dict[str, Any]:
    """Coordinates by axis, as float32, which plotly sends as bytes."""
    return {
        axis: np.ascontiguousarray(positions[:, i], dtype=np.float32)
        for i, axis in enumerate("xyz"[: positions.shape[1]])
    }


def font_of(kind: str) -> dict[str, Any]:
    """The font of names in traces of a kind; only SVG has halos."""
    return {k: v for k, v in NAME_FONT.items() if k != "shadow" or kind == "scatter"}


def above(*, title: str, subtitle: str, narrow: bool) -> int:
    """The pixels above a map's frame: its title and the line below it, or plotly's bar.

    Below the bar, a narrow map has its legend.
    """
    if not title:
        return _BAR + _LINE * narrow
    rows = ((_LINE, True), (_LINE, narrow), (_SMALL_LINE, subtitle))
    return _EDGE + sum(pixels for pixels, is_there in rows if is_there)


def write_above(whole: go.Figure, *, title: str, subtitle: str, narrow: bool = False) -> None:
    """Put the title, and a line below it, above a map, each in its own row."""
    whole.layout.margin.t = above(title=title, subtitle=subtitle, narrow=narrow)
    whole.layout.title.update(yref="container", y=1, yanchor="top", pad={"t": _EDGE, "l": 8})
    if title and subtitle:
        line = {"text": plain(subtitle, _MAX_LINE_LENGTH), "font": {"size": SMALLEST}}
        whole.layout.title.subtitle = line
    tools = {"bgcolor": "rgba(0,0,0,0)", "color": NEUTRAL, "activecolor": CATEGORICAL[0]}
    whole.layout.modebar = tools


def _headed(legend: str) -> dict[str, Any]:
    title = {"text": plain(legend), "side": "left", "font": {"size": SMALLEST}}
    return {"title": title} if legend else {}


def map_layout(
    ranges: Sequence[tuple[float, float]],
    *,
    legend: str,
    narrow: bool = False,
    side: int = 8,
) -> dict[str, Any]:
    """Axes without numbers, a thin frame, and a legend: under the map, or above a narrow one.

    Each axis has a scale of its own in two dimensions; `map_ranges` bounds how much they differ.

    Args:
        ranges: the range of each axis.
        legend: the title of the legend; "" for none.
        narrow: True if the map has a phone's width.
        side: the pixels at both sides of the frame.
    """
    layout: dict[str, Any] = {
        **GROWING,
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": True,
        "legend": {**_LEGEND, **(_ON_TOP if narrow else _headed(legend))},
        "margin": {"l": side, "r": side, "b": BELOW, "pad": 0},
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


# --- The ranges of the axes

Ranges = list[tuple[float, float]]
"""The start and end of each axis."""
_AIR, _MAX_AIR = 0.05, 0.19  # maximum margin as a share of the longest side and of its own
_THIN_MARGIN = 0.02  # minimum margin as a share of the longest side, for points that lie on a line
_SHAPES = 0.3, 3.3
"""Bounds of a frame's width in units of its height: they keep a thin cloud of points thin."""


def map_ranges(positions: FloatArray) -> Ranges:
    """The range of each axis: all points, with a margin; in two dimensions, of a bounded shape."""
    if not len(positions):
        return [(-1.0, 1.0)] * positions.shape[1]
    low, high = (edge.astype(float) for edge in (positions.min(axis=0), positions.max(axis=0)))
    spans = high - low
    longest = max(float(spans.max()), 1e-6)
    air = np.clip(_MAX_AIR * spans, _THIN_MARGIN * longest, _AIR * longest)
    low, high = low - air, high + air
    if len(spans) == 2:
        width, height = high - low
        narrowest, widest = _SHAPES
        missing = np.array(
            [max(0.0, narrowest * height - width), max(0.0, width / widest - height)]
        )
        low, high = low - missing / 2, high + missing / 2
    return list(zip(low.tolist(), high.tolist(), strict=True))


# --- The names of groups

_WIDE = (650.0, 430.0)  # a small desk's frame and a phone's, in pixels: labels must not touch there
_NARROW = (340.0, 300.0)
_LETTER_WIDTH, _LABEL_HEIGHT, _LABEL_MARGIN = 7.6, 17.0, 8.0  # pixels, at the font size of labels
_ABOVE = 16  # pixels above the middle of a cluster, so that the label does not hide it

_STYLE: dict[str, Any] = {"showarrow": False, "font": NAME_FONT}


def cluster_notes(
    labels: Sequence[ClusterLabel],
    ranges: Sequence[tuple[float, float]],
    *,
    narrow: bool = False,
) -> list[dict[str, Any]]:
    """Annotations for at most `MAX_GROUP_LABELS` clusters, the largest first.

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
        if not lines or len(notes) == MAX_GROUP_LABELS:
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
        if (
            lines
            and sum(len(other) + 3 for other in lines[-1]) + len(word) <= MAX_GROUP_NAME_CHARACTERS
        ):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [" · ".join(plain(word, MAX_GROUP_NAME_CHARACTERS) for word in line) for line in lines]


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


def sides(positions: FloatArray, labels: Mapping[int, str], ranges: Ranges) -> dict[int, str]:
    """For each labelled point, the side of its label.

    Args:
        positions: (n, 2) or (n, 3) of all points; in three dimensions all have the default side.
        labels: the texts, by the points' indices.
        ranges: the ranges of the axes.
    """
    usual = next(iter(SIDES))
    if positions.shape[1] != 2 or not labels:
        return dict.fromkeys(labels, usual)
    per_unit = _per_unit(_WIDE, ranges)
    at = {row: positions[row].astype(float) * per_unit for row in labels}
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
