"""From a view to the requested map: its texts, its settings, and the choices that they allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from contextlens.core import ModelCard
from contextlens.core.errors import CorpusError
from contextlens.core.settings import DEMO_POINTS
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.coloring import color_choice
from contextlens.features.map.controls import (
    DIMS,
    EFFORT,
    EVERY_WORD,
    METHOD,
    METRIC,
    MIN_DIST,
    NEIGHBORS,
    ONLY,
    PAGE,
    SEED,
    SPECIAL,
    UNIT,
    at_most_of,
    pooling_of,
    word_of,
)
from contextlens.maps.plan import can_gather_all_layers
from contextlens.maps.points import Unit
from contextlens.maps.request import GIVEN, Effort, MapRequest, MapSettings, Method
from contextlens.maps.vector_space import Metric
from contextlens.maps.vectors import has_layers
from contextlens.ui.corpora.controls import ALL_WORDS, EXACT, OWN_FILE, POINT_LIMITS
from contextlens.ui.corpora.texts import collection_of, texts_of
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.services import settings
from contextlens.ui.state.view import ViewState


@dataclass(frozen=True, eq=False)
class RequestedMap:
    """The map that a view asks for.

    Attributes:
        corpus: the texts; None if a file must be chosen first, or if there is a problem.
        request: the requested map; None without texts.
        at_most: the options for the number of its points.
        color: the options for its colours.
        pooling: the options for the vectors of its words or sentences; None for tokens, and for
            the vectors of a file.
        recipe: the model's own recipe in words, for a map of sentences; else "".
        problem: the reason why the texts cannot be used, or "".
    """

    corpus: Corpus | None
    request: MapRequest | None
    at_most: Choice
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
    key, n_texts = ("", 0) if corpus is None else (corpus.key, len(corpus.texts))
    request = request_of(view, card, key, n_texts)
    if corpus is not None and corpus.own is not None:
        request = of_file(request)
    color = color_choice(request, corpus)
    unit, is_given = request.unit, request.pooling == GIVEN
    return RequestedMap(
        corpus,
        None if corpus is None else request,
        _at_most_of(view, n_texts),
        color,
        None if unit == "tokens" or is_given else pooling_of(unit, card),
        recipe_of(card) if unit == "sentences" and not is_given else "",
        problem,
    )


def corpus_of(view: ViewState) -> Corpus | None:
    """Return the texts that a view names; None if a file must be chosen first.

    Raises:
        CorpusError: the texts cannot be used.
    """
    name = collection_of(view, PAGE)
    if by_chosen_words(view) and word_of().of(view) != ALL_WORDS:
        return ambiguous_corpus()
    return texts_of(view, name, takes_vectors=True)


def of_file(request: MapRequest) -> MapRequest:
    """Return the request for the texts' own vectors, which have no model, words or layers."""
    return replace(
        request,
        model="",
        checksum="",
        exact=False,
        unit="sentences",
        pooling=GIVEN,
        only=(),
        every_word=False,
        special=False,
        layer=-1,
    )


def request_of(view: ViewState, card: ModelCard, corpus: str, n_texts: int) -> MapRequest:
    """Return the request for all layers, or for the shown one if their points are too many.

    Args:
        view: the current view.
        card: the model's card.
        corpus: the key of the texts.
        n_texts: their number.
    """
    unit = cast("Unit", UNIT.of(view))
    pooling = "mean" if unit == "tokens" else pooling_of(unit, card).of(view)
    limit = min(int(_at_most_of(view, n_texts).of(view)), max_points())
    has_all_layers = has_layers(pooling) and can_gather_all_layers(limit, card)
    return MapRequest(
        model=view.model,
        checksum=card.checksum,
        corpus=corpus,
        source=collection_of(view, PAGE),
        unit=unit,
        pooling=pooling,
        only=_only(view),
        every_word=unit == "words" and EVERY_WORD.of(view),
        special=unit == "tokens" and SPECIAL.of(view),
        most=limit,
        layer=None if has_all_layers else _layer(view, card, pooling),
        settings=settings_of(view),
        exact=EXACT.of(view),
    )


def _at_most_of(view: ViewState, n_texts: int) -> Choice:
    return at_most_of(n_texts if collection_of(view, PAGE) == OWN_FILE else 0)


def max_points() -> int:
    """Return the maximum number of points on a map here, whatever an address asks for."""
    return DEMO_POINTS if settings().demo else max(POINT_LIMITS)


def by_chosen_words(view: ViewState) -> bool:
    """True if the ready-made corpus is mapped by its ambiguous words."""
    ready_made = collection_of(view, PAGE) == "ambiguous"
    return ready_made and UNIT.of(view) == "words" and not EVERY_WORD.of(view)


def settings_of(view: ViewState) -> MapSettings:
    """Return the view's settings for placing points."""
    return MapSettings(
        method=cast("Method", METHOD.of(view)),
        n_components=3 if DIMS.of(view) == "3-D" else 2,
        metric=cast("Metric", METRIC.of(view)),
        n_neighbors=NEIGHBORS.of(view),
        min_dist=float(MIN_DIST.of(view)),
        seed=SEED.of(view),
        effort=cast("Effort", EFFORT.of(view)),
    )


def _only(view: ViewState) -> tuple[str, ...]:
    """The words or tokens to map; an empty tuple for all."""
    if UNIT.of(view) == "sentences":
        return ()
    if by_chosen_words(view):
        word = word_of().of(view)
        return () if word == ALL_WORDS else (word.casefold(),)
    words = (part.strip().casefold() for part in ONLY.of(view).split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def _layer(view: ViewState, card: ModelCard, pooling: str) -> int:
    if not has_layers(pooling):
        return -1
    if view.layer is None or not 0 <= view.layer <= card.n_layers:
        return card.n_layers
    return view.layer
