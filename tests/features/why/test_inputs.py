"""Input shares: they add up on both sides, and are called rough if they do not."""

from __future__ import annotations

import pytest

from contextlens.core import EncoderService
from contextlens.features.why.inputs import trace_inputs
from contextlens.features.why.score import Score
from tests.features.why.random_results import N, RandomResults, leads_alone, verdict
from tests.features.why.scores import PAIR, score_on, sentence
from tests.support.tiny_models import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_input_shares_add_up_on_both_sides(tiny_service: EncoderService, family: str) -> None:
    score = score_on(tiny_service, PAIR, sentence("A cat"), model=f"folder:{family}", layer=2)
    counts: list[tuple[int, int]] = []
    result = trace_inputs(score, tiny_service, progress=lambda *count: counts.append(count))
    for inputs in result.sides:
        assert inputs.end == pytest.approx(score.cosine, abs=1e-5)
        total = inputs.shares.sum()
        assert total + inputs.remainder == pytest.approx(inputs.end - inputs.start, abs=1e-9)
        assert inputs.by_word.sum() == pytest.approx(total, abs=1e-9)
        assert not inputs.shares[inputs.side.encoding.special_tokens_mask == 1].any()
    assert counts == sorted(counts)
    assert counts[-1] == (100, 100)


def test_shares_that_did_not_add_up_are_called_rough(scores: list[Score]) -> None:
    for seed in range(N):
        result = RandomResults(scores, seed).inputs()
        rough = [abs(inputs.remainder) > 0.001 for inputs in result.sides]
        assert (verdict(result.title()) == "rough") == any(rough)
        for inputs, claim, is_rough in zip(result.sides, result.claims(), rough, strict=True):
            assert (verdict(claim) == "rough") == is_rough
            if not is_rough:
                leads_alone(inputs.side, inputs.by_word, claim)
        sums = [claim.numbers.get("sum") for claim in result.sure()[1::2]]
        assert sums == [inputs.shares.sum() for inputs in result.sides]
