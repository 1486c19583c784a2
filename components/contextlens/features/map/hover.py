"""The hover text of a map's points, within a number of bytes for all of them together.

Of more points than `MAX_HOVERED`, a browser gets the text of one when a reader points at it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

import numpy as np

from contextlens.content.wording import number
from contextlens.features.map.coloring import Coloring
from contextlens.figures.theme import plain
from contextlens.maps.points import Points, context

MAX_HOVERED = 50_000
"""Of more points, the browser gets no text until a reader points at one, and colours as numbers;
dots are faint, so that what is seen first is their density."""
HOVER_BYTES = 6_400_000
"""Maximum size of all hover texts together in the figure's JSON."""
_WIDTH = 48  # characters of a line
_MAX_HOVER_LABELS = 4
_LONGEST = 160  # characters of the sentence of one point
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class _HoverFormat:
    longest: int  # characters of the sentence
    n_labels: int
    has_name: bool = True  # False leaves out a word's name, which its sentence shows in bold


_HOVER_FORMATS = (
    *(
        _HoverFormat(90, _MAX_HOVER_LABELS),
        _HoverFormat(72, 1),
        _HoverFormat(60, 0, has_name=False),
    ),
    *(_HoverFormat(n, 0, has_name=False) for n in (44, 32, 16)),
)


def hover_texts(points: Points, color: Coloring, *, budget: int = HOVER_BYTES) -> list[str]:
    """A hover text for each point, safe for plotly, within a total number of bytes.

    If many points would exceed it, sentences are shortened first, then labels are left out, and
    finally only names remain.
    """
    n_tried = min(points.n_points, 1_000)
    sample = np.linspace(0, points.n_points - 1, n_tried).astype(int).tolist()
    for plan in _HOVER_FORMATS:
        guess = _bytes([_text(points, point, color, plan) for point in sample])
        if guess * points.n_points <= 0.98 * budget * len(sample):
            texts = [_text(points, point, color, plan) for point in range(points.n_points)]
            if _bytes(texts) <= budget:
                return texts
    return _shortest(points, budget)


class PointText(TypedDict):
    """The text of one point in three parts, with its labels."""

    before: str
    marked: str
    after: str
    labels: list[str]


def point_text(points: Points, point: int, color: Coloring, row: int) -> PointText:
    """Return the text of one point, for a map of too many to send all texts.

    Args:
        points: the points.
        point: the point.
        color: the colouring that is drawn.
        row: its value among those of the colouring, which has one for each layer on a map of all.
    """
    before, marked, after = context(points, point, longest=_LONGEST)
    if not before and not after:  # a sentence is not marked
        marked, after = "", marked
    name = [points.names[point]] if points.unit == "tokens" else []
    given = {title: column[point] for title, column in points.labels.items() if column[point]}
    titles = [title for title in given if title != color.title][:_MAX_HOVER_LABELS]
    labels = [f"{title}: {given[title]}" for title in titles]
    if color.kind != "none":
        value = given.get(color.title, color.values[row])  # numbers and dates as in the file
        written = value if isinstance(value, str) else number(float(value), ".4f")
        labels += [f"{color.title}: {written}"] if written not in {"", "nan"} else []
    return {"before": before, "marked": marked, "after": after, "labels": [*name, *labels]}


def _bytes(texts: Sequence[str]) -> int:
    """The size of texts in plotly's JSON, which writes <, > and / as six characters each."""
    packed = json.dumps(texts)
    return len(packed) + 5 * sum(packed.count(sign) for sign in "<>/")


def _shortest(points: Points, budget: int) -> list[str]:
    """Names alone, cut as short as necessary."""
    for longest in (24, 12, 6, 2):
        texts = [plain(name, longest) for name in points.names]
        if _bytes(texts) <= budget:
            return texts
    return ["" for _ in points.names]


def _text(points: Points, point: int, color: Coloring, plan: _HoverFormat) -> str:
    named = points.unit == "tokens" or (points.unit == "words" and plan.has_name)
    lines = [f"<b>{plain(points.names[point])}</b>"] if named else []
    lines.append(_sentence(context(points, point, longest=plan.longest)))
    titles = [title for title in points.labels if title != color.title][: plan.n_labels]
    lines += [
        _line(title, points.labels[title][point]) for title in titles if points.labels[title][point]
    ]
    if color.kind != "none":
        written = points.labels.get(color.title, color.values)  # numbers and dates as in the file
        lines.append(_line(color.title, written[point]))
    return "<br>".join(line for line in lines if line)


def _line(title: str, value: str | float) -> str:
    written = plain(value) if isinstance(value, str) else number(float(value), ".4f")
    return f"{plain(title)}: {written}" if value != "" and written != "nan" else ""


def _sentence(parts: tuple[str, str, str]) -> str:
    """The text around a point, broken into lines, with the point itself in bold."""
    flat = [_BLANK.sub(" ", part) for part in parts]
    whole = "".join(flat)
    start = len(flat[0])
    end = start + len(flat[1])
    pieces = []
    for first, last in _lines(whole):
        cuts = [min(max(first, cut), last) for cut in (first, start, end, last)]
        left, point, right = (html.escape(whole[a:b], quote=False) for a, b in pairwise(cuts))
        bold = f"<b>{point}</b>" if point and (flat[0] or flat[2]) else point
        pieces.append(left + bold + right)
    return "<br>".join(pieces)


def _lines(text: str) -> list[tuple[int, int]]:
    """The start and end of each line of a text, broken at blanks, or anywhere if there is none.

    A break replaces its blank.
    """
    lines = []
    first = 0
    while len(text) - first > _WIDTH:
        cut = text.rfind(" ", first + 1, first + _WIDTH + 1)
        lines.append((first, cut if cut > 0 else first + _WIDTH))
        first = cut + 1 if cut > 0 else first + _WIDTH
    return [*lines, (first, len(text))]
