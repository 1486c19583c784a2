"""The findings on a map: its groups and labels at one layer, and the colours of its points.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from contextlens.analysis.separation import SPLIT, Separation, Trial, scaled, separation, trial_of
from contextlens.content.language import say
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.columns import kind_of_column
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import group_names
from contextlens.features.map.controls import COLOR
from contextlens.features.map.figures import Coloring, coloring
from contextlens.features.map.group_names import GroupName
from contextlens.features.map.reading import MapReading, label_agreement, map_reading, map_title
from contextlens.maps.clusters import ClusterLabel, cluster, cluster_labels
from contextlens.maps.points import Points, Unit
from contextlens.maps.request import MapRequest
from contextlens.maps.result import MapResult
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.sense_claims import senses_claim, senses_sure, senses_title_at

# --- Values computed over all points of a map

T = TypeVar("T")


def once(result: MapResult, name: str, *given: Hashable, compute: Callable[[], T]) -> T:
    """Return a named value of a map, from the cache or computed now.

    Args:
        result: the map. A cached value must not refer to it, or its vectors stay in memory.
        name: the name of the value.
        given: everything else that it depends on.
        compute: computes it.
    """
    passport = result.gathered.passport
    weights = "" if passport is None else passport.checksum
    return remembered(
        f"map: {name}", result.request.key, weights, result.digest, *given, compute=compute
    )


# --- The colours of a map's points

GROUPS = "group on the map"
LAYER = "layer"
"""Colours by layer, for a map with the points of all layers."""
NOTHING = "nothing"
_MOST_LABELS, _LEAST_REPEATS = 200, 2
"""A usable label column has at most so many labels, each so often on average."""
_GIVEN = " (label)"
"""The suffix of a label column whose name the points use already."""


def color_choice(request: MapRequest, corpus: Corpus | None) -> Choice:
    """The columns that can colour a map of these texts, the default first."""
    usual = usual_color(request, corpus)
    names = dict.fromkeys([usual, *_names(request.unit, corpus)])
    return COLOR.among({name: name for name in names}, default=usual)


def color_of(view: ViewState, result: MapResult) -> str:
    """The column that a view names for the colours; the default if the points do not have it."""
    points = result.points
    names = [*points.labels, *points.measures, GROUPS, NOTHING]
    names += ["token"] if points.unit == "tokens" else []
    names += [LAYER] if len(result.layers) > 1 else []
    columns = {name.removesuffix(_GIVEN): name for name in names} | {name: name for name in names}
    usual = usual_color(result.request, result.corpus)
    return columns.get(COLOR.among(columns, default=usual).of(view), GROUPS)


def _names(unit: Unit, corpus: Corpus | None) -> list[str]:
    columns = {
        "words": ["word", "part of text"],
        "tokens": ["token", "kind of token", "part of text"],
        "sentences": ["part of the texts"],
    }[unit]
    measures = ["sentence length in characters"]
    if unit != "sentences":
        measures.insert(0, "position in the sentence")
    given = [] if corpus is None else list(corpus.labels)
    return list(dict.fromkeys([*given, *columns, GROUPS, LAYER, *measures, NOTHING]))


def usual_color(request: MapRequest, corpus: Corpus | None) -> str:
    """The default column for the colours."""
    if corpus is None or not corpus.labels:
        return GROUPS
    if corpus.spans is not None:  # chosen words: coloured by word, a single word by its senses
        return "sense" if len(request.only) == 1 and request.unit == "words" else "word"
    usable = (title for title in corpus.labels if _is_usable(corpus, title))
    return next(usable, GROUPS)


def _is_usable(corpus: Corpus, title: str) -> bool:
    """True if a column's labels can separate: several that repeat, neither numbers nor dates."""
    n = corpus.n_kinds[title]
    if not 1 < n <= min(_MOST_LABELS, len(corpus.texts) / _LEAST_REPEATS):
        return False
    kind = remembered(
        "map: kind of column",
        *(corpus.key, title),
        compute=lambda: kind_of_column(corpus.labels[title]),
    )
    return kind == "category"


# --- The findings at one layer

_LABELLED = 60
"""From this many points on, groups have names on the map; with fewer, no word is typical."""


@dataclass(frozen=True, eq=False)
class SenseTests:
    """The test of one word's labelled senses at each layer, as on the Senses page."""

    word: str
    trial: Trial
    curve: tuple[Separation, ...]


@dataclass(frozen=True, eq=False)
class Finding:
    """The finding on a map at one layer, under one colouring.

    Attributes:
        key: a short name, unique to this finding.
        color: the colouring of the points.
        every_layer: True if the points of all layers are drawn at once.
        column: the labels behind colours and readings, or None.
        groups: (n_points,) each point's group on the map, -1 for none.
        group_labels: the names of the groups, if there are enough points.
        own_names: the visitor's own names among them, by group.
        titles: the finding at each layer, in one line.
        reading: the finding at this layer, in sentences.
        sure: sentences on the test behind the reading, and on its certainty.
        one_name: True if all points have the same name, as in a map of one word.
    """

    key: str
    color: Coloring
    every_layer: bool
    column: str | None
    groups: IntArray
    group_labels: tuple[ClusterLabel, ...]
    own_names: Mapping[int, GroupName]
    titles: tuple[str, ...]
    reading: tuple[str, ...]
    sure: tuple[str, ...]
    one_name: bool


def finding_of(
    result: MapResult,
    row: int,
    by: str,
    order: tuple[str, ...] = (),
    names: tuple[GroupName, ...] = (),
) -> Finding:
    """The finding on a map at one layer.

    Args:
        result: the map.
        row: the layer's row in the arrays of the map.
        by: the column that colours the points.
        order: the categories of another map, whose colours are kept.
        names: the visitor's names of groups.
    """
    points = result.points
    groups, labels = _groups(result, row)
    own_names = _own_names(result, groups, names)
    labels = tuple(
        replace(label, words=(own_names[label.cluster].name,))
        if label.cluster in own_names
        else label
        for label in labels
    )
    plain = by in {NOTHING, LAYER}
    extra = {GROUPS: _group_names(groups, labels)}
    color = coloring(points, "" if plain else by, extra=extra, order=order)
    column = by if by in points.labels and color.kind == "category" else None
    senses = _senses(result, column)
    reading = _reading(result, row, column, groups, senses)
    parts = (result.request.key, row, by, order, names)
    return Finding(
        key=hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16],
        color=color,
        every_layer=by == LAYER,
        column=column,
        groups=groups,
        group_labels=labels if points.n_points >= _LABELLED else (),
        own_names=own_names,
        titles=_titles(result, row, column, groups, senses),
        reading=tuple(map(str, reading.claims)),
        sure=tuple(map(str, reading.sure)),
        one_name=len({name.casefold() for name in points.names}) == 1,
    )


def _groups(result: MapResult, row: int) -> tuple[IntArray, tuple[ClusterLabel, ...]]:
    """The groups on one layer's map, and their names."""

    def compute() -> tuple[IntArray, tuple[ClusterLabel, ...]]:
        places = result.map.coordinates[row]
        groups = cluster(places)
        return groups, cluster_labels(result.points, places, groups)

    return once(result, "groups", row, compute=compute)


def _own_names(
    result: MapResult, groups: IntArray, names: tuple[GroupName, ...]
) -> Mapping[int, GroupName]:
    """The visitor's names of groups on one layer's map."""

    def groups_at(layer: int) -> IntArray | None:
        known = layer in result.layers
        return _groups(result, result.layers.index(layer))[0] if known else None

    return group_names.apply(names, groups, groups_at)


def _group_names(groups: IntArray, labels: tuple[ClusterLabel, ...]) -> tuple[str, ...]:
    """The name of each point's group."""
    words = {label.cluster: ", ".join(label.words) for label in labels}
    return tuple(
        words.get(group, "") or ("" if group < 0 else f"group {group + 1}")
        for group in groups.tolist()
    )


def _titles(
    result: MapResult, row: int, column: str | None, groups: IntArray, senses: SenseTests | None
) -> tuple[str, ...]:
    """The finding at each layer; groups are known only at the shown one."""
    points = result.points
    if senses is not None:
        return tuple(senses_title_at(senses.word, at, senses.trial) for at in senses.curve)
    return tuple(
        map_title(
            points,
            agreed=label_agreement(points, column, near) if column else None,
            column=column,
            clusters=groups if i == row else None,
            quality=result.map.quality[i],
            layer=result.layers[i],
        )
        for i, near in enumerate(result.map.neighbors)
    )


def _reading(
    result: MapResult, row: int, column: str | None, groups: IntArray, senses: SenseTests | None
) -> MapReading:
    if senses is not None:
        curve, trial, layer = senses.curve, senses.trial, result.layers[row]
        return MapReading(senses_claim(senses.word, curve, trial, layer), senses_sure(curve, trial))
    clusters = groups if column is None else None
    return map_reading(result.points, result.map.neighbors[row], column=column, clusters=clusters)


def _senses(result: MapResult, column: str | None) -> SenseTests | None:
    """The tests of a word's senses at each layer; None for other maps."""
    if column != "sense" or len(result.layers) < 2:
        return None
    return once(
        result,
        "senses",
        compute=lambda: sense_tests(result.points, result.vectors, result.layers),
    )


def sense_tests(points: Points, vectors: FloatArray, layers: tuple[int, ...]) -> SenseTests | None:
    """The tests of the labels "sense"; None for several words, or if nothing can be tested.

    Args:
        points: the occurrences of one word.
        vectors: (n_layers, n_points, n_dims) float32.
        layers: the layer of each row of `vectors`.
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
        separation(scaled(rows), trial, layer) for rows, layer in zip(vectors, layers, strict=True)
    )
    return SenseTests(word, trial, curve)


def sampled_note(result: MapResult) -> str:
    """Return a note on how many of the texts are on a map; "" if all are."""
    n, total, most = len(result.points.texts), result.n_able, result.request.most
    return say("map.notes.sampled", n=n, total=total, most=most) if n < total else ""
