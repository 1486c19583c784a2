"""The ruler against scikit-learn, numpy and pairs whose distributions are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.ruler import (
    EVERYDAY,
    KINDS,
    ONE_SENSE,
    RIGHT,
    TWO_SENSES,
    LabelledWords,
    Ruler,
    Verdict,
    load,
    measure,
    save,
)
from contextlens.analysis.words import POOLINGS, word_vectors
from contextlens.content.bundled_texts import ambiguous_words, everyday_words, measured_words
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import find_word, find_words
from contextlens.ui.models import tasks

pytestmark = pytest.mark.slow


def made(cosines: np.ndarray, kinds: np.ndarray, words: np.ndarray, *, n_words: int) -> Ruler:
    """A ruler of one layer with given pairs of one word."""
    rows = np.stack([cosines[None].astype(np.float32)] * len(POOLINGS))
    names = np.array([f"word{i}" for i in range(n_words)])
    return Ruler(names, words, kinds, rows, rows)


def drawn(
    seed: int, *, gap: float = 0.2, n_words: int = 20, n: int = 60, spread: float = 0.0
) -> Ruler:
    """Pairs of two senses around 0.6 less a gap, of one sense around 0.6; each word's shifted.

    Every second word has one sense alone.
    """
    random = np.random.default_rng(seed)
    words = np.repeat(np.arange(n_words), 2 * n)
    kinds = np.tile(np.repeat([TWO_SENSES, ONE_SENSE, EVERYDAY, EVERYDAY], n), n_words // 2)
    cosines = np.where(kinds == TWO_SENSES, 0.6 - gap, 0.6) + random.normal(0, 0.1, len(words))
    shifts = random.normal(0, spread, n_words) if spread else np.zeros(n_words)
    return made(cosines + shifts[words], kinds, words, n_words=n_words)


def test_far_apart_kinds_give_verdicts_that_are_right_on_new_words() -> None:
    found = drawn(0, gap=0.4).calibration(0, "mean", centred=False)
    assert found.n_words == 20
    fresh = drawn(1, gap=0.4, n=500)
    said = [found.verdict(float(cosine)) for cosine in fresh.plain[0, 0]]
    two = fresh.kinds == TWO_SENSES
    for verdict, is_so in ((Verdict.DIFFERENT, two), (Verdict.SAME, ~two)):
        own = np.array([each is verdict for each in said])
        share_of = [(own & kind).sum() / kind.sum() for kind in (is_so, ~is_so)]
        assert share_of[0] > 0.9
        assert share_of[0] / sum(share_of) >= RIGHT
    assert found.verdict(0.2) is Verdict.DIFFERENT
    assert found.verdict(0.6) is Verdict.SAME


@pytest.mark.parametrize("gap", [0.0, 0.1])
def test_kinds_that_overlap_give_no_verdict(gap: float) -> None:
    """Two normal distributions 1 apart in their deviation: right in 69% at best."""
    found = drawn(2, gap=gap).calibration(0, "mean", centred=False)
    assert {found.verdict(cosine) for cosine in (-1.0, 0.3, 0.5, 0.7, 1.0)} == {Verdict.CANNOT_TELL}


def test_labels_that_are_shuffled_seldom_give_a_verdict() -> None:
    """A guard against thresholds that fit chance: at most 1 in 20 of either kind is meant."""
    given = 0
    for seed in range(60):
        ruler = drawn(seed, gap=0, n=20, spread=0.05)
        found = ruler.calibration(0, "mean", centred=False)
        given += (found.different_below is not None) + (found.same_above is not None)
    assert given <= 6


def test_words_that_differ_among_themselves_are_not_enough() -> None:
    """All that sets two senses apart is that two words of twenty have low cosines."""
    ruler = drawn(3, gap=0.0)
    low = (ruler.pairs < 4) & (ruler.kinds == TWO_SENSES)
    plain = ruler.plain - np.float32(0.8) * low
    found = Ruler(ruler.words, ruler.pairs, ruler.kinds, plain, plain).calibration(
        0, "mean", centred=False
    )
    assert found.different_below is None


def test_a_word_is_left_out_with_all_its_pairs() -> None:
    ruler = drawn(6, gap=0.4, n_words=6)
    assert ruler.calibration(0, "mean", centred=False, without=("Word2",)).n_words == 5
    few = ruler.calibration(0, "mean", centred=False, without=("word1", "word2", "word3"))
    assert few.different_below is few.same_above is None
    assert ruler.knows("WORD2")
    assert not ruler.knows("python")


# On the bundled model


@pytest.fixture(scope="module")
def labelled(service: EncoderService) -> LabelledWords:
    return tasks.labelled_words(service.load(BUNDLED_ID), service)


@pytest.fixture(scope="module")
def ruler(service: EncoderService, labelled: LabelledWords) -> Ruler:
    return measure(labelled, tasks.measure(service.load(BUNDLED_ID), service))


def test_the_labelled_words_are_half_of_the_ambiguous_ones_and_the_everyday_ones(
    service: EncoderService, labelled: LabelledWords
) -> None:
    every = measured_words()
    senses = [f"{row.word}: {row.sense}" for row in every]
    kept = [
        [row for row, own in zip(every, senses, strict=True) if own == sense][::2]
        for sense in dict.fromkeys(senses)
    ]
    rows = [*(row for sense in kept for row in sense), *everyday_words()]
    assert labelled.words == tuple(row.word for row in rows)
    assert labelled.senses == tuple(row.sense for row in rows)
    for place in (0, 100, 359, 500):
        (encoding,) = service.encode(BUNDLED_ID, [rows[place].text])
        span = find_word(rows[place].text, rows[place].word)
        for row, pooling in enumerate(POOLINGS):
            own = word_vectors(encoding, span, pooling)
            np.testing.assert_allclose(labelled.vectors[row, place], own, atol=1e-5)


def test_there_are_everyday_words_enough() -> None:
    counts = Counter(row.word for row in everyday_words())
    assert len(counts) >= 60
    assert min(counts.values()) >= 8
    assert len({row.text for row in everyday_words()}) == counts.total()
    assert not set(counts) & {row.word for row in ambiguous_words()}
    assert all(len(find_words(row.text, row.word)) == 1 for row in everyday_words())


def test_the_ranges_overlap_as_was_measured(ruler: Ruler) -> None:
    """Measured apart from this code: at layer 6 the ranges of one and of two senses overlap."""
    found = ruler.ranges(6, "mean", centred=False)
    assert [each.kind for each in found] == list(KINDS)
    expected = [(0.58, 0.82, 0.91), (0.70, 0.86, 0.93), (0.70, 0.85, 0.92)]
    for each, numbers in zip(found, expected, strict=True):
        assert (each.low, each.median, each.high) == pytest.approx(numbers, abs=0.011)


def test_a_cosine_of_the_bundled_model_settles_no_meaning(ruler: Ruler) -> None:
    """No threshold at any layer is right in 85% of the pairs of words that it was not fitted on."""
    for layer in range(7):
        for pooling in POOLINGS:
            for centred in (False, True):
                found = ruler.calibration(layer, pooling, centred=centred)
                assert (found.different_below, found.same_above) == (None, None)


def test_the_ranges_are_those_of_all_pairs_of_one_word(
    ruler: Ruler, labelled: LabelledWords
) -> None:
    cosines = cosine_similarity(labelled.vectors[0, :, 3])
    kept = [i for i, word in enumerate(labelled.words) if word != "python"]
    pairs = [(i, j) for i, j in combinations(kept, 2) if labelled.words[i] == labelled.words[j]]
    two = [cosines[i, j] for i, j in pairs if labelled.senses[i] != labelled.senses[j]]
    found = ruler.ranges(3, "mean", centred=False, without=("python",))[0]
    numbers = (found.low, found.median, found.high)
    np.testing.assert_allclose(numbers, np.percentile(two, [5, 50, 95]), atol=1e-5)
    assert found.n_pairs == len(two)


def test_centred_cosines_have_a_ruler_of_their_own(ruler: Ruler) -> None:
    plain, centred = (ruler.ranges(3, "mean", centred=c) for c in (False, True))
    assert centred[TWO_SENSES].median < plain[TWO_SENSES].median


def test_what_is_saved_is_loaded(ruler: Ruler, tmp_path: Path) -> None:
    path = tmp_path / "new" / "ruler.npz"
    save(ruler, path)
    found = load(path)
    assert found is not None
    assert found.fits(6)
    assert not found.fits(12)
    for field in fields(Ruler):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(ruler, field.name))
    path.write_bytes(path.read_bytes()[:1000])
    assert load(path) is None
    assert load(tmp_path / "nothing.npz") is None
