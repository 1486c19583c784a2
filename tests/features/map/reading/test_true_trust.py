"""Every sentence on how far a map can be trusted, read back against numbers computed anew."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.features.map.reading.trust import verdict
from components.maps.honesty import Honesty, measure
from tests.features.map.reading.odd_maps import (
    N_EACH,
    assert_equal,
    odd_vectors,
)
from tests.support.true_words import (
    NUMBER,
    PERCENT,
    bare,
    is_percent,
    is_two,
    read_back,
)


@dataclass(frozen=True)
class Drawn:
    seeds: tuple[int, ...]
    disparities: tuple[float, ...]
    shared_neighbors: float


def test_what_is_said_of_trust_is_so() -> None:
    for seed in range(N_EACH):
        chance, rng = random.Random(seed), np.random.default_rng(seed)
        n = chance.choice((1, 2, 14, 15, 16, 30, 49, 50, 60, 3000))
        k = max(1, min(15, (n - 1) // 2))
        honesty: Honesty | None = None
        if chance.random() < 0.3 and 4 <= n < 100:
            places = rng.normal(size=(n, 2)).round(chance.choice((0, 6))).astype(np.float32)
            honesty = measure(odd_vectors(rng, n), places, chance.choice(("cosine", "euclidean")))
        elif chance.random() < 0.95:
            some = chance.choice((n, n // 2 or 1))
            level = chance.choice(((0, 1), (0.9, 1), (0.4, 0.6)))
            three = (chance.uniform(*level) for _ in range(3))
            honesty = Honesty(*three, k, some, chance.choice((0, some // 2)))
        drawn = chance.choice(
            (None, Drawn((0, 1, 2), (0.1, 0.4, chance.random()), chance.random()))
        )
        n_equal = chance.choice((0, 2, n))
        found = verdict(honesty, drawn, n_points=n, n_identical=n_equal)
        text = bare(" ".join([found.said, *found.notes]))
        read_back(text, of_trust(honesty, drawn, n, n_equal, found.word))


def of_trust(
    honesty: Honesty | None, drawn: Drawn | None, n: int, n_equal: int, word: str
) -> dict[str, Any]:
    def measured() -> Honesty:
        assert honesty is not None
        return honesty

    def few(points: str) -> None:
        assert int(points) == n
        assert word == "few"
        assert honesty is None or n < 15

    def flat(points: str) -> None:
        assert measured().is_flat
        assert int(points) == n
        assert word == "few"

    def lead(how: str, k: str, share: str, chance: str) -> None:
        own = measured()
        part = own.k / (n - 1)
        likely = 1 - (n - own.k) * (n - 1 - own.k) / ((n - 1) * (2 * n - 3 * own.k - 1))
        assert not own.is_flat
        assert int(k) == own.k
        assert is_percent(share, own.recall)
        assert is_percent(chance, part)
        least = (min(own.trustworthiness, own.continuity) - likely) / (1 - likely)
        kept = (own.recall - part) / (1 - part)
        expected = "trust" if least >= 0.8 and kept >= 0.5 else "care"
        expected = "doubt" if least < 0.5 or kept < 0.1 else expected
        wavers = drawn is not None and (drawn.shared_neighbors - part) / (1 - part) < 0.5
        if expected == "trust" and (n < 50 or wavers):
            expected = "care"
        assert word == expected
        assert how == {"trust": "Near", "care": "Read", "doubt": "Do"}[word]

    def weaker(what: str, value: str, chance: str) -> None:
        own = measured()
        named = own.trustworthiness if what == "trustworthiness" else own.continuity
        assert named == min(own.trustworthiness, own.continuity)
        assert is_two(value, named)
        likely = 1 - (n - own.k) * (n - 1 - own.k) / ((n - 1) * (2 * n - 3 * own.k - 1))
        assert is_two(chance, likely)

    def small(points: str, share: str) -> None:
        assert int(points) == n < 50
        assert is_percent(share, measured().k / (n - 1))

    def tied(share: str, k: str) -> None:
        own = measured()
        assert is_percent(share, own.n_tied / own.n_measured)
        assert int(k) == own.k

    def steady(n_seeds: str, share: str, alike: str) -> None:
        assert drawn is not None
        assert int(n_seeds) == len(drawn.seeds)
        assert is_percent(share, drawn.shared_neighbors)
        assert is_percent(alike, 1 - max(drawn.disparities))

    share = rf"(?P<share>{PERCENT})"
    numbers = (
        rf": of the (?P<k>\d+) nearest in the full space, {share} are among the \d+ nearest on the "
        rf"map \(by chance (?P<chance>{PERCENT})\)\."
    )
    return {
        r"(?P<points>\d+) points? (?:is|are) too few to measure how far the picture can be "
        r"trusted: read exact cosines instead\.": few,
        r"Nothing can be told apart: all distances between the (?P<points>[\d]+) points are equal "
        r"in the full space, so whatever is near on the map says nothing\.": flat,
        rf"(?P<how>Near|Read|Do) [\w ]+{numbers}": lead,
        rf"(?:Some points are drawn near that are not|Some near points lie apart): "
        rf"(?P<what>\w+) (?P<value>{NUMBER}), where chance gives (?P<chance>{NUMBER})\.": weaker,
        rf"With only (?P<points>\d+) points such measures say little: a random map keeps {share} "
        r"too\.": small,
        r"Measured on a sample of (?P<some>[\d,]+) of the (?P<of>[\d,]+) points\.": (
            lambda some, of: assert_equal(
                (int(some.replace(",", "")), int(of.replace(",", ""))), (measured().n_measured, n)
            )
        ),
        rf"For {share} of points, equal distances leave open which are the (?P<k>\d+) nearest: "
        r"measures are means over all orders of equals\.": tied,
        r"(?P<some>[\d,]+) points are at distance 0 from another one: no map can tell these "
        r"apart\.": (lambda some: assert_equal(int(some.replace(",", "")), n_equal)),
        rf"Drawn with (?P<n_seeds>\d+) seeds, points keep {share} of their neighbours on the map; "
        rf"turned onto each other, the two drawings least alike share (?P<alike>{PERCENT}) of "
        r"their layout\.": steady,
    }
