"""What is found on a map at one layer: its colours, groups, titles and reading, computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from components.core.schema import IntArray
from components.features.map.compute.colors import GROUPS, LAYER, NOTHING
from components.features.map.compute.once import once
from components.features.map.figures.colors import Coloring, coloring
from components.features.map.reading.at_layer import senses_title_at
from components.features.map.reading.layers import senses_reading, senses_title
from components.features.map.reading.maps import label_agreement, map_reading, map_title
from components.maps.agreement import Agreement
from components.maps.clusters import ClusterLabel, cluster, cluster_labels
from components.maps.picture import Picture

__all__ = ["Finding", "finding"]

Senses = tuple[list[Agreement], str]
"""How far a word's senses keep together at each layer, and the word."""
_LABELLED = 60
"""Points from which groups have names on the map: in fewer texts no word is typical."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A layer of a map under one colouring.

    Attributes:
        key: a short name that only the same finding has.
        color: how points are coloured.
        every_layer: whether the points of all layers are drawn at once.
        column: the labels that colours and readings go by, or None.
        groups: (n_points,) each point's group on the map, -1 for none.
        group_labels: the names of the groups, where there are points enough.
        titles: the finding at each layer, in a line.
        course: what it comes to through all layers, in a line; "" where that is not told.
        reading: the same at this layer, in sentences.
        one_name: whether all points are called the same, as in a map of one word.
    """

    key: str
    color: Coloring
    every_layer: bool
    column: str | None
    groups: IntArray
    group_labels: tuple[ClusterLabel, ...]
    titles: tuple[str, ...]
    course: str
    reading: tuple[str, ...]
    one_name: bool


def finding(picture: Picture, row: int, by: str, order: tuple[str, ...] = ()) -> Finding:
    """What is found on a map.

    Args:
        picture: the map.
        row: of the layer, in the picture's arrays.
        by: what colours the points.
        order: another map's categories, to keep their colours.
    """
    return once(picture, "finding", row, by, order, compute=lambda: _find(picture, row, by, order))


def _find(picture: Picture, row: int, by: str, order: tuple[str, ...]) -> Finding:
    points = picture.points
    groups, labels = _groups(picture, row)
    plain = by in {NOTHING, LAYER}
    extra = {GROUPS: _group_names(groups, labels)}
    column = by if by in points.labels else None
    named = labels if points.n_points >= _LABELLED else ()
    senses = _senses(picture, column)
    parts = (picture.request.key, row, by, order)
    return Finding(
        key=hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16],
        color=coloring(points, "" if plain else by, extra=extra, order=order),
        every_layer=by == LAYER,
        column=column,
        groups=groups,
        group_labels=named,
        titles=_titles(picture, row, column, groups, senses),
        course="" if senses is None else senses_title(senses[0], picture.layers, senses[1]),
        reading=_senses_reading(picture, row, senses)
        or _reading(picture, row, column, groups, named),
        one_name=len({name.casefold() for name in points.names}) == 1,
    )


def _groups(picture: Picture, row: int) -> tuple[IntArray, tuple[ClusterLabel, ...]]:
    """The groups on one layer's map and their names."""

    def compute() -> tuple[IntArray, tuple[ClusterLabel, ...]]:
        places = picture.coordinates[row]
        groups = cluster(places)
        return groups, cluster_labels(picture.points, places, groups)

    return once(picture, "groups", row, compute=compute)


def _group_names(groups: IntArray, labels: tuple[ClusterLabel, ...]) -> tuple[str, ...]:
    """The group of each point, in words."""
    named = _words_of(labels)
    return tuple(
        named.get(group, "") or ("" if group < 0 else f"group {group + 1}")
        for group in groups.tolist()
    )


def _words_of(labels: tuple[ClusterLabel, ...]) -> Mapping[int, str]:
    return {own.cluster: ", ".join(own.words) for own in labels}


def _titles(
    picture: Picture, row: int, column: str | None, groups: IntArray, senses: Senses | None
) -> tuple[str, ...]:
    """The finding at each layer; groups are known at the shown one alone."""
    points = picture.points
    if senses is not None:
        agreed, word = senses
        pairs = zip(agreed, picture.layers, strict=True)
        return tuple(senses_title_at(found, layer, word) for found, layer in pairs)
    return tuple(
        map_title(
            points,
            agreed=label_agreement(points, column, own) if column else None,
            column=column,
            clusters=groups if i == row else None,
            honesty=picture.honesty[i],
        )
        for i, own in enumerate(picture.neighbors)
    )


def _senses_reading(picture: Picture, row: int, senses: Senses | None) -> tuple[str, ...]:
    if senses is None:
        return ()
    agreed, word = senses
    return tuple(senses_reading(agreed, picture.layers, picture.layers[row], word))


def _reading(
    picture: Picture,
    row: int,
    column: str | None,
    groups: IntArray,
    labels: tuple[ClusterLabel, ...],
) -> tuple[str, ...]:
    names = _words_of(labels)
    return tuple(
        map_reading(
            picture.points,
            picture.neighbors[row],
            column=column,
            clusters=groups if column is None else None,
            cluster_names=[names.get(i, "") for i in range(max(names, default=-1) + 1)],
        )
    )


def _senses(picture: Picture, column: str | None) -> Senses | None:
    """How far a word's senses keep together at each layer, and the word; None for other maps."""
    words = set(picture.points.labels.get("word", ()))
    if column != "sense" or len(words) != 1 or len(picture.layers) < 2:
        return None
    agreed = [label_agreement(picture.points, column, own) for own in picture.neighbors]
    known = [own for own in agreed if own is not None]
    return (known, next(iter(words))) if len(known) == len(agreed) else None
