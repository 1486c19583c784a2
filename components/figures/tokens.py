"""The pictures of Tokens & IDs: rows of the word-embedding table, and the tokens for a slide."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.figures.theme import SIGNED, figure, plain, values

__all__ = ["rows_heatmap", "tokens_svg"]

_WIDTH, _HEIGHT = 928, 440
_CHAR, _SIZE = 8.4, 14  # a monospaced character, in pixels at that font size
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


def tokens_svg(labels: Sequence[str], ids: Sequence[int], faint: Sequence[bool], title: str) -> str:
    """Tokens with their IDs as an SVG of 928 x 440 px, in the colour that its place gives it.

    Args:
        labels: what is written in each box.
        ids: the numbers under the boxes.
        faint: which boxes are outlined only (special tokens and padding).
        title: a line above.
    """
    boxes: list[str] = []
    x, y = 0.0, 48.0
    for n, (label, token_id, is_faint) in enumerate(zip(labels, ids, faint, strict=True)):
        text = label if len(label) <= 24 else label[:23] + "…"
        width = max(_width(text), _width(str(token_id)) * 0.85) + 16
        if x + width > _WIDTH:
            x, y = 0.0, y + _ROW
        if y + _ROW > _HEIGHT:
            boxes.append(_text(0, y + 12, f"and {len(labels) - n} more tokens", 12, 0.7))
            break
        boxes.append(_box(x, y, width, text, token_id, is_faint))
        x += width + 8
    body = _text(0, 20, title, 17, 1.0, 'font-weight="600"') + "".join(boxes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'font-family="Menlo, Consolas, monospace">{body}</svg>'
    )


def _width(text: str) -> float:
    """How wide a text is in a monospaced font: wide East Asian signs and emoji count twice."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return (len(text) + wide) * _CHAR


def _box(x: float, y: float, width: float, text: str, token_id: int, faint: bool) -> str:
    fill = 'fill="none" stroke-opacity="0.35"' if faint else 'fill="#0072B2" fill-opacity="0.14"'
    edge = 'stroke="currentColor"' if faint else 'stroke="none"'
    middle = x + width / 2
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="28" rx="6" {fill} {edge}/>'
        + _text(middle, y + 19, text, _SIZE, 1.0, 'text-anchor="middle"')
        + _text(middle, y + 43, str(token_id), 11, 0.7, 'text-anchor="middle"')
    )


def _text(x: float, y: float, text: str, size: int, opacity: float, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="currentColor" '
        f'fill-opacity="{opacity}" xml:space="preserve" {more}>{html.escape(text)}</text>'
    )
