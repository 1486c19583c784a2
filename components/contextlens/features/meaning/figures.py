"""The cosines of all words with each other at one layer, as a matrix."""

from __future__ import annotations

from typing import Any

from plotly import graph_objects as go

from contextlens.analysis.similarity import Comparison
from contextlens.content.wording import number, two
from contextlens.core.schema import FloatArray
from contextlens.figures.margins import below, beside
from contextlens.figures.theme import SEQUENTIAL, SMALLEST, figure, ink_on, plain, values

_ANGLE = -35  # degrees, of the names below the matrix
_MAX_CELLS = 8  # words in a matrix whose cells still have room for numbers


def cosine_heatmap(
    comparison: Comparison,
    matrix: FloatArray,
    *,
    scale: tuple[float, float],
    title: str,
    height: int = 430,
) -> go.Figure:
    """The cosines of all items with each other, on the page's fixed scale."""
    kind = comparison.measure
    names = [plain(item.name, 16) for item in comparison.items]
    positions = list(range(len(names)))
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": positions,
        "y": positions,
        "z": values(matrix),
        "zmin": scale[0],
        "zmax": scale[1],
        "colorscale": SEQUENTIAL,
        "text": [
            [_cell_text(a, b, kind, v) for b, v in zip(names, row, strict=True)]
            for a, row in zip(names, matrix, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "xgap": 2,
        "ygap": 2,
        "showscale": len(names) > _MAX_CELLS,  # numbers in cells need no colour bar
        "colorbar": {"title": {"text": comparison.measure}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {
            "tickvals": positions,
            "ticktext": names,
            "side": "bottom",
            "showgrid": False,
            "zeroline": False,
            "tickangle": _ANGLE,
            "ticks": "",
        },
        "yaxis": {
            "tickvals": positions,
            "ticktext": names,
            "autorange": "reversed",
            "ticks": "",
            "showgrid": False,
            "zeroline": False,
        },
        "margin": {"l": beside(names), "r": 12, "t": 16, "b": below(names, _ANGLE)},
        "annotations": _cell_labels(matrix, scale) if len(names) <= _MAX_CELLS else [],
    }
    return figure([trace], layout, title=title, height=height)


def _cell_labels(matrix: FloatArray, scale: tuple[float, float]) -> list[dict[str, Any]]:
    """The values in their cells."""
    low, high = scale
    return [
        {
            "text": two(value),
            "x": x,
            "y": y,
            "showarrow": False,
            "font": {"size": SMALLEST, "color": ink_on((value - low) / (high - low))},
        }
        for y, row in enumerate(matrix)
        for x, value in enumerate(row)
    ]


def _cell_text(a: str, b: str, kind: str, value: float) -> str:
    return f"{a} ~ {b}<br>{kind} {number(value, '.4f')}"
