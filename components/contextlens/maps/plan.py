"""The plan of a map: texts in order, time, memory. Made once for each request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import IntArray, Precision
from contextlens.core.words import split_words
from contextlens.corpus.corpus import Corpus
from contextlens.maps.map_quality import ALL_UP_TO, N_SAMPLE
from contextlens.maps.neighbors import EXACT_UP_TO
from contextlens.maps.precision import reading_precision, usual_token_seconds
from contextlens.maps.progress import ARRANGING, AXES, FINDING, LINKING, MEASURING
from contextlens.maps.request import GIVEN, MapRequest, MapSettings, Method

__all__ = [
    "SAMPLING_SEED",
    "Plan",
    "can_gather_all_layers",
    "first_texts",
    "placing_bytes",
    "placing_seconds",
    "plan",
    "stage_seconds",
    "usual_token_seconds",
]


# --- Estimates of time and memory before a map is made

# Seconds of single operations, unless a comment says otherwise.
_PRODUCT, _SELECTION, _CANDIDATE = 1.8e-11, 6e-10, 1e-9
_DESCENT, _COMPILING = 3e-7, 10.0  # for each dimension; once a process
_AXIS, _LINK = 3e-11, 5e-7
_ROUND, _FORCE, _PUSH = 1e-4, 2.1e-9, 3e-4
_SETTLED = 0.25  # the share of t-SNE's rounds from a settled layout
_RUN, _ONE_THREAD_UP_TO = 32, 1_000  # of UMAP's layout
_RANK = 7e-9
_BLOCKS, _BYTES_A_LINK = 150 << 20, 120  # bytes


def placing_seconds(n: int, d: int, settings: MapSettings, *, n_layers: int = 1) -> float:
    """Return the seconds to place n vectors of d dimensions at each of some layers.

    They are wall-clock seconds once everything is imported and compiled.
    """
    method = settings.method
    last, lower = (
        sum(stage_seconds(n, d, settings, method=method, is_settled=is_settled).values())
        for is_settled in (False, True)
    )
    return last + (n_layers - 1) * lower


def placing_bytes(n: int, d: int, settings: MapSettings) -> int:
    """Return the peak bytes to place n vectors at a layer, besides these vectors."""
    rows = 2 * 4 * n * d
    n_found = {"umap": 1, "tsne": 3, "pca": 0}[settings.method] * settings.n_neighbors + 15
    return _BLOCKS + rows + _BYTES_A_LINK * n * n_found


def stage_seconds(
    n: int, d: int, settings: MapSettings, *, method: Method, is_settled: bool = False
) -> dict[str, float]:
    """Return the seconds of each stage of one layer's map, by its name, in order.

    Args:
        n, d: the number of vectors and of their dimensions.
        settings: the settings of the layout.
        method: the method that is used.
        is_settled: True if it is drawn from the layer above, and alone to compare with.
    """
    k = settings.n_neighbors
    n_found = {"umap": k, "tsne": 3 * k, "pca": 1}[method]
    n_measured = n if n <= ALL_UP_TO else N_SAMPLE
    all_pairs = (_PRODUCT / 2 * d + _SELECTION) * n * n
    seconds = {
        FINDING: (all_pairs if n <= EXACT_UP_TO else _COMPILING + _DESCENT * n * d)
        + _CANDIDATE * n * (n_found + 15) * d,
        AXES: 0.01 + _AXIS * n * d * d,
    }
    if method == "umap":
        seconds[LINKING] = _LINK * n * k
        forces = n * (1.3 * k + _RUN) * (2 if n <= _ONE_THREAD_UP_TO else 1)
        n_epochs = settings.n_epochs(n)
        if is_settled:
            n_epochs += settings.n_epochs(n, is_settled=True)
        seconds[ARRANGING] = 0.02 + n_epochs * (_ROUND + _FORCE * forces)
    if method == "tsne":
        pushes = _PUSH * n * math.log2(n + 1) * (settings.n_components - 1)
        seconds[ARRANGING] = 0.2 + pushes * (1 + _SETTLED if is_settled else 1)
    precision = 2 if n <= ALL_UP_TO else 1  # in doubles
    n_fits = 2 if is_settled and method != "pca" else 1
    seconds[MEASURING] = n_fits * precision * n_measured * n * (_RANK + _PRODUCT * d)
    return seconds


def can_gather_all_layers(n: int, card: ModelCard) -> bool:
    """True if the vectors of n points at all layers of a model are not too much to keep."""
    return 4 * n * (card.n_layers + 1) * card.n_dims <= _MAX_GATHERED


SAMPLING_SEED = 0
_SAMPLE = 64  # texts that an estimate looks at
_MAX_GATHERED = 240_000_000
"""The vectors of all layers are gathered up to this number of bytes, else those of one layer.

It holds 20,000 points of the bundled model; a change of the layer then needs no encoding.
"""
_MIN_FIRST, _MAX_FIRST, _FIRST_SECONDS = 500, 1_500, 10.0
"""Some texts of a large map are read first: as many as take so long, at least so many points' and
at most so many texts."""
_REST_SECONDS = 5.0  # if the others take less, all texts are read together


@dataclass(frozen=True, eq=False)
class Plan:
    """The texts that a map will read, and its approximate cost.

    Attributes:
        order: the indices of the texts to read, in order; it may hold more than are needed.
        n_able: the number of texts that may have points; for a first map, that of the whole map.
        n_texts, n_tokens: the numbers of texts and tokens to read.
        n_points: the number of points to expect.
        layers: the layers to gather; None for all.
        reading, placing: the seconds of each step.
        n_bytes: the bytes of memory that the map takes.
        first: the positions in `order` of the texts that are read first and have a map of their
            own; empty if all texts are read together.
        precision: the precision in which the texts are read; of a first map, that of the whole.
    """

    order: IntArray
    n_able: int
    n_texts: int
    n_tokens: int
    n_points: int
    layers: tuple[int, ...] | None
    reading: float
    placing: float
    n_bytes: int
    first: IntArray
    precision: Precision = "exact"

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
    able, most = _able_texts(request, corpus), request.most
    n_dims = card.n_dims
    per_text, tokens, first = 1.0, 0.0, np.arange(0)
    if corpus.own is not None and request.pooling == GIVEN:
        n_dims = corpus.own.n_dims
    else:
        per_text, tokens = _sizes(request, corpus, able, card, service)
    order, n_texts = _order(request, able, most, per_text)
    precision: Precision = "exact"
    if request.pooling != GIVEN:
        precision = reading_precision(card, n_texts, exact=request.exact)
        least = ceil(_MIN_FIRST / max(per_text, 1.0))
        first = _first(corpus, order[:n_texts], tokens, card, least)
    n_able = len(able)
    if request.is_first:
        order, n_able, n_texts, first = order[first], n_texts, len(first), first[:0]
    n_points = int(min(most, max(1, round(per_text * n_texts))))
    n_layers = card.n_layers + 1 if request.layer is None else 1
    size = n_points * n_layers
    return Plan(
        order=order,
        n_able=n_able,
        n_texts=n_texts,
        n_tokens=round(tokens * n_texts),
        n_points=n_points,
        layers=_layers(request, corpus, card),
        reading=round(tokens * n_texts) * token_seconds,
        placing=placing_seconds(n_points, n_dims, request.settings, n_layers=n_layers),
        n_bytes=2 * 4 * size * n_dims + placing_bytes(n_points, n_dims, request.settings),
        first=first,
        precision=precision,
    )


def _able_texts(request: MapRequest, corpus: Corpus) -> IntArray:
    """Return the texts that may have points: those with a requested word."""
    if request.unit != "words" or not request.only:
        return np.arange(len(corpus.texts))
    texts: Iterable[str] = corpus.texts
    if corpus.spans is not None and not request.every_word:
        texts = (text[slice(*span)] for text, span in zip(corpus.texts, corpus.spans, strict=True))
    has = [any(word in text.casefold() for word in request.only) for text in texts]
    return np.flatnonzero(has)


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


def _first(corpus: Corpus, order: IntArray, tokens: float, card: ModelCard, least: int) -> IntArray:
    """Return the positions in an order of texts of those that are read first; see `Plan`.

    They are the same on every machine, at least `least`. A text has so many `tokens` on average.
    """
    seconds = max(tokens, 1.0) * usual_token_seconds(card)
    n = int(min(_MAX_FIRST, max(least, _FIRST_SECONDS / seconds)))
    if len(order) < 2 * n or (len(order) - n) * seconds < _REST_SECONDS:
        return np.arange(0)
    columns = [[column[i] for i in order] for column in corpus.labels.values()]
    return first_texts(columns, len(order), n)


def first_texts(columns: Sequence[Sequence[str]], n_texts: int, n: int) -> IntArray:
    """(n,) int64, ascending: positions of n texts that stand for all of them.

    They are evenly spaced in the order of the texts, in each label as in all. Every label is among
    them, but not those of columns with so many labels that they rather name each text.

    Args:
        columns: columns of labels, each with a value for each text.
        n_texts: the number of all texts.
        n: the number of texts to take, at most `n_texts`.
    """
    coded: list[IntArray] = []
    for column in columns:
        numbers: dict[str, int] = {}
        coded.append(np.array([numbers.setdefault(label, len(numbers)) for label in column]))
    keys, taken = [np.arange(n_texts)], np.arange(0)
    for codes in sorted(coded, key=np.max):  # by the number of different labels
        more = np.union1d(taken, np.unique(codes, return_index=True)[1])
        if len(more) > n // 2:
            break
        keys.append(codes)
        taken = more
    by_label = np.lexsort([keys[0], *keys[:0:-1]])  # the last one decides first
    others = by_label[~np.isin(by_label, taken)]
    n_others = n - len(taken)
    spaced = ((np.arange(n_others) + 0.5) * len(others) / max(n_others, 1)).astype(np.int64)
    return np.sort(np.concatenate([taken, others[spaced]]))


def _layers(request: MapRequest, corpus: Corpus, card: ModelCard) -> tuple[int, ...] | None:
    """Return the layers to gather: the requested one, or all if they are affordable."""
    if request.layer is None or request.layer < 0:
        return None
    per_text = 1 if request.unit == "sentences" else 10
    n_points = min(request.most, per_text * len(corpus.texts))
    return None if can_gather_all_layers(n_points, card) else (request.layer,)
