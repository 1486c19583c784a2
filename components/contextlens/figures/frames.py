"""Parts of figures: frames, labels, strips of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.core.schema import FloatArray
from contextlens.figures.theme import MUTED, NEUTRAL, SIGNED, figure, heading, plain

__all__ = [
    "MIN_END",
    "add_frames",
    "end_label",
    "layer_mark",
    "signed_bound",
    "signed_end",
    "spread",
    "vector_strips",
]


# --- Lines over the layers: the chosen layer's mark, names at the ends


def layer_mark(layer: int) -> dict[str, Any]:
    """Return the dotted vertical line at a layer."""
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    ends = {"x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line}


def end_label(text: str, y: float, *, color: str = MUTED) -> dict[str, Any]:
    """Return a line's name at its right end."""
    position = {"x": 1, "xref": "paper", "y": y, "xanchor": "left", "xshift": 6}
    return {"text": text, **position, "showarrow": False, "font": {"color": color}}


def spread(spots: Sequence[float], gap: float, scale: tuple[float, float]) -> list[float]:
    """Return the heights, moved apart to keep the gap: between those pushed up and pushed down.

    What has no space on the scale is below it.
    """
    low, high = scale
    inside = [min(max(spot, low), high) for spot in spots]
    up = _pushed_up(inside, gap, high)
    down = _pushed_up([-spot for spot in inside][::-1], gap, -low)[::-1]
    placed = [(one - other) / 2 for one, other in zip(up, down, strict=True)]
    over = max(0.0, max(placed, default=low) - high)
    return [height - over for height in placed]


def _pushed_up(spots: Sequence[float], gap: float, high: float) -> list[float]:
    """Return the heights, moved up to keep the gap, then down if they pass the highest one."""
    order = sorted(range(len(spots)), key=lambda i: spots[i])
    placed = list(spots)
    for lower, upper in pairwise(order):
        placed[upper] = max(placed[upper], placed[lower] + gap)
    over = max((placed[i] for i in order), default=0.0) - high
    if over > 0 and order:
        placed[order[-1]] -= over
        for upper, lower in pairwise(order[::-1]):
            placed[lower] = min(placed[lower], placed[upper] - gap)
    return placed


# --- A frame for each layer


def add_frames(
    chart: go.Figure,
    traces: Mapping[int, Sequence[dict[str, Any]]],
    layer: int,
    titles: Sequence[str],
    *,
    notes: Sequence[dict[str, Any]] = (),
    looks: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
    narrow: bool = False,
) -> None:
    """Give a figure a frame for each layer, named by its number; the layer bar switches frames.

    Args:
        chart: the figure, drawn at `layer`.
        traces: the traces of each layer, which replace the first ones of the figure.
        layer: the visible layer.
        titles: the finding at each layer.
        notes: annotations at the visible layer.
        looks: other parts of the layout that differ by layer, such as annotations.
        narrow: True if titles are broken into lines.
    """
    written = {n: [*looks.get(n, {}).get("annotations", ())] for n in (*traces, layer)}
    written[layer] += notes
    lines = {n: [*look["shapes"]] for n, look in looks.items() if "shapes" in look}
    frames = []  # titles are bold, as Streamlit makes the figure's own title
    any_title = chart.layout.title.to_plotly_json()
    any_title["font"] = {**any_title.get("font", {}), "weight": 700}
    for (n, moving), title in zip(traces.items(), titles, strict=True):
        own_title = {**any_title, "text": heading(title, narrow=narrow)}
        layout = {**looks.get(n, {}), "annotations": _whole(n, written), "title": own_title}
        if n in lines:
            layout["shapes"] = _whole(n, lines)
        traced = list(range(len(moving)))
        frame = go.Frame({"name": str(n), "data": list(moving), "traces": traced})
        frame.layout._validate = False  # as a figure's: the tests check it
        for name, part in layout.items():
            frame.layout[name] = part
        frames.append(frame)
    chart._frame_objs = tuple(frames)  # to set `frames` would check them
    chart.layout.annotations = written[layer]


def _whole(n: int, parts: Mapping[int, Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return a frame's annotations or shapes, as many as any has: plotly keeps unnamed ones."""
    most = max(map(len, parts.values()))
    named = [{"visible": True, **part} for part in parts[n]]
    return [*named, *[{"visible": False}] * (most - len(named))]


# --- Vectors as heat strips


def signed_bound(*arrays: FloatArray) -> float:
    """Return the end of a scale that is symmetric around zero: 99.5 of 100 values lie within.

    A few values of [CLS] and [SEP] are ten times the others and would leave no colour for the rest.
    """
    together = np.concatenate([np.abs(array).ravel() for array in arrays])
    return float(np.quantile(together, 0.995, method="lower")) or 1.0 if together.size else 1.0


MIN_END = 1e-3
"""The smallest end of a scale of changes: below it, colours would only show rounding."""


def signed_end(*arrays: NDArray[np.floating[Any]], min_end: float = MIN_END) -> float:
    """Return the end of a scale that is symmetric around zero: the largest absolute value of all.

    Args:
        arrays: of any shape; NaN is ignored.
        min_end: the smallest end that is returned.
    """
    sizes = [float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in arrays]
    return max(*sizes, min_end) if sizes else min_end


def vector_strips(
    rows: FloatArray,
    names: Sequence[str],
    *,
    title: str,
    bound: float | None = None,
    first: int = 0,
    chosen: int | None = None,
    height: int = 300,
) -> go.Figure:
    """Return (n_rows, n_dims) vectors as strips, with exact values on hover.

    Args:
        rows: the values.
        names: each row's name, on the axis; a token's own text, which is escaped here.
        title: the finding.
        bound: the scale runs from minus this to this; by default `signed_bound` of the rows.
        first: the number of the first dimension.
        chosen: the row with a mark before its name.
        height: in pixels.
    """
    end = signed_bound(rows) if bound is None else bound
    labels = [f"▸ {plain(name)}" if i == chosen else plain(name) for i, name in enumerate(names)]
    places = list(range(len(labels)))
    dims = list(range(first, first + rows.shape[1]))
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": rows.astype(np.float32),  # five times as fast as lists, and half the bytes
        "x": dims,
        "y": places,
        "zmin": -end,
        "zmax": end,
        **SIGNED,
        "ygap": 2,
        "hovertemplate": "%{y}<br>dimension %{x}: %{z:.4f}<extra></extra>",
        "colorbar": {"title": {"text": "value"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {"title": {"text": "dimension"}, "showgrid": False, "zeroline": False},
        "yaxis": {
            "tickvals": places,
            "ticktext": labels,
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
        "margin": {"l": 110, "r": 74, "b": 78},
    }
    return figure([trace], layout, title=title, height=height)
