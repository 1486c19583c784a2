"""The drawings of Tokens & IDs: tokens and IDs for a slide, and a text's round trip."""

from __future__ import annotations

import html
from collections.abc import Sequence

from contextlens.content.language import say
from contextlens.features.tokens.measures import Fate
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at, text_width

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
    """Tokens with their IDs as an SVG of 928 x at most 440 px, in its surroundings' text colour.

    Args:
        boxes: the text in each box, the number below it, and True if the box is only outlined
            (for special tokens and padding).
        title: a line above.
    """
    drawn: list[str] = []
    x, y = 0.0, 48.0
    for n, (label, token_id, faint) in enumerate(boxes):
        text = fitted(label, _LONGEST, _SIZE)
        width = max(text_width(text, _SIZE), text_width(str(token_id), _SMALL)) + 16
        if x and x + width > WIDTH:
            x, y = 0.0, y + _ROW
        if y + _ROW > HEIGHT:
            drawn.append(
                text_at(0, y + 12, say("tokens.page.more_tokens", n=len(boxes) - n), 12, 0.7)
            )
            break
        drawn.append(_box(x, y, width, text, token_id, faint))
        x += width + 8
    above = text_at(0, 20, fitted(title, WIDTH, _LARGE), _LARGE, 1.0, 'font-weight="600"')
    return drawing([above, *drawn], min(y + _ROW, HEIGHT))


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


def _box(x: float, y: float, width: float, text: str, token_id: int, faint: bool) -> str:
    fill = 'fill="none" stroke-opacity="0.35"' if faint else 'fill="#0072B2" fill-opacity="0.14"'
    edge = 'stroke="currentColor"' if faint else 'stroke="none"'
    middle = x + width / 2
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="28" rx="6" {fill} {edge}/>'
        + text_at(middle, y + 19, text, _SIZE, 1.0, 'text-anchor="middle"')
        + text_at(middle, y + 43, str(token_id), _SMALL, 0.7, 'text-anchor="middle"')
    )
