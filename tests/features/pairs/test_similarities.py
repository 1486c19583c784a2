"""The histogram of similarities."""

from __future__ import annotations

import numpy as np

from contextlens.features.pairs.pair_set import UNKNOWN
from contextlens.features.pairs.similarities import Similarities
from tests.features.pairs.examples import at_layer, separated


def test_every_pair_is_in_one_bar() -> None:
    both = Similarities(separated()).figure()
    assert {trace.name: sum(trace.y) for trace in both.data} == {"same": 20, "different": 20}
    cosines = np.random.default_rng(0).uniform(-1, 1, (2, 200))
    plain = Similarities(at_layer(cosines, [UNKNOWN] * 200)).figure()
    assert [sum(trace.y) for trace in plain.data] == [200]
