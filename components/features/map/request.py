"""Which map a view asks for, as one value that can be compared, kept and said in words."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from components.core import ModelCard
from components.core.errors import RequestError
from components.maps.points import UNITS, Unit
from components.maps.settings import MapSettings, method_name
from components.maps.text_rows import SENTENCE_POOLINGS, WORD_POOLINGS
from components.ui.state.view import ViewState

__all__ = [
    "FOOTINGS",
    "MOST",
    "PAGE",
    "PANELS",
    "SOURCES",
    "USUAL_MOST",
    "USUAL_WORD",
    "Footing",
    "MapRequest",
    "changes",
    "request_of",
    "settings_of",
    "with_layer",
]

PAGE = "map"
Footing = Literal["joint", "aligned", "one"]
FOOTINGS: dict[str, str] = {
    "joint": "All layers, one joint fit",
    "aligned": "All layers, aligned fits",
    "one": "The chosen layer alone",
}
SOURCES = {"ambiguous": "Ready-made corpus", "sentences": "Your sentences", "file": "A file"}
MOST = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
USUAL_MOST = 2_000
PANELS = ("Trust", "Point", "Find & select")
"""What stands beside the map."""
USUAL_WORD = "python"
"""Of the ready-made corpus, what is mapped at first."""


@dataclass(frozen=True)
class MapRequest:
    """Everything that decides a map's points and their places.

    Attributes:
        corpus: digest of the mapped corpus.
        source: where it comes from, a key of `SOURCES`.
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


def request_of(view: ViewState, card: ModelCard, corpus: str, source: str) -> MapRequest:
    """The map that a view asks for.

    Args:
        corpus: digest of the corpus that `source` stands for.
    """
    unit = next((u for u in UNITS if u == view.control(PAGE, "unit", UNITS[0])), UNITS[0])
    pooling = _pooling(view, unit)
    footing = _footing(view)
    if pooling == "pooler":
        footing = "one"
    every_word = unit == "words" and bool(view.control(PAGE, "every_word", default=False))
    only = str(view.control(PAGE, "only", ""))
    if source == "ambiguous" and unit == "words" and not every_word:
        word = str(view.control(PAGE, "word", USUAL_WORD))
        only = "" if word == "all" else word
    most = str(view.control(PAGE, "at_most", str(USUAL_MOST)))
    return MapRequest(
        model=view.model,
        corpus=corpus,
        source=source,
        unit=unit,
        pooling=pooling,
        only=_words(only) if unit != "sentences" else (),
        every_word=every_word,
        special=unit == "tokens" and bool(view.control(PAGE, "special", default=False)),
        most=next((n for n in MOST if str(n) == most), USUAL_MOST),
        footing=footing,
        layer=_layer(view, card, pooling) if footing == "one" else None,
        settings=settings_of(view),
    )


def settings_of(view: ViewState) -> MapSettings:
    """How the view wants points placed; the defaults where an address holds what cannot be."""
    usual = MapSettings()
    given: dict[str, object] = {
        "method": view.control(PAGE, "method", usual.method),
        "n_components": 3 if view.control(PAGE, "dims", "2-D") == "3-D" else 2,
        "metric": view.control(PAGE, "metric", usual.metric),
        "n_neighbors": view.control(PAGE, "neighbors", usual.n_neighbors),
        "seed": view.control(PAGE, "seed", usual.seed),
        "effort": view.control(PAGE, "effort", usual.effort),
    }
    given["min_dist"] = _number(view.control(PAGE, "min_dist", str(usual.min_dist)))
    chosen = usual
    for name, value in given.items():
        try:
            chosen = MapSettings.from_dict({**chosen.as_dict(), name: value})
        except RequestError:  # of a hand-made address: the rest of it stands
            continue
    return chosen


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


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


def _footing(view: ViewState) -> Footing:
    asked = view.control(PAGE, "footing", "joint")
    return next((f for f in get_args(Footing) if f == asked), "joint")


def _pooling(view: ViewState, unit: Unit) -> str:
    options = tuple(SENTENCE_POOLINGS) if unit == "sentences" else WORD_POOLINGS
    asked = view.control(PAGE, f"{unit}_pooling", options[0])
    return str(asked) if asked in options and unit != "tokens" else options[0]


def _layer(view: ViewState, card: ModelCard, pooling: str) -> int:
    if pooling == "pooler":
        return -1
    return (
        view.layer if view.layer is not None and 0 <= view.layer <= card.n_layers else card.n_layers
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(w for part in text.split(",") if (w := part.strip().casefold())))
