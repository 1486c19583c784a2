"""The figures of the Layer by layer page."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.baseline import Band
from contextlens.content.wording import two
from contextlens.core.schema import FloatArray
from contextlens.features.layers.measures import LayerSimilarity, Measure
from contextlens.figures.frames import add_frames, spread
from contextlens.figures.margins import beside
from contextlens.figures.similarity import cosine_range
from contextlens.figures.theme import (
    CATEGORICAL,
    GROUND,
    INK,
    MUTED,
    NEUTRAL,
    SEQUENTIAL,
    SMALLEST,
    figure,
    ink_on,
    plain,
    values,
)

HEIGHT = 400
"""Pixels of the page's picture, the same for one token and for all."""

# --- One token among the others

_MOST_NAMES = 8  # of the other tokens, at the ends of their lines
_LONGEST_NAME = 14  # characters
_MOST_VALUES = 7  # written along the chosen token's line
_FEW_LINES = 40  # that can be told apart
_BELOW_LINES = 70  # pixels of the margin with the layers' numbers
_ABOVE_LINES = 40


def token_lines(
    measure: Measure,
    labels: Sequence[str],
    *,
    picked: int,
    layers: Sequence[int],
    layer: int,
    band: Band | None,
    band_name: str,
    axis: str,
    titles: Sequence[str],
    color: str,
    height: int = HEIGHT,
) -> go.Figure:
    """A measure of one token over the layers as a strong line, among those of the other tokens.

    There is a frame for each layer, in which the strong line has come to that layer.

    Args:
        measure: the numbers.
        labels: the text written on each token.
        picked: the chosen token's position.
        layers: all layers, each of which gets a frame.
        layer: the chosen layer.
        band: the yardstick, (n_layers,) each, or None for none.
        band_name: its name on the chart.
        axis: the name of the measure.
        titles: the finding at each of `layers`.
        color: of the strong line.
        height: in pixels.
    """
    x, names = list(measure.layers), token_names(labels)
    scale = _line_scale(measure, band)
    others = [i for i in range(len(names)) if i != picked]
    named = _ends_to_name(measure, others)
    notes = [
        *_end_names(measure, names, [picked, *named], scale, height),
        *_band_name(x, band, band_name, scale),
    ]
    frames = {n: _way_to(measure, picked, n, color) for n in layers}
    looks = {n: {"annotations": notes, "shapes": [_mark(n)]} for n in layers}
    still = [
        *_band_area(x, band, band_name),
        _faint_lines(measure, names, others),
        _whole_way(measure, picked, names[picked], color),
    ]
    ticks = list(layers)[:: ceil(len(layers) / _MAX_TICKS)]
    layout = {
        "xaxis": {
            "title": {"text": "layer"},
            "tickvals": ticks,
            "ticktext": ["start" if n == 0 else str(n) for n in ticks],
            "range": [layers[0] - 0.25, layers[-1] + 0.15],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {"title": {"text": plain(axis, 60)}, "range": list(scale), "zeroline": False},
        "shapes": [_mark(layer)],
        "margin": {
            "l": 80,
            "r": beside([_end_text(measure, names, i) for i in [picked, *named]], most=150),
            "t": _ABOVE_LINES,
            "b": _BELOW_LINES,
        },
        "hovermode": "closest",
    }
    title = titles[list(layers).index(layer)]
    chart = figure([*frames[layer], *still], layout, title=title, height=height)
    add_frames(chart, frames, layer, titles, looks=looks)
    return chart


def _line_scale(measure: Measure, band: Band | None) -> tuple[float, float]:
    if measure.kind == "length":
        return 0.0, 1.08 * float(measure.values.max(initial=1e-6))
    low = [] if band is None else [band.low]
    bottom, top = cosine_range(measure.values, *low)
    return bottom, top + 0.06


def _way_to(measure: Measure, picked: int, layer: int, color: str) -> list[dict[str, Any]]:
    """The chosen token's line up to a layer, and a dot at its end."""
    rows = [row for row, n in enumerate(measure.layers) if n <= layer]
    x, y = [measure.layers[row] for row in rows], values(measure.values[rows, picked])
    whole = {"type": "scatter", "hoverinfo": "skip", "zorder": 3}
    return [
        {**whole, "mode": "lines", "x": x, "y": y, "line": {"color": color, "width": 5}},
        {
            **whole,
            "mode": "markers",
            "x": x[-1:],
            "y": y[-1:],
            "marker": {"size": 16, "color": color},
            "cliponaxis": False,
        },
    ]


def _whole_way(measure: Measure, picked: int, name: str, color: str) -> dict[str, Any]:
    """The chosen token's line over all layers, thin, with some values between its ends."""
    along = values(measure.values[:, picked])
    last, step = len(along) - 1, ceil(len(along) / _MOST_VALUES)
    texts = [two(y) if 0 < i < last and i % step == 0 else "" for i, y in enumerate(along)]
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "x": list(measure.layers),
        "y": along,
        "text": texts,
        "textposition": "top right",
        "textfont": {"size": SMALLEST, "color": INK},
        "line": {"color": color, "width": 2, "dash": "dot"},
        "marker": {"size": 7, "color": color},
        "cliponaxis": False,
        "zorder": 2,
        "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.4f}}<extra></extra>",
    }


def _faint_lines(measure: Measure, names: Sequence[str], others: Sequence[int]) -> dict[str, Any]:
    """The other tokens' lines, as one trace with gaps."""
    x = [n for _ in others for n in (*measure.layers, None)]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": [y for i in others for y in (*values(measure.values[:, i]), None)],
        "customdata": [names[i] for i in others for _ in range(len(measure.layers) + 1)],
        "line": {"color": NEUTRAL, "width": 1.25},
        "opacity": 0.5 if len(others) <= _FEW_LINES else 0.15,
        "hovertemplate": "%{customdata}<br>layer %{x}: %{y:.4f}<extra></extra>",
    }


def _ends_to_name(measure: Measure, others: Sequence[int]) -> list[int]:
    """The other tokens whose lines get names: all, or of many the highest and the lowest."""
    if not measure.layers or len(others) <= _MOST_NAMES:
        return list(others)
    ranked = sorted(others, key=lambda i: -float(measure.values[-1, i]))
    return [*ranked[: _MOST_NAMES // 2], *ranked[-_MOST_NAMES // 2 :]]


def _end_text(measure: Measure, names: Sequence[str], position: int) -> str:
    name = plain(html.unescape(names[position]), _LONGEST_NAME)
    return f"{name} {two(float(measure.values[-1, position]))}" if measure.layers else name


def _end_names(
    measure: Measure,
    names: Sequence[str],
    positions: Sequence[int],
    scale: tuple[float, float],
    height: int,
) -> list[dict[str, Any]]:
    """Names and values at the right ends of lines, apart; the first one is bold."""
    if not measure.layers:
        return []
    gap = (scale[1] - scale[0]) * 18 / (height - _ABOVE_LINES - _BELOW_LINES)
    spots = spread([float(measure.values[-1, i]) for i in positions], gap, scale)
    notes = []
    for at, (position, spot) in enumerate(zip(positions, spots, strict=True)):
        text, is_first = _end_text(measure, names, position), at == 0
        note = _end(f"<b>{text}</b>" if is_first else text, spot)
        color = INK if is_first else MUTED
        notes.append({**note, "xshift": 10, "font": {"size": SMALLEST, "color": color}})
    return notes


def _band_area(x: list[int], band: Band | None, name: str) -> list[dict[str, Any]]:
    if band is None:
        return []
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [*x, *x[::-1]],
            "y": [*values(band.high), *values(band.low)[::-1]],
            "fill": "toself",
            "fillcolor": "rgba(128,128,128,0.2)",
            "line": {"width": 0},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": values(band.mean),
            "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
            "customdata": [*map(list, zip(values(band.low), values(band.high), strict=True))],
            "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.4f}} on average<br>"
            "90 of 100 from %{customdata[0]:.4f} to %{customdata[1]:.4f}<extra></extra>",
        },
    ]


def _band_name(
    x: list[int], band: Band | None, name: str, scale: tuple[float, float]
) -> list[dict[str, Any]]:
    """The band's name at its left end: below it, or above it if there is no room below."""
    if band is None or not x:
        return []
    has_room = float(band.low[0]) - scale[0] > 0.08
    return [
        {
            "text": name,
            "x": x[0],
            "y": float(band.low[0] if has_room else band.high[0]),
            "xanchor": "left",
            "yanchor": "top" if has_room else "bottom",
            "showarrow": False,
            "font": {"size": SMALLEST, "color": MUTED},
        }
    ]


# --- Heatmaps

_MAX_NUMBERS = 16  # the most columns whose cells have room for a number
_MAX_TICKS = 13
_MAX_GAPS = 64  # the most columns that are wide enough for a gap between them


def token_names(labels: Sequence[str]) -> list[str]:
    """Labels made safe and unique: repeated ones, such as "the", get their positions."""
    bare = [plain(label, 16) or "␣" for label in labels]
    counts = Counter(bare)
    names: list[str] = []
    for position, name in enumerate(bare):
        label = name if counts[name] == 1 else f"{name} ({position})"
        names.append(label if label not in names else f"{label} at {position}")
    return names


def layers_heatmap(
    measure: Measure,
    labels: Sequence[str],
    *,
    layer: int,
    picked: int | None,
    name: str,
    scale: tuple[float, float],
    title: str,
    height: int = HEIGHT,
) -> go.Figure:
    """A measure of every token at every layer, with frames around the chosen layer and token.

    Args:
        measure: the numbers.
        labels: the text written on each token.
        layer: the chosen layer.
        picked: the chosen token's position, or None for no frame.
        name: the name of the measure, for scale and hover.
        scale: the ends of the colour scale.
        title: the finding.
        height: in pixels.
    """
    names = token_names(labels)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": names,
        "y": list(range(len(measure.layers))),
        **_colours(scale, "length" if measure.kind == "length" else "cosine"),
        "xgap": int(len(names) <= _MAX_GAPS),
        "ygap": 1,
        "customdata": [[n] * len(names) for n in measure.layers],
        "hovertemplate": f"%{{x}}, layer %{{customdata}}<br>{name} %{{z:.4f}}<extra></extra>",
    }
    layout = {
        "xaxis": _token_axis(),
        "yaxis": _layer_axis(measure.layers),
        "shapes": _chosen(measure, layer, picked, len(names)),
        "margin": {"l": 64, "r": 74, "b": 40 if len(names) <= _MAX_NUMBERS else 72},
    }
    return figure(_traces(trace, measure.values, scale), layout, title=title, height=height)


def pairs_heatmap(
    pairs: FloatArray,
    labels: Sequence[str],
    *,
    scale: tuple[float, float],
    title: str,
    height: int = 500,
) -> go.Figure:
    """The cosine of every pair of tokens.

    Args:
        pairs: (n_tokens, n_tokens) cosines.
        labels: the text written on each token.
        scale: the ends of the colour scale.
        title: the finding.
        height: in pixels.
    """
    names = token_names(labels)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": names,
        "y": names,
        **_colours(scale, "cosine"),
        "hovertemplate": "%{y} ~ %{x}<br>cosine %{z:.4f}<extra></extra>",
    }
    layout = {
        "xaxis": _token_axis(),
        "yaxis": {**_token_axis(), "autorange": "reversed"},
        "margin": {"l": 96, "r": 74, "b": 40 if len(names) <= _MAX_NUMBERS else 88},
    }
    return figure(_traces(trace, pairs, scale), layout, title=title, height=height)


def spaces_heatmap(
    similarity: LayerSimilarity, *, names: tuple[str, str], title: str, height: int = 430
) -> go.Figure:
    """Linear CKA between layers, on a scale from 0 to 1; debiased and shuffled values on hover.

    Args:
        similarity: the numbers.
        names: the models whose layers go down and across.
        title: the finding.
        height: in pixels.
    """
    rows, columns = (list(range(n)) for n in similarity.cka.shape)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": columns,
        "y": rows,
        "customdata": np.stack(
            [_written(similarity.debiased), _written(similarity.shuffled)], 2
        ).tolist(),
        **_colours((0.0, 1.0), "linear CKA"),
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": (
            f"layer %{{y}} of {plain(names[0])}<br>layer %{{x}} of {plain(names[1])}<br>"
            "linear CKA %{z:.4f}<br>debiased %{customdata[0]}<br>"
            "with shuffled words %{customdata[1]}<extra></extra>"
        ),
    }
    layout = {
        "xaxis": {"title": {"text": f"layer of {plain(names[1])}"}, "dtick": 1, **_BARE},
        "yaxis": {
            "title": {"text": f"layer of {plain(names[0])}"},
            "dtick": 1,
            "autorange": "reversed",
            **_BARE,
        },
    }
    return figure(_traces(trace, similarity.cka, (0.0, 1.0)), layout, title=title, height=height)


def _written(matrix: FloatArray) -> np.ndarray:
    """Numbers for a hover, with "not defined" for nan."""
    return np.array(
        [[f"{v:.4f}" if np.isfinite(v) else "not defined" for v in row] for row in matrix]
    )


_BARE = {"showgrid": False, "zeroline": False, "ticks": ""}


def _rounded(matrix: FloatArray) -> list[list[float | None]]:
    return [[None if np.isnan(v) else round(float(v), 4) for v in row] for row in matrix]


def _colours(scale: tuple[float, float], name: str) -> dict[str, Any]:
    return {
        "zmin": scale[0],
        "zmax": scale[1],
        "colorscale": SEQUENTIAL,
        "colorbar": {"title": {"text": plain(name)}, "thickness": 8, "len": 0.9},
    }


def _cells(matrix: FloatArray, scale: tuple[float, float]) -> list[Any]:
    """A matrix as the z of one trace, or of two traces if its cells have room for numbers.

    Readable numbers have two colours, but a heatmap has only one. So one trace has the high values,
    the other the low ones.
    """
    if max(matrix.shape) > _MAX_NUMBERS:  # an array is sent in binary
        return [matrix.astype(np.float32)]
    shares = (matrix - scale[0]) / (scale[1] - scale[0])
    high = np.array([[ink_on(share) == GROUND for share in row] for row in shares.tolist()])
    return [_rounded(np.where(mask, matrix, np.nan)) for mask in (high, ~high)]


def _traces(
    trace: dict[str, Any], matrix: FloatArray, scale: tuple[float, float]
) -> list[dict[str, Any]]:
    """One trace or two, as `_cells` splits the matrix."""
    cells = _cells(matrix, scale)
    if len(cells) == 1:
        return [{**trace, "z": cells[0]}]
    return [
        {
            **trace,
            "z": z,
            "texttemplate": "%{z:.2f}",
            "textfont": {"color": color},
            "hoverongaps": False,
            "showscale": color == GROUND,
        }
        for z, color in zip(cells, (GROUND, INK), strict=True)
    ]


def _token_axis() -> dict[str, Any]:
    """Names as categories, so that the browser leaves some out if they do not all fit."""
    return {"type": "category", **_BARE}


def _layer_axis(layers: Sequence[int]) -> dict[str, Any]:
    """The layers' numbers, thinned out if they would touch."""
    thinned = slice(None, None, max(1, ceil(len(layers) / _MAX_TICKS)))
    return {
        "tickvals": list(range(len(layers)))[thinned],
        "ticktext": [f"layer {n}" for n in layers][thinned],
        "autorange": "reversed",
        **_BARE,
    }


def _chosen(
    measure: Measure, layer: int, picked: int | None, n_tokens: int
) -> list[dict[str, Any]]:
    """Frames around the chosen token's column and the chosen layer's row."""
    shapes = [] if picked is None else [_column(picked, len(measure.layers))]
    if layer in measure.layers:
        shapes.append(_row(measure.layers.index(layer), n_tokens))
    return shapes


def _column(position: int, n_rows: int) -> dict[str, Any]:
    return _frame(position - 0.5, position + 0.5, -0.5, n_rows - 0.5)


def _row(row: int, n_columns: int) -> dict[str, Any]:
    return _frame(-0.5, n_columns - 0.5, row - 0.5, row + 0.5)


def _frame(x0: float, x1: float, y0: float, y1: float) -> dict[str, Any]:
    line = {"color": CATEGORICAL[3], "width": 2}
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line}


# --- The spread of a model's layers


def random_pairs_lines(
    layers: Sequence[int], band: Band | None, *, layer: int, title: str, height: int = 320
) -> go.Figure:
    """The average cosine of random pairs of words at each layer, with the middle 90%."""
    x = list(layers)
    traces: list[dict[str, Any]] = []
    if band is not None:
        area = [*values(band.high), *values(band.low)[::-1]]
        traces = [
            {
                "type": "scatter",
                "mode": "lines",
                "x": [*x, *x[::-1]],
                "y": area,
                "fill": "toself",
                "fillcolor": "rgba(128,128,128,0.16)",
                "line": {"width": 0},
                "hoverinfo": "skip",
            },
            _line(x, band.mean, "average of random pairs", CATEGORICAL[0]),
        ]
    layout = {
        **_layer_axes(x, "cosine", (-0.25, 1.0)),
        "shapes": [_mark(layer)],
        "annotations": [] if band is None else [_end("average", float(band.mean[-1]))],
        "margin": {"l": 80, "r": 74},
    }
    return figure(traces, layout, title=title, height=height)


def variance_lines(
    layers: Sequence[int],
    shares: FloatArray,
    counts: Sequence[int],
    *,
    layer: int,
    title: str,
    height: int = 320,
) -> go.Figure:
    """The share of the variance in the first components, one line for each number of components."""
    x = list(layers)
    lines = [(count, shares[:, count - 1]) for count in counts]
    layout = {
        **_layer_axes(x, "share of the variance", (0.0, 1.0)),
        "shapes": [_mark(layer)],
        "annotations": [
            _end(f"first {count}" if count > 1 else "first", spot)
            for (count, _), spot in zip(lines, _apart([line[-1] for _, line in lines]), strict=True)
        ],
        "margin": {"l": 80, "r": 74},
    }
    traces = [
        _line(x, line, f"first {count}" if count > 1 else "first component", CATEGORICAL[i])
        for i, (count, line) in enumerate(lines)
    ]
    return figure(traces, layout, title=title, height=height)


def _mark(layer: int) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    ends = {"x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line}


def _layer_axes(x: list[int], name: str, between: tuple[float, float]) -> dict[str, Any]:
    ticks = x[:: ceil(len(x) / _MAX_TICKS)]
    return {
        "xaxis": {"title": {"text": "layer"}, "tickvals": ticks, "zeroline": False},
        "yaxis": {"title": {"text": name}, "range": list(between), "zeroline": False},
    }


def _line(x: list[int], y: FloatArray, name: str, color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": [None if np.isnan(v) else v for v in values(y)],
        "name": name,
        "line": {"color": color, "width": 2.25},
        "marker": {"size": 6},
        "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.4f}}<extra></extra>",
    }


def _apart(ends: Sequence[float]) -> list[float]:
    """Ascending heights, some moved up so that the names at these heights do not touch."""
    spots: list[float] = []
    for end in np.nan_to_num(np.array(ends)).tolist():
        spots.append(max(end, spots[-1] + 0.08) if spots else end)
    return spots


def _end(text: str, y: float) -> dict[str, Any]:
    """A line's name at its right end."""
    place = {"x": 1, "xref": "paper", "y": y, "xanchor": "left", "xshift": 6}
    return {"text": text, **place, "showarrow": False}
