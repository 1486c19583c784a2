"""Drawings that are no charts, as SVG for a slide: `widgets/kit.py` saves them."""

from __future__ import annotations

import html
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

__all__ = ["HEIGHT", "WIDTH", "drawing", "fitted", "text_at", "text_width"]

WIDTH, HEIGHT = 928, 440
_CHAR = 0.6  # the width of a monospaced character, relative to its font size


def drawing(parts: Sequence[str], height: float = HEIGHT) -> str:
    """An SVG of 928 x at most 440 px in monospaced type, in its surroundings' text colour."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
        f"font-family=\"'Source Code Pro', Menlo, Consolas, monospace\">{''.join(parts)}</svg>"
    )


def text_at(x: float, y: float, text: str, size: int, opacity: float, more: str = "") -> str:
    """A text as an SVG element, escaped, with its baseline at (x, y)."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="currentColor" '
        f'fill-opacity="{opacity}" xml:space="preserve" {more}>{html.escape(text)}</text>'
    )


def fitted(text: str, width: float, size: int) -> str:
    """A text as one line of characters that XML can hold, cut to a width in pixels."""
    longest = int(width)  # characters: each is wider than a pixel
    one_line = " ".join(text[:longest].split())
    printable = "".join(c if c.isprintable() else "\ufffd" for c in one_line)
    ends = list(accumulate(text_width(c, size) for c in printable))
    if len(text) <= longest and (not ends or ends[-1] <= width):
        return printable
    return f"{printable[: bisect_right(ends, width - text_width('…', size))]}…"


def text_width(text: str, size: int) -> float:
    """The width of a text in monospaced type: wide East Asian characters and emoji count twice."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return (len(text) + wide) * _CHAR * size
