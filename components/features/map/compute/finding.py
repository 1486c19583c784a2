"""What is found on a map at one layer: its colours, groups, titles and reading, computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from components.analysis.separation import (
    SPLIT,
    Separation,
    Trial,
    scaled,
    separation,
    trial_of,
)
from components.core.schema import FloatArray, IntArray
from components.features.map.compute.colors import GROUPS, LAYER, NOTHING
from components.features.map.compute.once import once
from components.features.map.figures.colors import Coloring, coloring
from components.features.map.reading import MapReading, label_agreement, map_reading, map_title
from components.maps.clusters import ClusterLabel, cluster, cluster_labels
from components.maps.picture import Picture
from components.maps.points import Points
from components.ui.widgets.sense_claims import (
    senses_claim,
    senses_sure,
    senses_title,
    senses_title_at,
)

__all__ = ["Finding", "SenseTests", "finding", "sense_tests"]

_LABELLED = 60
"""Points from which groups have names on the map: in fewer texts no word is typical."""


@dataclass(frozen=True, eq=False)
class SenseTests:
    """The test of one word's labelled senses at each layer, as on the Senses page."""

    word: str
    trial: Trial
    curve: tuple[Separation, ...]


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
        sure: how it was tested, and how sure that is.
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
    sure: tuple[str, ...]
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
    said = _reading(picture, row, column, groups, senses)
    parts = (picture.request.key, row, by, order)
    return Finding(
        key=hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16],
        color=coloring(points, "" if plain else by, extra=extra, order=order),
        every_layer=by == LAYER,
        column=column,
        groups=groups,
        group_labels=named,
        titles=_titles(picture, row, column, groups, senses),
        course="" if senses is None else senses_title(senses.word, senses.curve, senses.trial),
        reading=tuple(map(str, said.claims)),
        sure=tuple(map(str, said.sure)),
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
    picture: Picture, row: int, column: str | None, groups: IntArray, senses: SenseTests | None
) -> tuple[str, ...]:
    """The finding at each layer; groups are known at the shown one alone."""
    points = picture.points
    if senses is not None:
        return tuple(senses_title_at(senses.word, own, senses.trial) for own in senses.curve)
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


def _reading(
    picture: Picture, row: int, column: str | None, groups: IntArray, senses: SenseTests | None
) -> MapReading:
    if senses is not None:
        curve, trial, layer = senses.curve, senses.trial, picture.layers[row]
        return MapReading(senses_claim(senses.word, curve, trial, layer), senses_sure(curve, trial))
    clusters = groups if column is None else None
    return map_reading(picture.points, picture.neighbors[row], column=column, clusters=clusters)


def _senses(picture: Picture, column: str | None) -> SenseTests | None:
    """The tests of a word's senses at each layer; None for other maps."""
    if column != "sense" or len(picture.layers) < 2:
        return None
    return once(
        picture,
        "senses",
        compute=lambda: sense_tests(picture.points, picture.vectors, picture.layers),
    )


def sense_tests(points: Points, vectors: FloatArray, layers: tuple[int, ...]) -> SenseTests | None:
    """The tests of the labels "sense"; None for points of several words, or nothing to test.

    Args:
        points: the occurrences of one word.
        vectors: (n_layers, n_points, n_dims) float32.
        layers: which layer each row of `vectors` is of.
    """
    words = set(points.labels.get("word", ()))
    if len(words) != 1:
        return None
    word = words.pop()
    labels = [label.removeprefix(f"{word}: ") for label in points.labels["sense"]]
    trial = trial_of(labels, points.labels.get(SPLIT, ()))
    if trial.problem:
        return None
    curve = tuple(
        separation(scaled(own), trial, layer) for own, layer in zip(vectors, layers, strict=True)
    )
    return SenseTests(word, trial, curve)
