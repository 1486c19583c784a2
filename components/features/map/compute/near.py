"""The points nearest to a text that someone types: encoded as the map's points are.

On a map of words or tokens the text must come to one of them: the only one that it has, or the one
that the map has too, so that a word can be looked for in a sentence of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.analysis.similarity import cosine_matrix
from components.content.wording import escape
from components.core.errors import ContextlensError
from components.core.schema import FloatArray
from components.features.map.compute.once import once
from components.features.map.reading import not_one_claim
from components.maps.picture import Picture
from components.maps.text_rows import TextRows, rows_of
from components.ui.models.services import service

__all__ = ["N_NEAREST", "Near", "nearest_to"]

N_NEAREST = 10


@dataclass(frozen=True)
class Near:
    """What is nearest to a typed text.

    Attributes:
        name: the word, token or sentence that was taken of it.
        rows: the nearest points in the full space by cosine, nearest first.
        cosines: one for each of them.
        problem: why there are none, as Markdown; "" where there are.
    """

    name: str
    rows: tuple[int, ...]
    cosines: tuple[float, ...]
    problem: str = ""


def nearest_to(picture: Picture, row: int, text: str) -> Near:
    """The points of a map nearest to a text at one of its layers; encoded once."""
    try:
        return once(picture, "near to", row, text, compute=lambda: _nearest(picture, row, text))
    except ContextlensError as exc:  # next time it may be otherwise
        return Near("", (), (), escape(str(exc)))


def _nearest(picture: Picture, row: int, text: str) -> Near:
    found = _rows(picture, row, text)
    at = _chosen(picture, found)
    if at is None:
        unit = picture.points.unit
        problem = str(not_one_claim(unit, text, found.names))
        return Near("", (), (), problem)
    vector: FloatArray = found.vectors[-1, at]
    cosines = cosine_matrix(np.concatenate([vector[None], picture.vectors[row]]))[0, 1:]
    rows = np.argsort(-cosines, kind="stable")[:N_NEAREST]
    return Near(found.names[at], tuple(rows.tolist()), tuple(cosines[rows].tolist()))


def _rows(picture: Picture, row: int, text: str) -> TextRows:
    """The text's words or tokens, or itself, with their vectors as the map pools them."""
    request, layer = picture.request, picture.layers[row]
    layers = None if layer < 0 else [layer]
    (encoding,) = service().encode(request.model, [text], layers=layers)
    return rows_of(encoding, picture.points.unit, request.pooling, None, set(), special=False)


def _chosen(picture: Picture, found: TextRows) -> int | None:
    """Which of a text's words or tokens is meant; None where that is open."""
    if len(found.names) == 1:
        return 0
    known = {name.casefold() for name in picture.points.names}
    own = [i for i, name in enumerate(found.names) if name.casefold() in known]
    return own[0] if len({found.names[i].casefold() for i in own}) == 1 else None
