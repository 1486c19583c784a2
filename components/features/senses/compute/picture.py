"""What the map of a word is drawn from: points, colours, places and titles at every layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.core.byte_cache import remembered
from components.core.schema import FloatArray, IntArray
from components.features.senses.compute.contexts import around
from components.features.senses.compute.course import Course
from components.features.senses.compute.senses import Senses
from components.features.senses.compute.word import Found
from components.features.senses.figures.map import Spot
from components.ui.widgets.sense_claims import senses_title_at, uses_title_at

__all__ = ["Picture", "picture_of"]

_WIDTH = 40  # characters on each side of the word under the pointer


@dataclass(frozen=True, eq=False)
class Picture:
    """What `figures.map.senses_map` takes.

    Attributes:
        places: (n, 2) by layer.
        spots: what each occurrence is.
        names, codes: what colours them, and each one's number; -1 for none.
        by: "sense" or "group".
        none: what those are called that have none.
        titles: the finding at each layer, plain text.
        own: (2,) by layer, where the own sentence lies; None without one.
        near: the places of its nearest.
    """

    places: Mapping[int, FloatArray]
    spots: tuple[Spot, ...]
    names: tuple[str, ...]
    codes: IntArray
    by: str
    none: str
    titles: Mapping[int, str]
    own: Mapping[int, FloatArray] | None
    near: tuple[int, ...]


def picture_of(senses: Senses, by: str) -> Picture:
    """The map of a word, coloured by sense where asked for and labelled, else by group."""
    found, course = senses.found, senses.course
    is_sense = by == "sense" and bool(found.senses)
    own = senses.own if senses.own is not None and not senses.own.problem else None
    return Picture(
        places={
            layer: own_places.places
            for layer, own_places in zip(course.layers, course.placed, strict=True)
        },
        spots=_spots(senses),
        names=found.senses if is_sense else tuple(g.name for g in senses.grouping.each),
        codes=found.codes if is_sense else senses.grouping.groups,
        by="sense" if is_sense else "group",
        none="no sense" if is_sense else "in no group",
        titles=_titles(found, course),
        own=None if own is None else dict(zip(course.layers, own.places, strict=True)),
        near=() if own is None else own.near,
    )


def _titles(found: Found, course: Course) -> dict[int, str]:
    if course.curve:
        return {own.layer: senses_title_at(found.word, own, found.trial) for own in course.curve}
    return {layer: uses_title_at(found.word, found.n, layer) for layer in course.layers}


def _spots(senses: Senses) -> tuple[Spot, ...]:
    found, groups = senses.found, senses.grouping.groups.tolist()
    contexts = remembered(
        "senses: contexts",
        found.key,
        compute=lambda: tuple(around(found, place, _WIDTH) for place in range(found.n)),
    )
    cosines = senses.cosines
    return tuple(
        Spot(
            *contexts[place],
            sense=found.labels[place],
            group=f"group {groups[place] + 1}" if groups[place] >= 0 else "",
            cosine=None if cosines is None else float(cosines[place]),
        )
        for place in range(found.n)
    )
