"""The mix-ups of senses: counts beside those of the test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contextlens.analysis.separation import separation, trial_of
from contextlens.features.senses.mix_ups import MixUps
from contextlens.figures.confusion import MAX_CONFUSED
from tests.support.odd import assert_said
from tests.support.senses import clouds

UNITS, CODES = clouds((9, 6, 5), apart=0.25)
TEST = separation(UNITS, trial_of(["abc"[code] for code in CODES]), 1)


def test_the_heatmap_counts_the_senses_taken_for_others() -> None:
    figure = MixUps(TEST, ("a", "a", "<c>")).figure()
    (trace,) = figure.data
    assert np.array(trace.text).tolist() == TEST.confusion.tolist()
    np.testing.assert_allclose(np.sum(trace.z, axis=1), 1, atol=1e-4)
    assert list(trace.x) == ["a (1)", "a (2)", "&lt;c&gt;"]
    title = f"Layer 1: {TEST.right} of 20 uses get the right sense"
    assert figure.layout.title.text == title


def test_the_share_and_the_number_of_senses_are_stated() -> None:
    mix_ups = MixUps(TEST, ("a", "b", "c"))
    assert_said(mix_ups.claims(), "senses.mixups.share", share=TEST.accuracy, n=20)
    assert mix_ups.notes() == []
    many = replace(mix_ups, senses=tuple(map(str, range(MAX_CONFUSED + 1))))
    assert_said(many.notes(), "senses.mixups.most", most=MAX_CONFUSED, n=MAX_CONFUSED + 1)
