"""The plan of a map: texts in order, time, memory. Made once for each request."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

import numpy as np

from components.core import EncoderService, ModelCard
from components.core.schema import IntArray
from components.core.words import split_words
from components.corpus.corpus import Corpus
from components.maps.map_quality import ALL_UP_TO, N_SAMPLE
from components.maps.progress import ARRANGING, AXES, FINDING, FINDING_ACROSS, LINKING, MEASURING
from components.maps.request import MapRequest, MapSettings, Method

__all__ = [
    "SAMPLING_SEED",
    "Plan",
    "placing_bytes",
    "placing_seconds",
    "plan",
    "stage_seconds",
    "usual_token_seconds",
]


# --- Estimates of time and memory before a map is made

# Seconds of single operations, unless a comment says otherwise.
_PRODUCT, _SELECTION, _CANDIDATE = 1.8e-11, 6e-10, 1e-9
_AXIS, _LINK = 3e-11, 5e-7
_ROUND, _FORCE, _PUSH = 1e-4, 2.1e-9, 3e-4
_RUN, _ONE_THREAD_UP_TO = 32, 1_000  # of UMAP's layout
_RANK = 7e-9
_BLOCKS, _BYTES_A_LINK = 150 << 20, 120  # bytes


def placing_seconds(n: int, d: int, settings: MapSettings, *, n_layers: int = 1) -> float:
    """Return the seconds to place n vectors of d dimensions at each of some layers.

    They are wall-clock seconds once everything is imported and compiled.
    """
    times = stage_seconds(n, d, settings, method=settings.method, n_layers=n_layers)
    return sum(times.values())


def placing_bytes(n: int, d: int, settings: MapSettings) -> int:
    """Return the peak bytes to place n vectors, counted over all layers, besides these vectors."""
    rows = 2 * 4 * n * d
    n_found = {"umap": 1, "tsne": 3, "pca": 0}[settings.method] * settings.n_neighbors + 15
    return _BLOCKS + rows + _BYTES_A_LINK * n * n_found


def stage_seconds(
    n: int, d: int, settings: MapSettings, *, method: Method, n_layers: int = 1
) -> dict[str, float]:
    """Return the seconds of each stage, by its name, in order."""
    one = _one_layer_seconds(n, d, settings, method)
    if n_layers == 1:
        return one
    whole = _one_layer_seconds(n_layers * n, d, settings, method)
    seconds = {FINDING: n_layers * one[FINDING], AXES: whole[AXES]}
    if method != "pca":
        seconds[FINDING_ACROSS] = whole[FINDING]
    if method == "umap":
        seconds[LINKING] = 2 * whole[LINKING]
    if method != "pca":
        seconds[ARRANGING] = whole[ARRANGING] * (1.5 if method == "umap" else 1.0)
    seconds[MEASURING] = n_layers * one[MEASURING]
    return seconds


def _one_layer_seconds(n: int, d: int, settings: MapSettings, method: Method) -> dict[str, float]:
    k = settings.n_neighbors
    n_found = {"umap": k, "tsne": 3 * k, "pca": 1}[method]
    n_measured = n if n <= ALL_UP_TO else N_SAMPLE
    seconds = {
        FINDING: _PRODUCT / 2 * n * n * d
        + _SELECTION * n * n
        + _CANDIDATE * n * (n_found + 15) * d,
        AXES: 0.01 + _AXIS * n * d * d,
    }
    if method == "umap":
        seconds[LINKING] = _LINK * n * k
        forces = n * (1.3 * k + _RUN) * (2 if n <= _ONE_THREAD_UP_TO else 1)
        seconds[ARRANGING] = 0.02 + settings.n_epochs(n) * (_ROUND + _FORCE * forces)
    if method == "tsne":
        seconds[ARRANGING] = 0.2 + _PUSH * n * math.log2(n + 1) * (settings.n_components - 1)
    precision = 2 if n <= ALL_UP_TO else 1  # in doubles
    seconds[MEASURING] = precision * n_measured * n * (_RANK + _PRODUCT * d)
    return seconds


SAMPLING_SEED = 0
_SAMPLE = 64  # texts that an estimate looks at
_MAX_JOINT = 50_000  # points of all layers together
_MAX_GATHERED = 60_000_000
"""A map of one layer gathers the vectors of all layers if they take fewer bytes than this.

A change of the layer then needs no encoding.
"""
_FLOPS = 1.2e11  # multiplications and additions a second, until a speed is measured


@dataclass(frozen=True, eq=False)
class Plan:
    """The texts that a map will read, and its approximate cost.

    Attributes:
        order: the indices of the texts to read, in order; it may hold more than are needed.
        n_able: the number of texts that may have points.
        n_texts, n_tokens: the numbers of texts and tokens to read.
        n_points: the number of points to expect.
        most: the largest number of points; lower if all layers are drawn together.
        layers: the layers to gather; None for all.
        reading, placing: the seconds of each step.
        n_bytes: the bytes of memory that the map takes.
    """

    order: IntArray
    n_able: int
    n_texts: int
    n_tokens: int
    n_points: int
    most: int
    layers: tuple[int, ...] | None
    reading: float
    placing: float
    n_bytes: int

    @property
    def seconds(self) -> float:
        """The seconds of both steps."""
        return self.reading + self.placing

    @property
    def split(self) -> float:
        """The share of the time that reading takes, in [0.05, 0.95]."""
        return min(0.95, max(0.05, self.reading / max(self.seconds, 1e-9)))


def plan(
    request: MapRequest,
    corpus: Corpus,
    card: ModelCard,
    service: EncoderService,
    token_seconds: float,
) -> Plan:
    """Return the texts that a map will read, and its approximate cost.

    Args:
        request: what is mapped.
        corpus: the texts to map.
        card: the card of the request's model.
        service: tokenizes a sample of the texts.
        token_seconds: the seconds that the model takes for one token.
    """
    able, most = _able_texts(request, corpus), _most(request, card)
    per_text, tokens = _sizes(request, corpus, able, card, service)
    order, n_texts = _order(request, able, most, per_text)
    n_points = int(min(most, max(1, round(per_text * n_texts))))
    n_layers = card.n_layers + 1 if request.layer is None else 1
    size = n_points * n_layers
    return Plan(
        order=order,
        n_able=len(able),
        n_texts=n_texts,
        n_tokens=round(tokens * n_texts),
        n_points=n_points,
        most=most,
        layers=_layers(request, corpus, card),
        reading=round(tokens * n_texts) * token_seconds,
        placing=placing_seconds(n_points, card.n_dims, request.settings, n_layers=n_layers),
        n_bytes=2 * 4 * size * card.n_dims + placing_bytes(size, card.n_dims, request.settings),
    )


def usual_token_seconds(card: ModelCard) -> float:
    """Return the estimated seconds per token, until they are measured."""
    return 2 * 12 * card.n_layers * card.n_dims**2 / _FLOPS


def _able_texts(request: MapRequest, corpus: Corpus) -> IntArray:
    """Return the texts that may have points: those with a requested word."""
    if request.unit != "words" or not request.only:
        return np.arange(len(corpus.texts))
    texts: Iterable[str] = corpus.texts
    if corpus.spans is not None and not request.every_word:
        texts = (text[slice(*span)] for text, span in zip(corpus.texts, corpus.spans, strict=True))
    has = [any(word in text.casefold() for word in request.only) for text in texts]
    return np.flatnonzero(has)


def _most(request: MapRequest, card: ModelCard) -> int:
    if request.layer is not None:
        return request.most
    return min(request.most, _MAX_JOINT // (card.n_layers + 1))


def _sizes(
    request: MapRequest, corpus: Corpus, able: IntArray, card: ModelCard, service: EncoderService
) -> tuple[float, float]:
    """Return the numbers of points and of tokens of an average text."""
    sample = [corpus.texts[i] for i in able[:: max(1, len(able) // _SAMPLE)][:_SAMPLE]]
    if not sample:
        return 0.0, 0.0
    cut = service.tokenize(card.id, sample)
    tokens = float(
        np.mean([min(tokens_of_text.n_tokens, card.max_length) for tokens_of_text in cut])
    )
    chosen = request.unit == "words" and corpus.spans is not None and not request.every_word
    if request.unit == "sentences" or chosen or request.only:
        return 1.0, tokens
    if request.unit == "tokens":
        return tokens, tokens
    return float(np.mean([len(split_words(text)) for text in sample])), tokens


def _order(request: MapRequest, able: IntArray, most: int, per_text: float) -> tuple[IntArray, int]:
    """Return the texts to read, chosen at random if there are too many, and the number needed."""
    n = len(able)
    if n * per_text <= most:
        return able, n
    shuffled = np.random.default_rng(SAMPLING_SEED).permutation(able)
    if request.unit == "sentences":
        return np.sort(shuffled[:most]), most
    return shuffled, max(1, min(n, ceil(most / per_text)))


def _layers(request: MapRequest, corpus: Corpus, card: ModelCard) -> tuple[int, ...] | None:
    """Return the layers to gather: the requested one, or all if they are affordable."""
    if request.layer is None or request.layer < 0:
        return None
    n_points = min(request.most, 10 * len(corpus.texts))
    n_bytes = n_points * (card.n_layers + 1) * card.n_dims * 4
    return None if n_bytes < _MAX_GATHERED else (request.layer,)
