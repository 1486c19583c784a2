"""The picture of Start here as an SVG for a slide, at one layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextlens.analysis.similarity import Item
from contextlens.content.wording import two
from contextlens.core.schema import FloatArray
from contextlens.features.home.flows import Row, movers, named
from contextlens.features.home.tug import Tug
from contextlens.features.home.widgets import Picture
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at, text_width
from contextlens.figures.theme import color_of
from contextlens.ui.widgets.chips import badge_ink, visible

_LEFT = 44  # pixels of a letter
_ROOM = 62  # above a row, for arcs
_CHIP = 32  # the height of a word
_SIZE = 20  # of its letters
_LONGEST = 260  # pixels of a word
_WIDEST, _LEAST_END = 14.0, 0.05
"""The width of the widest arc, and the least change that it stands for."""
_LANE, _RADIUS = 28, 10
_MIDDLE = 'text-anchor="middle"'
_ENDS = 64  # the height of what stands around the lanes


def drawing_of(picture: Picture) -> str:
    """Return the picture at its layer, with as many sentences as fit."""
    below = _below(picture)
    room = HEIGHT - below
    parts: list[str] = []
    y = 0.0
    largest = 0.0 if picture.changes is None else max(float(c.max()) for c in picture.changes)
    for i, row in enumerate(picture.rows):
        lines = _lines(row)
        arcs = _ROOM if len(lines) == 1 else 8
        if y + arcs + len(lines) * (_CHIP + 6) + 22 > room:
            parts.append(text_at(_LEFT, y + 14, "…", 14, 0.7))
            break
        at_layer = picture.changes_at(i, picture.at)
        end = max(_LEAST_END, largest)
        parts += _row(row, lines, at_layer, end, y + arcs)
        y += arcs + len(lines) * (_CHIP + 6) + 22
    if picture.tug is not None:
        parts += _tug(picture, picture.tug, y + 12)
    elif picture.alike:
        parts += _alike(picture.alike, picture.at, y + 12)
    return drawing(parts, y + below)


def _below(picture: Picture) -> float:
    if picture.tug is not None:
        return _ENDS + _LANE * len(picture.tug.places)
    return 24 + 22 * min(len(picture.alike), 4) if picture.alike else 4


# --- The sentences


def _lines(row: Row) -> list[list[tuple[int, float, float, str]]]:
    """Return the words of each line: index, left end, width and text."""
    lines: list[list[tuple[int, float, float, str]]] = [[]]
    x = float(_LEFT)
    for i, word in enumerate(row.words):
        text = fitted(named(word.text), _LONGEST, _SIZE)
        width = text_width(text, _SIZE) + 18
        if x + width > WIDTH and lines[-1]:
            lines.append([])
            x = float(_LEFT)
        lines[-1].append((i, x, width, text))
        x += width + 8
    return lines


def _row(
    row: Row,
    lines: Sequence[Sequence[tuple[int, float, float, str]]],
    at_layer: FloatArray | None,
    end: float,
    y: float,
) -> list[str]:
    color = color_of(row.color)
    parts = [_badge(18, y + _CHIP / 2, row.label, color)]
    if len(lines) == 1 and at_layer is not None:
        parts += _arcs(row, lines[0], at_layer, end, y - 3)
    for n, line in enumerate(lines):
        top = y + n * (_CHIP + 6)
        for i, x, width, text in line:
            parts += _chip(x, top, width, text, color if row.words[i].is_chosen else "")
            if len(lines) > 1 and at_layer is not None and not row.words[i].is_chosen:
                high = float(at_layer[i]) / end * _WIDEST * 0.5
                parts.append(
                    f'<rect x="{x:.1f}" y="{top + _CHIP - high:.1f}" width="{width:.1f}" '
                    f'height="{high:.1f}" rx="2" fill="{color}"/>'
                )
    said = fitted(str(movers(row, at_layer)), WIDTH - _LEFT, 15)
    parts.append(text_at(_LEFT, y + len(lines) * (_CHIP + 6) + 11, said, 15, 0.75))
    return parts


def _chip(x: float, y: float, width: float, text: str, color: str) -> list[str]:
    look = f'fill="{color}" fill-opacity="0.16" stroke="{color}" stroke-width="1.6"'
    plain = 'fill="currentColor" fill-opacity="0.08"'
    weight = ' font-weight="650"' if color else ""
    return [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_CHIP}" rx="8" '
        f"{look if color else plain}/>",
        text_at(x + width / 2, y + 23, text, _SIZE, 1.0, _MIDDLE + weight),
    ]


def _arcs(
    row: Row,
    line: Sequence[tuple[int, float, float, str]],
    at_layer: FloatArray,
    end: float,
    y: float,
) -> list[str]:
    middles = {i: x + width / 2 for i, x, width, _ in line}
    to = float(np.mean([middles[i] for i, word in enumerate(row.words) if word.is_chosen]))
    parts = []
    for i in row.hidden:
        share = float(at_layer[i]) / end
        start = middles[i]
        up = min((_ROOM - _WIDEST / 2) / 0.75, abs(to - start) * 0.34 + 8)
        opacity = min(0.85, 0.15 + 0.85 * share**0.5)
        parts.append(
            f'<path d="M{start:.1f},{y:.1f} C{start:.1f},{y - up:.1f} {to:.1f},{y - up:.1f} '
            f'{to:.1f},{y:.1f}" fill="none" stroke="{color_of(row.color)}" '
            f'stroke-width="{max(0.75, share * _WIDEST):.2f}" stroke-opacity="{opacity:.2f}"/>'
        )
    return parts


def _badge(x: float, y: float, text: str, color: str, *, is_full: bool = True) -> str:
    fill = f'fill="{color}"' if is_full else 'fill="none"'
    ink = f'style="fill:{badge_ink(color)};fill-opacity:1"' if is_full else ""
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" {fill} stroke="{color}" '
    letter = text_at(x, y + 5, text, 14, 1.0, f'{_MIDDLE} font-weight="650" {ink}')
    return f'{circle}stroke-width="2.5"/>{letter}'


# --- Below them


def _tug(picture: Picture, tug: Tug, y: float) -> list[str]:
    left, right = (fitted(visible(end), WIDTH / 2 - 60, 18) for end in (tug.left, tug.right))
    top, n = y + 30, len(tug.places)
    half = WIDTH / 2 - _RADIUS - 2

    def x_of(place: float) -> float:
        return WIDTH / 2 + max(-1.0, min(1.0, (place - tug.middle) / tug.reach)) * half

    wide = min(float(tug.margins[picture.at]), tug.reach)
    low, high = x_of(tug.middle - wide), x_of(tug.middle + wide)
    parts = [
        text_at(0, y + 16, f"◂ {left}", 18, 1.0, 'font-weight="650"'),
        text_at(WIDTH, y + 16, f"{right} ▸", 18, 1.0, 'font-weight="650" text-anchor="end"'),
        f'<rect x="{low:.1f}" y="{top:.1f}" width="{high - low:.1f}" height="{n * _LANE}" rx="4" '
        'fill="currentColor" fill-opacity="0.09"/>',
    ]
    for i, row in enumerate(picture.rows[:n]):
        lane, color = top + _LANE * (i + 0.5), color_of(row.color)
        start, now = x_of(float(tug.places[i, 0])), x_of(float(tug.places[i, picture.at]))
        parts += [
            f'<line x1="2" x2="{WIDTH - 2}" y1="{lane:.1f}" y2="{lane:.1f}" '
            'stroke="currentColor" stroke-opacity="0.25" stroke-width="2"/>',
            f'<line x1="{start:.1f}" x2="{now:.1f}" y1="{lane:.1f}" y2="{lane:.1f}" '
            f'stroke="{color}" stroke-opacity="0.45" stroke-width="5"/>',
            _badge(now, lane, row.label, color, is_full=bool(tug.is_clear[i, picture.at])),
        ]
    return parts


def _alike(pairs: Sequence[tuple[Item, Item, FloatArray]], at: int, y: float) -> list[str]:
    parts = []
    for n, (first, second, along) in enumerate(pairs[:4]):
        line = y + 22 * n + 14
        name = fitted(f"{named(first.name)} – {named(second.name)}", 300, 15)
        value = float(along[at])
        parts += [
            text_at(_LEFT, line, name, 15, 1.0),
            f'<rect x="360" y="{line - 10:.1f}" width="{max(0.0, value) * 440:.1f}" height="10" '
            f'rx="3" fill="{color_of(second.color)}"/>',
            text_at(360 + max(0.0, value) * 440 + 8, line, two(value), 15, 1.0),
        ]
    return parts
