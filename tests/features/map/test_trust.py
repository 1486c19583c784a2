"""Trust in a map: its bounds, chance by simulation, and every note."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from contextlens.features.map.trust import (
    Trust,
    chance_recall,
    chance_trustworthiness,
    count_equal,
    trust_of,
)
from contextlens.maps.map_quality import MapQuality, measure
from contextlens.maps.neighbors import nearest
from contextlens.maps.stability import Stability
from contextlens.maps.vector_space import VectorSpace
from tests.support.odd import Said, assert_said

ORDER = ("doubt", "care", "trust")
GOOD = MapQuality(trustworthiness=0.95, continuity=0.96, recall=0.62, k=15, n_measured=1000)


DRAWN = Stability((0, 1, 2), (0.1, 0.4, 0.2), 0.8)


@pytest.mark.parametrize(("n", "k"), [(15, 7), (16, 3), (30, 14), (60, 15), (300, 15)])
def test_chance_is_what_random_maps_get(n: int, k: int) -> None:
    found = [
        trustworthiness(rng.normal(size=(n, 5)), rng.normal(size=(n, 2)), n_neighbors=k)
        for rng in map(np.random.default_rng, range(30 if n > 100 else 150))
    ]
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - chance_trustworthiness(n, k)) < 4 * error
    assert chance_trustworthiness(n, k) == pytest.approx(0.5, abs=0.06)


def test_chance_of_many_points_is_a_half_and_recall_is_the_share_drawn() -> None:
    assert chance_trustworthiness(10**6, 15) == pytest.approx(0.5, abs=1e-4)
    assert chance_recall(1000, 15) == pytest.approx(15 / 999)
    assert np.isnan(chance_trustworthiness(20, 10))
    assert chance_recall(1, 0) == 1


def state_of(quality: MapQuality, n: int, drawn: Stability | None) -> str:
    """The verdict by its rule, written out again."""
    low, chance = chance_trustworthiness(n, quality.k), quality.k / (n - 1)
    way = (min(quality.trustworthiness, quality.continuity) - low) / (1 - low)
    kept = (quality.recall - chance) / (1 - chance)
    if way < 0.5 or kept < 0.1:
        return "doubt"
    is_steady = drawn is None or (drawn.shared_neighbors - chance) / (1 - chance) >= 0.5
    return "trust" if way >= 0.8 and kept >= 0.5 and n >= 50 and is_steady else "care"


def test_what_is_said_of_2_000_measured_maps_is_so() -> None:
    said_all = Said()
    for seed in range(2000):
        chance = random.Random(seed)
        n = chance.choice((1, 2, 14, 15, 16, 49, 50, 400, 30_000))
        k = min(15, (n - 1) // 2)
        values = [chance.choice((0.0, 1.0, chance.random(), 0.8, 0.9)) for _ in range(3)]
        measured = min(n, chance.choice((2000, n)))
        tied = chance.choice((0, measured // 30, measured))
        quality = MapQuality(*values, k, measured, tied, is_flat=chance.random() < 0.1)
        lucky = replace(DRAWN, shared_neighbors=chance.random())
        drawn = chance.choice((None, lucky, replace(DRAWN, seeds=(0,), disparities=())))
        n_equal = chance.choice((0, 0, n)) if n > 1 else 0
        given = None if chance.random() < 0.1 else quality
        found = chance.choice((None, 0.993))
        trust = trust_of(given, drawn, n_points=n, n_equal=n_equal, found=found)
        claims = said_all([trust.claim, *trust.cautions])
        assert trust.claim.key == f"map.trust.{trust.state}"
        if given is None or n < 15:
            assert trust.state == "few"
        elif quality.is_flat:
            assert (trust.state, trust.cautions) == ("flat", ())
        else:
            assert trust.state == state_of(quality, n, drawn)
            assert_said(claims, trust.claim.key, k=k, recall=values[2], chance=k / (n - 1))
            assert len(trust.cautions) <= 4
            assert_notes(trust, quality, n)
    said_all.assert_all("map.trust", "map.trust_sure")


def assert_notes(trust: Trust, quality: MapQuality, n: int) -> None:
    """The notes name the weaker measure, few points, and a sample."""
    keys = {note.key.rpartition(".")[2]: note.numbers for note in trust.cautions}
    if "false_near" in keys:
        assert keys["false_near"]["value"] == quality.trustworthiness <= quality.continuity
    if "drawn_apart" in keys:
        assert keys["drawn_apart"]["value"] == quality.continuity < quality.trustworthiness
    assert ("small" in keys) == (n < 50)
    assert ("sampled" in keys) == (n >= 50 and quality.n_measured < n)


def test_a_better_measure_never_lowers_the_verdict() -> None:
    for seed in range(500):
        chance = random.Random(seed)
        n = chance.randint(15, 3000)
        worse = MapQuality(*(chance.random() for _ in range(3)), min(15, (n - 1) // 2), n)
        name = chance.choice(("trustworthiness", "continuity", "recall"))
        better = replace(worse, **{name: chance.uniform(getattr(worse, name), 1)})
        states = [ORDER.index(trust_of(own, n_points=n).state) for own in (worse, better)]
        assert states[0] <= states[1]


def test_a_verdict_is_told_as_it_is_read() -> None:
    assert str(trust_of(GOOD, n_points=1000).claim) == (
        "Most points that are close here are truly neighbours: of each point's 15 nearest "
        "neighbours in the full space, **62%** are near it here (expected by chance: 2%)."
    )
    doubted = trust_of(replace(GOOD, trustworthiness=0.6, recall=0.22), n_points=1000)
    assert str(doubted.claim).startswith("Do not rely on this picture: of each point's")
    few = trust_of(None, n_points=8, n_equal=8)
    assert str(few.claim).startswith("8 points are too few to measure how far the picture")
    assert str(few.cautions[0]).startswith("8 points have exactly the same vector")


def test_where_all_distances_are_equal_nothing_is_said_to_be_near() -> None:
    """In a map of 100 equal vectors, no neighbour is truer than another."""
    vectors, places = np.ones((100, 8), np.float32), np.random.default_rng(0).normal(size=(100, 2))
    for metric in ("cosine", "euclidean"):
        found = trust_of(
            measure(VectorSpace.of(vectors, metric), places.astype(np.float32)), n_points=100
        )
        assert found.state == "flat"
        assert count_equal(nearest(VectorSpace.of(vectors, metric), 5)) == 100


def test_an_approximate_search_is_said_with_its_recall() -> None:
    given = MapQuality(0.98, 0.98, 0.6, 15, 2000)
    notes = trust_of(given, n_points=200_000, found=0.993).cautions
    assert any("99%" in str(note) and "approximately" in str(note) for note in notes)
    exact = trust_of(given, n_points=200_000).cautions
    assert not any("approximately" in str(note) for note in exact)
