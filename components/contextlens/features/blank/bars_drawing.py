"""The blanks and their bars as an SVG for files and the report, as the page draws them."""

from __future__ import annotations

from contextlens.content.language import say
from contextlens.features.blank.predictions import Bar, Predictions, share_text
from contextlens.figures.svg import WIDTH, drawing, fitted, text_at, text_width
from contextlens.figures.theme import NEUTRAL, color_of
from contextlens.ui.state.view import letter
from contextlens.ui.widgets.chips import visible

_MOST = 4  # blanks side by side
_GAP, _STEP, _HEAD, _SIZE = 28, 27, 62, 15
_NAME, _SHARE = 0.36, 58  # the share of a column for names, and pixels for a probability


def bars_drawing(predictions: Predictions) -> str:
    """Return the first blanks with their bars; "" if there is none."""
    answers = list(predictions.answers())
    shown = answers[:_MOST]
    if not shown:
        return ""
    width = (WIDTH - _GAP * (len(shown) - 1)) / len(shown)
    most = max(answer.guesses[0].share for answer in shown)
    parts: list[str] = []
    tallest = 0
    for i, answer in enumerate(shown):
        left = i * (width + _GAP)
        name = answer.place or letter(answer.sentence.index)
        sentence = fitted(visible(answer.text), width, _SIZE)
        parts += [
            text_at(left, 18, fitted(name, width, _SIZE), _SIZE, 1.0, 'font-weight="650"'),
            text_at(left, 42, sentence, _SIZE, 0.85),
        ]
        bars = answer.drawn(predictions.n_drawn)
        tallest = max(tallest, len(bars))
        for row, bar in enumerate(bars):
            color = color_of(answer.sentence.index) if bar.kind == "written" else NEUTRAL
            parts += _row(bar, left, _HEAD + row * _STEP, width, most, color)
    bottom = _HEAD + tallest * _STEP
    if len(answers) > len(shown):
        more = say("blank.drawing.more", n=len(shown), all=len(answers))
        parts.append(text_at(0, bottom + 14, more, 14, 0.75))
        bottom += 22
    return drawing(parts, bottom)


def _row(bar: Bar, left: float, top: float, width: float, most: float, color: str) -> list[str]:
    room = _NAME * width
    rank, name = f"{bar.rank}.", visible(bar.name)
    rank_width = text_width(rank, 14) + 8
    length = max(1.5, (width - room - _SHARE - 8) * bar.share / most)
    weight = 'font-weight="650"' if bar.kind == "written" else ""
    return [
        text_at(left, top + 15, rank, 14, 0.75),
        text_at(
            left + rank_width,
            top + 15,
            fitted(name, room - rank_width, _SIZE),
            _SIZE,
            1.0,
            weight,
        ),
        f'<rect x="{left + room:.1f}" y="{top + 2:.1f}" width="{length:.1f}" height="17" rx="3" '
        f'fill="{color}" fill-opacity="{0.9 if bar.kind == "written" else 0.6}"/>',
        text_at(left + room + length + 6, top + 15, share_text(bar.share), 14, 1.0, weight),
    ]
