"""The drawings of Tokens & IDs: tokens and IDs for a slide, and a text's round trip."""

from __future__ import annotations

import html
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from components.content.language import say
from components.features.tokens.measures import Fate

__all__ = ["there_and_back", "tokens_svg"]

_WIDTH, _HEIGHT = 928, 440
_CHAR = 0.6  # the width of a monospaced character, relative to its font size
_LARGE, _SIZE, _SMALL = 17, 14, 11
_LONGEST = 210  # maximum pixels of a label
_ROW = 58
_MARKS: dict[Fate, str] = {
    "kept": "{}",
    "rewritten": "<mark>{}</mark>",
    "unknown": "<mark>{}</mark>",
    "lost": "<del>{}</del>",
}


def tokens_svg(boxes: Sequence[tuple[str, int, bool]], title: str) -> str:
    """Tokens with their IDs as an SVG of 928 x 440 px, in the text colour of its surroundings.

    Args:
        boxes: the text in each box, the number below it, and True if the box is only outlined
            (for special tokens and padding).
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
            drawn.append(
                _text(0, y + 12, say("tokens.page.more_tokens", n=len(boxes) - n), 12, 0.7)
            )
            break
        drawn.append(_box(x, y, width, text, token_id, faint))
        x += width + 8
    above = _text(0, 20, _fitted(title, _WIDTH, _LARGE), _LARGE, 1.0, 'font-weight="600"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'font-family="Menlo, Consolas, monospace">{above}{"".join(drawn)}</svg>'
    )


def there_and_back(parts: Sequence[tuple[str, Fate]], decoded: str) -> str:
    """A text with its rewritten or lost parts marked, and the decoded text, as escaped HTML.

    Args:
        parts: the whole text in stretches, and the fate of each.
        decoded: the text decoded from the IDs.
    """
    typed = "".join(_MARKS[fate].format(html.escape(text)) for text, fate in parts)
    return (
        f'<div class="back"><span>{say("tokens.page.typed")}</span><p>{typed}</p>'
        f"<span>{say('tokens.page.back')}</span><p>{html.escape(decoded)}</p></div>"
    )


def _fitted(text: str, width: float, size: int) -> str:
    """A text as one line of characters that XML can hold, cut to a width in pixels."""
    longest = int(width)  # characters: each is wider than a pixel
    one_line = " ".join(text[:longest].split())
    printable = "".join(c if c.isprintable() else "\ufffd" for c in one_line)
    ends = list(accumulate(_width(c, size) for c in printable))
    if len(text) <= longest and (not ends or ends[-1] <= width):
        return printable
    return f"{printable[: bisect_right(ends, width - _width('…', size))]}…"


def _width(text: str, size: int) -> float:
    """The width of a text in monospaced type: wide East Asian characters and emoji count twice."""
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
