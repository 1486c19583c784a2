"""The comparison of pairs as a background job, from the pairs of a view to their results."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.correlation import Correlation, correlated, shared_words
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import JobError
from contextlens.features.pairs.correlation import ScoredPairs
from contextlens.features.pairs.cosines import (
    PairCosines,
    compare,
    given_cosines,
    n_tokens_of,
    pooling_of,
)
from contextlens.features.pairs.pair_set import PairSet, bundled_pairs
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.features.pairs.threshold import Judgement, LabelledPairs, judge
from contextlens.features.pairs.triplets import TripletPairs
from contextlens.jobs import Report, Task, page_work
from contextlens.ui.corpora.controls import COLLECTION, OWN_FILE, VECTORS
from contextlens.ui.corpora.controls import PAIRS as PAIRS_FILE
from contextlens.ui.files import uploads
from contextlens.ui.models.background import jobs
from contextlens.ui.state.services import service
from contextlens.ui.state.view import ViewState

PAIRS = page_work("pairs to compare", "Looking at the pairs")
_READING = 0.97  # the share of progress for reading the pairs; the rest is for judging them
_GIVEN_SECONDS = 3e-5  # for a pair whose vectors the file gives
_EVICTED = "This comparison had to make room for others. Look at the page again, then download it."


@dataclass(frozen=True, eq=False)
class PairsResult:
    """The results for pairs, without the pairs themselves.

    Attributes:
        cosines: their cosines at every layer.
        judgement: how thresholds judge labelled pairs; or
        why_not: the reason why none does, "" if no pair has a label.
        correlation: of cosines and graded scores; None if pairs have none.
    """

    cosines: PairCosines
    judgement: Judgement | None
    why_not: str
    correlation: Correlation | None = None

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        results = (self.cosines.values, self.judgement, self.correlation)
        return sum(result.nbytes for result in results if result is not None)

    def at_layer(
        self, pairs: PairSet, layer: int | None, baseline: Baseline | None = None
    ) -> PairsAtLayer:
        """Return these pairs at a layer; at the last one if the model has no such layer."""
        layers = self.cosines.layers
        row = layers.index(layer) if layer in layers else len(layers) - 1
        if pairs.are_triplets:
            return TripletPairs(pairs, self.cosines, row, baseline)
        if self.correlation is not None and pairs.grades is not None:
            return ScoredPairs(
                pairs, self.cosines, row, baseline,
                correlation=self.correlation, grades=pairs.grades,
            )  # fmt: skip
        if self.judgement is not None:
            note = self.judgement.note
            return LabelledPairs(pairs, self.cosines, row, baseline, note, judgement=self.judgement)
        return PairsAtLayer(pairs, self.cosines, row, baseline, self.why_not)


def own_pairs(view: ViewState) -> PairSet | None:
    """Return the compared pairs of the file that a view names, or None."""
    uploaded = uploads.shared(PAIRS_FILE.of(view)) if COLLECTION.of(view) == OWN_FILE else None
    return uploaded if isinstance(uploaded, PairSet) else None


def pairs_of(view: ViewState) -> PairSet:
    """Return the pairs that a view names, with the file's vectors if it names these, too.

    These are the example pairs if it names none.
    """
    own = own_pairs(view)
    if own is None:
        return bundled_pairs()
    return own if VECTORS.of(view) else own.by_model


def comparison_key(pairs: PairSet, card: ModelCard, pooling: str) -> Hashable:
    """Return the key of a comparison's job: the same for everyone who compares the same pairs."""
    how = (card.id, card.checksum, pooling) if pairs.vectors is None else ("given",)
    return ("pairs", pairs.key, *how)


def seconds_of(pairs: PairSet, card: ModelCard, token_seconds: float) -> float:
    """Return the expected duration of a comparison, from the duration of one token."""
    if pairs.vectors is not None:
        return pairs.n * _GIVEN_SECONDS
    return float(n_tokens_of(pairs, card).sum()) * token_seconds


def comparison_task(
    pairs: PairSet,
    card: ModelCard,
    service: EncoderService,
    *,
    pooling: str = "mean",
    seconds: float,
) -> Task:
    """Return a task that compares pairs and returns a `PairsResult`.

    Args:
        pairs: the pairs to compare.
        card: the model's card.
        pooling: as in `compare`.
        service: encodes the texts, each of them once, so preferably without a cache.
        seconds: the expected duration.
    """

    def work(report: Report) -> PairsResult:
        if pairs.vectors is not None:
            report("Judging the pairs", 0)
            return evaluate(pairs, given_cosines(pairs, pairs.vectors))
        cosines = compare(
            pairs,
            card,
            service,
            pooling=pooling,
            on_progress=lambda stage, share: report(stage, _READING * share),
        )
        report("Judging the pairs", _READING)
        return evaluate(pairs, cosines)

    return Task(comparison_key(pairs, card, pooling), PAIRS, work, size=seconds)


def evaluate(pairs: PairSet, cosines: PairCosines) -> PairsResult:
    """Return what follows from the cosines of pairs."""
    judgement = judge(cosines.values, pairs.gold, pairs.split, pairs.contents)
    correlation = None
    if pairs.grades is not None:
        shared = shared_words(pairs.texts, pairs.sides)
        correlation = correlated(
            cosines.values, pairs.grades, shared=shared, contents=pairs.contents
        )
    if isinstance(judgement, str):
        return PairsResult(cosines, None, judgement, correlation)
    return PairsResult(cosines, judgement, "", correlation)


def restored(view: ViewState) -> PairsAtLayer:
    """Return the pairs of a view as they were shown.

    Raises:
        JobError: they were evicted.
    """
    pairs, card = pairs_of(view), service().load(view.model)
    job = jobs().get(comparison_key(pairs, card, pooling_of(pairs, card).of(view)))
    if job is not None and job.state == "done":
        result: PairsResult = job.result()
        return result.at_layer(pairs, view.layer)
    raise JobError(_EVICTED)
