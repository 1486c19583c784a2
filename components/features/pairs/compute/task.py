"""Comparing pairs as work in the background: its kind and bounds, its time, and what it gives."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from components.core import EncoderService, ModelCard
from components.core.schema import FloatArray, Passport
from components.features.pairs.compute.comparing import compare, n_tokens_of
from components.features.pairs.compute.pair_set import PairSet
from components.features.pairs.measures import Scores, judged
from components.jobs import Kind, Report, Task

__all__ = ["LARGE_SECONDS", "PAIRS", "Compared", "comparison", "comparison_key", "seconds_of"]

LARGE_SECONDS = 5.0
"""From here on pairs are compared for who says so, not for an address."""
PAIRS = Kind(
    "pairs to compare",
    n_at_once=2,
    n_at_once_each=1,
    n_large=1,
    large_seconds=LARGE_SECONDS,
    n_waiting=50,
    n_waiting_each=4,
    forgotten_seconds=300.0,
    first_words="Looking at the pairs",
)
_READING = 0.97  # of the whole; the rest is measuring


@dataclass(frozen=True, eq=False)
class Compared:
    """What was computed of pairs; the pairs themselves are no part of it.

    Attributes:
        cosines: (n_layers, n_pairs) float32; NaN where the model does not read a pair's word.
        layers: the layer of each row.
        scores: what thresholds get right; None where that cannot be said.
        why_not: why it cannot, in a sentence; "" where the pairs have no labels.
        n_cut: texts whose end did not fit the model.
        n_encoded: texts that were encoded.
        passport: of the encodings.
    """

    cosines: FloatArray
    layers: tuple[int, ...]
    scores: Scores | None
    why_not: str
    n_cut: int
    n_encoded: int
    passport: Passport

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return self.cosines.nbytes + (0 if self.scores is None else self.scores.nbytes)


def comparison_key(pairs: PairSet, card: ModelCard) -> Hashable:
    """The key of a comparison's job: the same for all who compare the same pairs."""
    return ("pairs", pairs.key, card.id, card.checksum)


def seconds_of(pairs: PairSet, card: ModelCard, token_seconds: float) -> float:
    """What comparing should take, where a token takes so long."""
    return float(n_tokens_of(pairs, card).sum()) * token_seconds


def comparison(pairs: PairSet, card: ModelCard, service: EncoderService, *, seconds: float) -> Task:
    """Compares pairs; gives a `Compared`.

    Args:
        pairs: what is compared.
        card: of the model.
        service: encodes the texts, each of them once: better without a cache.
        seconds: that it should take.
    """

    def work(report: Report) -> Compared:
        found = compare(
            pairs, card, service, on_progress=lambda stage, share: report(stage, _READING * share)
        )
        report("Judging the pairs", _READING)
        scores = judged(found.values, pairs.gold, pairs.split)
        return Compared(
            cosines=found.values,
            layers=found.layers,
            scores=None if isinstance(scores, str) else scores,
            why_not=scores if isinstance(scores, str) else "",
            n_cut=found.n_cut,
            n_encoded=found.n_encoded,
            passport=found.passport,
        )

    return Task(comparison_key(pairs, card), PAIRS, work, size=seconds)
