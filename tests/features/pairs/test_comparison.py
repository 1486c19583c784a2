"""The comparison as a job: one for everyone who compares the same pairs in the same way."""

from __future__ import annotations

from itertools import product

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.pairs.comparison import (
    PAIRS,
    PairsResult,
    comparison_key,
    comparison_task,
)
from contextlens.features.pairs.pair_set import WHOLE, PairSet, pair_set
from contextlens.jobs import Jobs


def labelled_pairs(n: int) -> PairSet:
    return pair_set(
        "mine",
        [(f"I saw {i} snakes", f"There were {i}") for i in range(n)],
        spans=[(WHOLE, WHOLE)] * n,
        rows=list(range(1, n + 1)),
        gold=[i % 2 for i in range(n)],
        split=None,
    )


def test_a_comparison_is_a_job_with_a_result_of_known_size(
    service: EncoderService, tiny_service: EncoderService
) -> None:
    jobs, card = Jobs(10**9), service.load(BUNDLED_ID)
    pairs, other = labelled_pairs(8), labelled_pairs(1)
    job = jobs.start(comparison_task(pairs, card, service, seconds=1))
    result: PairsResult = job.result(timeout=120)
    assert jobs.get(comparison_key(pairs, card, "mean")) is job
    assert job.kind is PAIRS
    assert job.nbytes > result.nbytes > result.cosines.values.nbytes
    assert result.judgement is not None
    assert result.judgement.how == "folds"
    assert not any(isinstance(value, PairSet) for value in vars(result).values())
    cards, sets = (card, tiny_service.load("folder:bert")), (pairs, other)
    keys = {comparison_key(*every) for every in product(sets, cards, ("mean", "recipe"))}
    assert len(keys) == 8
