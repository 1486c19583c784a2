"""The map that a view asks for."""

from __future__ import annotations

from typing import cast

from contextlens.core import ModelCard
from contextlens.core.settings import DEMO_POINTS
from contextlens.features.map.controls import (
    ALL_WORDS,
    AT_MOST,
    DIMS,
    EFFORT,
    EVERY_WORD,
    METHOD,
    METRIC,
    MIN_DIST,
    MOST,
    NEIGHBORS,
    ONLY,
    SEED,
    SOURCE,
    SPECIAL,
    UNIT,
    pooling_of,
    word_of,
)
from contextlens.maps.plan import can_gather_all_layers
from contextlens.maps.points import Unit
from contextlens.maps.request import Effort, MapRequest, MapSettings, Method
from contextlens.maps.vector_space import Metric
from contextlens.maps.vectors import has_layers
from contextlens.ui.models.services import settings
from contextlens.ui.state.view import ViewState


def request_of(view: ViewState, card: ModelCard, corpus: str) -> MapRequest:
    """The map that a view asks for: all layers, or the shown one if their points are too many.

    Args:
        view: the current view.
        card: the model's card.
        corpus: the key of the texts.
    """
    unit = cast("Unit", UNIT.of(view))
    pooling = "mean" if unit == "tokens" else pooling_of(unit, card).of(view)
    most = min(int(AT_MOST.of(view)), most_points())
    has_all_layers = has_layers(pooling) and can_gather_all_layers(most, card)
    return MapRequest(
        model=view.model,
        corpus=corpus,
        source=SOURCE.of(view),
        unit=unit,
        pooling=pooling,
        only=_only(view),
        every_word=unit == "words" and EVERY_WORD.of(view),
        special=unit == "tokens" and SPECIAL.of(view),
        most=most,
        layer=None if has_all_layers else _layer(view, card, pooling),
        settings=settings_of(view),
    )


def most_points() -> int:
    """The maximum number of points on a map here, whatever an address asks for."""
    return DEMO_POINTS if settings().demo else max(MOST)


def by_chosen_words(view: ViewState) -> bool:
    """True if the ready-made corpus is mapped by its ambiguous words."""
    ready_made = SOURCE.of(view) == SOURCE.default
    return ready_made and UNIT.of(view) == "words" and not EVERY_WORD.of(view)


def settings_of(view: ViewState) -> MapSettings:
    """The view's settings for placing points."""
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
