"""What the heatmaps of Layer by layer have in common: cells with numbers, colours, token names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from contextlens.content.wording import two
from contextlens.core.schema import FloatArray
from contextlens.figures.theme import GROUND, INK, SEQUENTIAL, ink_on, plain

MAX_NUMBERS = 16
"""The most columns whose cells have room for a number."""
BARE_AXIS = {"showgrid": False, "zeroline": False, "ticks": ""}
TOKEN_AXIS = {"type": "category", **BARE_AXIS}
"""Names as categories, so that the browser leaves some out if they do not all fit."""


def token_names(labels: Sequence[str]) -> list[str]:
    """Return labels made safe and unique: repeated ones, such as "the", get their positions."""
    bare = [plain(label, 16) or "␣" for label in labels]
    counts = Counter(bare)
    names: list[str] = []
    for position, name in enumerate(bare):
        label = name if counts[name] == 1 else f"{name} ({position})"
        names.append(label if label not in names else f"{label} at {position}")
    return names


def heatmap_traces(
    trace: dict[str, Any], matrix: FloatArray, *, scale: tuple[float, float], name: str
) -> list[dict[str, Any]]:
    """Return a heatmap as one trace, or as two if its cells have room for numbers.

    Readable numbers have two colours, but a heatmap has only one. So one trace has the high values,
    the other the low ones.

    Args:
        trace: the names of columns and rows, and the text on hover.
        matrix: the values.
        scale: the ends of the colour scale.
        name: the title of the colour scale.
    """
    trace = {
        "type": "heatmap",
        **trace,
        "zmin": scale[0],
        "zmax": scale[1],
        "colorscale": SEQUENTIAL,
        "colorbar": {"title": {"text": plain(name)}, "thickness": 8, "len": 0.9},
    }
    if max(matrix.shape) > MAX_NUMBERS:  # an array is sent in binary
        return [{**trace, "z": matrix.astype(np.float32)}]
    shares = (matrix - scale[0]) / (scale[1] - scale[0])
    high = np.array([[ink_on(share) == GROUND for share in row] for row in shares.tolist()])
    return [
        {
            **trace,
            "z": _rounded(np.where(mask, matrix, np.nan)),
            "text": [
                [two(value) if shown else "" for value, shown in zip(*row, strict=True)]
                for row in zip(matrix.tolist(), mask.tolist(), strict=True)
            ],
            "texttemplate": "%{text}",
            "textfont": {"color": color},
            "hoverongaps": False,
            "showscale": color == GROUND,
        }
        for mask, color in ((high, GROUND), (~high, INK))
    ]


def _rounded(matrix: FloatArray) -> list[list[float | None]]:
    return [[None if np.isnan(v) else round(float(v), 4) for v in row] for row in matrix]
