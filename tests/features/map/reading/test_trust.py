"""How far a map can be trusted: the bounds, chance by simulation, and every warning."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.manifold import trustworthiness

from components.features.map.reading.trust import chance_recall, chance_trustworthiness, verdict
from components.maps.honesty import Honesty, measure

ORDER = ("doubt", "care", "trust")


@dataclass(frozen=True)
class Drawn:
    seeds: tuple[int, ...] = (0, 1, 2)
    disparities: tuple[float, ...] = (0.1, 0.4, 0.2)
    shared_neighbors: float = 0.8


GOOD = Honesty(trustworthiness=0.95, continuity=0.96, recall=0.62, k=15, n_measured=1000)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(15, 7), (16, 3), (30, 14), (60, 15), (300, 15)])
def test_chance_is_what_random_maps_get(n: int, k: int) -> None:
    found = [
        trustworthiness(random.normal(size=(n, 5)), random.normal(size=(n, 2)), n_neighbors=k)
        for random in map(np.random.default_rng, range(30 if n > 100 else 150))
    ]
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - chance_trustworthiness(n, k)) < 4 * error
    assert chance_trustworthiness(n, k) == pytest.approx(0.5, abs=0.06)


def test_chance_of_many_points_is_a_half_and_recall_is_the_share_drawn() -> None:
    assert chance_trustworthiness(10**6, 15) == pytest.approx(0.5, abs=1e-4)
    assert chance_recall(1000, 15) == pytest.approx(15 / 999)
    assert np.isnan(chance_trustworthiness(20, 10))
    assert chance_recall(1, 0) == 1


def test_a_good_map_is_trusted_in_numbers() -> None:
    found = verdict(GOOD, n_points=1000)
    assert (found.word, found.notes) == ("trust", ())
    assert found.said == (
        "Near points are mostly truly near: of the **15** nearest in the full space, **62%** are "
        "among the 15 nearest on the map (by chance 2%)."
    )


def test_few_kept_neighbours_ask_for_care_however_trustworthy() -> None:
    found = verdict(replace(GOOD, recall=0.3), n_points=1000)
    assert found.word == "care"
    assert found.said.startswith("Read nearness with care: of the **15** nearest")


@pytest.mark.parametrize(
    "numbers",
    [
        replace(GOOD, trustworthiness=0.6),
        replace(GOOD, continuity=0.6),
        replace(GOOD, recall=0.05),
        Honesty(0.5, 0.5, 0.015, 15, 1000),
    ],
)
def test_a_map_near_chance_is_doubted(numbers: Honesty) -> None:
    found = verdict(numbers, n_points=1000)
    assert found.word == "doubt"
    assert found.said.startswith("Do not read nearness off this picture")


def test_the_weaker_side_is_told_for_what_it_is() -> None:
    false = verdict(replace(GOOD, trustworthiness=0.834), n_points=1000)
    assert false.word == "care"
    assert false.notes == (
        "Some points are drawn near that are not: trustworthiness **0.83**, where chance gives "
        "0.50.",
    )
    torn = verdict(replace(GOOD, continuity=0.8), n_points=1000)
    assert torn.notes[0].startswith("Some near points lie apart: continuity **0.80**")


def test_a_high_recall_among_few_points_is_not_trusted() -> None:
    """Of 31 points a random map keeps half of the 15 nearest."""
    found = verdict(Honesty(0.97, 0.97, 0.85, 15, 32), n_points=32)
    assert found.word == "care"
    assert "(by chance 48%)" in found.said
    assert "With only **32** points such measures say little" in found.notes[0]
    assert verdict(Honesty(0.97, 0.97, 0.52, 15, 32), n_points=32).word == "doubt"


@pytest.mark.parametrize("n", [0, 1, 2, 3, 14])
def test_too_few_points_are_not_measured(n: int) -> None:
    for honesty in (None, Honesty(1, 1, 1, 1, n)):
        found = verdict(honesty, n_points=n)
        assert found.word == "few"
        assert f"**{n}** point" in found.said
    assert len(verdict(None, n_points=n, n_identical=2).notes) == 1


def test_nothing_measured_is_not_trusted_however_many() -> None:
    assert verdict(None, n_points=1000).word == "few"
    assert verdict(replace(GOOD, k=15), n_points=30).word == "few"  # not defined for k >= n / 2


def test_a_sample_and_identical_vectors_are_told() -> None:
    found = verdict(replace(GOOD, n_measured=2000), n_points=10_000, n_identical=40)
    assert found.word == "trust"
    assert "sample of **2,000** of the 10,000 points" in found.notes[0]
    assert found.notes[1].startswith("**40** points are at distance 0 from another one")


def test_where_all_distances_are_equal_nothing_is_said_to_be_near() -> None:
    """A map of 100 equal vectors: no neighbour is truer than another one."""
    vectors, places = np.ones((100, 8), np.float32), np.random.default_rng(0).normal(size=(100, 2))
    for metric in ("cosine", "euclidean"):
        honesty = measure(vectors, places.astype(np.float32), metric)
        found = verdict(honesty, n_points=100, n_identical=100)
        assert found.word == "few"
        assert found.said.startswith("Nothing can be told apart: all distances between the **100**")
        assert found.notes == ()


def test_many_ties_are_told_and_a_few_are_not() -> None:
    found = verdict(replace(GOOD, n_tied=150), n_points=1000)
    assert found.notes == (
        "For **15%** of points, equal distances leave open which are the 15 nearest: measures are "
        "means over all orders of equals.",
    )
    assert verdict(replace(GOOD, n_tied=3), n_points=1000).notes == ()


def test_seeds_that_agree_are_told_and_seeds_that_differ_cost_trust() -> None:
    steady = verdict(GOOD, Drawn(), n_points=1000)
    assert steady.word == "trust"
    assert "with **3** seeds, points keep **80%**" in steady.notes[0]
    assert "share **60%** of their layout" in steady.notes[0]
    wavers = verdict(GOOD, Drawn(shared_neighbors=0.3), n_points=1000)
    assert wavers.word == "care"
    assert verdict(GOOD, Drawn((0,), (), 1.0), n_points=1000).notes == ()


shares = st.floats(0, 1)


@given(shares, shares, shares, shares, st.integers(15, 3000), st.sampled_from(range(3)))
def test_a_better_measure_never_lowers_the_verdict(
    a: float, b: float, c: float, better: float, n: int, which: int
) -> None:
    numbers = Honesty(a, b, c, min(15, (n - 1) // 2), n)
    name = ("trustworthiness", "continuity", "recall")[which]
    higher = replace(numbers, **{name: max(better, getattr(numbers, name))})
    words = [ORDER.index(verdict(each, n_points=n).word) for each in (numbers, higher)]
    assert words[0] <= words[1]


@given(st.integers(15, 3000), st.integers(1, 15))
def test_a_random_map_is_doubted_and_a_perfect_one_is_not(n: int, k: int) -> None:
    k = min(k, (n - 1) // 2)
    chance = chance_trustworthiness(n, k)
    random = Honesty(chance, chance, chance_recall(n, k), k, n)
    assert verdict(random, n_points=n).word == "doubt"
    perfect = verdict(Honesty(1, 1, 1, k, n), n_points=n)
    assert perfect.word == ("trust" if n >= 50 else "care")
    assert "100%" in perfect.said
