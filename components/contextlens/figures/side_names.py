"""Names at both sides of a map, each with a line to its group: they never cover points.

The names stand in the margins, and the lines run from the frame's edge in the map's own
coordinates, so a picture of any size has them in place. `names.js` of the Map places them anew, in
the same way, where a reader has zoomed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextlens.figures.frames import spread
from contextlens.figures.theme import INK, SMALLEST, plain

__all__ = ["NAME_STEP", "SideName", "margins", "placed", "side_names"]

NAME_STEP = 21.0
"""Pixels from one name to the next below it."""
MAX_NAME_CHARACTERS = 24
_LETTER, _MARK, _WIDEST = 7.0, 30.0, 200.0  # pixels: a letter, the dot and the gaps, a margin
_FAINT, _STRONG = 0.5, 0.95
_LARGE, _FEW = 16, 6  # pixels of the text of at most so many names
_EDGE = 0.45, 0.3  # of a line's width: how far it leaves the name, and meets the group, level


@dataclass(frozen=True)
class SideName:
    """The name of a group of points.

    Attributes:
        key: what a click on it means.
        text: the name, as it was given.
        color: of its points.
        place: where most of its points lie.
        weight: names with more come first where there is no room for all.
    """

    key: str
    text: str
    color: str
    place: tuple[float, float]
    weight: float

    @property
    def label(self) -> str:
        """The name in one short line, safe for plotly."""
        return plain(self.text, MAX_NAME_CHARACTERS)


Side = list[tuple[SideName, float]]
"""The names of one side, each with its height: 0 at the bottom, 1 at the top."""


def margins(names: Sequence[SideName]) -> int:
    """Return the pixels that a map needs at each side for these names."""
    longest = max((min(len(name.text), MAX_NAME_CHARACTERS) for name in names), default=0)
    large = _LARGE / SMALLEST if len(names) <= _FEW else 1.0
    return round(min(longest * _LETTER * large + _MARK, _WIDEST)) if names else 0


def placed(
    names: Sequence[SideName],
    ranges: Sequence[tuple[float, float]],
    *,
    height: float,
    in_order: bool = False,
) -> tuple[Side, Side]:
    """Return the names of the left and of the right side, from the bottom up.

    A name stands at the side and height of its group, as far as the others leave room. Where there
    is no room for all, those with the least weight are left out.

    Args:
        names: the names.
        ranges: the ranges of the map's two axes.
        height: the height of the map's frame in pixels.
        in_order: True to have all names at the right, the first one on top.
    """
    (left, right), (bottom, top) = ranges[:2]
    n_each = max(1, int(height // NAME_STEP))
    middle, step = (left + right) / 2, NAME_STEP / height
    if in_order and len(names) <= n_each:
        start = 0.5 + step * (len(names) - 1) / 2
        column = [(name, start - step * i) for i, name in enumerate(names)]
        return [], column[::-1]
    kept = sorted(names, key=lambda name: (-name.weight, name.key))[: 2 * n_each]
    across = sorted(kept, key=lambda name: (name.place[0], name.key))
    n_left = sum(name.place[0] < middle for name in across)
    n_left = min(max(n_left, len(across) - n_each), n_each)
    sides: list[Side] = []
    for side in (across[:n_left], across[n_left:]):
        rising = sorted(side, key=lambda name: (name.place[1], name.key))
        spots = [(name.place[1] - bottom) / (top - bottom) for name in rising]
        heights = spread(spots, step, (step / 2, 1 - step / 2))
        sides.append(list(zip(rising, heights, strict=True)))
    return sides[0], sides[1]


def side_names(
    names: Sequence[SideName],
    ranges: Sequence[tuple[float, float]],
    *,
    height: float,
    chosen: str = "",
    in_order: bool = False,
) -> dict[str, list[dict[str, Any]]]:
    """Return the annotations and shapes of a layout: the names, and a line from each to its group.

    Args:
        names, ranges, height, in_order: as in `placed`.
        chosen: the key of the name that stands out; "" for none.
    """
    size = _LARGE if len(names) <= _FEW else SMALLEST
    annotations, shapes = [], []
    for side, column in enumerate(placed(names, ranges, height=height, in_order=in_order)):
        for name, y in column:
            is_chosen = name.key == chosen
            dot = f'<span style="color:{name.color}">●</span>'
            words = f"<b>{name.label}</b>" if is_chosen or len(names) <= _FEW else name.label
            annotations.append(
                {
                    "text": f"{dot} {words}" if side else f"{words} {dot}",
                    "name": name.key,
                    "x": side,
                    "xref": "paper",
                    "xanchor": "left" if side else "right",
                    "xshift": 4 if side else -4,
                    "y": round(y, 4),
                    "yref": "paper",
                    "yanchor": "middle",
                    "showarrow": False,
                    "captureevents": True,
                    "font": {"size": size, "color": INK},
                }
            )
            shapes.append(_line(name, ranges, side=side, y=y, is_chosen=is_chosen))
    return {"annotations": annotations, "shapes": shapes}


def _line(
    name: SideName, ranges: Sequence[tuple[float, float]], *, side: int, y: float, is_chosen: bool
) -> dict[str, Any]:
    """A curve from the frame's edge, at the height of a name, to its group."""
    (bottom, top), (x, end) = ranges[1], name.place
    edge, start = ranges[0][side], bottom + y * (top - bottom)
    leave, meet = edge + _EDGE[0] * (x - edge), x - _EDGE[1] * (x - edge)
    path = (
        f"M{edge:.5g},{start:.5g} C{leave:.5g},{start:.5g} {meet:.5g},{end:.5g} {x:.5g},{end:.5g}"
    )
    return {
        "type": "path",
        "path": path,
        "line": {"color": name.color, "width": 2 if is_chosen else 1},
        "opacity": _STRONG if is_chosen else _FAINT,
        "layer": "below",
    }
