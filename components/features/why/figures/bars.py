"""What single words do to the cosine, the strongest first, beside their shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.features.why.figures.axes import (
    BARE,
    HIGH,
    LOW,
    Numbers,
    names,
    signed,
    signed_end,
    titled,
)
from components.figures.theme import values

__all__ = ["MOST", "Bar", "word_bars"]

MOST = 12
_FEWEST = 4  # rows that there is room for, so that a single bar is no wall


@dataclass(frozen=True)
class Bar:
    """One word.

    Attributes:
        label: the word, as it stands in the text.
        sentence: the letter of its sentence.
        value: what it does.
        beside: another number for it, drawn as a mark; None for none.
    """

    label: str
    sentence: str
    value: float
    beside: float | None = None


def word_bars(
    bars: Sequence[Bar],
    *,
    quantity: str,
    beside: str = "",
    title: str,
    height: int = 360,
) -> go.Figure:
    """Bars from zero, the largest either way on top; at most twelve of them.

    Args:
        bars: the words.
        quantity: what a bar is, under the axis.
        beside: what a mark is, under the axis too; "" for none.
        title: the finding.
        height: in pixels.
    """
    shown = sorted(bars, key=lambda bar: -abs(bar.value))[:MOST]
    own = np.array([bar.value for bar in shown], dtype=np.float64)
    marks = np.array([np.nan if b.beside is None else b.beside for b in shown], dtype=np.float64)
    labels = [
        f"{name} · {bar.sentence}"
        for name, bar in zip(names([b.label for b in shown]), shown, strict=True)
    ]
    traces = [_bars(own, labels, quantity), *([_marks(marks, labels, beside)] if beside else [])]
    layout = {
        "xaxis": {
            "title": {"text": f"{quantity}   ◇ {beside}" if beside else quantity},
            "range": _range(np.concatenate([own, marks])),
            "zeroline": True,
            "zerolinewidth": 1,
        },
        "yaxis": {
            **BARE,
            "tickvals": list(range(len(shown))),
            "ticktext": [f"{label}  {signed(v)}" for label, v in zip(labels, own, strict=True)],
            "range": [max(len(shown), _FEWEST) - 0.5, -0.5],
            "automargin": True,
        },
        "margin": {"l": 8, "r": 24, "b": 48},
    }
    return titled(traces, layout, title=title, height=height)


def _bars(own: Numbers, labels: Sequence[str], quantity: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": values(own),
        "y": list(range(len(own))),
        "marker": {"color": [HIGH if value > 0 else LOW for value in own]},
        "width": 0.66,
        "customdata": _named(labels, own),
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
            "color": "#FFFFFF",
            "line": {"width": 1.5, "color": "#4A5560"},
        },
        "customdata": _named(labels, marks),
        "hovertemplate": f"%{{customdata[0]}}<br>{beside} %{{customdata[1]}}<extra></extra>",
    }


def _named(labels: Sequence[str], own: Numbers) -> list[list[str]]:
    """Each word with its number as it is said: plotly's own formats have no real minus sign."""
    return [
        [label, "" if np.isnan(value) else signed(value, 4)]
        for label, value in zip(labels, own.tolist(), strict=True)
    ]


def _range(drawn: Numbers) -> list[float]:
    """From zero, either way as far as something is drawn there."""
    there = drawn[np.isfinite(drawn)]
    end = 1.08 * signed_end(there)
    low, high = (bool((sign * there > 0).any()) for sign in (-1, 1))
    return [-end if low else -0.02 * end, end if high else 0.02 * end]
