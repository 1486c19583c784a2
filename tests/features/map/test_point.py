"""A picked point and two pinned ones: each claim and number against an oracle."""

from __future__ import annotations

import random

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.features.map.point import neighbours_claim, pinned_claim
from tests.support.odd import ODD_NAMES, Said, assert_said, odd_names


def test_what_is_said_of_points_is_so() -> None:
    said_all = Said()
    for seed in range(700):
        chance = random.Random(seed)
        n = chance.choice((2, 3, 20))
        k = min(chance.choice((0, 1, 3, 10)), n - 1)
        true, near = (chance.sample(range(n), k) for _ in range(2))
        claims = said_all([neighbours_claim(chance.choice(ODD_NAMES), true, near)])
        if k > 1:
            assert_said(claims, "map.point.kept", n=len(set(true) & set(near)), k=k)
        else:
            assert_said(claims, f"map.point.{'only' if k else 'alone'}")
        a, b = odd_names(chance, 2)
        cosine, layer = chance.uniform(-1, 1), chance.choice((None, 0, 1))
        band = Band(np.full(2, -0.2), np.full(2, 0.1), np.full(2, 0.4), "words")
        claims = said_all(
            [pinned_claim(a, b, cosine, layer=layer, band=chance.choice((None, band)))]
        )
        assert claims[0].numbers["cosine"] == cosine
    said_all.assert_all("map.point", "map.pinned")
