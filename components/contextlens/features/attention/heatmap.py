"""A heatmap of one attention matrix: tokens in rows attend to tokens in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.snippet_start import literal
from contextlens.core.schema import FloatArray
from contextlens.features.attention.grid import Grid
from contextlens.figures.margins import below, beside
from contextlens.figures.theme import NEUTRAL, SEQUENTIAL, figure, plain

_ANGLE = -50  # degrees, of the column names
_ALL_TICKS = {"x": 18, "y": 20}  # the most items whose names all fit on an axis
_FEW_TICKS = 12
_SUB_PIXEL = 200  # from this many items on, cells are smaller than a pixel
_MAX_SMALL = 40  # up to this many items, one weight is a visible cell


def weight_bound(weights: FloatArray) -> float:
    """The end of the colour scale: the largest weight; in a large grid, the median row maximum.

    In a long text, a single large weight would otherwise leave no colour for the others.
    """
    if not weights.size:
        return 1.0
    largest = weights.max(axis=1)
    end = np.median(largest) if max(weights.shape) > _MAX_SMALL else largest.max()
    return float(end) or float(largest.max()) or 1.0


def attention_heatmap(
    weights: FloatArray,
    rows: Sequence[tuple[int, str]],
    columns: Sequence[tuple[int, str]],
    *,
    title: str,
    marked: tuple[int, int] | None = None,
) -> go.Figure:
    """(n_rows, n_columns) weights from 0 to 1, exact on hover.

    Args:
        weights: the values.
        rows, columns: (position, label) of each item; labels are escaped here.
        title: the finding.
        marked: the row and the column of the cell that gets a frame.
    """
    row_names, column_names = _categories(rows), _categories(columns)
    trace: dict[str, Any] = {
        "type": "heatmap",
        # An array travels in binary: a third of the bytes of text.
        "z": np.ascontiguousarray(weights, dtype=np.float32),
        "x": column_names,
        "y": row_names,
        "zmin": 0.0,
        "zmax": weight_bound(weights),
        "colorscale": SEQUENTIAL,
        # Average cells smaller than a pixel instead of dropping them.
        "zsmooth": "fast" if max(weights.shape) > _SUB_PIXEL else False,
        "hovertemplate": "from %{y}<br>to %{x}<br>weight %{z:.4f}<extra></extra>",
        "colorbar": {
            "title": {"text": "weight"},
            "thickness": 8,
            "len": 0.9,
            "nticks": 5,
            "exponentformat": "none",
        },
    }
    across, down = _axis("x", columns, column_names), _axis("y", rows, row_names)
    layout = {
        "xaxis": across | {"tickangle": _ANGLE, "side": "bottom"},
        "yaxis": down | {"autorange": "reversed"},
        "margin": {
            "l": beside(_visible_names(down)),
            "r": 74,
            "b": below(_visible_names(across), _ANGLE),
        },
        "shapes": [] if marked is None else [_frame(*marked)],
    }
    return figure([trace], layout, title=title, height=396)


def _categories(items: Sequence[tuple[int, str]]) -> list[str]:
    """A unique name for each item, for the hover."""
    return [f"{position} {plain(label, 14)}" for position, label in items]


def _axis(
    letter: str, items: Sequence[tuple[int, str]], categories: Sequence[str]
) -> dict[str, Any]:
    """A short axis has every name; a long one has every nth, with its position."""
    step = 1 if len(items) <= _ALL_TICKS[letter] else -(-len(items) // _FEW_TICKS)
    ticks = {"ticktext": [plain(label, 14) for _, label in items]} if step == 1 else {}
    return {
        "type": "category",
        "tickvals": list(categories[::step]),
        **ticks,
        "automargin": True,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
    }


def _visible_names(axis: Mapping[str, Any]) -> list[str]:
    names: list[str] = axis.get("ticktext", axis["tickvals"])
    return names


def _frame(row: int, column: int) -> dict[str, Any]:
    """A line around a cell."""
    return {
        "type": "rect",
        "x0": column - 0.5,
        "x1": column + 0.5,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"color": NEUTRAL, "width": 3},
    }


def heatmap_script(grid: Grid) -> str:
    """A script that goes on from that of the page: the weights as a heatmap."""
    rows, columns = (
        f"[{', '.join(literal(f'{i} {item.label}') for i, item in enumerate(items))}]"
        for items in (grid.rows, grid.columns)
    )
    lines = [
        "import plotly.express as px",
        "",
        f"rows = {rows}",
        f"columns = {'rows' if rows == columns else columns}",
        'names = {"x": "looks at", "y": "from", "color": "weight"}',
        'px.imshow(attention.numpy(), x=columns, y=rows, labels=names, aspect="auto")',
    ]
    return "\n".join(lines) + "\n"
