"""The data behind the Map page: the requested map, colours, findings, downloads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.separation import SPLIT, Separation, Trial, scaled, separation, trial_of
from contextlens.analysis.similarity import cosine_matrix
from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import ContextlensError, CorpusError, JobError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.columns import kind_of_column
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import group_names
from contextlens.features.map import marks as map_marks
from contextlens.features.map.controls import (
    COLOR,
    FIND,
    FIND_SELECT,
    GROUP_NAMES,
    NEAR,
    PANEL,
    POINT_PANEL,
    pooling_of,
)
from contextlens.features.map.corpora import corpus_of
from contextlens.features.map.figures import (
    MAX_SVG,
    Coloring,
    MapMarks,
    Ranges,
    coloring,
    map_ranges,
)
from contextlens.features.map.group_names import GroupName
from contextlens.features.map.marks import MarkedPoints
from contextlens.features.map.reading import (
    MapReading,
    label_agreement,
    map_reading,
    map_title,
    not_one_claim,
    selection_claims,
)
from contextlens.features.map.request import request_of
from contextlens.features.map.snippet import (
    MapText,
    map_vectors_snippet,
    recipe_snippet,
)
from contextlens.jobs import Visitor
from contextlens.maps.clusters import ClusterLabel, cluster, cluster_labels
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors, neighbors_of
from contextlens.maps.points import Points, Unit, context
from contextlens.maps.request import MapRequest
from contextlens.maps.result import MapResult
from contextlens.maps.typical import typical_of
from contextlens.maps.vectors import TextRows, is_recipe, recipe_prompt, recipe_rows, rows_of
from contextlens.ui.models.background import maps
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.models.services import service
from contextlens.ui.models.waiting import current_visitor
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.sense_claims import (
    senses_claim,
    senses_sure,
    senses_title_at,
)

__all__ = [
    "GROUPS",
    "LAYER",
    "NOTHING",
    "N_NEAREST",
    "MapDisplay",
    "MapRecipe",
    "RequestedMap",
    "linked_points",
    "map_arrays",
    "map_display",
    "map_shapes",
    "map_table",
    "nearest_to",
    "once",
    "requested_map",
    "sense_tests",
    "vectors_snippet",
]


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
    usual = _usual(request, corpus)
    names = dict.fromkeys([usual, *_names(request.unit, corpus)])
    return COLOR.among({name: name for name in names}, default=usual)


def color_of(view: ViewState, result: MapResult) -> str:
    """The column that a view names for the colours; the default if the points do not have it."""
    points = result.points
    names = [*points.labels, *points.measures, GROUPS, NOTHING]
    names += ["token"] if points.unit == "tokens" else []
    names += [LAYER] if len(result.layers) > 1 else []
    columns = {name.removesuffix(_GIVEN): name for name in names} | {name: name for name in names}
    usual = _usual(result.request, result.corpus)
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


def _usual(request: MapRequest, corpus: Corpus | None) -> str:
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


# --- The map that a view asks for


@dataclass(frozen=True, eq=False)
class RequestedMap:
    """The map that a view asks for.

    Attributes:
        corpus: the texts; None if a file must be chosen first, or if there is a problem.
        request: the requested map; None without texts.
        color: the options for its colours.
        pooling: the options for the vectors of its words or sentences; None for tokens.
        recipe: the model's own recipe in words, for a map of sentences; else "".
        problem: the reason why the texts cannot be used, or "".
    """

    corpus: Corpus | None
    request: MapRequest | None
    color: Choice
    pooling: Choice | None
    recipe: str
    problem: str = ""


def requested_map(view: ViewState, card: ModelCard) -> RequestedMap:
    """Return the texts and the map that a view asks for."""
    problem, corpus = "", None
    try:
        corpus = corpus_of(view)
    except CorpusError as exc:
        problem = str(exc)
    request = request_of(view, card, "" if corpus is None else corpus.key)
    color = color_choice(request, corpus)
    unit = request.unit
    return RequestedMap(
        corpus,
        None if corpus is None else request,
        color,
        None if unit == "tokens" else pooling_of(unit, card),
        recipe_of(card) if unit == "sentences" else "",
        problem,
    )


# --- The points nearest to a typed text

N_NEAREST = 10


@dataclass(frozen=True)
class NearestPoints:
    """The points nearest to a typed text.

    Attributes:
        name: the word, token or sentence that was used.
        rows: the nearest points in the full space by cosine, nearest first.
        cosines: the cosine of each of these points.
        problem: the reason why there are none, as Markdown; "" if there are.
    """

    name: str
    rows: tuple[int, ...]
    cosines: tuple[float, ...]
    problem: str = ""


def nearest_to(result: MapResult, row: int, text: str) -> NearestPoints:
    """The points of a map nearest to a text at one of its layers; the text is encoded once."""
    try:
        return once(result, "near to", row, text, compute=lambda: _nearest(result, row, text))
    except ContextlensError as exc:  # not cached: it may work next time
        return NearestPoints("", (), (), escape(str(exc)))


def _nearest(result: MapResult, row: int, text: str) -> NearestPoints:
    candidates = _rows(result, row, text)
    at = _chosen(result, candidates)
    if at is None:
        unit = result.points.unit
        problem = str(not_one_claim(unit, text, candidates.names))
        return NearestPoints("", (), (), problem)
    vector: FloatArray = candidates.vectors[-1, at]
    cosines = cosine_matrix(np.concatenate([vector[None], result.vectors[row]]))[0, 1:]
    rows = np.argsort(-cosines, kind="stable")[:N_NEAREST]
    return NearestPoints(candidates.names[at], tuple(rows.tolist()), tuple(cosines[rows].tolist()))


def _rows(result: MapResult, row: int, text: str) -> TextRows:
    """The text's words or tokens, or the text itself, with vectors pooled as on the map."""
    request, layer = result.request, result.layers[row]
    if is_recipe(request.pooling):
        card = service().load(request.model)
        return recipe_rows([text], card, service(), request.pooling)[0][0]
    layers = None if layer < 0 else [layer]
    (encoding,) = service().encode(request.model, [text], layers=layers)
    return rows_of(encoding, result.points.unit, request.pooling, None, set(), special=False)


def _chosen(result: MapResult, candidates: TextRows) -> int | None:
    """The index of the word or token that a text stands for; None if that is unclear."""
    names = [name.casefold() for name in candidates.names]
    if len(names) == 1:
        return 0
    on_map = {name.casefold() for name in result.points.names}
    matches = [i for i, name in enumerate(names) if name in on_map]
    return matches[0] if len({names[i] for i in matches}) == 1 else None


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


def _finding(
    result: MapResult,
    row: int,
    by: str,
    order: tuple[str, ...],
    names: tuple[GroupName, ...],
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


# --- A map as a view shows it

N_NEIGHBORS = 10
_LONGEST_NAME = 32
_MAX_NUMBERED = 12
"""Up to this many matching or selected points have numbers on the map."""


@dataclass(frozen=True, eq=False)
class MapDisplay:
    """A map as the page shows it.

    Attributes:
        result: the map that was drawn.
        is_stale: True if the controls have changed since.
        row: the shown layer's row in the arrays of the map.
        finding: the finding at this layer.
        wanted: the search text; "" for none.
        near_to: the text whose nearest points are requested; "" for none.
        marked: the marked points.
        panel: the look beside the map.
        most_drawn: the number of points that the browser can draw; None for all.
    """

    result: MapResult
    is_stale: bool
    row: int
    finding: Finding
    wanted: str
    near_to: str
    marked: MarkedPoints
    panel: str
    most_drawn: int | None = None

    @property
    def points(self) -> Points:
        """The description of each point."""
        return self.result.points

    @property
    def title(self) -> str:
        """The finding at the shown layer."""
        return self.finding.titles[self.row]

    @property
    def layer(self) -> int:
        """The shown layer; -1 for the pooler's output."""
        return self.result.layers[self.row]

    @property
    def places(self) -> FloatArray:
        """(n_points, 2 or 3) coordinates on the map."""
        places: FloatArray = self.result.map.coordinates[self.row]
        return places

    @cached_property
    def drawn(self) -> Points:
        """The drawn points: the first ones if the browser cannot draw them all."""
        n = self.points.n_points
        most = n if self.most_drawn is None else self.most_drawn
        return self.points.take(range(most)) if most < n else self.points

    @cached_property
    def drawn_color(self) -> Coloring:
        """The colours of the drawn points."""
        color = self.finding.color
        return replace(color, values=color.values[: self.drawn.n_points])

    @cached_property
    def frames(self) -> list[Ranges]:
        """The axis ranges at each layer, which hold all points of the layer."""
        return [map_ranges(places) for places in self.result.map.coordinates]

    @property
    def vectors(self) -> FloatArray:
        """(n_points, n_dims) in the full space."""
        vectors: FloatArray = self.result.vectors[self.row]
        return vectors

    @property
    def neighbors(self) -> Neighbors:
        """The true neighbours at the shown layer."""
        return self.result.map.neighbors[self.row]

    @property
    def quality(self) -> MapQuality | None:
        """The quality of the shown layer's map."""
        return self.result.map.quality[self.row]

    @property
    def point(self) -> int | None:
        """The selected point."""
        return self.marked.point

    @cached_property
    def matches(self) -> tuple[int, ...] | None:
        """The points that match the search; None without a search."""
        if not self.wanted:
            return None
        rows: NDArray[np.int64] = once(
            self.result,
            "found",
            self.wanted,
            compute=lambda: np.array(map_marks.search(self.points, self.wanted), dtype=np.int64),
        )
        return tuple(rows.tolist())

    def drawn_marks(self, marks: MapMarks) -> MapMarks:
        """The marks of points that are drawn."""
        n = self.drawn.n_points
        if n == self.points.n_points:
            return marks
        rings = {title: [row for row in rows if row < n] for title, rows in marks.rings.items()}
        return MapMarks(
            chosen=None if marks.chosen is None else [row for row in marks.chosen if row < n],
            rings={title: rows for title, rows in rings.items() if rows},
            focus=marks.focus if marks.focus is not None and marks.focus < n else None,
            neighbours=[row for row in marks.neighbours if row < n],
            labels={row: label for row, label in marks.labels.items() if row < n},
        )

    @property
    def near(self) -> NearestPoints | None:
        """The points nearest to a typed text; None without a text, and on a stale map."""
        if not self.near_to or self.is_stale:  # its model may be gone
            return None
        return nearest_to(self.result, self.row, self.near_to)

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """The number or letter beside each labelled point; the tables beside the map repeat it."""
        pins = zip((self.marked.pin_a, self.marked.pin_b), "AB", strict=True)
        letters = {point: letter for point, letter in pins if point is not None}
        return {**{row: str(i) for i, row in enumerate(self._listed(), 1)}, **letters}

    def _listed(self) -> Sequence[int]:
        """The points that the shown look lists, in its order; none if there are too many."""
        if self.panel == POINT_PANEL and self.point is not None:
            return self.true_neighbors(self.point)
        selection = self.marked.selection
        listed: Sequence[int] = ()
        if self.panel == FIND_SELECT and self.near is not None:
            listed = self.near.rows
        elif self.panel == FIND_SELECT:
            listed = self.matches or (() if selection is None else selection.points)
        return listed if len(listed) <= _MAX_NUMBERED else ()

    @property
    def sampled(self) -> str:
        """A note on how many of the texts are on the map, if not all are."""
        n, total = len(self.points.texts), self.result.n_able
        most = self.result.request.most
        return say("map.notes.sampled", n=n, total=total, most=most) if n < total else ""

    def called(self, point: int) -> str:
        """A point's name, or part of its sentence if all points have the same name."""
        if not self.finding.one_name:
            return self.points.names[point]
        return "".join(context(self.points, point, longest=_LONGEST_NAME))

    def cosines(self, point: int, others: Sequence[int]) -> list[float]:
        """The exact cosines of a point with others in the full space."""
        values: list[float] = cosine_matrix(self.vectors[[point, *others]])[0, 1:].tolist()
        return values

    def true_neighbors(self, point: int) -> list[int]:
        """The nearest points in the full space, nearest first."""
        k = min(N_NEIGHBORS, self.points.n_points - 1)
        if self.neighbors.indices.shape[1] >= k:
            rows: list[int] = self.neighbors.indices[point, :k].tolist()
            return rows

        def compute() -> list[int]:
            metric = self.result.request.settings.metric
            nearest: list[int] = neighbors_of(self.vectors, point, k, metric)[0].tolist()
            return nearest

        return once(self.result, "near", self.row, point, compute=compute)

    def map_neighbors(self, point: int) -> list[int]:
        """The nearest points on the map, nearest first."""
        k = min(N_NEIGHBORS, self.points.n_points - 1)
        apart = np.linalg.norm(self.places - self.places[point], axis=1)
        apart[point] = np.inf
        rows: list[int] = np.argsort(apart, kind="stable")[:k].tolist()
        return rows

    def marks(self, chart: str, *, linked: tuple[int, ...] | None = None) -> MapMarks:
        """The marks in the picture; a selection is included only if it was made on another drawing.

        Args:
            chart: the name of the drawing.
            linked: points that are selected in the other map.
        """
        pins = tuple(p for p in (self.marked.pin_a, self.marked.pin_b) if p is not None)
        near = () if self.near is None else self.near.rows
        rings = {"Nearest to the text": near, "Found": self.matches or (), "Pinned": pins}
        selection, point = self.marked.selection, self.point
        if linked is None and selection is not None and selection.chart != chart:
            linked = selection.points
        return MapMarks(
            chosen=linked,
            rings={title: rows for title, rows in rings.items() if rows},
            focus=point,
            neighbours=() if point is None else tuple(self.true_neighbors(point)),
            labels=self.labels,
        )

    def selected_in_words(self) -> tuple[str, ...]:
        """The description of a selection by box or lasso, in sentences."""
        selection = self.marked.selection
        rows = () if selection is None else selection.points

        def compute() -> tuple[str, ...]:
            typical = _typical(self.points, rows)
            column = self.finding.column
            claims = selection_claims(self.points, rows, column=column, typical=typical)
            return tuple(map(str, claims))

        return once(self.result, "selected", rows, self.finding.column, compute=compute)


def map_display(
    view: ViewState,
    result: MapResult,
    *,
    is_stale: bool = False,
    order: tuple[str, ...] = (),
    layer: int | None = None,
    has_webgl: bool = True,
) -> MapDisplay:
    """Return a map as the view shows it.

    Args:
        view: the current view.
        result: the map.
        is_stale: True if the view asks for another map.
        order: the categories of another map, whose colours are kept.
        layer: the layer to show; by default the view's.
        has_webgl: False if the browser can only draw a few points.
    """
    row = result.index_of(view.layer if layer is None else layer)
    by = color_of(view, result)

    names = group_names.unpack(map_marks.name_of(result), GROUP_NAMES.of(view))

    def compute() -> Finding:
        return _finding(result, row, by, order, names)

    return MapDisplay(
        result=result,
        is_stale=is_stale,
        row=row,
        finding=once(result, "finding", row, by, order, names, compute=compute),
        wanted=FIND.of(view).strip(),
        near_to=NEAR.of(view).strip(),
        marked=map_marks.marked(view, result),
        panel=PANEL.of(view),
        most_drawn=None if has_webgl else MAX_SVG // (len(result.layers) if by == LAYER else 1),
    )


def linked_points(one: MapDisplay, other: MapDisplay, points: tuple[int, ...]) -> tuple[int, ...]:
    """The other map's points for the same words of the same texts."""

    def compute() -> IntArray:
        spots = one.result.spots
        chosen = {spots[i] for i in points if i < len(spots)}
        return np.array(
            [i for i, spot in enumerate(other.result.spots) if spot in chosen], dtype=int
        )

    rows = once(other.result, "linked", one.result.request.key, points, compute=compute)
    return tuple(rows.tolist())


def _typical(points: Points, rows: Sequence[int]) -> tuple[str, ...]:
    """Words that set the selected sentences apart from the rest of the map."""
    inside = np.zeros(points.n_points, dtype=np.int64)
    inside[list(rows)] = 1
    chosen = np.zeros(len(points.texts), dtype=np.int64)
    np.maximum.at(chosen, points.sentence, inside)
    if chosen.all():
        return ()
    return typical_of(points.terms, np.arange(len(chosen)), chosen).get(1, ())


# --- A map that can be found again

_SECONDS = 60.0


@dataclass(frozen=True)
class MapRecipe:
    """The settings that restore a map as it was shown; small, without the map itself.

    Attributes:
        view: the view at that time.
        request: the map on screen, which may be older than the view's.
        visitor: the visitor who looked at it.
    """

    view: ViewState
    request: MapRequest
    visitor: Visitor

    @classmethod
    def of(cls, display: MapDisplay) -> Self:
        """Return the recipe of the page's current map; to be called during the page's run."""
        return cls(session.current(), display.result.request, current_visitor("map_again"))

    def display(self) -> MapDisplay:
        """The map, redrawn if it was evicted.

        Raises:
            ContextlensError: the map cannot be redrawn.
        """
        result = maps().result(self.request)
        if result is None:
            corpus = corpus_of(self.view)
            if corpus is None or corpus.key != self.request.corpus:
                raise JobError(say("map.waiting.again"))
            card = service().load(self.request.model)
            result = maps().draw(self.request, corpus, card, self.visitor).result(_SECONDS)
        return map_display(self.view, result)


# --- The numbers of a map as tables and arrays

_N_SNIPPET = 3
_MOST_CHARACTERS = 50_000_000
"""Maximum characters of texts in one table or array; beyond it, texts are cut. A table repeats a
text for each of its points, and an array pads all texts to the longest: 2 MB could become 4 GB."""


def map_table(display: MapDisplay, most: int | None = None) -> pd.DataFrame:
    """The points with their coordinates; only the first `most`, if given."""
    points, first = display.points, slice(most)
    texts = _bounded(points.texts, points.n_points if most is None else most)
    names = {label.cluster: label.text for label in display.finding.group_labels}
    name = points.unit.removesuffix("s")
    axes = zip("xyz", display.places[first].T.astype(float), strict=False)
    columns: dict[str, Any] = {
        **({} if points.unit == "sentences" else {name: points.names[first]}),
        **{title: labels[first] for title, labels in points.labels.items()},
        **{title: values[first].astype(float) for title, values in points.measures.items()},
        "sentence": [texts[i] for i in points.sentence[first].tolist()],
        "group": [names.get(group, "") for group in display.finding.groups[first].tolist()],
        **dict(axes),
    }
    return pd.DataFrame(columns)


def map_arrays(display: MapDisplay) -> Mapping[str, NDArray[Any]]:
    """The vectors, coordinates, neighbours and texts of a map, for the download."""
    result, points = display.result, display.points
    return {
        "vectors": display.vectors,
        "coordinates": display.places,
        "neighbor_indices": display.neighbors.indices,
        "neighbor_distances": display.neighbors.distances,
        "layers": np.array(result.layers),
        "all_coordinates": result.map.coordinates,
        "all_vectors": result.vectors,
        "sentence": points.sentence,
        "spans": points.spans,
        "names": np.array(points.names),
        "texts": np.array(_bounded(points.texts, len(points.texts))),
    }


def _bounded(texts: Sequence[str], n_times: int) -> Sequence[str]:
    """The texts, cut so that `n_times` the longest stays within `_MOST_CHARACTERS`."""
    most = max(1, _MOST_CHARACTERS // max(n_times, 1))
    return texts if max(map(len, texts), default=0) <= most else [text[:most] for text in texts]


def map_shapes(display: MapDisplay) -> list[dict[str, str]]:
    """The shapes of the arrays behind the map."""
    return [
        {"array": "vectors (points, dims)", "shape": str(display.vectors.shape)},
        {"array": "places on the map (points, axes)", "shape": str(display.places.shape)},
        {"array": "true neighbours (points, k)", "shape": str(display.neighbors.indices.shape)},
        {"array": "places at all layers", "shape": str(display.result.map.coordinates.shape)},
    ]


def vectors_snippet(display: MapDisplay, card: ModelCard) -> str:
    """A script that computes the vectors of the map's first sentences."""
    points, request = display.points, display.result.request
    if is_recipe(request.pooling):
        texts = points.texts[:_N_SNIPPET]
        return recipe_snippet(card, texts, prompt=recipe_prompt(card, request.pooling))
    return map_vectors_snippet(
        card,
        [_snippet_text(display, int(i)) for i in np.unique(points.sentence)[:_N_SNIPPET]],
        points.unit,
        max(display.layer, 0),
        pooling=request.pooling,  # type: ignore[arg-type]
        added=request.special,
    )


def _snippet_text(display: MapDisplay, sentence: int) -> MapText:
    points = display.points
    spans = points.spans[points.sentence == sentence].tolist()
    return MapText(points.texts[sentence], tuple((start, end) for start, end in spans))
