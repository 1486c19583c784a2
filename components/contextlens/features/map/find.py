"""Points by a typed text: those that have it, and those whose vectors are nearest to its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.separation import cosines_to, scaled
from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, quoted
from contextlens.core import EncoderService
from contextlens.core.errors import ContextlensError
from contextlens.core.schema import FloatArray
from contextlens.features.map.controls import N_NEAREST_POINTS
from contextlens.features.map.identity import once
from contextlens.maps.makers import query_vector
from contextlens.maps.points import Points, Unit
from contextlens.maps.request import GIVEN
from contextlens.maps.result import MapResult
from contextlens.maps.vectors import TextRows, is_recipe, recipe_rows, rows_of
from contextlens.ui.panel import Panel

# --- The points that have the text


def search(points: Points, wanted: str) -> tuple[int, ...]:
    """The points with this name, or else all points of sentences that contain it, ignoring case."""
    needle = wanted.strip().casefold()
    if not needle:
        return ()
    hits = {i for i, text in enumerate(points.texts) if needle in text.casefold()}
    exact = tuple(i for i, name in enumerate(points.names) if name.casefold() == needle)
    return exact or tuple(i for i, text in enumerate(points.sentence.tolist()) if text in hits)


def span_of(text: str, wanted: str) -> tuple[int, int] | None:
    """The first place of a searched text in code points, ignoring case; None if it is not there.

    A character may casefold to several, as "ß" does; a match that begins or ends within one of them
    takes the whole character.
    """
    needle = wanted.strip().casefold()
    at = text.casefold().find(needle) if needle else -1
    if at < 0:
        return None
    owners = [i for i, character in enumerate(text) for _ in character.casefold()]
    return owners[at], owners[at + len(needle) - 1] + 1


# --- The points nearest to a typed text

_MAX_LISTED = 5
_BLOCK = 4_096  # points


@dataclass(frozen=True)
class NearestPoints(Panel):
    """The points nearest to a typed text.

    Attributes:
        name: the word, token or sentence that was used.
        point_ids: the nearest points in the full space by cosine, nearest first.
        cosines: the cosine of each of these points.
        problem: the reason why there are none, as Markdown; "" if there are.
    """

    name: str
    point_ids: tuple[int, ...]
    cosines: tuple[float, ...]
    problem: str = ""

    def claims(self) -> Sequence[Claim]:
        """Return the number of points, with the range of their full-space similarities."""
        ends = {"high": self.cosines[0], "low": self.cosines[-1]}
        n, name = len(self.cosines), quoted(self.name, 40)
        return (claim("map.near.found", n=n, name=name, **ends),)


def nearest_to(
    service: EncoderService, result: MapResult, row: int, text: str, *, model: str = ""
) -> NearestPoints:
    """Return the points of a map nearest to a text at one of its layers; it is encoded once.

    Args:
        service: encodes the text.
        result: the map.
        row: the row of the layer.
        text: the typed text.
        model: the id of the model that reads it if no model made the map.
    """
    model = result.request.model or model

    def compute() -> NearestPoints:
        return _nearest(service, result, row, text, model)

    try:
        return once(result, "near to", row, text, model, compute=compute)
    except ContextlensError as exc:  # not cached: it may work next time
        return NearestPoints("", (), (), escape(str(exc)))


def _nearest(
    service: EncoderService, result: MapResult, row: int, text: str, model: str
) -> NearestPoints:
    candidates = _rows(service, result, row, text, model)
    at = _chosen(result, candidates)
    if at is None:
        unit = result.points.unit
        problem = str(not_one_claim(unit, text, candidates.names))
        return NearestPoints("", (), (), problem)
    vector: FloatArray = candidates.vectors[-1, at]
    cosines = _cosines(result.vectors[row], vector)
    rows = np.argsort(-cosines, kind="stable")[:N_NEAREST_POINTS]
    return NearestPoints(candidates.names[at], tuple(rows.tolist()), tuple(cosines[rows].tolist()))


def _cosines(vectors: FloatArray, vector: FloatArray) -> FloatArray:
    """(n,) the cosines of vectors with one; beside them, only a block is in memory."""
    starts = range(0, len(vectors), _BLOCK)
    return np.concatenate([cosines_to(scaled(vectors[at : at + _BLOCK]), vector) for at in starts])


def _rows(service: EncoderService, result: MapResult, row: int, text: str, model: str) -> TextRows:
    """The text's words or tokens, or the text itself, with vectors pooled as on the map."""
    request, layer = result.request, result.layers[row]
    if request.pooling == GIVEN:
        vector = query_vector(text, result.corpus, service.load(model), service)
        return TextRows([text], np.array([[0, len(text)]]), vector[None, None])
    if is_recipe(request.pooling):
        card = service.load(model)
        return recipe_rows([text], card, service, request.pooling)[0][0]
    layers = None if layer < 0 else [layer]
    (encoding,) = service.encode(model, [text], layers=layers)
    return rows_of(encoding, result.points.unit, request.pooling, None, set(), special=False)


def _chosen(result: MapResult, candidates: TextRows) -> int | None:
    """The index of the word or token that a text stands for; None if that is unclear."""
    names = [name.casefold() for name in candidates.names]
    if len(names) == 1:
        return 0
    on_map = {name.casefold() for name in result.points.names}
    matches = [i for i, name in enumerate(names) if name in on_map]
    return matches[0] if len({names[i] for i in matches}) == 1 else None


def not_one_claim(unit: Unit, text: str, names: Sequence[str]) -> Claim:
    """The reason why a text is not one point on a map of words or tokens, with a suggestion."""
    units = "words" if unit == "words" else "tokens"
    if not names:
        return claim(f"map.near.no_{units}", text=quoted(text, 40))
    listed = ", ".join(quoted(name) for name in names[:_MAX_LISTED])
    more = ", …" if len(names) > _MAX_LISTED else ""
    return claim(f"map.near.several_{units}", n=len(names), names=f"{listed}{more}")
