"""On which side of its point a number stands, so that numbers lie over one another least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.schema import FloatArray
from components.features.map.figures.frame import Ranges

__all__ = ["SIDES", "sides"]

SIDES: Mapping[str, tuple[int, int]] = {
    "top center": (0, 1),
    "middle right": (1, 0),
    "bottom center": (0, -1),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
    "top left": (-1, 1),
}
"""Where plotly may write a text, the usual side first: across and up from its point."""
_HIGH = 430.0  # pixels of a frame, roughly
_LETTER, _LINE, _RING = 8.5, 15.0, 8.0  # pixels: a character, a line, from a ring's middle to it


def sides(places: FloatArray, labels: Mapping[int, str], ranges: Ranges) -> dict[int, str]:
    """For each labelled point, where its label stands.

    Args:
        places: (n, 2) or (n, 3) of all points; in three dimensions nothing can be told before.
        labels: what is written, by the points' numbers.
        ranges: what the axes show.
    """
    usual = next(iter(SIDES))
    if places.shape[1] != 2 or not labels:
        return dict.fromkeys(labels, usual)
    per_unit = _HIGH / (ranges[1][1] - ranges[1][0])
    at = {row: places[row].astype(float) * per_unit for row in labels}
    taken = [_box(own, np.full(2, 2 * _RING)) for own in at.values()]  # the rings themselves
    found = {}
    for i, (row, text) in enumerate(labels.items()):
        others = [*taken[:i], *taken[i + 1 :]]
        boxes = [_beside(at[row], text, way) for way in SIDES.values()]
        over = [sum(_common(box, other) for other in others) for box in boxes]
        best = int(np.argmin(over))
        found[row] = list(SIDES)[best]
        taken.append(boxes[best])
    return found


def _beside(point: NDArray[Any], text: str, way: tuple[int, int]) -> NDArray[Any]:
    size = np.array([_LETTER * max(1, len(text)), _LINE])
    return _box(point + np.array(way) * (size / 2 + _RING), size)


def _box(middle: NDArray[Any], size: NDArray[Any]) -> NDArray[Any]:
    """(2, 2) the lower and the upper corner."""
    return np.stack([middle - size / 2, middle + size / 2])


def _common(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The area that two boxes have in common, in square pixels."""
    shared = np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])
    return float(np.clip(shared, 0, None).prod())
