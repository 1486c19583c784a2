"""The capacity simulation beside queues computed by hand, and the page that shows its tables."""

from __future__ import annotations

import json

import pytest

from docs.simulate_capacity import (
    KEPT,
    PAGE,
    Inputs,
    Prediction,
    Prices,
    Station,
    needs,
    page_of,
    simulate,
)
from docs.simulate_capacity import first_asks as first
from tests.load.measure_capacity import COMPANY, Compared, Encoder, fitted, inputs_of
from tests.load.server import Footprint
from tests.load.turns import Turn
from tests.load.visitor import Answer

RATES = {1: 10.0, 4: 14.0}


def test_two_who_share_a_process_end_as_computed_by_hand() -> None:
    """0.01 s and 0.19 s of work, shared evenly: the small one ends at 0.02 s, the other at 0.2."""
    met = simulate(Station({1: 10.0}, spread=(1.9, 0.1)), [0.0, 0.0], 9.0, 1.0)
    assert (met.p50, met.p95) == (pytest.approx(0.11), pytest.approx(0.2 - 0.05 * 0.18))
    late = simulate(Station({1: 10.0}), [0.0, 0.05], 2.0, 1.0)  # comes when half is done
    assert (late.p50, late.p95) == (pytest.approx(0.15), pytest.approx(0.15))
    quick = simulate(Station({1: 10.0, 2: 20.0}), [0.0, 0.05], 2.0, 1.0)  # company costs nothing
    assert quick.p95 == pytest.approx(0.1)


def test_a_lone_visitor_waits_for_the_work_alone() -> None:
    met = simulate(Station(RATES), [0.3], 2.0, 60.0)
    assert met == Prediction(pytest.approx(0.5), pytest.approx(0.1), pytest.approx(0.1))


@pytest.mark.parametrize(("n", "rate"), [(2, 10 + 4 / 3), (4, 14.0), (30, 14.0)])
def test_visitors_without_a_pause_get_what_was_measured(n: int, rate: float) -> None:
    met = simulate(Station(RATES), [0.0] * n, 0.0, 30.0)
    assert met.requests_per_second == pytest.approx(rate, rel=0.03)
    assert met.p50 == pytest.approx(n / rate, rel=0.01)  # Little's law


def test_processes_share_the_cores() -> None:
    starts = [0.0] * 40
    wide = simulate(Station({1: 10.0}, processes=4), starts, 0.0, 30.0)
    tight = simulate(Station({1: 10.0}, processes=4, cores=2.0), starts, 0.0, 30.0)
    assert wide.requests_per_second == pytest.approx(40.0, rel=0.03)
    assert tight.requests_per_second == pytest.approx(20.0, rel=0.03)


def test_visitors_need_as_many_processes_as_they_ask_for() -> None:
    inputs = Inputs("", {"cpus": 2}, RATES, (1.0,), 0.08, 1.2, 1e5, 1000, 0.004, 2e-4, 30, 2.0, 0.0)
    processes, vcpus, gigabytes, money = needs(inputs, Prices(0.1, 2.0), 50.0)
    assert (processes, gigabytes) == (6, pytest.approx(6.0))  # of 9.8 questions a second each
    assert vcpus == pytest.approx(50 * 0.08 / 0.7)
    assert money == pytest.approx(vcpus * 730 * 0.1 + 6 * 2)


def test_the_page_shows_the_measured_figures() -> None:
    report = json.loads(KEPT.read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    assert page_of(page, report) == page, "run: python -m docs.simulate_capacity"


def test_a_line_is_fitted_through_batches() -> None:
    tokens = [30, 60, 480, 960]
    assert fitted(tokens, [0.004 + 2e-4 * n for n in tokens]) == pytest.approx((0.004, 2e-4))
    assert fitted([10, 20], [0.01, 0.03])[0] == 0  # never below


def turn(visitors: int, n_answers: int) -> Turn:
    """Ten seconds in which so many questions were answered."""
    answers = tuple(Answer(i * 0.1, 0.08, "", 90_000, True) for i in range(n_answers))
    app = Footprint(1000.0, 30, 50)
    return Turn("app", "asking", visitors, 10.0, answers, (), 0, app, app, (1000.0,), 1.1, 0.1, 0.0)


def test_of_several_rounds_the_medians_count() -> None:
    rounds = [{n: turn(n, answers + n) for n in COMPANY} for answers in (60, 10, 50)]
    inputs = inputs_of(rounds, Encoder(0.004, 0.0002, 30, 2.0))
    assert inputs.rates == {n: pytest.approx((50 + n) / 10) for n in COMPANY}
    assert inputs.processor_seconds == pytest.approx(1.1 / 6.6)
    assert len(inputs.spread) == 61 + 11 + 51


@pytest.mark.parametrize(
    ("wanted", "is_judged"), [(0.84, True), (0.9, False), (1.1, False), (1.9, True)]
)
def test_turns_near_the_capacity_are_not_judged(wanted: float, is_judged: bool) -> None:
    same = Prediction(12.0, 0.2, 0.4)
    assert Compared(25, wanted, same, same, 0.0).is_judged is is_judged


def test_the_first_questions_are_those_of_a_seeded_load_test() -> None:
    assert first(3, 2.0, 5) == first(3, 2.0, 5) != first(3, 2.0, 6)
