"""Each look as a job, and its numbers as rows and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from components.core import EncoderService
from components.features.why.compute import (
    EditsResult,
    InputsResult,
    LeaveOutResult,
    SwapInResult,
    SwitchOffResult,
    shares_at,
)
from components.features.why.work import (
    LARGE_SECONDS,
    arrays,
    edits_task,
    passport_of,
    random_pairs_task,
    rows,
    task_of,
)
from components.jobs import Jobs, Visitor
from tests.features.why.scores import score_on, sentence, view_on

TEXTS = sentence("A python slept"), sentence("The bank lends money"), sentence("A cat")
ME = Visitor("me")
LOOKS = {
    "leave_out": (LeaveOutResult, {"out_of": "pairs", "how_out": "hidden"}),
    "switch_off": (SwitchOffResult, {"over": "all", "off_to": "mean"}),
    "swap_in": (SwapInResult, {"into": "second"}),
    "shares": (InputsResult, {"depth": "inputs"}),
}
CHANGED = {
    "leave_out": {"changed": "each word hidden from attention", "pairs of words": True},
    "switch_off": {"changed": "each part set to mean", "sentences": ["A", "B", "C"]},
    "swap_in": {"changed": "each hidden state of A put into B"},
}


@pytest.fixture(scope="module")
def jobs() -> Any:
    own = Jobs(50_000_000)
    yield own
    own.stop()


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_is_work_whose_result_is_small(
    tiny_service: EncoderService, jobs: Jobs, look: str
) -> None:
    kind, own = LOOKS[look]
    how = {"model": "folder:bert", "look": look, **own}
    view, score = view_on(*TEXTS, **how), score_on(tiny_service, *TEXTS, **how)
    task = task_of(view, score, tiny_service, token_seconds=0.001)
    assert task is not None
    assert 0 < task.size < 60
    assert task.is_large == (task.size >= LARGE_SECONDS)
    job = jobs.start(task, ME)
    shown = job.result(timeout=120)
    assert isinstance(shown, kind)
    assert shown.score.first.encoding.hidden.nbytes == 0
    settings = passport_of(shown).settings
    assert settings.items() >= shown.score.passport.settings.items()
    assert settings.items() >= CHANGED.get(look, {"integrated gradients": "Gauss-Legendre"}).items()
    assert rows(shown)
    for name, array in arrays(shown).items():
        assert array.size, name
        assert array.dtype != object
    again = task_of(view, score, tiny_service, token_seconds=0.001)
    other = task_of(view_on(*TEXTS, **{**how, "layer": 1}), score_on(
        tiny_service, *TEXTS, **{**how, "layer": 1}), tiny_service, token_seconds=1)  # fmt: skip
    assert again is not None
    assert other is not None
    assert again.key == task.key != other.key


def test_shares_of_a_layer_need_no_work(tiny_service: EncoderService) -> None:
    how = {"model": "folder:bert"}
    view, score = view_on(*TEXTS, **how), score_on(tiny_service, *TEXTS, **how)
    assert task_of(view, score, tiny_service, token_seconds=0.001) is None
    shown = shares_at(score)
    table = rows(shown)
    assert len(table) == shown.by_word.cells.size
    assert sum(row["share"] for row in table) == pytest.approx(score.cosine, abs=1e-9)
    assert arrays(shown)["shares"].sum() == pytest.approx(score.cosine, abs=1e-6)


@pytest.mark.slow
def test_edits_and_random_pairs_are_work_too(tiny_service: EncoderService, jobs: Jobs) -> None:
    score = score_on(tiny_service, *TEXTS, model="folder:bert")
    shown = jobs.start(edits_task(score, tiny_service, token_seconds=1), ME).result(timeout=120)
    assert isinstance(shown, EditsResult)
    task = random_pairs_task(tiny_service, score.card)
    assert np.isfinite(jobs.start(task, ME).result(timeout=120).mean.mean).all()


def test_what_is_no_look_has_no_table() -> None:
    for ask in (rows, arrays):
        with pytest.raises(TypeError):
            ask("python")
