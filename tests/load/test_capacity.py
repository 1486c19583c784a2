"""What is needed on paper: arithmetic by hand, and the page that shows it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.load.capacity import (
    Corpus,
    Prices,
    bottlenecks,
    corpus_need,
    documented,
    visitors_need,
)
from tests.load.inputs import COMPANY, Encoder, Inputs, fitted, inputs_of
from tests.load.predict import Compared
from tests.load.server import Footprint
from tests.load.simulation import Prediction
from tests.load.turns import Turn
from tests.load.visitor import Answer
from tests.support.app_server import ROOT

INPUTS = Inputs(
    made="2026-01-01",
    machine={"processor": "a processor", "cpus": 2},
    rates={1: 10.0, 4: 14.0},
    spread=(1.0,),
    processor_seconds=0.08,
    busy=1.2,
    answer_bytes=250_000,
    process_mb=1000,
    batch_seconds=0.004,
    token_seconds=0.0002,
    question_tokens=30,
    encoder_cores=2.0,
    others=0.0,
)


def test_visitors_need_as_many_processes_as_their_rate_asks() -> None:
    need = visitors_need(INPUTS, Prices(vcpu_hour=0.1, memory_month=2.0), 1000, 20.0)
    assert need.rate == 50
    assert need.processes == 6  # of 9.8 questions a second each
    assert need.vcpus == pytest.approx(50 * 0.08 / 0.7)
    assert need.memory_gb == pytest.approx(6.0)
    assert need.to_browsers == 50 * 250_000
    assert need.from_encoders == 50 * 30 * 7 * 384 * 4
    assert need.encoders == pytest.approx(50 * 30 * 0.0002 * 2 / 0.7)
    assert need.month == pytest.approx(50 * 0.08 / 0.7 * 730 * 0.1 + 6 * 2)
    assert 0.1 <= need.p95 < 1.0


@pytest.mark.parametrize("times", [2, 10])
def test_what_a_corpus_needs_goes_in_proportion(times: int) -> None:
    one, many = (corpus_need(Corpus(), Prices(), n) for n in (1000, 1000 * times))
    assert many == pytest.approx({name: times * value for name, value in one.items()})


def test_a_corpus_as_measured_needs_what_was_measured() -> None:
    need = corpus_need(Corpus(), Prices(), 200_000)
    assert need["gb"] == pytest.approx(0.159)
    assert need["index_hours"] == pytest.approx(212 / 3600)


def test_the_bottleneck_moves_where_both_take_as_long() -> None:
    found = bottlenecks(INPUTS)
    own = (1 / 14) - (0.004 + 30 * 0.0002)
    assert found["interpreter ms"] == pytest.approx(1e3 * own)
    assert found["tokens"] * INPUTS.token_seconds == pytest.approx(own)
    assert found["browsers/s"] == 500


def test_a_line_is_fitted_through_batches() -> None:
    tokens = [30, 60, 480, 960]
    seconds, each = fitted(tokens, [0.004 + 0.0002 * n for n in tokens])
    assert (seconds, each) == (pytest.approx(0.004), pytest.approx(0.0002))
    assert fitted([10, 20], [0.01, 0.03])[0] == 0  # never below


def test_inputs_are_read_back_as_they_were() -> None:
    given = json.loads(json.dumps(replace(INPUTS, spread=(1.0, 1.5)).as_dict()))
    again = Inputs.from_dict(given)
    assert again.rates == INPUTS.rates
    assert json.loads(json.dumps(again.as_dict())) == given


def test_the_page_shows_the_kept_figures() -> None:
    page = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
    kept = json.loads((ROOT / "docs" / "capacity.json").read_text(encoding="utf-8"))
    assert documented(page, kept) == page, "run: python -m tests.load.predict --keep"


def turn(visitors: int, n_answers: int) -> Turn:
    """Ten seconds in which so many questions were answered."""
    answers = tuple(Answer(i * 0.1, 0.08, "", 90_000, True) for i in range(n_answers))
    app = Footprint(1000.0, 30, 50)
    return Turn("app", "asking", visitors, 10.0, answers, (), 0, app, app, (1000.0,), 1.1, 0.1, 0.0)


def test_of_several_rounds_the_medians_count() -> None:
    rounds = [{n: turn(n, answers + n) for n in COMPANY} for answers in (60, 10, 50)]
    found = inputs_of(rounds, Encoder(0.004, 0.0002, 30, 2.0))
    assert found.rates == {n: pytest.approx((50 + n) / 10) for n in COMPANY}
    assert found.processor_seconds == pytest.approx(1.1 / 6.6)
    assert len(found.spread) == 61 + 11 + 51
    assert (found.question_tokens, found.batch_seconds) == (30, 0.004)


@pytest.mark.parametrize(
    ("wanted", "is_judged"), [(0.4, True), (0.84, True), (0.9, False), (1.1, False), (1.9, True)]
)
def test_turns_near_what_the_app_can_do_are_not_judged(wanted: float, is_judged: bool) -> None:
    some = Prediction(12.0, 0.2, 0.4)
    assert Compared(25, wanted, some, some, 0.0).is_judged is is_judged
