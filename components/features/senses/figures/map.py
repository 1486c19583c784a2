"""A word's occurrences on a plane: each can be pointed at, and read in its sentence.

The plane's axes are principal components and have no unit; both have one scale. Every layer's frame
is as wide and high as its own points ask for, so that they fill it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.features.senses.figures.colors import Kind, kinds_of
from components.figures.frames import add_frames
from components.figures.theme import MAP_AXIS, figure, plain

__all__ = ["FILLED", "MAX_PLAYED", "Ranges", "Spot", "map_order", "ranges_of", "senses_map"]

Ranges = tuple[tuple[float, float], tuple[float, float]]
FILLED = 0.7
"""What points span of the frame at least, each way, unless they lie on a line."""
MAX_PLAYED = 40_000
"""Points in all frames together that are sent to be played by the browser."""
_AIR = 0.06  # of each side's own length, on both ends
_LINE = 0.02  # of the longer side: what there is beside points on a line
_SIZES = ((300, 9.0, 0.85), (2_000, 7.0, 0.75), (10**9, 5.0, 0.7))
_FADED = 0.15
_BAR = 32  # pixels: plotly's buttons, beside the frame
_HALF_LINE = 24  # characters before the word from which it begins a line
_INK = "#000037"
"""Streamlit's own sign for its text colour, light or dark; a near black anywhere else."""
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
    """What is written on a point: its context, its sense, its group, its cosine.

    Attributes:
        left, keyword, right: as they stand in the text.
        sense, group: "" for none.
        cosine: to what is compared with, or None.
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
    own: Mapping[int, FloatArray] | None = None,
    narrow: bool = False,
    height: int = 520,
) -> go.Figure:
    """The occurrences at one layer, and a frame for each layer that the layer bar moves between.

    Args:
        places: (n, 2) by layer.
        layer: the layer shown.
        spots: what each occurrence is.
        names, codes: what colours them: senses or groups, and the number of each one's own.
        titles: the finding at each layer.
        none: what those are called that have no sense or group.
        chosen: the occurrence with a ring and its word; None for none.
        selected: those that stay while all others fade; None for no selection.
        near: occurrences with a thin ring: the nearest to the own sentence.
        own: (2,) by layer, where the visitor's own sentence lies; None without one.
        narrow: whether it has a phone's width.
        height: in pixels.

    Raises:
        RequestError: places, spots and codes are not as many, or the layer has no places.
    """
    n = _checked(places, layer, spots, codes)
    kinds = kinds_of(names, codes, none=none)
    hovers = [_hover(spot) for spot in spots]
    traces = [_points(kind, places[layer], hovers, n, selected) for kind in kinds]
    traces += _rings(places[layer], chosen, near, own=None if own is None else own[layer])
    ranges = {at: ranges_of(_with_own(own_places, own, at)) for at, own_places in places.items()}
    x, y = _axes(ranges[layer])
    layout: dict[str, Any] = {
        "xaxis": x,
        "yaxis": y,
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": True,
        "modebar": {"orientation": "v", "bgcolor": "rgba(0,0,0,0)"},
        "legend": _LEGEND,
        "margin": {"l": 8, "r": _BAR, "t": 64 if narrow else 40, "b": 8},
    }
    whole = figure(traces, layout, title=titles[layer], height=height, narrow=narrow)
    if len(places) > 1 and len(places) * n <= MAX_PLAYED:
        moved = {
            at: _moved(kinds, own_places, chosen, near, own, at)
            for at, own_places in places.items()
        }
        looks = {
            at: dict(zip(("xaxis", "yaxis"), _axes(own), strict=True)) for at, own in ranges.items()
        }
        add_frames(whole, moved, layer, [titles[at] for at in moved], looks=looks, narrow=narrow)
    return whole


def map_order(names: Sequence[str], codes: IntArray) -> tuple[IntArray, ...]:
    """The occurrences of each of the first traces, to tell which one was clicked."""
    return tuple(kind.places for kind in kinds_of(names, codes, none=""))


def ranges_of(places: FloatArray) -> Ranges:
    """What each axis shows: all points, and some air around them."""
    if not len(places):
        return (-1.0, 1.0), (-1.0, 1.0)
    low, high = (edge.astype(float) for edge in (places.min(axis=0), places.max(axis=0)))
    spans = high - low
    longest = max(float(spans.max()), 1e-6)
    air = np.maximum(_AIR * spans, _LINE * longest)
    x, y = zip((low - air).tolist(), (high + air).tolist(), strict=True)
    return (x[0], x[1]), (y[0], y[1])


def _checked(
    places: Mapping[int, FloatArray], layer: int, spots: Sequence[Spot], codes: IntArray
) -> int:
    n = len(spots)
    shapes = {own.shape for own in places.values()}
    if shapes != {(n, 2)} or len(codes) != n or layer not in places:
        raise RequestError(
            f"{n} occurrences at layer {layer} need two coordinates and a number for each; given "
            f"were coordinates {sorted(shapes)} and {len(codes)} numbers."
        )
    return n


def _with_own(places: FloatArray, own: Mapping[int, FloatArray] | None, layer: int) -> FloatArray:
    return places if own is None else np.concatenate([places, own[layer][None]])


def _axes(ranges: Ranges) -> tuple[dict[str, Any], dict[str, Any]]:
    x, y = ranges
    return {"range": list(x), **MAP_AXIS}, {"range": list(y), **MAP_AXIS, "scaleanchor": "x"}


def _xy(places: FloatArray) -> dict[str, Any]:
    return {
        axis: np.ascontiguousarray(places[:, i], dtype=np.float32) for i, axis in enumerate("xy")
    }


def _points(
    kind: Kind,
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


def _rings(
    places: FloatArray, chosen: int | None, near: Sequence[int], own: FloatArray | None
) -> list[dict[str, Any]]:
    """Thin rings for the nearest, a thick one for the chosen, a star for the own sentence."""
    rings = []
    if len(near):
        rings.append(_ring(places[list(near)], "nearest to your sentence", "circle-open", 13, 1))
    if chosen is not None:
        rings.append(_ring(places[[chosen]], "chosen", "circle-open", 16, 3))
    if own is not None:
        rings.append(_ring(own[None], "your sentence", "star", 15, 1))
    return rings


def _ring(places: FloatArray, name: str, shape: str, size: int, line: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        **_xy(places),
        "marker": {
            "symbol": shape,
            "size": size,
            "color": _INK,
            "line": {"width": line, "color": _INK},
        },
        "name": name,
        "hoverinfo": "skip",
    }


def _moved(
    kinds: Sequence[Kind],
    places: FloatArray,
    chosen: int | None,
    near: Sequence[int],
    own: Mapping[int, FloatArray] | None,
    layer: int,
) -> list[dict[str, Any]]:
    """Where the traces are at another layer."""
    moved = [_xy(places[kind.places]) for kind in kinds]
    star = None if own is None else own[layer]
    return moved + [
        {axis: ring[axis] for axis in "xy"} for ring in _rings(places, chosen, near, star)
    ]


def _hover(spot: Spot) -> str:
    """A point's context with the word in bold, then what is known of it; safe for plotly."""
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
