"""Which map a view asks for, as one value that can be compared, kept and said in words."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, cast

from components.core import ModelCard
from components.features.map.controls import (
    ALL_WORDS,
    AT_MOST,
    DIMS,
    EFFORT,
    EVERY_WORD,
    FOOTING,
    METHOD,
    METRIC,
    MIN_DIST,
    NEIGHBORS,
    ONLY,
    SEED,
    SOURCE,
    SPECIAL,
    UNIT,
    pooling_of,
    word_of,
)
from components.maps.points import Unit
from components.maps.settings import Effort, MapSettings, Method, method_name
from components.maps.vector_space import Metric
from components.ui.state.view import ViewState

__all__ = [
    "Footing",
    "MapRequest",
    "by_chosen_words",
    "changes",
    "request_of",
    "settings_of",
    "with_layer",
]

Footing = Literal["joint", "aligned", "one"]


@dataclass(frozen=True)
class MapRequest:
    """Everything that decides a map's points and their places.

    Attributes:
        corpus: digest of the mapped corpus.
        source: where it comes from, one of the control `SOURCE`.
        only: words or tokens to map, in small letters; empty maps all.
        every_word: of a corpus with chosen words, all words instead of those.
        layer: None where all layers are drawn together.
    """

    model: str
    corpus: str
    source: str
    unit: Unit
    pooling: str
    only: tuple[str, ...]
    every_word: bool
    special: bool
    most: int
    footing: Footing
    layer: int | None
    settings: MapSettings

    @property
    def key(self) -> str:
        """A short name that only equal requests share."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def points_key(self) -> tuple[Any, ...]:
        """What decides the points, whatever the layer and however they are placed."""
        return (
            *(self.model, self.corpus, self.unit, self.pooling, self.only),
            *(self.every_word, self.special, self.most),
        )

    def in_words(self) -> str:
        """The settings in one line, for a caption."""
        own = self.settings
        parts = [method_name(own.method)]
        if own.method == "umap":
            parts.append(f"{own.n_neighbors} neighbours, minimum distance {own.min_dist:g}")
        if own.method == "tsne":
            parts.append(f"perplexity {own.n_neighbors}")
        if own.method != "pca":
            parts.append(f"{own.metric} distance, seed {own.seed}")
        where = "all layers" if self.layer is None else _layer_name(self.layer)
        return " · ".join([self.unit, where, *parts])


def request_of(view: ViewState, card: ModelCard, corpus: str) -> MapRequest:
    """The map that a view asks for.

    Args:
        view: what is chosen.
        card: of its model.
        corpus: digest of the texts.
    """
    unit = cast("Unit", UNIT.of(view))
    pooling = "mean" if unit == "tokens" else pooling_of(unit).of(view)
    footing = cast("Footing", FOOTING.of(view)) if pooling != "pooler" else "one"
    return MapRequest(
        model=view.model,
        corpus=corpus,
        source=SOURCE.of(view),
        unit=unit,
        pooling=pooling,
        only=_only(view),
        every_word=unit == "words" and EVERY_WORD.of(view),
        special=unit == "tokens" and SPECIAL.of(view),
        most=int(AT_MOST.of(view)),
        footing=footing,
        layer=_layer(view, card, pooling) if footing == "one" else None,
        settings=settings_of(view),
    )


def by_chosen_words(view: ViewState) -> bool:
    """Whether the ready-made corpus is mapped by its ambiguous words."""
    ready_made = SOURCE.of(view) == SOURCE.default
    return ready_made and UNIT.of(view) == "words" and not EVERY_WORD.of(view)


def settings_of(view: ViewState) -> MapSettings:
    """How the view wants points placed."""
    return MapSettings(
        method=cast("Method", METHOD.of(view)),
        n_components=3 if DIMS.of(view) == "3-D" else 2,
        metric=cast("Metric", METRIC.of(view)),
        n_neighbors=NEIGHBORS.of(view),
        min_dist=float(MIN_DIST.of(view)),
        seed=SEED.of(view),
        effort=cast("Effort", EFFORT.of(view)),
    )


def changes(old: MapRequest, new: MapRequest) -> tuple[str, ...]:
    """In what two requests differ, in words."""
    names = {
        "model": "the model",
        "corpus": "the texts",
        "source": "the texts",
        "unit": "what a point is",
        "pooling": "how vectors are pooled",
        "only": "which words",
        "every_word": "which words",
        "special": "special tokens",
        "most": "how many points",
        "footing": "how layers are drawn",
        "layer": "the layer",
        "settings": "the map's settings",
    }
    differing = (name for name in names if getattr(old, name) != getattr(new, name))
    return tuple(dict.fromkeys(names[name] for name in differing))


def with_layer(request: MapRequest, layer: int) -> MapRequest:
    """The same map of one layer."""
    return replace(request, footing="one", layer=layer)


def _layer_name(layer: int) -> str:
    return "pooler output" if layer < 0 else f"layer {layer}"


def _only(view: ViewState) -> tuple[str, ...]:
    """The words or tokens that are mapped; none for all of them."""
    if UNIT.of(view) == "sentences":
        return ()
    if by_chosen_words(view):
        word = word_of().of(view)
        return () if word == ALL_WORDS else (word.casefold(),)
    words = (part.strip().casefold() for part in ONLY.of(view).split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def _layer(view: ViewState, card: ModelCard, pooling: str) -> int:
    if pooling == "pooler":
        return -1
    if view.layer is None or not 0 <= view.layer <= card.n_layers:
        return card.n_layers
    return view.layer
