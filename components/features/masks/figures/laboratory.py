"""The pictures of a padded text: lines over the layers, and all its tokens at every layer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from components.content.language import say
from components.features.masks.measures.laboratory import Lab, LabRow, token_labels
from components.figures.labels import spread
from components.figures.theme import (
    CATEGORICAL,
    NEUTRAL,
    SEQUENTIAL,
    figure,
    plain,
    values,
)

__all__ = ["layer_lines", "mask_range", "token_heatmap"]

_MAX_LINES = 24  # tokens that get a line each; more get a band
_ABOVE, _BELOW = 40, 68  # pixels of the margins above and below
_MAX_NAMES = 21  # tokens whose names have room beside a heatmap


def mask_range(lab: Lab) -> tuple[float, float]:
    """One scale for all of the page's cosines: 0 to 1, lower only where a cosine is negative."""
    damages = [row.damage for row in lab.rows]
    lowest = min(float(min(d.tokens.min(), d.mean_all.min(), d.pooled or 0.0)) for d in damages)
    return min(0.0, float(np.floor(lowest * 5)) / 5), 1.0


def layer_lines(
    row: LabRow,
    layer: int,
    *,
    scale: tuple[float, float],
    pooler: str,
    title: str,
    height: int = 390,
) -> go.Figure:
    """A text's similarity to its unpadded self over the layers: tokens, means, `pooler_output`."""
    x = list(row.damage.layers)
    lines = _main_lines(row)
    traces = [
        *_token_lines(row, x),
        *(_line(x, name, array, color) for name, array, color in lines),
        *_pooled(row, pooler),
    ]
    layout = {
        "xaxis": {
            "title": {"text": say("masks.figure.layer")},
            "tickvals": _layer_ticks(x),
            "range": [x[0] - 0.15, x[-1] + 0.25],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {
            "title": {"text": say("masks.figure.similarity")},
            "range": [scale[0] - 0.02, scale[1] + 0.04],
            "zeroline": False,
        },
        "shapes": [_layer_mark(layer)],
        "annotations": _end_labels(
            [*lines, *_pooled_label(row.damage.pooled, pooler), *_tokens_label(row)], scale, height
        ),
        "margin": {"l": 76, "r": 160, "t": _ABOVE, "b": _BELOW},
        "hovermode": "closest",
    }
    return figure(traces, layout, title=title, height=height)


def token_heatmap(
    row: LabRow, *, scale: tuple[float, float], title: str, height: int = 390
) -> go.Figure:
    """Each real token of a text at each layer: its cosine with itself in the text alone."""
    names = [plain(name, 16) for name in token_labels(row.alone)]
    x, cosines = list(row.damage.layers), row.damage.tokens.T
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": x,
        "y": list(range(len(names))),
        "z": values(cosines),
        "zmin": scale[0],
        "zmax": scale[1],
        "colorscale": SEQUENTIAL,
        "customdata": [[name] * len(x) for name in names],
        "hovertemplate": "%{customdata} at position %{y}<br>layer %{x}<br>similarity %{z:.4f}"
        "<extra></extra>",
        "xgap": 2 if len(names) <= _MAX_NAMES else 0,
        "ygap": 1 if len(names) <= _MAX_NAMES else 0,
        "colorbar": {"title": {"text": "similarity"}, "thickness": 8, "len": 0.9},
    }
    step = -(-len(names) // _MAX_NAMES)
    ticks = names if step == 1 else [f"{i}: {name}" for i, name in enumerate(names)]
    layout = {
        "xaxis": {"title": {"text": "layer"}, "tickvals": _layer_ticks(x), "ticks": ""},
        "yaxis": {
            "tickvals": list(range(0, len(names), step)),
            "ticktext": ticks[::step],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
        "margin": {"l": 96, "r": 68, "t": _ABOVE, "b": _BELOW},
    }
    return figure([trace], layout, title=title, height=height)


_Line = tuple[str, NDArray[Any], str]


def _main_lines(row: LabRow) -> list[_Line]:
    lines = [
        (row.alone.tokens[0], row.damage.first, CATEGORICAL[0]),
        (say("masks.line.mean"), row.damage.mean, CATEGORICAL[2]),
    ]
    if row.n_padding:
        name = say("masks.line.mean_all", pad=row.pad_token)
        lines.append((name, row.damage.mean_all, CATEGORICAL[3]))
    return lines


def _line(x: list[int], name: str, array: NDArray[Any], color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(array),
        "name": plain(name),
        "text": plain(name),
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 6},
        "hovertemplate": "%{text}<br>layer %{x}<br>similarity %{y:.4f}<extra></extra>",
    }


def _token_lines(row: LabRow, x: list[int]) -> list[dict[str, Any]]:
    """The real tokens, faint: a line each, or the band that they fill."""
    cosines = row.damage.tokens
    if row.n_real > _MAX_LINES:
        low, high = values(cosines.min(axis=1)), values(cosines.max(axis=1))
        area = {"fill": "toself", "fillcolor": "rgba(128,128,128,0.16)", "line": {"width": 0}}
        outline = {"x": [*x, *x[::-1]], "y": [*high, *low[::-1]], "hoverinfo": "skip"}
        return [{"type": "scatter", "mode": "lines", **outline, **area}]
    faint = {
        "mode": "lines",
        "opacity": 0.45,
        "name": None,
        "line": {"color": NEUTRAL, "width": 1.2},
    }
    return [
        _line(x, say("masks.line.token", name=name, at=i), cosines[:, i], NEUTRAL) | faint
        for i, name in enumerate(token_labels(row.alone))
        if i > 0
    ]


def _pooled(row: LabRow, name: str) -> list[dict[str, Any]]:
    if row.damage.pooled is None:
        return []
    point = _line([row.damage.layers[-1]], name, np.array([row.damage.pooled]), CATEGORICAL[4])
    return [point | {"mode": "markers", "marker": {"size": 9, "symbol": "diamond"}}]


def _pooled_label(pooled: float | None, name: str) -> list[_Line]:
    return [] if pooled is None else [(name, np.array([pooled]), CATEGORICAL[4])]


def _tokens_label(row: LabRow) -> list[_Line]:
    """A name for the faint lines (a band is of all tokens), at the lowest of them."""
    last = row.damage.tokens[-1]
    if row.n_real > _MAX_LINES:
        return [(say("masks.line.every"), last[[last.argmin()]], NEUTRAL)]
    others = last[1:]
    name = say("masks.line.others")
    return [(name, others[[others.argmin()]], NEUTRAL)] if others.size else []


def _end_labels(
    lines: list[_Line], scale: tuple[float, float], height: int
) -> list[dict[str, Any]]:
    """Names at the right ends, each with a dot in its line's colour."""
    gap = (scale[1] - scale[0]) * 17 / max(height - _ABOVE - _BELOW, 1)
    spots = spread([float(array[-1]) for _, array, _ in lines], gap, scale)
    return [
        {
            "text": f'<span style="color:{color}">●</span> {plain(name)}',
            "x": 1,
            "xref": "paper",
            "y": spot,
            "xanchor": "left",
            "xshift": 4,
            "showarrow": False,
        }
        for (name, _, color), spot in zip(lines, spots, strict=True)
    ]


def _layer_ticks(x: list[int]) -> list[int]:
    return x if len(x) <= 13 else x[:: 2 if len(x) <= 25 else 4]


def _layer_mark(layer: int) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    ends = {"x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line}
