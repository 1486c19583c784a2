"""What colours and shapes stand for: senses or groups, the same on every picture of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.core.schema import IntArray
from components.figures.theme import CATEGORICAL, NEUTRAL, plain

__all__ = ["MAX_COLORED", "SHAPES", "Kind", "kinds_of"]

MAX_COLORED = len(CATEGORICAL) - 1
"""Senses or groups with a colour of their own; the palette's last, a grey, is for the others."""
SHAPES = ("circle", "diamond", "square", "x", "cross", "triangle-up", "star")


@dataclass(frozen=True, eq=False)
class Kind:
    """The occurrences of one sense or group.

    Attributes:
        name: safe for plotly.
        color, shape: of its points.
        places: which occurrences.
    """

    name: str
    color: str
    shape: str
    places: IntArray


def kinds_of(names: Sequence[str], codes: IntArray, *, none: str) -> tuple[Kind, ...]:
    """The occurrences by what colours them; those without come first, so that others lie on them.

    Args:
        names: of senses or groups, by number.
        codes: (n,) the number of each occurrence, -1 for none.
        none: what those are called that have none.
    """
    n_own = len(names) if len(names) <= MAX_COLORED else MAX_COLORED - 1
    own = [
        Kind(plain(names[i]), CATEGORICAL[i], SHAPES[i % len(SHAPES)], np.flatnonzero(codes == i))
        for i in range(n_own)
    ]
    rest = np.flatnonzero(codes >= n_own)
    others = f"other ({len(names) - n_own})"
    found = [
        Kind(none, NEUTRAL, "circle-open", np.flatnonzero(codes < 0)),
        Kind(others, CATEGORICAL[-1], "hexagon", rest),
        *own,
    ]
    return tuple(kind for kind in found if len(kind.places))
