"""A matrix of signed numbers between words: shares of the cosine, or what pairs of words cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.features.why.figures.axes import (
    LEAST,
    Numbers,
    colorbar,
    names,
    signed,
    signed_end,
    titled,
    word_axis,
)
from components.figures.room import below, beside
from components.figures.strips import signed_bound
from components.figures.theme import NEUTRAL, SIGNED

__all__ = ["signed_matrix"]

_ANGLE = -50  # degrees, of the names below
_TITLE = 33  # pixels of an axis' title, beside its names
_NAMED = 18  # words that have room for their names
_MANY = 64  # words whose cells are too narrow for a gap between them, and for a name each on hover


def signed_matrix(
    values: Numbers,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    quantity: str,
    title: str,
    axes: tuple[str, str] = ("", ""),
    marked: tuple[int | None, int | None] = (None, None),
    height: int = 360,
    least: float = LEAST,
) -> go.Figure:
    """(n_rows, n_columns) values in the theme's two colours, centred on zero, exact on hover.

    Among very many cells a few large ones would leave no colour for the others: the scale then ends
    where 99.5 of 100 lie within, and says so.

    Args:
        values: NaN where there is nothing to show.
        rows, columns: the words, escaped here.
        quantity: what a value is, for hover and scale.
        title: the finding.
        axes: what stands down and across.
        marked: a row and a column that get a frame.
        height: in pixels.
        least: the smallest end of the scale.
    """
    is_small = max(values.shape, default=0) <= _MANY
    end = signed_end(values, least=least) if is_small else signed_bound(values.astype(np.float32))
    gap = int(is_small)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": np.ascontiguousarray(values, dtype=np.float32),  # travels in binary
        "zmin": -end,
        "zmax": end,
        **SIGNED,
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        "colorbar": colorbar(quantity, end, is_whole=is_small),
        **_hover(values, rows, columns, quantity),
    }
    across, down = (word_axis(words, most=_few(words)) for words in (columns, rows))
    layout = {
        "xaxis": {**across, "title": {"text": axes[1]}, "tickangle": _ANGLE},
        "yaxis": {**down, "title": {"text": axes[0]}, "range": [len(rows) - 0.5, -0.5]},
        "margin": {
            "l": beside(down["ticktext"]) + _TITLE,
            "r": 76,
            "b": below(across["ticktext"], _ANGLE) + _TITLE,
        },
        "shapes": [
            _frame(axis, index)
            for axis, index in zip("yx", marked, strict=True)
            if index is not None
        ],
    }
    return titled([trace], layout, title=title, height=height)


def _few(words: Sequence[str]) -> int:
    """How many of them are named: all that have room, or so many that a reader finds the place."""
    return _NAMED if len(words) <= _NAMED else _NAMED // 2


def _hover(
    values: Numbers, rows: Sequence[str], columns: Sequence[str], quantity: str
) -> dict[str, Any]:
    """Both words and the value; of very many, where they stand."""
    if max(len(rows), len(columns)) > _MANY:
        return {
            "hovertemplate": f"row %{{y}}, column %{{x}}<br>{quantity} %{{z:.4f}}<extra></extra>"
        }
    across, down = names(columns), names(rows)
    return {
        "customdata": [
            [[row, column, signed(value, 4)] for column, value in zip(across, own, strict=True)]
            for row, own in zip(down, values.tolist(), strict=True)
        ],
        "hovertemplate": (
            f"%{{customdata[0]}} × %{{customdata[1]}}<br>{quantity} %{{customdata[2]}}"
            "<extra></extra>"
        ),
    }


def _frame(axis: str, index: int) -> dict[str, Any]:
    other = "x" if axis == "y" else "y"
    return {
        "type": "rect",
        f"{other}ref": "paper",
        f"{other}0": 0,
        f"{other}1": 1,
        f"{axis}0": index - 0.5,
        f"{axis}1": index + 0.5,
        "line": {"color": NEUTRAL, "width": 2},
    }
