"""Every sentence on points, pins and selections, read back against numbers computed anew."""

from __future__ import annotations

import random
import re
import unicodedata
from typing import Any

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.features.map.reading.points import (
    map_neighbours_reading,
    pinned_reading,
    selection_reading,
)
from components.maps.points import Points
from tests.features.map.reading.odd_maps import (
    N_EACH,
    NAME,
    assert_equal,
    ends_of,
    odd_points,
    whole,
)
from tests.support.true_words import (
    LABELS,
    NUMBER,
    PERCENT,
    bare,
    cut,
    is_percent,
    is_two,
    nothing,
    odd_labels,
    read_back,
)


@pytest.mark.slow
def test_what_is_said_of_points_is_so() -> None:
    for seed in range(N_EACH):
        chance, rng = random.Random(seed), np.random.default_rng(seed)
        points, _ = odd_points(chance, rng)
        assert_neighbours(chance, points)
        assert_pinned(chance)
        rows = [i for i in range(points.n_points) if chance.random() < chance.choice((0, 0.3, 1))]
        if chance.random() < 0.3:  # drawn around one label
            rows = [i for i, label in enumerate(points.labels["topic"]) if label == "the"] or rows
        said = selection_reading(points, rows, column="topic", typical=odd_labels(chance, 4))
        read_back(bare(" ".join(said)), of_selection(points, rows))


def assert_neighbours(chance: random.Random, points: Points) -> None:
    n, names = points.n_points, [cut(name, 36) for name in points.names]
    k = min(chance.choice((1, 3, 10)), n - 1)
    true, near = (chance.sample(range(1, n), k) for _ in range(2))
    kept = set(true) & set(near)

    def count(n_kept: str, of: str, **_: str) -> None:
        assert (int(n_kept), int(of)) == (len(kept), k)

    def one(b: str, no: str | None) -> None:
        assert b == names[true[0]]
        assert (no is None) == bool(kept)

    def differing(missed: str, false: str, **_: str) -> None:
        for said, rows in ((missed, set(true) - kept), (false, set(near) - kept)):
            listed = re.findall(r"“([^”]*)”", said)
            own = {names[i] for i in rows}
            assert set(listed) <= own
            more = re.search(r"and (\d+) more$", said)
            different = {points.names[i] for i in rows}
            assert len(listed) + (int(more[1]) if more else 0) == len(different)

    claims = {
        r"There is no other point to compare “[^”]*” with\.": lambda: assert_equal(k, 0),
        r"Of “[^”]*”, (?P<n_kept>\d+) of its (?P<of>\d+) nearest in the full space (?:is|are) "
        r"among its \d+ nearest here\.": count,
        rf"The nearest to “[^”]*” in the full space, {NAME.format('b')}, is (?P<no>not )?the "
        r"nearest here\.": one,
        r"Truly near but drawn further off: (?P<missed>.*?)\. Drawn near but not among its \d+ "
        r"nearest: (?P<false>.*?)\.": differing,
    }
    said = map_neighbours_reading(points.names[0], true, near, points.names)
    read_back(bare(" ".join(said)), claims)


def assert_pinned(chance: random.Random) -> None:
    value = chance.choice((chance.uniform(-1, 1), 1.0, 0.9951, 0.99999, 0.2, 0.204, -0.001))
    low, mean, high = sorted(chance.uniform(-0.2, 0.6) for _ in range(3))
    band = Band(*(np.array([own], np.float32) for own in (low, mean, high)))
    a, b = (chance.choice((*LABELS, "bank", "shore")) for _ in range(2))
    letters = [[unicodedata.name(c) for c in name if c.isalpha()] for name in (a, b)]
    latin = all(own and all("LATIN" in letter for letter in own) for own in letters)

    def cosine(over: str | None, number: str, place: str | None, average: str | None) -> None:
        assert value < 0.99999
        assert is_two(number, value) if over is None else 0.995 <= value < 1
        if place is None:
            return
        assert latin
        assert average is not None
        assert is_two(average, mean)
        side = (value > high) - (value < low)
        side = 0 if average == number else side
        assert place.startswith(("as alike", "more alike", "less alike")[side])

    claims = {
        r"“[^”]*” and “[^”]*” have the same direction in the full space at layer 0 \(cosine 1\.00\)"
        r"\.": lambda: assert_equal(value >= 1 - 1e-5, True),
        r"However they are drawn, “[^”]*” and “[^”]*” have a cosine of (?P<over>over )?"
        rf"(?P<number>{NUMBER}) in the full space at layer 0(?:, (?P<place>[a-z]+ alike [\w ]+) "
        rf"\(average (?P<average>{NUMBER})\))?\.": cosine,
    }
    read_back(bare(pinned_reading(a, b, value, layer=0, band=band)), claims)


def of_selection(points: Points, rows: list[int]) -> dict[str, Any]:
    labels = points.labels["topic"]
    inside = [labels[i] for i in rows if labels[i]]
    every = [label for label in labels if label]
    n_apart = len({int(points.sentence[i]) for i in rows if labels[i]})

    def lead(label: str) -> bool:
        share, part = inside.count(label) / len(inside), every.count(label) / len(every)
        low = ends_of(share, n_apart, 0.05 / len(set(inside)))[0]
        return whole(low) > whole(part)

    def size(n: str, of: str, share: str, sentences: str | None) -> None:
        assert (int(n), int(of)) == (len(rows), points.n_points)
        assert is_percent(share, len(rows) / points.n_points)
        own = len({int(points.sentence[i]) for i in rows})
        assert (sentences is None) == (points.unit == "sentences")
        assert sentences is None or int(sentences) == own

    def stands_out(a: str, share: str, them: str, part: str) -> None:
        own = [
            label
            for label in set(inside)
            if cut(label) == a
            and is_percent(share, inside.count(label) / len(inside))
            and is_percent(part, every.count(label) / len(every))
        ]
        assert any(map(lead, own))
        assert (them == "them") == (len(inside) == len(rows) and len(every) == len(labels))

    return {
        r"Nothing is selected\.": lambda: assert_equal(rows, []),
        r"All (?P<n>\d+) \w+ are selected\.": lambda n: assert_equal(
            (int(n), len(rows)), (points.n_points,) * 2
        ),
        rf"(?P<n>\d+) of (?P<of>\d+) \w+ (?:is|are) selected \((?P<share>{PERCENT})\)"
        r"(?:, from (?P<sentences>\d+) sentences?)?\.": size,
        r"None of them has a label in “topic”\.": lambda: assert_equal(inside, []),
        rf"{NAME.format('a')} is (?P<share>{PERCENT}) of (?P<them>them|those with a label), "
        rf"(?P<part>{PERCENT}) of (?:the whole map|all that have one)\.": stands_out,
        r"No label in “topic” clearly stands out among them\.": lambda: assert_equal(
            any(lead(label) for label in set(inside)), False
        ),
        r"Typical words?: .*\.$": nothing,
    }
