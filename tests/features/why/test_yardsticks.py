"""Yardsticks: random pairs of English sentences, and none for texts in other languages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.baseline import Band
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import EncoderService
from contextlens.features.why.score import Score
from contextlens.features.why.yardsticks import (
    SentencePairs,
    Yardsticks,
    random_pairs,
    yardsticks_of,
)
from tests.features.why.random_results import N, verdict
from tests.features.why.scores import score_on, sentence


def test_random_pairs_are_all_pairs_of_sample_sentences(tiny_service: EncoderService) -> None:
    found = random_pairs(tiny_service, tiny_service.load("folder:bert"))
    encodings = tiny_service.encode("folder:bert", list(baseline_sentences()), layers=[3])
    assert found.band("word") is None
    for band, vectors in (
        (found.band("mean"), [encoding.hidden[0].mean(axis=0) for encoding in encodings]),
        (found.band("cls"), [encoding.hidden[0, 0] for encoding in encodings]),
    ):
        assert band is not None
        cosines = cosine_similarity(vectors)[np.triu_indices(len(vectors), 1)]
        expected = [np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)]
        assert [band.low[3], band.mean[3], band.high[3]] == pytest.approx(expected, abs=1e-5)


def test_a_score_is_held_against_random_pairs_of_english(scores: list[Score]) -> None:
    for seed in range(N // 10):
        random, score = np.random.default_rng(seed), scores[seed % len(scores)]
        ends = (
            np.sort(random.uniform(-1, 1, 3)).astype(np.float32).round(int(random.integers(1, 4)))
        )
        band = Band(*(np.full(9, value, np.float32) for value in ends), "English sentences")
        value = float(random.choice([*ends, random.uniform(-1, 1)]))
        score = replace(score, cosines=np.full_like(score.cosines, value))
        where = "above" if round(value, 2) > round(float(ends[2]), 2) else "within"
        where = "below" if round(value, 2) < round(float(ends[0]), 2) else where
        for given, fits, expected in (
            (band, True, where), (None, True, "unknown"), (band, False, "foreign"),
        ):  # fmt: skip
            (claim,) = Yardsticks(score, band=given, is_english=fits).claims()
            expected = "equal" if score.are_equal else expected
            is_unread = any(side.is_unread for side in score.sides)
            assert verdict(claim) == ("unread" if is_unread else expected)
            assert claim.numbers["cosine"] == value
            assert str(claim)


def test_only_english_has_yardsticks(service: EncoderService) -> None:
    ends = np.repeat(np.array([[-0.1], [0.0], [0.1]], np.float32), 9, axis=1)
    pairs = SentencePairs(ends, ends)
    english = score_on(service, sentence("I love my pet"), sentence("The bank lends money"))
    known = yardsticks_of(english, pairs, None, None)
    (only,) = known.ranges
    assert only.low == pytest.approx(-0.1)
    assert known.band is not None
    np.testing.assert_array_equal(known.band.high, ends[2])
    assert "random English sentences: −0.10 to 0.10" in known.alt()
    assert yardsticks_of(english, None, None, None).ranges == ()
    mixed = score_on(service, sentence("I love my pet"), sentence("Die Bank am Fluss"))
    assert yardsticks_of(mixed, pairs, None, None).ranges == ()
    assert not yardsticks_of(mixed, pairs, None, None).is_english
