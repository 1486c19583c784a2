"""The figures of the Senses page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.separation import Separation
from contextlens.content.wording import percent
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.figures.frames import add_frames, spread
from contextlens.figures.theme import (
    CATEGORICAL,
    INK,
    MAP_AXIS,
    MUTED,
    NEUTRAL,
    SMALLEST,
    figure,
    plain,
)

# --- Colours and shapes

MAX_COLORED = len(CATEGORICAL) - 1
"""Senses or groups with a colour of their own; the palette's last, a grey, is for the others."""
SHAPES = ("circle", "diamond", "square", "x", "cross", "triangle-up", "star")


@dataclass(frozen=True, eq=False)
class ColorKind:
    """The occurrences of one sense or group.

    Attributes:
        name: its name, safe for plotly.
        color, shape: those of its points.
        places: the indices of the occurrences.
    """

    name: str
    color: str
    shape: str
    places: IntArray


def kinds_of(names: Sequence[str], codes: IntArray, *, none: str) -> tuple[ColorKind, ...]:
    """The occurrences by colour; those without a number come first, to be drawn below the others.

    Args:
        names: the names of senses or groups, by number.
        codes: (n,) the number of each occurrence, -1 for none.
        none: the name for occurrences without a number.
    """
    n_named = len(names) if len(names) <= MAX_COLORED else MAX_COLORED - 1
    named_kinds = [
        ColorKind(
            plain(names[i]), CATEGORICAL[i], SHAPES[i % len(SHAPES)], np.flatnonzero(codes == i)
        )
        for i in range(n_named)
    ]
    rest = np.flatnonzero(codes >= n_named)
    others = f"other ({len(names) - n_named})"
    kinds = [
        ColorKind(none, NEUTRAL, "circle-open", np.flatnonzero(codes < 0)),
        ColorKind(others, CATEGORICAL[-1], "hexagon", rest),
        *named_kinds,
    ]
    return tuple(kind for kind in kinds if len(kind.places))


# --- The separation of senses at every layer

_MAX_TICKS = 13
_LOW = 0.3  # shares whose labels stand above them, clear of the axis
_BAND = "rgba(0,114,178,0.18)"


def separation_curve(
    curves: Sequence[tuple[str, Sequence[Separation]]],
    chance: float,
    *,
    layer: int,
    title: str,
    height: int = 340,
) -> go.Figure:
    """The share of uses given the right sense at each layer, with its interval.

    Args:
        curves: one word's, or two to compare, each with its name.
        chance: the accuracy of always naming the most frequent sense, for the first curve.
        layer: the layer shown.
        title: the title.
        height: in pixels.
    """
    colors = (CATEGORICAL[0], CATEGORICAL[1])
    traces: list[dict[str, Any]] = []
    for color, (name, curve) in zip(colors, curves, strict=False):
        traces += _with_band(curve, plain(name), color)
    layers = sorted({test.layer for _, curve in curves for test in curve})
    layout = {
        "xaxis": {
            "title": {"text": "layer (0 is the embedding layer)"},
            "tickvals": layers[:: max(1, ceil(len(layers) / _MAX_TICKS))],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {
            "title": {"text": "uses with the right sense" if len(curves) > 1 else ""},
            "range": [0.0, 1.02],
            "tickformat": ".0%",
            "zeroline": False,
        },
        "shapes": [_mark(layer), _chance_line(chance)],
        "annotations": [*_ends(curves), *_value(curves, layer), _chance_label(chance)],
        "margin": {"l": 90, "r": 96 if len(curves) > 1 else 20},
    }
    return figure(traces, layout, title=title, height=height)


def _with_band(curve: Sequence[Separation], name: str, color: str) -> list[dict[str, Any]]:
    x = [test.layer for test in curve]
    low, high = ([test.interval[i] for test in curve] for i in (0, 1))
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, *x[::-1]],
        "y": [*_rounded(high), *_rounded(low)[::-1]],
        "fill": "toself",
        "fillcolor": _BAND if color == CATEGORICAL[0] else "rgba(230,159,0,0.18)",
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": _rounded([test.accuracy for test in curve]),
        "name": name,
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 7},
        "customdata": [[test.right, test.n, *test.interval] for test in curve],
        "hovertemplate": (
            f"{name}<br>layer %{{x}}: %{{y:.4f}}<br>%{{customdata[0]}} of %{{customdata[1]}} "
            "right<br>95% from %{customdata[2]:.4f} to %{customdata[3]:.4f}<extra></extra>"
        ),
    }
    return [band, line]


def _ends(curves: Sequence[tuple[str, Sequence[Separation]]]) -> list[dict[str, Any]]:
    """The lines' names at their right ends; a single line needs none."""
    labels = [(plain(name, 14), curve[-1].accuracy) for name, curve in curves if curve]
    if len(curves) < 2:
        return []
    where = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6, "showarrow": False}
    spots = spread([y for _, y in labels], 0.08, (-0.2, 1.0))
    return [{"text": text, "y": y, **where} for (text, _), y in zip(labels, spots, strict=True)]


def _value(curves: Sequence[tuple[str, Sequence[Separation]]], layer: int) -> list[dict[str, Any]]:
    """The share at the shown layer, if there is one line."""
    tests = [test for _, curve in curves for test in curve if test.layer == layer]
    if len(curves) > 1 or not tests:
        return []
    accuracy = tests[0].accuracy
    is_low = accuracy < _LOW
    edge = {"yanchor": "bottom", "yshift": 10} if is_low else {"yanchor": "top", "yshift": -14}
    where = {"x": layer, "y": accuracy, "xanchor": "right", **edge}
    font = {"size": 16, "color": INK}
    return [{"text": f"<b>{percent(accuracy)}</b>", **where, "showarrow": False, "font": font}]


def _chance_line(chance: float) -> dict[str, Any]:
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": chance, "y1": chance}
    return {"type": "line", **ends, "line": {"color": NEUTRAL, "width": 1.5, "dash": "dash"}}


def _chance_label(chance: float) -> dict[str, Any]:
    edge = "bottom" if chance < _LOW else "top"
    where = {"x": 1, "xref": "paper", "xanchor": "right", "y": chance, "yanchor": edge}
    font = {"color": MUTED, "size": SMALLEST}
    return {"text": "always guessing", **where, "showarrow": False, "font": font}


def _mark(layer: int) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    ends = {"x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line}


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(float(number), 5) for number in numbers]


# --- A word's occurrences on a plane

Ranges = tuple[tuple[float, float], tuple[float, float]]
MAX_PLAYED = 40_000
"""Maximum number of points in all frames together that the browser receives for playback."""
_AIR = 0.06  # of each side's own length, on both ends
_FLATTEST = 0.25  # of the longer side: points nearly on a line are not stretched further
_SIZES = ((300, 9.0, 0.85), (2_000, 7.0, 0.75), (10**9, 5.0, 0.7))
_FADED = 0.15
_BAR = 42  # pixels beside the frame, for plotly's buttons
_MAX_NAMES = 6  # on the map; the legend has them all
_NAME = 0.07  # of the height: the room of a name
_HALF_LINE = 24  # with more characters before it, the word begins a new line
_LEGEND = {
    "orientation": "h",
    "x": 0,
    "y": -0.03,
    "yanchor": "top",
    "itemsizing": "constant",
    "bgcolor": "rgba(0,0,0,0)",
}


@dataclass(frozen=True)
class Spot:
    """The text of a point: its context, its sense, its group, its cosine.

    Attributes:
        left, keyword, right: the parts of the text.
        sense, group: "" for none.
        cosine: to the target of the comparison, or None.
    """

    left: str
    keyword: str
    right: str
    sense: str = ""
    group: str = ""
    cosine: float | None = None


def senses_map(
    places: Mapping[int, FloatArray],
    layer: int,
    spots: Sequence[Spot],
    names: Sequence[str],
    codes: IntArray,
    *,
    titles: Mapping[int, str],
    none: str = "no sense",
    chosen: int | None = None,
    selected: Sequence[int] | None = None,
    near: Sequence[int] = (),
    sentence_places: Mapping[int, FloatArray] | None = None,
    narrow: bool = False,
    height: int = 520,
) -> go.Figure:
    """The occurrences at one layer, with a frame for each layer of the layer bar.

    Args:
        places: (n, 2) coordinates by layer.
        layer: the layer shown.
        spots: the description of each occurrence.
        names, codes: the senses or groups behind the colours, and the number of each occurrence.
        titles: the finding at each layer.
        none: the name for occurrences without a sense or group.
        chosen: the occurrence with a thick ring; None for none.
        selected: those that stay while all others fade; None for no selection.
        near: occurrences with a thin ring: the nearest to the visitor's sentence.
        sentence_places: (2,) by layer, the position of the visitor's sentence; None without one.
        narrow: True to break the title into lines.
        height: in pixels.

    Raises:
        RequestError: places, spots and codes differ in number, or the layer has no places.
    """
    n = _checked(places, layer, spots, codes)
    kinds = kinds_of(names, codes, none=none)
    hovers = [_hover(spot) for spot in spots]
    traces = [_points(kind, places[layer], hovers, n, selected) for kind in kinds]
    traces.append(_names(kinds, places[layer]))
    at_layer = None if sentence_places is None else sentence_places[layer]
    traces += _rings(places[layer], chosen, near, sentence_place=at_layer)
    ranges = {
        at: ranges_of(_with_sentence(layer_places, sentence_places, at))
        for at, layer_places in places.items()
    }
    x, y = _axes(ranges[layer])
    layout: dict[str, Any] = {
        "xaxis": x,
        "yaxis": y,
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": True,
        "modebar": {"orientation": "v", "bgcolor": "rgba(0,0,0,0)"},
        "legend": _LEGEND,
        "margin": {"l": 12, "r": _BAR, "t": 64 if narrow else 40, "b": 8},
    }
    whole = figure(traces, layout, title=titles[layer], height=height, narrow=narrow)
    if len(places) > 1 and len(places) * n <= MAX_PLAYED:
        moved = {
            at: _moved(kinds, layer_places, chosen, near, sentence_places, at)
            for at, layer_places in places.items()
        }
        looks = {
            at: dict(zip(("xaxis", "yaxis"), _axes(bounds), strict=True))
            for at, bounds in ranges.items()
        }
        add_frames(whole, moved, layer, [titles[at] for at in moved], looks=looks, narrow=narrow)
    return whole


def map_order(names: Sequence[str], codes: IntArray) -> tuple[IntArray, ...]:
    """The occurrences of each trace of points, in order, to identify a clicked one."""
    return tuple(kind.places for kind in kinds_of(names, codes, none=""))


def ranges_of(places: FloatArray) -> Ranges:
    """The range of each axis: all points, with a margin; each axis has its own scale."""
    if not len(places):
        return (-1.0, 1.0), (-1.0, 1.0)
    low, high = (edge.astype(float) for edge in (places.min(axis=0), places.max(axis=0)))
    spans = high - low
    longest = max(float(spans.max()), 1e-6)
    air = np.maximum(_AIR * spans, (_FLATTEST * longest - spans) / 2)
    x, y = zip((low - air).tolist(), (high + air).tolist(), strict=True)
    return (x[0], x[1]), (y[0], y[1])


def _checked(
    places: Mapping[int, FloatArray], layer: int, spots: Sequence[Spot], codes: IntArray
) -> int:
    n = len(spots)
    shapes = {coordinates.shape for coordinates in places.values()}
    if shapes != {(n, 2)} or len(codes) != n or layer not in places:
        raise RequestError(
            f"{n} occurrences at layer {layer} need two coordinates and a number for each; given "
            f"were coordinates {sorted(shapes)} and {len(codes)} numbers."
        )
    return n


def _with_sentence(
    places: FloatArray, sentence_places: Mapping[int, FloatArray] | None, layer: int
) -> FloatArray:
    if sentence_places is None:
        return places
    return np.concatenate([places, sentence_places[layer][None]])


def _axes(ranges: Ranges) -> tuple[dict[str, Any], dict[str, Any]]:
    x, y = ranges
    return {"range": list(x), **MAP_AXIS}, {"range": list(y), **MAP_AXIS}


def _xy(places: FloatArray) -> dict[str, Any]:
    return {
        axis: np.ascontiguousarray(places[:, i], dtype=np.float32) for i, axis in enumerate("xy")
    }


def _points(
    kind: ColorKind,
    places: FloatArray,
    hovers: Sequence[str],
    n: int,
    selected: Sequence[int] | None,
) -> dict[str, Any]:
    size, opacity = next((size, opacity) for most, size, opacity in _SIZES if n <= most)
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        **_xy(places[kind.places]),
        "marker": {"size": size, "opacity": opacity, "color": kind.color, "symbol": kind.shape},
        "name": kind.name,
        "hovertext": [hovers[i] for i in kind.places],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "unselected": {"marker": {"opacity": _FADED}},
    }
    if selected is not None:
        trace["selectedpoints"] = np.flatnonzero(np.isin(kind.places, list(selected))).tolist()
    return trace


def _names(kinds: Sequence[ColorKind], places: FloatArray) -> dict[str, Any]:
    """The names of a few senses or groups, each in the middle of its points; none of many."""
    named_kinds = [kind for kind in kinds if kind.color not in {NEUTRAL, CATEGORICAL[-1]}]
    if not 1 < len(named_kinds) <= _MAX_NAMES:
        named_kinds = []
    middles = [np.median(places[kind.places], axis=0).tolist() for kind in named_kinds]
    low, high = ranges_of(places)[1]
    heights = spread([y for _, y in middles], _NAME * (high - low), (low, high))
    return {
        "type": "scatter",
        "mode": "text",
        "x": [x for x, _ in middles],
        "y": heights,
        "text": [f"<b>{kind.name}</b>" for kind in named_kinds],
        "textfont": {"size": 16, "color": INK},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _rings(
    places: FloatArray, chosen: int | None, near: Sequence[int], sentence_place: FloatArray | None
) -> list[dict[str, Any]]:
    """Thin rings for the nearest, a thick one for the chosen, a star for the visitor's sentence."""
    rings = []
    if len(near):
        rings.append(_ring(places[list(near)], "nearest to your sentence", "circle-open", 13, 1))
    if chosen is not None:
        rings.append(_ring(places[[chosen]], "chosen", "circle-open", 16, 3))
    if sentence_place is not None:
        rings.append(_ring(sentence_place[None], "your sentence", "star", 15, 1))
    return rings


def _ring(places: FloatArray, name: str, shape: str, size: int, line: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        **_xy(places),
        "marker": {
            "symbol": shape,
            "size": size,
            "color": INK,
            "line": {"width": line, "color": INK},
        },
        "name": name,
        "hoverinfo": "skip",
    }


def _moved(
    kinds: Sequence[ColorKind],
    places: FloatArray,
    chosen: int | None,
    near: Sequence[int],
    sentence_places: Mapping[int, FloatArray] | None,
    layer: int,
) -> list[dict[str, Any]]:
    """The coordinates of the traces at another layer."""
    moved = [_xy(places[kind.places]) for kind in kinds]
    names = _names(kinds, places)
    moved.append({axis: names[axis] for axis in "xy"})
    star = None if sentence_places is None else sentence_places[layer]
    return moved + [
        {axis: ring[axis] for axis in "xy"} for ring in _rings(places, chosen, near, star)
    ]


def _hover(spot: Spot) -> str:
    """A point's context with the word in bold, then its labels; safe for plotly."""
    left, word, right = (
        html.escape(part, quote=False) for part in (spot.left, spot.keyword, spot.right)
    )
    is_long = len(spot.left) > _HALF_LINE and len(spot.right) > 0
    lines = [left.rstrip(), f"<b>{word}</b>{right}"] if is_long else [f"{left}<b>{word}</b>{right}"]
    if spot.sense:
        lines.append(f"sense: {plain(spot.sense)}")
    if spot.group:
        lines.append(plain(spot.group))
    if spot.cosine is not None:
        lines.append(f"cosine {spot.cosine:.4f}")
    return "<br>".join(lines)
