"""Requests to the engine: the settings of a layout, and the request for a map."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from contextlens.core.errors import RequestError
from contextlens.maps.points import Unit
from contextlens.maps.vector_space import METRICS, Metric

__all__ = [
    "EFFORTS",
    "GIVEN",
    "METHODS",
    "Effort",
    "MapRequest",
    "MapSettings",
    "Method",
    "method_name",
]


# --- The settings of a layout

Method = Literal["umap", "pca", "tsne"]
METHODS: tuple[Method, ...] = get_args(Method)
Effort = Literal["quick", "full"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
FULL_EPOCHS, MANY_FULL_EPOCHS = 800, 400  # for up to `MANY` points, and for more
QUICK_EPOCHS, MANY_QUICK_EPOCHS = 200, 150  # for up to `SOME` points, and for more
SOME = 5_000
MANY = 50_000
_NAMES = {"umap": "UMAP", "pca": "PCA", "tsne": "t-SNE"}


@dataclass(frozen=True)
class MapSettings:
    """The settings of a layout.

    Attributes:
        method: "umap", "pca" or "tsne".
        n_components: 2 or 3 dimensions of the map.
        metric: "cosine" or "euclidean" in the full space.
        n_neighbors: 2 to 200; UMAP's neighbours (which count the point itself), t-SNE's perplexity.
        min_dist: 0 to 0.99, the smallest distance between UMAP's points.
        seed: 0 to 2**31 - 1, seeds UMAP's random draws.
        effort: "full" takes enough rounds for a map as good as umap-learn's own, "quick" fewer.
    """

    method: Method = "umap"
    n_components: int = 2
    metric: Metric = "cosine"
    n_neighbors: int = 15
    min_dist: float = 0.1
    seed: int = 0
    effort: Effort = "quick"

    def __post_init__(self) -> None:
        _check_choice("method", self.method, METHODS)
        _check_choice("metric", self.metric, METRICS)
        _check_choice("effort", self.effort, EFFORTS)
        for name, low, high in (
            ("n_components", 2, 3),
            ("n_neighbors", 2, 200),
            ("seed", 0, 2**31 - 1),
        ):
            object.__setattr__(self, name, _whole(name, getattr(self, name), low, high))
        object.__setattr__(self, "min_dist", _number("min_dist", self.min_dist, 0.0, 0.99))

    def n_epochs(self, n: int, *, is_settled: bool = False) -> int:
        """Return the number of rounds that UMAP takes for n points; half from a settled layout."""
        if self.effort == "full":
            n_epochs = FULL_EPOCHS if n <= MANY else MANY_FULL_EPOCHS
        else:
            n_epochs = QUICK_EPOCHS if n <= SOME else MANY_QUICK_EPOCHS
        return n_epochs // 2 if is_settled else n_epochs

    def as_dict(self) -> dict[str, str | int | float]:
        """Return the settings by name, as values of JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> MapSettings:
        """Return the settings that a mapping names; missing ones have their defaults.

        Raises:
            RequestError: a name is no setting, or a value is not allowed.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(str(name) for name in given if name not in known)
        if unknown:
            raise RequestError(
                f"{', '.join(unknown)}: no such setting of a map. There are {', '.join(known)}."
            )
        return cls(**given)


def method_name(method: Method) -> str:
    """Return a method's name as pages write it."""
    return _NAMES[method]


def _check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise RequestError(
            f"{name} of a map was {_shown(value)}; it must be one of {', '.join(allowed)}."
        )


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    raise RequestError(
        f"{name} of a map was {_shown(value)}; it must be a whole number from {low} to {high:,}."
    )


def _number(name: str, value: Any, low: float, high: float) -> float:
    # No conversion: float() of a very large whole number would overflow.
    if (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and low <= value <= high
    ):
        return float(value)
    raise RequestError(
        f"{name} of a map was {_shown(value)}; it must be a number from {low:g} to {high:g}."
    )


def _shown(value: object) -> str:
    """Return a value as a message shows it: a long one is cut."""
    try:
        text = repr(value)
    except ValueError:  # Python does not format whole numbers of more than 4,300 digits
        return "a very large number"
    return text if len(text) <= 40 else text[:39] + "…"


# --- The request for a map

GIVEN = "given"
"""The pooling of vectors that a file gives for its texts; no model reads them."""


@dataclass(frozen=True)
class MapRequest:
    """Everything that decides a map's points and their places.

    Attributes:
        model: the id of the model; "" for the vectors of a file.
        corpus: the digest of the mapped corpus.
        unit: whether points are tokens, words or sentences.
        pooling: how a word's sub-tokens or a sentence's tokens become one vector.
        only: words or tokens to map, in small letters; empty maps all.
        every_word: of a corpus with chosen words, map all words instead of those.
        special: of tokens, map also those that the tokenizer added.
        most: the largest number of points.
        layer: the layer that is drawn alone, -1 for vectors of the last layer only (pooler,
            recipe) and of a file; None for all layers, each starting from the one above.
        settings: how points are placed.
        exact: True to read the texts exactly, however many they are.
        source: a name for the origin of the texts, chosen by the caller.
        is_first: True for the map of the texts that are read first, which is shown until the whole
            map is there.
        checksum: that of the model's weights, which may be saved anew under the same id.
    """

    model: str
    corpus: str
    unit: Unit = "words"
    pooling: str = "mean"
    only: tuple[str, ...] = ()
    every_word: bool = False
    special: bool = False
    most: int = 2_000
    layer: int | None = None
    settings: MapSettings = field(default_factory=MapSettings)
    exact: bool = False
    source: str = ""
    is_first: bool = False
    checksum: str = ""

    @property
    def key(self) -> str:
        """A short name that only equal requests share."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def points_key(self) -> tuple[Any, ...]:
        """The fields that decide the points, without the layer, the layout and the precision."""
        return (
            *(self.model, self.corpus, self.unit, self.pooling, self.only),
            *(self.every_word, self.special, self.most, self.is_first),
        )

    def in_words(self, method: Method) -> str:
        """The settings in one line, for a caption, with the method that was used."""
        settings = self.settings
        parts = [method_name(method)]
        if method == "umap":
            parts[0] += " (own optimiser)"
            parts.append(
                f"{settings.n_neighbors} neighbours, minimum distance {settings.min_dist:g}"
            )
        if method == "tsne":
            parts.append(f"perplexity {settings.n_neighbors}")
        if method != "pca":
            parts.append(f"{settings.metric} distance, seed {settings.seed}")
        where = "all layers" if self.layer is None else _layer_name(self.layer)
        where = "vectors of the file" if self.pooling == GIVEN else where
        return " · ".join([self.unit, where, *parts])


def _layer_name(layer: int) -> str:
    return "last layer only" if layer < 0 else f"layer {layer}"
