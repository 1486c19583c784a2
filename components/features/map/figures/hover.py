"""What is written on a map's point under the pointer: its name, its sentence, its labels.

These texts are most of a map's bytes: the more points, the shorter they are.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from components.features.map.figures.colors import Coloring
from components.figures.theme import plain
from components.maps.points import Points, context

__all__ = ["HOVER_BYTES", "hover_texts"]

HOVER_BYTES = 6_400_000
"""What the texts of all points together may take in the figure's JSON."""
_WIDTH = 48  # characters of a line
_MAX_LABELS = 4
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class _Plan:
    longest: int  # characters of the sentence
    n_labels: int
    has_name: bool = True  # a word's name stands in its sentence too, in bold


_PLANS = (
    *(_Plan(90, _MAX_LABELS), _Plan(72, 1), _Plan(60, 0, has_name=False)),
    *(_Plan(n, 0, has_name=False) for n in (44, 32, 16)),
)


def hover_texts(points: Points, color: Coloring, *, budget: int = HOVER_BYTES) -> list[str]:
    """A text for each point, safe for plotly, all of them within a number of bytes.

    Where many points would make too much, sentences are cut shorter, then labels are left out;
    at last only names stay.
    """
    n_tried = min(points.n_points, 1_000)
    sample = np.linspace(0, points.n_points - 1, n_tried).astype(int).tolist()
    for plan in _PLANS:
        guess = _bytes([_text(points, point, color, plan) for point in sample])
        if guess * points.n_points <= 0.98 * budget * len(sample):
            texts = [_text(points, point, color, plan) for point in range(points.n_points)]
            if _bytes(texts) <= budget:
                return texts
    return _shortest(points, budget)


def _bytes(texts: Sequence[str]) -> int:
    """What texts take in plotly's JSON, which writes < > and / as six characters each."""
    packed = json.dumps(texts)
    return len(packed) + 5 * sum(packed.count(sign) for sign in "<>/")


def _shortest(points: Points, budget: int) -> list[str]:
    """Names alone, cut as short as it takes."""
    for longest in (24, 12, 6, 2):
        texts = [plain(name, longest) for name in points.names]
        if _bytes(texts) <= budget:
            return texts
    return ["" for _ in points.names]


def _text(points: Points, point: int, color: Coloring, plan: _Plan) -> str:
    named = points.unit == "tokens" or (points.unit == "words" and plan.has_name)
    lines = [f"<b>{plain(points.names[point])}</b>"] if named else []
    lines.append(_sentence(context(points, point, longest=plan.longest)))
    titles = [title for title in points.labels if title != color.title][: plan.n_labels]
    lines += [
        _line(title, points.labels[title][point]) for title in titles if points.labels[title][point]
    ]
    if color.kind != "none":
        lines.append(_line(color.title, color.values[point]))
    return "<br>".join(line for line in lines if line)


def _line(title: str, value: str | float) -> str:
    shown = plain(value) if isinstance(value, str) else f"{float(value):.4f}"
    return f"{plain(title)}: {shown}" if value != "" and shown != "nan" else ""


def _sentence(parts: tuple[str, str, str]) -> str:
    """The text around a point in lines of a readable length, the point itself in bold."""
    flat = [_BLANK.sub(" ", part) for part in parts]
    whole = "".join(flat)
    start = len(flat[0])
    end = start + len(flat[1])
    pieces = []
    for first, last in _lines(whole):
        cuts = [min(max(first, cut), last) for cut in (first, start, end, last)]
        left, own, right = (html.escape(whole[a:b], quote=False) for a, b in pairwise(cuts))
        bold = f"<b>{own}</b>" if own and (flat[0] or flat[2]) else own
        pieces.append(left + bold + right)
    return "<br>".join(pieces)


def _lines(text: str) -> list[tuple[int, int]]:
    """Where the lines of a text begin and end, broken at blanks, or anywhere where there is none.

    A break stands in the place of its blank.
    """
    found = []
    first = 0
    while len(text) - first > _WIDTH:
        cut = text.rfind(" ", first + 1, first + _WIDTH + 1)
        found.append((first, cut if cut > 0 else first + _WIDTH))
        first = cut + 1 if cut > 0 else first + _WIDTH
    return [*found, (first, len(text))]
