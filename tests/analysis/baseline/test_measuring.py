"""What a baseline measures: random pairs of words, of each kind, beside brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.analysis import baseline as module
from components.analysis.baseline import KINDS, N_PAIRS, SampleWords, is_in_sample_script, measure
from components.analysis.words import POOLINGS
from tests.analysis.baseline.baselines import assert_same, normal, words_of

# What is measured


def test_unrelated_directions_have_a_mean_near_zero() -> None:
    measured = measure(words_of(normal(1000, 2, 256), np.arange(1000) // 4))
    band = measured.band("mean", centred=False)
    spread = 1 / np.sqrt(256)  # of the cosine of two random directions
    np.testing.assert_allclose(band.mean, 0, atol=5 * spread / np.sqrt(1000))
    np.testing.assert_allclose(band.low, -1.645 * spread, rtol=0.1)
    np.testing.assert_allclose(band.high, 1.645 * spread, rtol=0.1)


def test_one_direction_for_all_words_gives_one() -> None:
    lengths = np.random.default_rng(0).uniform(0.1, 9, size=(200, 3, 1))
    measured = measure(words_of(lengths * normal(1, 3, 32), np.arange(200) // 4))
    np.testing.assert_allclose(measured.plain[:, :2], 1, rtol=0, atol=1e-5)


def test_pairs_are_always_from_different_sentences() -> None:
    sentences = np.arange(120) // 4
    own_axis = np.eye(30)[sentences][:, None]  # alike within a sentence, at a right angle across
    measured = measure(words_of(own_axis, sentences))
    np.testing.assert_array_equal(measured.plain[:, :2], 0)


def test_layers_and_poolings_are_measured_apart() -> None:
    vectors = np.stack([normal(200, 2, 64, seed=seed) for seed in range(3)])
    vectors[1, :, 1] += 3.0
    sample = SampleWords(
        vectors.astype(np.float32),
        vectors[:, :, 0, :8].astype(np.float32),
        np.arange(200),
        np.ones(200, np.int64),
    )
    measured = measure(sample)
    for pooling, own in zip(POOLINGS, vectors, strict=True):
        alone = measure(words_of(own, np.arange(200)))
        for centred in (False, True):
            ours, theirs = (m.band(pooling, centred=centred) for m in (measured, alone))
            for name in ("low", "mean", "high"):
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    means = [measured.band(pooling, centred=False).mean for pooling in POOLINGS]
    assert means[1][1] > 0.8
    assert max(means[0].max(), means[1][0], means[2].max()) < 0.05


def test_the_band_agrees_with_all_pairs_by_brute_force() -> None:
    sentences = np.arange(80) // 4
    vectors = normal(80, 1, 12) + normal(1, 1, 12, seed=1)
    cosines = cosine_similarity(vectors[:, 0])
    apart = [cosines[i, j] for i, j in combinations(range(80), 2) if sentences[i] != sentences[j]]
    band = measure(words_of(vectors, sentences)).band("mean", centred=False)
    expected = np.percentile(apart, 5), np.mean(apart), np.percentile(apart, 95)
    actual = band.low[0], band.mean[0], band.high[0]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=0.03)


def test_the_percentiles_are_numpys_over_the_drawn_pairs() -> None:
    sentences = np.arange(80) // 4
    vectors = normal(80, 3, 12)
    first, second = module._random_pairs(words_of(vectors, sentences), "any")
    assert len(first) == len(second) == N_PAIRS
    assert (sentences[first] != sentences[second]).all()
    assert len({*first.tolist(), *second.tolist()}) == 80
    measured = measure(words_of(vectors, sentences))
    for layer in range(3):
        cosines = cosine_similarity(vectors[:, layer])[first, second]
        expected = np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)
        np.testing.assert_allclose(measured.plain[0, 0, :, layer], expected, rtol=0, atol=1e-5)


def test_the_centred_band_is_the_band_of_words_without_their_mean() -> None:
    vectors = normal(400, 2, 64) + 2.0
    sentences = np.arange(400) // 4
    measured = measure(words_of(vectors, sentences))
    without = measure(words_of(vectors - vectors.mean(axis=0), sentences))
    np.testing.assert_allclose(measured.centred, without.plain, rtol=0, atol=1e-5)
    assert measured.band("mean", centred=False).mean.min() > 0.7
    assert np.abs(measured.band("mean", centred=True).mean).max() < 0.02


def test_the_centre_is_the_mean_word_with_and_without_context() -> None:
    sample = SampleWords(
        normal(3, 50, 2, 8).astype(np.float32),
        normal(3, 50, 5, seed=1).astype(np.float32),
        np.arange(50),
        np.ones(50, np.int64),
    )
    measured = measure(sample)
    assert measured.n_words == 50
    for row, pooling in enumerate(POOLINGS):
        context, static = measured.centre(pooling)
        np.testing.assert_allclose(context, sample.vectors[row].mean(axis=0), rtol=0, atol=1e-5)
        np.testing.assert_allclose(static, sample.static[row].mean(axis=0), rtol=0, atol=1e-5)


def test_the_same_words_give_the_same_baseline_and_leave_the_global_seed_alone() -> None:
    sample = words_of(normal(100, 2, 16), np.arange(100) // 2)
    before = np.random.get_state()[1].copy()
    assert_same(measure(sample), measure(sample))
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_a_word_of_length_zero_makes_no_warning_and_no_nan() -> None:
    vectors = normal(40, 1, 8)
    vectors[:4] = 0
    assert np.isfinite(measure(words_of(vectors, np.arange(40))).plain[:, :2]).all()


# Kinds of pairs


def test_each_kind_is_drawn_from_words_of_its_kind() -> None:
    """Whole words point one way, cut ones another: the kinds' cosines tell who was drawn."""
    cut = np.arange(200) % 2
    vectors = np.eye(2)[cut][:, None] + 0.001 * normal(200, 1, 2)
    measured = measure(words_of(vectors, np.arange(200), n_pieces=1 + cut))
    means = {kind: measured.band("mean", centred=False, kind=kind).mean[0] for kind in KINDS}
    assert means["whole"] == pytest.approx(1, abs=0.01)
    assert means["cut"] == pytest.approx(1, abs=0.01)
    assert means["mixed"] == pytest.approx(0, abs=0.01)
    assert means["any"] == pytest.approx(0.5, abs=0.05)


def test_a_kind_of_too_few_words_is_held_against_all() -> None:
    pieces = [2] * 29 + [1] * 71
    measured = measure(words_of(normal(100, 1, 8), np.arange(100), n_pieces=pieces))
    for kind, of in (("cut", "English words"), ("whole", "whole English words")):
        assert measured.band("mean", centred=False, kind=kind).of == of


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("python", True),
        ("Übergrößenträger", True),
        ("naïve", True),
        ("don't", True),
        ("x2", True),
        ("שלום", False),
        ("سلام", False),
        ("питон", False),
        ("蛇", False),
        ("pythonの", False),
        ("🐍", False),
        ("42", False),
        ("", False),
    ],
)
def test_the_sample_s_script_is_latin(word: str, expected: bool) -> None:
    assert is_in_sample_script(word) == expected
