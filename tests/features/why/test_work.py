"""Each look as a job, and its numbers as rows and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.core.schema import Passport
from contextlens.features.why.compute import (
    EditsResult,
    InputsResult,
    LeaveOutResult,
    SwapInResult,
    SwitchOffResult,
    shares_at,
)
from contextlens.features.why.reading import reading_of, title_of
from contextlens.features.why.snippet import snippet_of
from contextlens.features.why.work import (
    arrays,
    edits_task,
    passport_of,
    random_pairs_task,
    rows,
    task_of,
)
from contextlens.jobs import Jobs, Task, Visitor
from tests.features.why.scores import score_on, sentence, view_on

TEXTS = sentence("A python slept"), sentence("The bank lends money"), sentence("A cat")
VISITOR = Visitor("me")
LOOKS = {
    "leave_out": (
        LeaveOutResult,
        {"out_of": "pairs", "how_out": "hidden"},
        {"changed": "each word hidden from attention", "pairs of words": True},
    ),
    "switch_off": (
        SwitchOffResult,
        {"over": "all", "off_to": "mean"},
        {"changed": "each part set to mean", "sentences": ["A", "B", "C"]},
    ),
    "swap_in": (
        SwapInResult,
        {"into": "second"},
        {"changed": "each hidden state of A put into B"},
    ),
    "shares": (InputsResult, {"depth": "inputs"}, {"integrated gradients": "Gauss-Legendre"}),
}


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    store = Jobs(50_000_000)
    yield store
    store.stop()


def task_on(service: EncoderService, **how: object) -> Task | None:
    view, score = view_on(*TEXTS, **how), score_on(service, *TEXTS, **how)
    return task_of(view, score, service, token_seconds=0.001)


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_is_work_whose_result_is_small(
    tiny_service: EncoderService, jobs: Jobs, look: str
) -> None:
    kind, options, changed = LOOKS[look]
    how = {"model": "folder:bert", "look": look, **options}
    task, again, other = (task_on(tiny_service, **how, **more) for more in ({}, {}, {"layer": 1}))
    assert task
    assert again
    assert other
    assert again.key == task.key != other.key
    assert 0 < other.size <= task.size < 60
    assert task.is_large == (task.size >= task.kind.large_seconds)
    result = jobs.start(task, VISITOR).result(timeout=120)
    assert isinstance(result, kind)
    assert result.score.first.encoding.hidden.nbytes == 0
    passport: Passport = passport_of(result)
    assert passport.settings.items() >= result.score.passport.settings.items()
    assert passport.settings.items() >= changed.items()
    assert rows(result)
    for name, array in arrays(result).items():
        assert array.size, name
        assert array.dtype != object


def test_shares_of_a_layer_need_no_work(tiny_service: EncoderService) -> None:
    assert task_on(tiny_service, model="folder:bert") is None
    result = shares_at(score_on(tiny_service, *TEXTS, model="folder:bert"))
    table, cosine = rows(result), result.score.cosine
    assert len(table) == result.by_word.cells.size
    assert sum(row["share"] for row in table) == pytest.approx(cosine, abs=1e-9)
    assert arrays(result)["shares"].sum() == pytest.approx(cosine, abs=1e-6)


@pytest.mark.parametrize("of", [rows, arrays, snippet_of, title_of, reading_of])
def test_what_is_no_look_has_no_numbers(of: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        of("python")


@pytest.mark.slow
def test_edits_and_random_pairs_are_work_too(tiny_service: EncoderService, jobs: Jobs) -> None:
    score = score_on(tiny_service, *TEXTS, model="folder:bert")
    task = edits_task(score, tiny_service, token_seconds=1)
    assert isinstance(jobs.start(task, VISITOR).result(timeout=120), EditsResult)
    task = random_pairs_task(tiny_service, score.card)
    assert np.isfinite(jobs.start(task, VISITOR).result(timeout=120).mean.mean).all()
