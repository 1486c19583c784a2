"""Input shares: they add up on both sides, and are called rough if they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from contextlens.core import EncoderService
from contextlens.features.why.inputs import trace_inputs
from contextlens.features.why.score import Score
from tests.features.why.random_results import N, RandomResults, leads_alone, verdict, verdicts
from tests.features.why.scores import PAIR, score_on, sentence
from tests.support.tiny_models import TYPICAL, build


@pytest.mark.parametrize("family", TYPICAL)
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


def test_shares_that_did_not_converge_are_called_rough(scores: list[Score]) -> None:
    for seed in range(N):
        result = RandomResults(scores, seed).inputs()
        rough = [inputs.missed > 0.001 for inputs in result.sides]
        assert (verdict(result.title()) == "rough") == any(rough)
        rows = result.word_rows()
        for inputs, row in zip(result.sides, (rows.first, rows.second), strict=True):
            drawn = [word.value for word in row.words]
            kept = [
                None if u.span is None else v
                for u, v in zip(inputs.side.units, inputs.by_word, strict=True)
            ]
            assert drawn == kept
        for inputs, claim, is_rough in zip(result.sides, result.claims(), rough, strict=False):
            assert (verdict(claim) == "rough") == is_rough
            if not is_rough:
                leads_alone(inputs.side, inputs.by_word, claim)
        assert verdicts(result.sure()) == ["rough" if is_rough else "whole" for is_rough in rough]


def test_errors_that_cancel_out_are_no_convergence(
    open_with: Callable[..., EncoderService], tmp_path: Path
) -> None:
    """A remainder near 0, though single shares of a steep MPNet are off by 0.009."""
    folder = build("mpnet", tmp_path / "steep")
    weights = load_file(folder / "model.safetensors")
    steep = {
        name: 3 * values if "encoder" in name and values.ndim == 2 else values
        for name, values in weights.items()
    }
    save_file(steep, folder / "model.safetensors", metadata={"format": "pt"})
    service = open_with(model_folder=tmp_path)
    texts = sentence("The bank lends money to anyone"), sentence("a cat slept")
    result = trace_inputs(score_on(service, *texts, model="folder:steep"), service)
    assert abs(result.first.remainder) < 0.001 < result.first.missed
    assert verdict(result.title()) == "rough"
    assert str(result.claims()[0]) == (
        "The shares of A are only approximate: 256 computing steps are too few for this model and "
        "text."
    )
