"""The pictures of Tokens & IDs: rows of the word-embedding table, and the tokens for a slide."""

from __future__ import annotations

import html
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.figures.theme import SIGNED, figure, plain, values

__all__ = ["rows_heatmap", "tokens_svg"]

_WIDTH, _HEIGHT = 928, 440
_CHAR = 0.6  # how wide a monospaced character is, in parts of its font size
_LARGE, _SIZE, _SMALL = 17, 14, 11
_LONGEST = 210  # pixels of a label
_ROW = 58


def rows_heatmap(
    rows: FloatArray, names: Sequence[str], *, chosen: int, title: str, height: int = 300
) -> go.Figure:
    """(n_rows, n_dims) rows of a table as strips on one scale, symmetric around zero.

    The scale ends where 99.5 of 100 values lie within; what is beyond has the end's colour.

    Args:
        rows: the values.
        names: each row's name, on the axis.
        chosen: the row with a mark before its name.
        title: the finding.
        height: in pixels.
    """
    # A few values of [CLS] and [SEP] are ten times the others: they would leave no colour for them.
    bound = float(np.quantile(np.abs(rows), 0.995)) or 1.0
    shown = [f"▸ {plain(name)}" if i == chosen else plain(name) for i, name in enumerate(names)]
    trace = {
        "type": "heatmap",
        "z": [values(row) for row in rows],
        "x": list(range(rows.shape[1])),
        "y": list(range(len(shown))),
        "zmin": -bound,
        "zmax": bound,
        **SIGNED,
        "ygap": 3,
        "text": [[name] * rows.shape[1] for name in shown],
        "hovertemplate": "%{text}<br>dimension %{x}: %{z:.4f}<extra></extra>",
        "colorbar": {"title": {"text": "value"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {"title": {"text": "dimension"}, "showgrid": False, "zeroline": False},
        "yaxis": {
            "tickvals": list(range(len(shown))),
            "ticktext": shown,
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
        "margin": {"l": 130, "r": 16, "t": 40, "b": 48},
    }
    return figure([trace], layout, title=title, height=height)


def tokens_svg(boxes: Sequence[tuple[str, int, bool]], title: str) -> str:
    """Tokens with their IDs as an SVG of 928 x 440 px, in the colour that its place gives it.

    Args:
        boxes: for each, what is written in it, the number under it, and whether it is only
            outlined (special tokens and padding).
        title: a line above.
    """
    drawn: list[str] = []
    x, y = 0.0, 48.0
    for n, (label, token_id, faint) in enumerate(boxes):
        text = _fitted(label, _LONGEST, _SIZE)
        width = max(_width(text, _SIZE), _width(str(token_id), _SMALL)) + 16
        if x and x + width > _WIDTH:
            x, y = 0.0, y + _ROW
        if y + _ROW > _HEIGHT:
            drawn.append(_text(0, y + 12, f"and {len(boxes) - n} more tokens", 12, 0.7))
            break
        drawn.append(_box(x, y, width, text, token_id, faint))
        x += width + 8
    above = _text(0, 20, _fitted(title, _WIDTH, _LARGE), _LARGE, 1.0, 'font-weight="600"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'font-family="Menlo, Consolas, monospace">{above}{"".join(drawn)}</svg>'
    )


def _fitted(text: str, width: float, size: int) -> str:
    """One line of a text that XML can hold, cut to a width in pixels."""
    longest = int(width)  # characters: each is wider than a pixel
    flat = " ".join(text[:longest].split())
    shown = "".join(c if c.isprintable() else "\ufffd" for c in flat)
    ends = list(accumulate(_width(c, size) for c in shown))
    if len(text) <= longest and (not ends or ends[-1] <= width):
        return shown
    return f"{shown[: bisect_right(ends, width - _width('…', size))]}…"


def _width(text: str, size: int) -> float:
    """How wide a text is in a monospaced font: wide East Asian signs and emoji count twice."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return (len(text) + wide) * _CHAR * size


def _box(x: float, y: float, width: float, text: str, token_id: int, faint: bool) -> str:
    fill = 'fill="none" stroke-opacity="0.35"' if faint else 'fill="#0072B2" fill-opacity="0.14"'
    edge = 'stroke="currentColor"' if faint else 'stroke="none"'
    middle = x + width / 2
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="28" rx="6" {fill} {edge}/>'
        + _text(middle, y + 19, text, _SIZE, 1.0, 'text-anchor="middle"')
        + _text(middle, y + 43, str(token_id), _SMALL, 0.7, 'text-anchor="middle"')
    )


def _text(x: float, y: float, text: str, size: int, opacity: float, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="currentColor" '
        f'fill-opacity="{opacity}" xml:space="preserve" {more}>{html.escape(text)}</text>'
    )
