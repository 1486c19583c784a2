"""The data behind the Pairs page: the requested pairs, their cosines as a job, tables."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.correlation import (
    Correlation,
    Float64Array,
    correlated,
    percentiles,
    shared_words,
)
from contextlens.analysis.words import word_vectors
from contextlens.content.wording import escape
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import CorpusError, JobError, RequestError
from contextlens.core.recipe import pool
from contextlens.core.schema import FloatArray, IntArray, Passport
from contextlens.corpus.readers import Sheet
from contextlens.features.pairs.controls import (
    COLUMNS,
    FILE,
    GRADED_LISTS,
    LABELLED_LISTS,
    PAIR,
    PLAIN_LISTS,
    POOLING,
    SOURCE,
    WRONG,
)
from contextlens.features.pairs.files import (
    PairColumns,
    PairSet,
    bundled_pairs,
    chosen_columns,
    pairs_from,
)
from contextlens.features.pairs.measures import DIFFERENT, SAME, TEST, TRAIN, Scores, judged
from contextlens.jobs import Report, Task, page_work
from contextlens.maps.vectors import is_recipe, recipe_prompt, sentence_vectors
from contextlens.ui.files import uploads
from contextlens.ui.models.background import jobs
from contextlens.ui.models.recipes import recipe_of, recipe_poolings
from contextlens.ui.models.services import service
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import ViewState

# --- The pairs that a view asks for


def pairs_of(view: ViewState) -> PairSet | None:
    """The pairs that a view names; None if a file must be chosen first."""
    if SOURCE.of(view) != "file":
        return bundled_pairs()
    uploaded = uploads.shared(FILE.of(view))
    return uploaded if isinstance(uploaded, PairSet) else None


def share(visitor: str, sheet: Sheet, columns: PairColumns) -> str:
    """Keep the pairs of a file's chosen columns for whoever has their digest, and return it.

    Raises:
        CorpusError: the columns cannot be used.
    """
    pairs = pairs_from(sheet, columns)
    digest = pairs.key[:32]
    uploads.keep_shared(visitor, digest, pairs, pairs.n_bytes)
    return digest


def reshare(visitor: str, view: ViewState, sheet: Sheet) -> PairColumns | None:
    """Return the columns of a file if it is the one that a view names, and share them again.

    A view names columns by position, so they are known only for a file that was just uploaded.
    """
    columns = chosen_columns(sheet, COLUMNS.of(view))
    try:
        pairs = pairs_from(sheet, columns)
    except CorpusError:
        return None
    if pairs.key[:32] != FILE.of(view):
        return None
    uploads.keep_shared(visitor, FILE.of(view), pairs, pairs.n_bytes)
    return columns


def pooling_of(pairs: PairSet, card: ModelCard) -> Choice:
    """The choice of how whole texts become vectors; a model's own recipe comes first."""
    by_recipe = recipe_poolings(card) if not pairs.has_words else {}
    options, default = {**by_recipe, **POOLING.options}, next(iter(by_recipe), "mean")
    return replace(POOLING.among(options, default=default), help=escape(recipe_of(card)))


# --- The cosine of each pair at every layer

_CHUNK_BYTES = 96_000_000  # of hidden states at a time
_HELD_BYTES = 256_000_000  # of vectors kept for a later pair
_CHARACTERS = 3  # of an English token, on the low side
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class PairCosines:
    """The cosines of pairs.

    Attributes:
        values: (n_layers, n_pairs) float32; NaN if the model does not read a pair's word.
        layers: the layer of each row.
        n_cut: the number of texts whose end did not fit the model.
        n_encoded: the number of encoded texts; one counts again if its vectors were evicted.
        n_tokens: the number of tokens in all encoded texts.
        passport: the passport of the encodings.
        n_unknown: the number of texts with unknown tokens.
    """

    values: FloatArray
    layers: tuple[int, ...]
    n_cut: int
    n_encoded: int
    n_tokens: int
    passport: Passport
    n_unknown: int


def compare(
    pairs: PairSet,
    card: ModelCard,
    service: EncoderService,
    *,
    pooling: str = "mean",
    on_progress: OnProgress | None = None,
    chunk_bytes: int = _CHUNK_BYTES,
    held_bytes: int = _HELD_BYTES,
) -> PairCosines:
    """Compute each pair's cosine at every layer.

    Args:
        pairs: the pairs: words are the mean of their sub-tokens.
        card: the model's card.
        service: encodes the texts.
        pooling: how a whole text becomes a vector: "mean" of all tokens, or the model's own recipe
            as in `maps.vectors.RECIPE`: its pooling at each layer, and its further steps at the
            last one, where the cosines are those of sentence-transformers.
        on_progress: receives the progress; an exception that it raises ends the work.
        chunk_bytes: approximate bytes of hidden states in memory at a time.
        held_bytes: bytes of vectors kept for a later pair.
    """
    layers = tuple(range(card.n_layers + 1))
    values = np.full((len(layers), pairs.n), np.nan, np.float32)
    vectors = _Vectors(pairs, card, service, held_bytes, pooling)
    for start, stop in _chunks(pairs, card, chunk_bytes):
        if on_progress is not None:
            on_progress(f"Reading {pairs.n:,} pairs", start / pairs.n)
        first, second = vectors.of(start, stop)
        values[:, start:stop] = np.clip(np.einsum("pld,pld->lp", first, second), -1, 1)
    passport = vectors.passport.with_prompt(recipe_prompt(card, pooling))
    settings = {**passport.settings, "pooling": pooling}
    return PairCosines(
        values,
        layers,
        len(vectors.cut),
        vectors.n_encoded,
        vectors.n_tokens,
        replace(passport, settings=settings),
        len(vectors.unknown),
    )


def n_tokens_of(pairs: PairSet, card: ModelCard) -> IntArray:
    """(n_texts,) the approximate number of tokens of each text."""
    n = [len(text) // _CHARACTERS + 2 if text.isascii() else len(text) + 2 for text in pairs.texts]
    return np.minimum(np.array(n, np.int64), card.max_length)


def _chunks(pairs: PairSet, card: ModelCard, chunk_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of pairs whose hidden states take about this many bytes; at least one pair each."""
    n_tokens = n_tokens_of(pairs, card)[pairs.sides].sum(axis=1)
    most_tokens = max(1, chunk_bytes // (4 * (card.n_layers + 1) * card.n_dims))
    start, total = 0, 0
    for i, n in enumerate(n_tokens.tolist()):
        if i > start and total + n > most_tokens:
            yield start, i
            start, total = i, 0
        total += n
    yield start, pairs.n


class _Vectors:
    """Unit vectors of the sides of pairs, each computed when it is first needed."""

    def __init__(
        self,
        pairs: PairSet,
        card: ModelCard,
        service: EncoderService,
        held_bytes: int,
        pooling: str,
    ) -> None:
        self._pairs, self._card, self._service = pairs, card, service
        self._recipe = card.recipe if is_recipe(pooling) else None
        self._prompt = recipe_prompt(card, pooling)
        flat = np.concatenate([pairs.sides[:, :, None], pairs.spans], axis=2).reshape(-1, 3)
        kinds, numbers = np.unique(flat, axis=0, return_inverse=True)
        self._kinds = kinds  # (n_different, 3): text, start, end
        self._sides = numbers.reshape(-1, 2)
        self._uses = np.bincount(numbers.ravel(), minlength=len(kinds))
        self._first = np.searchsorted(kinds[:, 0], np.arange(len(pairs.texts) + 1))
        shape = (card.n_layers + 1, card.n_dims)
        self._most = max(1, held_bytes // (4 * shape[0] * shape[1]))
        self._none = np.full(shape, np.nan, np.float32)
        self._held: OrderedDict[int, FloatArray] = OrderedDict()
        self.cut: set[int] = set()
        self.unknown: set[int] = set()
        self._unknown_id = service.vocabulary(card.id).unknown_id
        self.n_encoded = self.n_tokens = 0
        self._passport: Passport | None = None

    @property
    def passport(self) -> Passport:
        """The passport of the encodings."""
        if self._passport is None:  # only if there is no pair, which readers refuse
            raise RequestError("There is no pair to compare. Choose other pairs.")
        return self._passport

    def of(self, start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """The (n, n_layers, n_dims) unit vectors of both sides for a range of pairs."""
        sides = self._sides[start:stop]
        missing = {int(self._kinds[s, 0]) for s in np.unique(sides) if int(s) not in self._held}
        if missing:
            self._encode(sorted(missing))
        first, second = (np.stack([self._held[s] for s in column.tolist()]) for column in sides.T)
        self._let_go(sides)
        return first, second

    def _encode(self, texts: Sequence[int]) -> None:
        of_model = self._card.id, self._card.checksum
        given = [self._pairs.texts[i] for i in texts]
        last: Sequence[FloatArray | None] = [None] * len(texts)
        if self._recipe is None:
            encodings = self._service.encode(of_model[0], given, checksum=of_model[1])
        else:
            encodings = self._service.encode(
                of_model[0],
                [self._recipe.prepared(self._prompt + text) for text in given],
                max_length=self._recipe.max_length,
                checksum=of_model[1],
            )
            if self._recipe.is_more_than_pooling:
                made = self._service.sentence_vectors(
                    of_model[0], given, prompt=self._prompt, checksum=of_model[1]
                )
                last = [one.vector for one in made]
        for text, encoding, vector in zip(texts, encodings, last, strict=True):
            self._passport = encoding.passport
            self.n_encoded += 1
            self.n_tokens += encoding.n_tokens
            if encoding.n_truncated:
                self.cut.add(text)
            if self._unknown_id in encoding.token_ids:
                self.unknown.add(text)
            for side in range(self._first[text], self._first[text + 1]):
                if self._uses[side]:
                    start, end = self._kinds[side, 1:].tolist()
                    self._held[side] = self._unit(encoding, start, end, vector)

    def _whole(self, encoding: Encoding, last: FloatArray | None) -> FloatArray:
        """(n_layers, n) of a whole text; shorter vectors of some layers end in zeros."""
        if self._recipe is None:
            return sentence_vectors(encoding, "mean")
        pooled = [pool(encoding.hidden, mode) for mode in self._recipe.poolings]
        vectors: FloatArray = np.concatenate(pooled, axis=-1)
        if last is not None:
            n_more = max(0, len(last) - vectors.shape[1])
            vectors = np.pad(vectors, ((0, 0), (0, n_more)))
            vectors[-1] = 0
            vectors[-1, : len(last)] = last
        return vectors

    def _unit(
        self, encoding: Encoding, start: int, end: int, last: FloatArray | None
    ) -> FloatArray:
        """(n_layers, n_dims) of length 1 at each layer; NaN if the model does not read the word."""
        vectors = self._none
        with suppress(RequestError):
            vectors = (
                self._whole(encoding, last) if start < 0 else word_vectors(encoding, (start, end))
            )
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        unit: FloatArray = vectors / np.maximum(lengths, 1e-12)
        return unit

    def _let_go(self, sides: IntArray) -> None:
        """Drop vectors that no later pair needs, then the oldest ones if there are too many."""
        used, n = np.unique(sides, return_counts=True)
        self._uses[used] -= n
        for side in used[self._uses[used] == 0].tolist():
            del self._held[side]
        while len(self._held) > self._most:
            self._held.popitem(last=False)


# --- The comparison as a background job

PAIRS = page_work("pairs to compare", "Looking at the pairs")
_READING = 0.97  # the share of progress for reading the pairs; the rest is for scoring


@dataclass(frozen=True, eq=False)
class PairsResult:
    """The results for pairs, without the pairs themselves.

    Attributes:
        cosines: (n_layers, n_pairs) float32; NaN if the model does not read a pair's word.
        layers: the layer of each row.
        scores: the accuracy of thresholds; None if it cannot be computed.
        why_not: the reason for missing scores; "" if there are scores, or no labels.
        n_cut: the number of texts whose end did not fit the model.
        n_encoded: the number of encoded texts.
        passport: the passport of the encodings.
        correlation: of cosines and graded scores; None if pairs have none.
        n_unknown: the number of texts with unknown tokens.
    """

    cosines: FloatArray
    layers: tuple[int, ...]
    scores: Scores | None
    why_not: str
    n_cut: int
    n_encoded: int
    passport: Passport
    correlation: Correlation | None = None
    n_unknown: int = 0

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        parts = (self.cosines, self.scores, self.correlation)
        return sum(part.nbytes for part in parts if part is not None)


def comparison_key(pairs: PairSet, card: ModelCard, pooling: str) -> Hashable:
    """The key of a comparison's job: the same for everyone who compares the same pairs."""
    return ("pairs", pairs.key, card.id, card.checksum, pooling)


def seconds_of(pairs: PairSet, card: ModelCard, token_seconds: float) -> float:
    """The expected duration of a comparison, from the duration of one token."""
    return float(n_tokens_of(pairs, card).sum()) * token_seconds


def comparison_task(
    pairs: PairSet,
    card: ModelCard,
    service: EncoderService,
    *,
    pooling: str = "mean",
    seconds: float,
) -> Task:
    """A task that compares pairs and returns a `PairsResult`.

    Args:
        pairs: the pairs to compare.
        card: the model's card.
        pooling: as in `compare`.
        service: encodes the texts, each of them once, so preferably without a cache.
        seconds: the expected duration.
    """

    def work(report: Report) -> PairsResult:
        cosines = compare(
            pairs,
            card,
            service,
            pooling=pooling,
            on_progress=lambda stage, share: report(stage, _READING * share),
        )
        report("Judging the pairs", _READING)
        scores = judged(cosines.values, pairs.gold, pairs.split)
        return PairsResult(
            cosines=cosines.values,
            layers=cosines.layers,
            scores=None if isinstance(scores, str) else scores,
            why_not=scores if isinstance(scores, str) else "",
            n_cut=cosines.n_cut,
            n_encoded=cosines.n_encoded,
            passport=cosines.passport,
            correlation=_correlation(pairs, cosines.values),
            n_unknown=cosines.n_unknown,
        )

    return Task(comparison_key(pairs, card, pooling), PAIRS, work, size=seconds)


def _correlation(pairs: PairSet, cosines: FloatArray) -> Correlation | None:
    if pairs.grades is None:
        return None
    return correlated(cosines, pairs.grades, shared=shared_words(pairs.texts, pairs.sides))


# --- Pairs as the page shows them


@dataclass(frozen=True, eq=False)
class PairsAtLayer:
    """Pairs at one layer.

    Attributes:
        pairs: the compared pairs.
        result: the results for these pairs.
        row: the selected layer's row in the result's arrays.
    """

    pairs: PairSet
    result: PairsResult
    row: int

    @property
    def layer(self) -> int:
        """The selected layer."""
        return self.result.layers[self.row]

    @property
    def scores(self) -> Scores | None:
        """The accuracy of thresholds, if it can be computed."""
        return self.result.scores

    @property
    def correlation(self) -> Correlation | None:
        """The correlation with graded scores, if pairs have any."""
        return self.result.correlation

    @cached_property
    def places(self) -> tuple[Float64Array, Float64Array]:
        """Two arrays (2, n_pairs): `percentiles` among scored pairs, by score and by cosine.

        They are NaN for other pairs.
        """
        by_score, by_cosine = np.full((2, 2, self.pairs.n), np.nan)
        if self.correlation is not None and self.pairs.grades is not None:
            rows = self.correlation.rows
            by_score[:, rows] = percentiles(self.pairs.grades[rows])
            by_cosine[:, rows] = percentiles(self.cosines[rows])
        return by_score, by_cosine

    @cached_property
    def rank_gaps(self) -> Float64Array:
        """(n_pairs,) how far a pair stands higher by score than by cosine; below 0 if lower.

        In percentile ranks, in [-1, 1]; NaN for pairs without a score.
        """
        (score_low, score_high), (cosine_low, cosine_high) = self.places
        above = np.maximum(score_low - cosine_high, 0)
        gaps: Float64Array = above - np.maximum(cosine_low - score_high, 0)
        return gaps

    @property
    def cosines(self) -> FloatArray:
        """(n_pairs,) cosines at the layer."""
        cosines: FloatArray = self.result.cosines[self.row]
        return cosines

    @cached_property
    def compared_pairs(self) -> IntArray:
        """The pairs that have a cosine."""
        return np.flatnonzero(~np.isnan(self.cosines))

    @property
    def n_lost(self) -> int:
        """The number of pairs whose word the model does not read."""
        return self.pairs.n - len(self.compared_pairs)

    @property
    def threshold(self) -> float | None:
        """The threshold at the layer."""
        return None if self.scores is None else float(self.scores.thresholds[self.row])

    def cut_of(self, pair: int) -> float | None:
        """The threshold that judges a pair at the layer; None without one."""
        scores = self.scores
        if scores is None:
            return None
        (judged,) = np.nonzero(scores.rows == pair)
        if not len(judged):
            return self.threshold
        return float(scores.cuts[self.row, scores.cut_of[judged[0]]])

    @cached_property
    def called_same(self) -> NDArray[np.bool_] | None:
        """(n_pairs,) bool, the pairs that are called the same; None without a threshold."""
        scores = self.scores
        if scores is None:
            return None
        called_same: NDArray[np.bool_] = self.cosines >= scores.thresholds[self.row]
        called_same[scores.rows] = scores.called_same[
            self.row
        ]  # each fold by the others' threshold
        return called_same


def chosen_layer(view: ViewState, layers: tuple[int, ...]) -> int:
    """The row of the layer that a view names; the last if it names none of these."""
    return layers.index(view.layer) if view.layer in layers else len(layers) - 1


def to_read(at_layer: PairsAtLayer, which: str) -> IntArray:
    """The pairs of a list, the most telling one first.

    Wrongly judged pairs come by their distance from the threshold, pairs that disagree with their
    score by the distance between their places in the two orders, others by their cosine.
    """
    if which in GRADED_LISTS[:3] and at_layer.correlation is not None:
        return _disagreeing(at_layer, which)
    comparable = at_layer.compared_pairs
    if which in PLAIN_LISTS or at_layer.scores is None:
        order = np.argsort(at_layer.cosines[comparable], kind="stable")
        by_cosine: IntArray = comparable[order if which == "least" else order[::-1]]
        return by_cosine
    wrong = at_layer.scores.wrong(at_layer.row)
    gold = at_layer.pairs.gold[wrong]
    if which == "called_same":
        wrong = wrong[gold == DIFFERENT]
    if which == "called_different":
        wrong = wrong[gold == SAME]
    beyond = np.abs(at_layer.cosines[wrong] - at_layer.scores.thresholds[at_layer.row])
    by_distance: IntArray = wrong[np.argsort(-beyond, kind="stable")]
    return by_distance


def _disagreeing(at_layer: PairsAtLayer, which: str) -> IntArray:
    """Scored pairs whose score and cosine stand apart, or those whose score is higher, or lower."""
    gaps = at_layer.rank_gaps
    distance = {"score_high": gaps, "score_low": -gaps}.get(which, np.abs(gaps))
    apart = np.flatnonzero(distance > 0)  # not NaN
    by_gap: IntArray = apart[np.argsort(-distance[apart], kind="stable")]
    return by_gap


_MOST_POINTS = 1_500
_APART = 20
"""Percentiles between the places of a pair by score and by cosine, from which they disagree."""


def standings(at_layer: PairsAtLayer) -> IntArray:
    """(n_pairs,) 1 if a pair's score stands far above its cosine, -1 if far below, else 0."""
    gaps = np.round(100 * np.nan_to_num(at_layer.rank_gaps))
    signs: IntArray = (gaps >= _APART).astype(np.int64) - (gaps <= -_APART)
    return signs


def drawn_pairs(at_layer: PairsAtLayer, pair: int) -> IntArray:
    """The scored pairs of the picture, in order: all, or as many as a browser takes, and `pair`."""
    if at_layer.correlation is None:
        return np.zeros(0, np.int64)
    rows = at_layer.correlation.rows
    if len(rows) <= _MOST_POINTS:
        return rows
    some = np.random.default_rng(0).choice(rows, _MOST_POINTS - 1, replace=False)
    drawn: IntArray = np.union1d(some, rows[rows == pair])
    return drawn


def shown_pair(view: ViewState, at_layer: PairsAtLayer) -> int:
    """The pair in the picture: the view's, or the first of its list at the best layer.

    That is the clearest error unless another list is chosen. It stays the same at every layer, so
    that playing the layers moves one pair along its ruler.
    """
    chosen = PAIR.of(view) - 1
    if 0 <= chosen < at_layer.pairs.n and not np.isnan(at_layer.cosines[chosen]):
        return chosen
    scores, correlation = at_layer.scores, at_layer.correlation
    best = len(at_layer.result.layers) - 1 if scores is None else scores.best
    if correlation is not None and correlation.best is not None:
        best = correlation.best
    at_best = replace(at_layer, row=best)
    which = list_of(at_layer).of(view)
    order = to_read(at_best, which)
    return int((order if len(order) else to_read(at_best, "most"))[0])


def list_of(at_layer: PairsAtLayer) -> Choice:
    """The control that chooses a list of pairs, with the lists that there are."""
    if at_layer.correlation is not None:
        return WRONG.among(GRADED_LISTS)
    return WRONG.among(PLAIN_LISTS if at_layer.scores is None else LABELLED_LISTS)


# --- A comparison that can be found again

_GONE = "This comparison had to make room for others. Look at the page again, then download it."


def restored(view: ViewState) -> PairsAtLayer:
    """The pairs of a view as they were shown.

    Raises:
        JobError: they were evicted.
    """
    pairs = pairs_of(view)
    card = service().load(view.model)
    job = (
        None
        if pairs is None
        else jobs().get(comparison_key(pairs, card, pooling_of(pairs, card).of(view)))
    )
    if pairs is None or job is None or job.state != "done":
        raise JobError(_GONE)
    result: PairsResult = job.result()
    return PairsAtLayer(pairs, result, chosen_layer(view, result.layers))


# --- The numbers of compared pairs

LABEL_NAMES: Mapping[int, str] = {SAME: "same", DIFFERENT: "different"}
SPLIT_NAMES: Mapping[int, str] = {TRAIN: "train", TEST: "test"}


def layer_rows(at_layer: PairsAtLayer) -> list[dict[str, Any]]:
    """The results at each layer: correlations, accuracies, or the distribution of cosines."""
    scores, result, correlation = at_layer.scores, at_layer.result, at_layer.correlation
    if correlation is not None:
        return [
            {
                "layer": layer,
                "Spearman": float(correlation.spearman[i]),
                "from (95%)": float(correlation.spearman_low[i]),
                "to (95%)": float(correlation.spearman_high[i]),
                "Pearson": float(correlation.pearson[i]),
                "Pearson from (95%)": float(correlation.pearson_low[i]),
                "Pearson to (95%)": float(correlation.pearson_high[i]),
                "Spearman of shared words": correlation.shared_words,
            }
            for i, layer in enumerate(result.layers)
        ]
    if scores is None:
        cosines = result.cosines[:, at_layer.compared_pairs]
        cuts = np.percentile(cosines, [5, 25, 50, 75, 95], axis=1).T
        names = (
            "5th percentile",
            "25th percentile",
            "median",
            "75th percentile",
            "95th percentile",
        )
        return [
            {"layer": layer, **dict(zip(names, map(float, row), strict=True))}
            for layer, row in zip(result.layers, cuts, strict=True)
        ]
    return [
        {
            "layer": layer,
            "threshold": float(scores.thresholds[i]),
            "accuracy": float(scores.accuracy[i]),
            "from (95%)": float(scores.low[i]),
            "to (95%)": float(scores.high[i]),
            "majority": scores.majority,
            "AUC": float(scores.auc[i]),
            "accuracy on the training pairs": float(scores.train_accuracy[i]),
        }
        for i, layer in enumerate(result.layers)
    ]


def pair_table(at_layer: PairsAtLayer, most: int) -> pd.DataFrame:
    """The first pairs with their label and verdict at the layer."""
    rows = PairRows(at_layer, every_layer=False)
    return pd.DataFrame([rows[i] for i in range(min(most, len(rows)))])


class PairRows(Sequence[Mapping[str, Any]]):
    """A row for each pair, built on demand: 100,000 at once would take much memory."""

    def __init__(self, at_layer: PairsAtLayer, *, every_layer: bool = True) -> None:
        """The rows of pairs, with their cosines at every layer or at the selected one."""
        self._at_layer, self._every_layer = at_layer, every_layer

    def __len__(self) -> int:
        return self._at_layer.pairs.n

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (self._row(i) for i in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(len(self)))]
        return self._row(range(len(self))[index])

    def _row(self, i: int) -> dict[str, Any]:
        pairs = self._at_layer.pairs
        row: dict[str, Any] = {"pair": int(pairs.rows[i])}
        for side in (0, 1):
            row[f"text {side + 1}"] = pairs.text(i, side)
            if pairs.has_words:
                row[f"word {side + 1}"] = pairs.word(i, side)
                start, end = pairs.spans[i, side].tolist()
                row |= {f"start {side + 1}": start, f"end {side + 1}": end}
        return row | self._known(i) | (self._layers(i) if self._every_layer else self._layer(i))

    def _known(self, i: int) -> dict[str, Any]:
        pairs, called_same = self._at_layer.pairs, self._at_layer.called_same
        row: dict[str, Any] = {}
        if pairs.has_labels:
            row["label"] = LABEL_NAMES.get(int(pairs.gold[i]), "")
        if pairs.grades is not None:
            grade = float(pairs.grades[i])
            row["score"] = None if np.isnan(grade) else grade
        if pairs.split is not None:
            row["split"] = SPLIT_NAMES.get(int(pairs.split[i]), "")
        if called_same is not None:
            has_cosine = not np.isnan(self._at_layer.cosines[i])
            row["verdict"] = LABEL_NAMES[int(called_same[i])] if has_cosine else ""
        return row

    def _layer(self, i: int) -> dict[str, Any]:
        row = {"cosine": float(self._at_layer.cosines[i])}
        if self._at_layer.correlation is not None:
            by_score, by_cosine = (
                100 * float(ranks[:, i].mean()) for ranks in self._at_layer.places
            )
            row |= {"percentile by score": by_score, "percentile by cosine": by_cosine}
            row["percentiles apart"] = 100 * float(self._at_layer.rank_gaps[i])
        return row

    def _layers(self, i: int) -> dict[str, Any]:
        result = self._at_layer.result
        cosines = result.cosines[:, i].tolist()
        return {f"layer {layer}": c for layer, c in zip(result.layers, cosines, strict=True)}


def pair_arrays(at_layer: PairsAtLayer) -> Mapping[str, NDArray[Any]]:
    """The cosines, labels and scores of pairs, for the download; the second snippet reads it."""
    pairs, scores = at_layer.pairs, at_layer.scores
    split = np.full(pairs.n, -1) if pairs.split is None else pairs.split
    arrays: dict[str, NDArray[Any]] = {
        "cosines": at_layer.result.cosines,
        "layers": np.array(at_layer.result.layers),
        "gold": pairs.gold,
        "split": split,
        "sides": pairs.sides,
        "spans": pairs.spans,
        "rows": pairs.rows,
    }
    if pairs.grades is not None:
        arrays["scores"] = pairs.grades
    if at_layer.correlation is not None:
        ends = ("", "_low", "_high")
        names = [name + end for name in ("spearman", "pearson") for end in ends]
        arrays |= {name: getattr(at_layer.correlation, name) for name in names}
    if scores is not None:
        arrays |= {
            "judged": scores.rows,
            "says": scores.called_same,
            "thresholds": scores.thresholds,
            "accuracy": scores.accuracy,
            "auc": scores.auc,
        }
    return arrays
