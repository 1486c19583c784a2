"""Charts of signed numbers: bars of words, a matrix of pairs of words, and their axes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.wording import shortened, signed
from contextlens.figures.frames import MIN_END, signed_bound, signed_end
from contextlens.figures.margins import below, beside
from contextlens.figures.theme import HIGH, LOW, NEUTRAL, SIGNED, figure, plain, values

# --- Colours, axes and titles

HEIGHT = 300
"""The height of the page's pictures, in pixels."""

Numbers = NDArray[np.floating[Any]]

BARE: Mapping[str, Any] = MappingProxyType({"showgrid": False, "zeroline": False, "ticks": ""})
_MAX_NAMES = 24
_MAX_LAYERS = 13
_LONG_TITLE = 46  # characters that fit on one line of a narrow chart
_LINE = 42  # characters in a line of a longer title
MIN_SHARE_END = 1e-12
"""The smallest end of a scale of shares: the shares in long texts are small but exact."""


def axis_names(labels: Sequence[str]) -> list[str]:
    """Labels for plotly, escaped and cut; "␣" replaces a blank one."""
    return [plain(label, 16) or "␣" for label in labels]


def word_axis(labels: Sequence[str], *, max_names: int = _MAX_NAMES) -> dict[str, Any]:
    """An axis of words at 0, 1, ...; with many, every nth is named."""
    step = max(1, ceil(len(labels) / max_names))
    return {
        **BARE,
        "tickvals": list(range(len(labels)))[::step],
        "ticktext": axis_names(labels)[::step],
        "automargin": True,
        "range": [-0.5, len(labels) - 0.5],
    }


def layer_axis(layers: Sequence[int]) -> dict[str, Any]:
    """An axis of layers at 0, 1, ..., the first at the top; with many, every nth is named."""
    step = max(1, ceil(len(layers) / _MAX_LAYERS))
    return {
        **BARE,
        "tickvals": list(range(len(layers)))[::step],
        "ticktext": [f"layer {n}" for n in layers][::step],
        "automargin": True,
        "range": [len(layers) - 0.5, -0.5],
    }


def titled(traces: list[dict[str, Any]], layout: dict[str, Any], *, title: str) -> go.Figure:
    """A figure with a title of at most two lines, and a top margin that fits them."""
    is_long = len(title) > _LONG_TITLE
    longest = len(title)
    while is_long and len(textwrap.wrap(shortened(title, longest), _LINE)) > 2:
        longest -= 1
    title = shortened(title, longest)
    margin = {**layout["margin"], "t": 58 if is_long else 40}
    return figure(traces, {**layout, "margin": margin}, title=title, height=HEIGHT, narrow=is_long)


def colorbar(title: str, end: float, *, is_whole: bool = True) -> dict[str, Any]:
    """The colour bar of a signed picture; "≤" and "≥" mark its ends if values lie beyond them."""
    low, high = ("", "") if is_whole else ("≤", "≥")
    return {
        "title": {"text": title},
        "thickness": 8,
        "len": 0.9,
        "tickvals": [-end, 0, end],
        "ticktext": [f"{low}\N{MINUS SIGN}{end:.2g}", "0", f"{high}+{end:.2g}"],
    }


# --- The effect of single words on the cosine

MAX_BARS = 12
_MIN_ROWS = 4  # rows of space, so that a single bar does not fill the chart


@dataclass(frozen=True)
class WordBar:
    """A word and the number that its bar shows.

    Attributes:
        label: the word, as written in the text.
        sentence: the letter of its sentence.
        value: the change or share, with its sign.
        beside: a second number, drawn as a mark; None for no mark.
    """

    label: str
    sentence: str
    value: float
    beside: float | None = None


def word_bars(
    bars: Sequence[WordBar],
    *,
    quantity: str,
    mark: str = "",
    title: str,
) -> go.Figure:
    """Bars from zero, the largest absolute values on top; at most twelve.

    Args:
        bars: the words.
        quantity: the meaning of a bar, under the axis.
        mark: the meaning of a mark, also under the axis; "" for no marks.
        title: the finding.
    """
    largest = sorted(bars, key=lambda bar: -abs(bar.value))[:MAX_BARS]
    bar_values = np.array([bar.value for bar in largest], dtype=np.float64)
    marks = np.array([np.nan if b.beside is None else b.beside for b in largest], dtype=np.float64)
    labels = [
        f"{name} · {bar.sentence}"
        for name, bar in zip(axis_names([b.label for b in largest]), largest, strict=True)
    ]
    rows = [f"{label}  {signed(value)}" for label, value in zip(labels, bar_values, strict=True)]
    traces = [
        _bars(bar_values, labels, quantity),
        *([_marks(marks, labels, mark)] if mark else []),
    ]
    layout = {
        "xaxis": {
            "title": {"text": f"{quantity}   ◇ {mark}" if mark else quantity},
            "range": _range(np.concatenate([bar_values, marks])),
            "zeroline": True,
            "zerolinewidth": 1,
        },
        "yaxis": {
            **BARE,
            "tickvals": list(range(len(largest))),
            "ticktext": rows,
            "range": [max(len(largest), _MIN_ROWS) - 0.5, -0.5],
        },
        "margin": {"l": beside(rows), "r": 24, "b": 72},
    }
    return titled(traces, layout, title=title)


def _bars(bar_values: Numbers, labels: Sequence[str], quantity: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": values(bar_values),
        "y": list(range(len(bar_values))),
        "marker": {"color": [HIGH if value > 0 else LOW for value in bar_values]},
        "width": 0.66,
        "customdata": _named(labels, bar_values),
        "hovertemplate": f"%{{customdata[0]}}<br>{quantity} %{{customdata[1]}}<extra></extra>",
    }


def _marks(marks: Numbers, labels: Sequence[str], beside: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [None if np.isnan(value) else round(float(value), 5) for value in marks],
        "y": list(range(len(marks))),
        "marker": {
            "symbol": "diamond",
            "size": 9,
            "color": "white",  # not the ground of the theme, which would follow a switch
            "line": {"width": 1.5, "color": "#4A5560"},
        },
        "customdata": _named(labels, marks),
        "hovertemplate": f"%{{customdata[0]}}<br>{beside} %{{customdata[1]}}<extra></extra>",
    }


def _named(labels: Sequence[str], numbers: Numbers) -> list[list[str]]:
    """Each word with its formatted number: plotly's own formats have no real minus sign."""
    return [
        [label, "" if np.isnan(value) else signed(value, 4)]
        for label, value in zip(labels, numbers.tolist(), strict=True)
    ]


def _range(drawn: Numbers) -> list[float]:
    """The axis range: up to the largest absolute value on each side where anything is drawn."""
    finite = drawn[np.isfinite(drawn)]
    end = 1.08 * signed_end(finite)
    low, high = (bool((sign * finite > 0).any()) for sign in (-1, 1))
    return [-end if low else -0.02 * end, end if high else 0.02 * end]


# --- A matrix of signed numbers between words

_ANGLE = -50  # degrees, of the names under the columns
_TITLE = 33  # pixels of an axis title, beside its names
_MAX_NAMED = 18  # words that have space for their names
MAX_GAPPED = 64
"""The maximum number of words whose cells have space for gaps, and for names on hover."""


def signed_matrix(
    values: Numbers,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    quantity: str,
    title: str,
    axes: tuple[str, str] = ("", ""),
    marked: tuple[int | None, int | None] = (None, None),
    min_end: float = MIN_END,
) -> go.Figure:
    """A heatmap of signed values, symmetric around zero, with exact values on hover.

    The scale of a large matrix covers 99.5 of 100 values, as a few large ones would leave no colour
    for the others; its ends say so.

    Args:
        values: (n_rows, n_columns); NaN for cells with nothing to show.
        rows, columns: the words, escaped here.
        quantity: the name of a value, for hover and scale.
        title: the finding.
        axes: the titles of the vertical and the horizontal axis.
        marked: a row and a column that get a frame.
        min_end: the smallest end of the scale of a small matrix.
    """
    is_small = max(values.shape, default=0) <= MAX_GAPPED
    end = signed_end(values, min_end=min_end)
    if not is_small:
        end = signed_bound(values.astype(np.float32))
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
    across, down = (word_axis(words, max_names=_few(words)) for words in (columns, rows))
    layout = {
        "xaxis": {**across, "title": {"text": axes[1]}, "tickangle": _ANGLE},
        "yaxis": {**down, "title": {"text": axes[0]}, "range": [len(rows) - 0.5, -0.5]},
        "margin": {
            "l": beside(down["ticktext"]) + _TITLE,
            "r": 80,
            "b": below(across["ticktext"], _ANGLE) + _TITLE,
        },
        "shapes": [
            _frame(axis, index)
            for axis, index in zip("yx", marked, strict=True)
            if index is not None
        ],
    }
    return titled([trace], layout, title=title)


def _few(words: Sequence[str]) -> int:
    """The number of names on an axis: all if they fit, or enough for readers to find a place."""
    return _MAX_NAMED if len(words) <= _MAX_NAMED else _MAX_NAMED // 2


def _hover(
    values: Numbers, rows: Sequence[str], columns: Sequence[str], quantity: str
) -> dict[str, Any]:
    """The hover data: both words and the value; in large matrices, positions and the value."""
    if max(len(rows), len(columns)) > MAX_GAPPED:
        return {
            "hovertemplate": f"row %{{y}}, column %{{x}}<br>{quantity} %{{z:.4f}}<extra></extra>"
        }
    across, down = axis_names(columns), axis_names(rows)
    return {
        "customdata": [
            [
                [row, column, signed(value, 4)]
                for column, value in zip(across, row_values, strict=True)
            ]
            for row, row_values in zip(down, values.tolist(), strict=True)
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
