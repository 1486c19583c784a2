"""Room beside an axis for its names, so that plotly need not draw a chart twice to find it.

Where a margin is too small for what stands in it, plotly draws the whole chart, measures, and draws
it again. A margin that was too small by a little costs as much as one that was forgotten.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable

from components.figures.theme import SMALLEST

__all__ = ["below", "beside", "width"]

_ADVANCES = (  # of the characters from space to tilde in the page's typeface, in 1/1000 of its size
    *(200, 289, 426, 497, 497, 824, 609, 249, 303, 303, 418, 497, 249, 311, 249, 350),
    *(497, 497, 497, 497, 497, 497, 497, 497, 497, 497, 249, 249, 497, 497, 497, 425),
    *(847, 543, 588, 571, 615, 527, 494, 617, 652, 263, 479, 579, 486, 727, 647, 664),
    *(566, 664, 569, 534, 536, 645, 515, 786, 513, 476, 539, 303, 350, 303, 497, 500),
    *(542, 504, 553, 456, 555, 496, 292, 504, 544, 246, 247, 495, 255, 829, 547, 542),
    *(555, 555, 347, 419, 338, 544, 467, 719, 446, 467, 425, 303, 241, 303, 497),
)
_OTHERS = {"…": 948, "–": 480, "—": 800, "“": 426, "”": 426, "’": 249, "·": 249}
_WIDE, _USUAL = 1000, 600  # of characters that are not in the tables: Chinese ones, all others
_FIRST_WIDE = 0x2E80
_HEIGHT = 17  # pixels of a line of the smallest text
_BESIDE, _BELOW = 21, 23  # pixels around a name in its margin, where no margin is below 12
_MOST = 150.0  # pixels of a name; for longer ones plotly finds what room the plot can spare
_TAG = re.compile("<[^>]*>")


def width(text: str) -> float:
    """The width of a label in the smallest text, in pixels, without its HTML."""
    shown = html.unescape(_TAG.sub("", text))
    return sum(map(_advance, shown)) * SMALLEST / 1000


def beside(names: Iterable[str], *, most: float = _MOST) -> int:
    """The margin that names at the ends of rows need, in pixels.

    Args:
        names: as they are shown.
        most: pixels of a name that there is room for at any width of the chart.
    """
    return math.ceil(min(_widest(names), most)) + _BESIDE


def below(names: Iterable[str], angle: float) -> int:
    """The margin that names under columns need, in pixels.

    Args:
        names: as they are shown.
        angle: by which they are turned, in degrees; from 0 to 90, either way.
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
