"""The ruler against scipy, scikit-learn and pairs whose chances are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics.pairwise import cosine_similarity

from components.analysis.ruler import (
    DIFFERENT,
    KINDS,
    ONE_SENSE,
    TWO_SENSES,
    LabelledWords,
    Ruler,
    load,
    measure,
    save,
)
from components.analysis.words import POOLINGS, word_vectors
from components.core import BUNDLED_ID, EncoderService
from components.corpus.bundled import ambiguous_corpus
from components.ui.models import tasks


def made(cosines: np.ndarray, kinds: np.ndarray, words: np.ndarray, *, n_words: int) -> Ruler:
    """A ruler of one layer with given pairs of one word."""
    rows = np.stack([cosines[None].astype(np.float32)] * len(POOLINGS))
    names = np.array([f"word{i}" for i in range(n_words)])
    return Ruler(names, np.stack([words, words], axis=1), kinds, rows, rows)


def drawn(seed: int, n_words: int = 12, n: int = 150, spread: float = 0.0) -> Ruler:
    """Pairs of two senses around 0.4, of one sense around 0.6; each word's shifted by its own."""
    random = np.random.default_rng(seed)
    words = np.repeat(np.arange(n_words), 2 * n)
    kinds = np.tile(np.repeat([TWO_SENSES, ONE_SENSE], n), n_words)
    shifts = random.normal(0, spread, n_words) if spread else np.zeros(n_words)
    cosines = np.where(kinds == TWO_SENSES, 0.4, 0.6) + random.normal(0, 0.1, len(words))
    return made(cosines + shifts[words], kinds, words, n_words=n_words)


def true_share(cosine: float) -> float:
    two, one = norm.pdf(cosine, 0.4, 0.1), norm.pdf(cosine, 0.6, 0.1)
    return float(two / (two + one))


@pytest.mark.parametrize("cosine", [0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7])
def test_a_chance_is_the_share_of_two_senses_where_both_are_equally_frequent(cosine: float) -> None:
    found = drawn(0).chance(cosine, 0, "mean", centred=False)
    assert found is not None
    assert found.share == pytest.approx(true_share(cosine), abs=0.08)
    assert found.low <= found.share <= found.high
    assert found.n_words == 12


def test_a_kind_that_is_rarer_counts_as_much() -> None:
    whole = drawn(1)
    keep = (whole.kinds == TWO_SENSES) | (np.arange(len(whole.kinds)) % 5 == 0)
    rarer = Ruler(
        whole.words,
        whole.pairs[keep],
        whole.kinds[keep],
        whole.plain[..., keep],
        whole.centred[..., keep],
    )
    for cosine in (0.4, 0.5, 0.6):
        found = rarer.chance(cosine, 0, "mean", centred=False)
        assert found is not None
        assert found.share == pytest.approx(true_share(cosine), abs=0.1)


@pytest.mark.slow
def test_the_interval_covers_what_is_true_nearly_as_often_as_it_says() -> None:
    """Words differ; a 90% interval over words holds the share of all words in most draws."""
    everyone = drawn(99, n_words=400, n=40, spread=0.05)
    share = everyone.chance(0.5, 0, "mean", centred=False)
    assert share is not None
    held = 0
    for seed in range(40):
        found = drawn(seed, n_words=10, n=60, spread=0.05).chance(0.5, 0, "mean", centred=False)
        assert found is not None
        held += found.low <= share.share <= found.high
    assert held >= 32


def test_the_share_is_scikit_learns_isotonic_regression() -> None:
    ruler = drawn(3, spread=0.05)
    model = IsotonicRegression(increasing=False, out_of_bounds="clip")
    model.fit(ruler.plain[0, 0], ruler.kinds == TWO_SENSES)
    for cosine in np.linspace(0.1, 0.9, 17):
        found = ruler.chance(float(cosine), 0, "mean", centred=False)
        assert found is not None
        assert found.share == pytest.approx(float(model.predict([cosine])[0]), abs=1e-6)


def test_a_chance_never_rises_with_the_cosine_and_says_where_no_pair_is() -> None:
    ruler = drawn(4, n=20)
    found = [ruler.chance(c, 0, "mean", centred=False) for c in np.linspace(-1, 1, 41)]
    assert all(each is not None for each in found)
    shares = [each.share for each in found]
    assert (np.diff(shares) <= 1e-12).all()
    assert (found[0].outside, found[-1].outside) == ("below", "above")
    assert any(not each.outside for each in found)


def test_what_does_not_part_senses_tells_nothing() -> None:
    random = np.random.default_rng(5)
    words = np.repeat(np.arange(10), 200)
    kinds = random.permutation(np.repeat([TWO_SENSES, ONE_SENSE], 1000))
    ruler = made(random.normal(0.9, 0.02, 2000), kinds, words, n_words=10)
    found = ruler.chance(0.9, 0, "mean", centred=False)
    assert found is not None
    assert not found.tells
    assert drawn(0).chance(0.4, 0, "mean", centred=False).tells


def test_a_word_is_left_out_with_all_its_pairs() -> None:
    ruler = drawn(6, n_words=5)
    found = ruler.chance(0.5, 0, "mean", centred=False, without=("Word2",))
    assert found is not None
    assert found.n_words == 4
    assert ruler.chance(0.5, 0, "mean", centred=False, without=("word1", "word2")) is None
    assert ruler.knows("WORD2")
    assert not ruler.knows("python")


# On the bundled model


@pytest.fixture(scope="module")
def labelled(service: EncoderService) -> LabelledWords:
    return tasks.labelled_words(service.load(BUNDLED_ID), service)


@pytest.fixture(scope="module")
def ruler(service: EncoderService, labelled: LabelledWords) -> Ruler:
    return measure(labelled, tasks.measure(service.load(BUNDLED_ID), service))


@pytest.mark.slow
def test_the_labelled_words_are_those_of_every_second_sentence_of_a_sense(
    service: EncoderService, labelled: LabelledWords
) -> None:
    corpus = ambiguous_corpus()
    senses = np.array(corpus.labels["sense"])
    kept = [i for sense in dict.fromkeys(senses) for i in np.flatnonzero(senses == sense)[::2]]
    assert labelled.words == tuple(corpus.labels["word"][i] for i in kept)
    assert labelled.senses == tuple(senses[kept])
    for place in (0, 100, 359):
        i = kept[place]
        (encoding,) = service.encode(BUNDLED_ID, [corpus.texts[i]])
        for row, pooling in enumerate(POOLINGS):
            own = word_vectors(encoding, corpus.spans[i], pooling)
            np.testing.assert_allclose(labelled.vectors[row, place], own, atol=1e-5)


def test_every_sense_counts_alike(labelled: LabelledWords) -> None:
    assert set(Counter(labelled.senses).values()) == {8}
    assert len(set(labelled.words)) == 18


@pytest.mark.slow
def test_all_sentences_measure_what_every_second_one_does(
    service: EncoderService, ruler: Ruler
) -> None:
    """So the ruler may leave half of them out: ranges move by 0.02 at most, chances by 0.05."""
    corpus = ambiguous_corpus()
    found = zip(service.encode(BUNDLED_ID, corpus.texts), corpus.spans, strict=True)
    vectors = np.array([[word_vectors(own, span, p) for p in POOLINGS] for own, span in found])
    sample = LabelledWords(corpus.labels["word"], corpus.labels["sense"], vectors.swapaxes(0, 1))
    whole = measure(sample, tasks.measure(service.load(BUNDLED_ID), service))
    for layer in (1, 3, 6):
        both = (own.ranges(layer, "mean", centred=False) for own in (ruler, whole))
        for one, other in zip(*both, strict=True):
            ends = (one.low, one.median, one.high)
            assert ends == pytest.approx((other.low, other.median, other.high), abs=0.02)
    for cosine in (0.6, 0.7, 0.8, 0.9):
        one, other = (own.chance(cosine, 6, "mean", centred=False) for own in (ruler, whole))
        assert one is not None
        assert other is not None
        assert one.share == pytest.approx(other.share, abs=0.05)


def test_the_ranges_overlap_as_was_measured(ruler: Ruler) -> None:
    """Measured apart from this code: at layer 6 the ranges of one and of two senses overlap."""
    found = ruler.ranges(6, "mean", centred=False)
    assert [each.kind for each in found] == list(KINDS)
    expected = [(-0.08, 0.04, 0.22), (0.58, 0.82, 0.91), (0.70, 0.86, 0.93)]
    for each, numbers in zip(found, expected, strict=True):
        assert (each.low, each.median, each.high) == pytest.approx(numbers, abs=0.011)


def test_the_ranges_are_those_of_all_pairs_of_one_word(
    ruler: Ruler, labelled: LabelledWords
) -> None:
    cosines = cosine_similarity(labelled.vectors[0, :, 3])
    kept = [i for i, word in enumerate(labelled.words) if word != "python"]
    pairs = [(i, j) for i, j in combinations(kept, 2) if labelled.words[i] == labelled.words[j]]
    two = [cosines[i, j] for i, j in pairs if labelled.senses[i] != labelled.senses[j]]
    one = [cosines[i, j] for i, j in pairs if labelled.senses[i] == labelled.senses[j]]
    _, second, third = ruler.ranges(3, "mean", centred=False, without=("python",))
    for found, own in ((second, two), (third, one)):
        numbers = (found.low, found.median, found.high)
        np.testing.assert_allclose(numbers, np.percentile(own, [5, 50, 95]), atol=1e-5)
        assert found.n_pairs == len(own)


def test_layers_tell_and_layer_0_does_not(ruler: Ruler) -> None:
    low = ruler.chance(0.7, 6, "mean", centred=False)
    assert low is not None
    assert low.tells
    assert low.share > 0.55
    start = ruler.chance(0.96, 0, "mean", centred=False)
    assert start is not None
    assert abs(start.share - 0.5) < 0.1


def test_centred_cosines_have_a_ruler_of_their_own(ruler: Ruler) -> None:
    plain, centred = (ruler.ranges(3, "mean", centred=c) for c in (False, True))
    assert centred[DIFFERENT].median < plain[DIFFERENT].median - 0.1


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
