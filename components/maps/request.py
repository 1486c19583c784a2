"""Which map is asked for, as one value that can be compared, kept and said in words."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from components.maps.points import Unit
from components.maps.settings import MapSettings, method_name

__all__ = ["Footing", "MapRequest", "changes", "with_layer"]

Footing = Literal["joint", "aligned", "one"]


@dataclass(frozen=True)
class MapRequest:
    """Everything that decides a map's points and their places.

    Attributes:
        model: its id.
        corpus: digest of the mapped corpus.
        unit: what becomes a point.
        pooling: of a word's sub-tokens or a sentence's tokens.
        only: words or tokens to map, in small letters; empty maps all.
        every_word: of a corpus with chosen words, all words instead of those.
        special: for tokens: also those that the tokenizer added.
        most: the largest number of points.
        footing: how layers are drawn together, or that one is drawn alone.
        layer: that one, -1 for the pooler's output; None where all are drawn together.
        settings: how points are placed.
        source: where the texts come from, in the words of who asks.
    """

    model: str
    corpus: str
    unit: Unit = "words"
    pooling: str = "mean"
    only: tuple[str, ...] = ()
    every_word: bool = False
    special: bool = False
    most: int = 2_000
    footing: Footing = "joint"
    layer: int | None = None
    settings: MapSettings = field(default_factory=MapSettings)
    source: str = ""

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
            parts[0] += "" if self.footing == "aligned" else " with an optimiser of our own"
            parts.append(f"{own.n_neighbors} neighbours, minimum distance {own.min_dist:g}")
        if own.method == "tsne":
            parts.append(f"perplexity {own.n_neighbors}")
        if own.method != "pca":
            parts.append(f"{own.metric} distance, seed {own.seed}")
        where = "all layers" if self.layer is None else _layer_name(self.layer)
        return " · ".join([self.unit, where, *parts])


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
