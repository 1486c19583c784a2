"""What all explanations have: a job, rows and arrays, a passport, and whole sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.analysis.kept_arrays import load
from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.core.schema import Passport
from contextlens.features.why import edits, inputs, leave_out, swap_in, switch_off
from contextlens.features.why.edits import EditsResult
from contextlens.features.why.explanation import Explanation
from contextlens.features.why.inputs import InputsResult
from contextlens.features.why.leave_out import LeaveOutResult
from contextlens.features.why.score import NoScore, Score, score_of
from contextlens.features.why.shares import SharesResult, shares_at
from contextlens.features.why.swap_in import SwapInResult
from contextlens.features.why.switch_off import SwitchOffResult
from contextlens.features.why.yardsticks import SentencePairs, random_pairs_task
from contextlens.jobs import Jobs, Task, Visitor
from tests.features.why.random_results import N, RandomResults
from tests.features.why.scores import score_on, sentence, view_on
from tests.support.claims import read, unreached
from tests.support.texts import TYPED

TEXTS = sentence("A python slept"), sentence("The bank lends money"), sentence("A cat")
VISITOR = Visitor("me")
BAND = Band(*(np.full(9, 0.1, np.float32) for _ in range(3)), "English sentences")
EXPLANATIONS = {
    "leave_out": (
        leave_out.task,
        LeaveOutResult,
        {"out_of": "pairs", "how_out": "hidden"},
        {"changed": "each word hidden from attention", "pairs of words": True},
    ),
    "switch_off": (
        switch_off.task,
        SwitchOffResult,
        {"over": "all", "off_to": "mean"},
        {"changed": "each part set to mean", "sentences": ["A", "B", "C"]},
    ),
    "swap_in": (
        swap_in.task,
        SwapInResult,
        {"into": "second"},
        {"changed": "each hidden state of A put into B"},
    ),
    "shares": (
        inputs.task,
        InputsResult,
        {"depth": "inputs"},
        {"integrated gradients": "Gauss-Legendre"},
    ),
}


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    store = Jobs(50_000_000)
    yield store
    store.stop()


def task_on(service: EncoderService, look: str, **how: object) -> Task:
    view, score = view_on(*TEXTS, look=look, **how), score_on(service, *TEXTS, look=look, **how)
    make = EXPLANATIONS[look][0]
    return make(view, score, service, token_seconds=0.001)


@pytest.mark.parametrize("look", EXPLANATIONS)
def test_an_explanation_is_a_job_whose_result_is_small(
    tiny_service: EncoderService, jobs: Jobs, look: str
) -> None:
    _, kind, options, changed = EXPLANATIONS[look]
    how = {"model": "folder:bert", **options}
    task, again, other = (
        task_on(tiny_service, look, **how, **more) for more in ({}, {}, {"layer": 1})
    )
    assert again.key == task.key != other.key
    assert 0 < other.size <= task.size < 60
    assert task.is_large == (task.size >= task.kind.large_seconds)
    result = jobs.start(task, VISITOR).result(timeout=120)
    assert isinstance(result, kind)
    assert result.score.first.encoding.hidden.nbytes == 0
    passport: Passport = result.passport
    assert passport.settings.items() >= result.score.passport.settings.items()
    assert passport.settings.items() >= changed.items()
    assert result.rows()
    for name, array in result.arrays().items():
        assert array.size, name
        assert array.dtype != object


def test_edits_and_random_pairs_are_work_too(
    tiny_service: EncoderService, jobs: Jobs, tmp_path: Path
) -> None:
    score = score_on(tiny_service, *TEXTS, model="folder:bert")
    task = edits.task(score, tiny_service, token_seconds=1)
    assert isinstance(jobs.start(task, VISITOR).result(timeout=120), EditsResult)
    task = random_pairs_task(tiny_service, score.card, tmp_path)
    pairs = jobs.start(task, VISITOR).result(timeout=120)
    assert np.isfinite(pairs.mean).all()
    (file,) = tmp_path.rglob("*.npz")
    kept = load(SentencePairs, file)
    assert kept is not None
    np.testing.assert_array_equal(kept.cls, pairs.cls)


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_taken_apart(tiny_service: EncoderService, text: str) -> None:
    view = view_on(sentence(text), sentence("A cat slept"), model="folder:bert", layer=1)
    score = score_of(view, tiny_service, tiny_service.load("folder:bert"))
    if isinstance(score, NoScore):
        assert not text.strip()
        assert "Sentence A is empty" in score.problem
        return
    for result in (
        shares_at(score),
        leave_out.leave_out(score, tiny_service),
        leave_out.leave_out(score, tiny_service, how="hidden"),
        swap_in.swap_in(score, tiny_service),
    ):
        assert str(result.title())
        assert all(map(str, result.claims()))
        assert isinstance(result.rows(), list)
    assert np.isfinite(
        [ranked.cosine for ranked in edits.edits_of(score, tiny_service).edits]
    ).all()


def test_every_sentence_is_reached_and_whole(scores: list[Score]) -> None:
    claims: list[Claim] = []
    equal = replace(scores[0], second=scores[0].first)
    swapped = RandomResults(scores, 0).swapped_in()
    stuck = [
        replace(swapped, score=score, problem=Claim(f"why.swap_in.{key}", {"a": "A", "b": "B"}))
        for score, key in ((equal, "equal"), (scores[0], "stuck"))
    ]
    results = [result for seed in range(N) for result in RandomResults(scores, seed).all()]
    for result in (*results, *stuck):
        if isinstance(result, Explanation):
            claims += [*result.claims(), *result.sure(), result.title()]
        else:
            claims += result.claims(BAND)
        if isinstance(result, SharesResult):
            banded = replace(result, band=BAND)
            claims += [banded.claims()[0], banded.title()]
    elsewhere = (
        *("why.score.", "why.shares.summary.wordless", "why.shares.title.wordless"),
        *("why.shares.number.strongest", "why.leave_out.note.", "why.switch_off.note."),
    )
    keys = [key for key in unreached("why", read(claims)) if not key.startswith(elsewhere)]
    assert keys == []


def test_the_opening_sentences_are_explained_in_these_words(service: EncoderService) -> None:
    score = score_on(service)
    edited = edits.edits_of(score, service)
    assert str(leave_out.leave_out(score, service).title()) == (
        "Removing “python” from A lowers the similarity most"
    )
    assert str(swap_in.swap_in(score, service).title()) == (
        "Swapping in “in” for “pet” moves A furthest towards B"
    )
    assert str(switch_off.switch_off(view_on(), score, service).title()) == (
        "Switching off head 4 of layer 6 lowers the similarity most"
    )
    assert "“I do not love my pet python”" in str(edited.claims()[1])
