"""The margins that the names beside an axis need, so that plotly draws each chart only once.

If a margin is too small for its names, plotly draws the whole chart, measures, and draws it again.
A margin that is slightly too small costs as much as a missing one.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable

from contextlens.figures.theme import SMALLEST

__all__ = ["below", "beside", "width"]

_ADVANCES = (  # advances from space to tilde in the page's typeface, in 1/1000 of its size
    *(200, 289, 426, 497, 497, 824, 609, 249, 303, 303, 418, 497, 249, 311, 249, 350),
    *(497, 497, 497, 497, 497, 497, 497, 497, 497, 497, 249, 249, 497, 497, 497, 425),
    *(847, 543, 588, 571, 615, 527, 494, 617, 652, 263, 479, 579, 486, 727, 647, 664),
    *(566, 664, 569, 534, 536, 645, 515, 786, 513, 476, 539, 303, 350, 303, 497, 500),
    *(542, 504, 553, 456, 555, 496, 292, 504, 544, 246, 247, 495, 255, 829, 547, 542),
    *(555, 555, 347, 419, 338, 544, 467, 719, 446, 467, 425, 303, 241, 303, 497),
)
_OTHERS = {"…": 948, "–": 480, "—": 800, "“": 426, "”": 426, "’": 249, "·": 249}
_WIDE, _USUAL = 1000, 600  # of characters in neither table: Chinese and similar ones, all others
_FIRST_WIDE = 0x2E80
_HEIGHT = 18  # pixels of a line of the smallest text
_BESIDE, _BELOW = 21, 23  # pixels around a name in its margin, as no margin is below 12
_MOST = 150.0  # pixels of a name; for longer ones plotly finds the room that the plot can spare
_TAG = re.compile("<[^>]*>")


def width(text: str) -> float:
    """Return the width in pixels of a label in the smallest text, without its HTML."""
    label = html.unescape(_TAG.sub("", text))
    return sum(map(_advance, label)) * SMALLEST / 1000


def beside(names: Iterable[str], *, most: float = _MOST) -> int:
    """Return the margin in pixels that names at the ends of rows need.

    Args:
        names: as they are written on the chart.
        most: the pixels of a name that fit at any width of the chart.
    """
    return math.ceil(min(_widest(names), most)) + _BESIDE


def below(names: Iterable[str], angle: float) -> int:
    """Return the margin in pixels that names under columns need.

    Args:
        names: as they are written on the chart.
        angle: their rotation in degrees, from 0 to 90, either way.
    """
    turned = math.radians(abs(angle))
    widest = min(_widest(names), _MOST)
    return math.ceil(widest * math.sin(turned) + _HEIGHT * math.cos(turned)) + _BELOW


def _widest(names: Iterable[str]) -> float:
    return max(map(width, names), default=0.0)


def _advance(character: str) -> int:
    place = ord(character) - ord(" ")
    if 0 <= place < len(_ADVANCES):
        return _ADVANCES[place]
    return _OTHERS.get(character, _WIDE if ord(character) >= _FIRST_WIDE else _USUAL)
