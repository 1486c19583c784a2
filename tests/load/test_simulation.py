"""The simulation beside what queueing theory says, and beside arithmetic where that is enough."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from tests.load.simulation import Batches, Crowd, Prediction, System, phases, simulate

RATES = {1: 10.0, 4: 14.0}


def test_a_lone_visitor_waits_for_the_work_alone() -> None:
    found = simulate(System(RATES), Crowd([0.3], 2.0, 60.0))
    assert found == Prediction(pytest.approx(30 / 60), pytest.approx(0.1), pytest.approx(0.1))


def test_visitors_without_a_pause_get_what_was_measured() -> None:
    for n, rate in ((1, 10.0), (2, 10 + 4 / 3), (4, 14.0), (30, 14.0)):
        found = simulate(System(RATES), Crowd([0.0] * n, 0.0, 30.0))
        assert found.requests_per_second == pytest.approx(rate, rel=0.03)
        assert found.p50 == pytest.approx(n / rate, rel=0.01)


def test_a_paced_crowd_below_capacity_is_answered_at_its_pace() -> None:
    found = simulate(System(RATES), Crowd(phases(20, 2.0, 1), 2.0, 120.0))
    assert found.requests_per_second == pytest.approx(10.0, rel=0.02)
    assert 0.1 <= found.p50 <= found.p95 < 2.0


def test_a_crowd_beyond_capacity_waits_its_number_over_the_rate() -> None:
    found = simulate(System(RATES), Crowd(phases(50, 2.0, 1), 2.0, 120.0))
    assert found.requests_per_second == pytest.approx(14.0, rel=0.02)
    assert found.p50 == pytest.approx(50 / 14, rel=0.05)


def test_who_comes_second_shares_with_the_first() -> None:
    """The first is half done then; both go on at half the speed, until the second is alone."""
    found = simulate(System({1: 10.0}), Crowd([0.0, 0.05], 2.0, 1.0))
    assert (found.p50, found.p95) == (pytest.approx(0.15), pytest.approx(0.15))


def test_little_work_is_done_before_much_that_came_first() -> None:
    """Shared evenly, of a tenth and nineteen tenths of the mean, the tenth takes a fifth."""
    found = simulate(System({1: 10.0}, spread=(1.9, 0.1)), Crowd([0.0, 0.0], 9.0, 1.0))
    assert (found.p50, found.p95) == (pytest.approx(0.11), pytest.approx(0.2 - 0.05 * 0.18))


def test_slow_moments_come_together_as_they_were_measured() -> None:
    """Of each five seconds the last is half as quick, and who asks then waits for others too."""
    crowd, often = Crowd(phases(10, 1.0, 1), 1.0, 20.0), (1.0, 1.0, 1.0, 1.0, 2.0) * 10
    apart = simulate(System({1: 15.0}, spread=often), crowd)
    together = simulate(System({1: 15.0}, spread=sorted(often)), crowd)
    assert together.p95 > 1.2 * apart.p95


def test_company_makes_a_process_quicker_or_slower_as_measured() -> None:
    """Half done in 0.05 s alone, the first goes on as quickly beside the second."""
    found = simulate(System({1: 10.0, 2: 20.0}), Crowd([0.0, 0.05], 2.0, 1.0))
    assert found.p50 == pytest.approx(0.1)


def test_one_encoding_after_the_other_waits_as_lindley_says() -> None:
    """D. V. Lindley (1952): a wait is the one before and its service, less what lies between."""
    starts, think, turns = phases(20, 1.0, 3), 1.0, 30
    encoder = Batches(1, seconds=0.045, token_seconds=0.0, tokens=10, budget=10)
    found = simulate(System({1: 1e9}, encoder=encoder), Crowd(starts, think, turns * think))
    arrivals = sorted(start + k * think for start in starts for k in range(turns))
    waits = [0.0]
    for gap in np.diff(arrivals):
        waits.append(max(0.0, waits[-1] + encoder.seconds - gap))
    p50, p95 = np.percentile(np.add(waits, encoder.seconds), [50, 95])
    assert (found.p50, found.p95) == (pytest.approx(p50), pytest.approx(p95))


@pytest.mark.parametrize("n", [1, 3, 8, 40])
def test_no_system_is_quicker_than_its_bottleneck_allows(n: int) -> None:
    """Operational bounds of closed systems: P. J. Denning and J. P. Buzen (1978)."""
    spread = tuple(np.random.default_rng(0).uniform(0.5, 1.5, 200))
    encoder = Batches(1, 0.05, 0.0, tokens=10, budget=10)
    system = System({1: 10.0}, processes=3, spread=spread, encoder=encoder)
    found = simulate(system, Crowd([0.0] * n, 0.0, 60.0))
    assert found.requests_per_second <= 1.03 * min(n / 0.15, 1 / 0.05)
    assert found.requests_per_second >= 0.97 * min(n, 1) / 0.15


def test_who_has_a_process_alone_waits_for_nobody() -> None:
    found = simulate(System(RATES, processes=5), Crowd([0.0] * 5, 1.0, 20.0))
    assert found.p95 == pytest.approx(0.1)


def test_processes_share_what_cores_there_are() -> None:
    crowd = Crowd([0.0] * 40, 0.0, 30.0)
    alone = System({1: 10.0}, processes=4, busy=1.0)
    free, tight = simulate(alone, crowd), simulate(replace(alone, cores=2.0), crowd)
    assert free.requests_per_second == pytest.approx(40.0, rel=0.03)
    assert tight.requests_per_second == pytest.approx(20.0, rel=0.03)


def test_batches_are_bounded_by_their_budget() -> None:
    """Of ten who come at once the first is taken alone, then two at a time: 1 2 2 3 3 4 4 5 5 6."""
    encoder = Batches(1, seconds=1.0, token_seconds=0.0, tokens=10, budget=20)
    system = System({1: 1e6}, encoder=encoder)
    found = simulate(system, Crowd([0.0] * 10, 100.0, 20.0))
    assert found.p50 == pytest.approx(3.5, rel=0.01)
    assert found.p95 == pytest.approx(5.55, rel=0.01)


def test_batching_and_replicas_raise_what_the_encoder_gives() -> None:
    crowd = Crowd([0.0] * 32, 0.0, 20.0)

    def rate(**changed: int) -> float:
        encoder = replace(Batches(1, 0.01, 0.001, tokens=10, budget=10), **changed)
        return simulate(System({1: 1e6}, encoder=encoder), crowd).requests_per_second

    assert rate() == pytest.approx(1 / 0.02, rel=0.02)
    assert rate(replicas=2) == pytest.approx(2 / 0.02, rel=0.02)
    assert rate(budget=160) == pytest.approx(16 / 0.17, rel=0.02)


def test_the_network_adds_what_it_takes() -> None:
    encoder = Batches(1, 0.01, 0.0, tokens=10, network_seconds=0.2)
    found = simulate(System({1: 10.0}, encoder=encoder), Crowd([0.0], 2.0, 20.0))
    assert found.p50 == pytest.approx(0.31)


def test_nobody_is_no_crowd() -> None:
    with pytest.raises(ValueError, match="at least one visitor"):
        simulate(System(RATES), Crowd([], 2.0, 10.0))


def test_phases_are_those_of_a_seeded_load_test() -> None:
    assert phases(3, 2.0, 5) == phases(3, 2.0, 5) != phases(3, 2.0, 6)
    assert 0.5 < fmean(phases(200, 2.0, 1)) < 1.5
