"""The data behind the Map page: the requested map, colours, findings, downloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.similarity import cosine_matrix
from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.errors import ContextlensError, CorpusError, JobError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import group_names
from contextlens.features.map import marks as map_marks
from contextlens.features.map.controls import (
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
    map_ranges,
)
from contextlens.features.map.finding import (
    LAYER,
    Finding,
    color_choice,
    color_of,
    finding_of,
    once,
    sampled_note,
)
from contextlens.features.map.marks import MarkedPoints
from contextlens.features.map.reading import (
    not_one_claim,
    selection_claims,
)
from contextlens.features.map.request import request_of
from contextlens.features.map.snippet import (
    MapText,
    map_vectors_snippet,
    recipe_snippet,
)
from contextlens.jobs import Job, Visitor
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors, neighbors_of
from contextlens.maps.points import Points, context
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
        rest: the job that draws the other layers, if only the last one is there yet.
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
    rest: Job | None = None

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
        return sampled_note(self.result)

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
    rest: Job | None = None,
    order: tuple[str, ...] = (),
    layer: int | None = None,
    has_webgl: bool = True,
) -> MapDisplay:
    """Return a map as the view shows it.

    Args:
        view: the current view.
        result: the map.
        is_stale: True if the view asks for another map.
        rest: the job that draws the other layers, if only the last one is there yet.
        order: the categories of another map, whose colours are kept.
        layer: the layer to show; by default the view's.
        has_webgl: False if the browser can only draw a few points.
    """
    row = result.index_of(view.layer if layer is None else layer)
    by = color_of(view, result)

    names = group_names.unpack(map_marks.name_of(result), GROUP_NAMES.of(view))

    def compute() -> Finding:
        return finding_of(result, row, by, order, names)

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
        rest=rest,
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
