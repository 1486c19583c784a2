"""Whole layers: linear CKA against a direct HSIC, explained variance against scikit-learn."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.decomposition import PCA

from components.core import BUNDLED_ID, EncoderService
from components.core.words import split_words
from components.features.layers.measures import (
    MAX_WORDS,
    WordVectors,
    alike,
    join,
    sample_choice,
    shared,
    variance_shares,
    words_of,
)
from tests.support.tiny_models import FAMILIES

RANDOM = np.random.default_rng(1)
TEXTS = ["I love my pet python", "Its unbelievability is overrated, she said."]


def vectors(n_layers: int, n_words: int, n_dims: int) -> np.ndarray:
    return RANDOM.normal(size=(n_layers, n_words, n_dims)).astype(np.float32)


def hsic(x: np.ndarray, y: np.ndarray) -> float:
    """The biased estimator with linear kernels, as in Kornblith et al. 2019, equation 3."""
    n = len(x)
    centring = np.eye(n) - np.ones((n, n)) / n
    return np.trace(x @ x.T @ centring @ y @ y.T @ centring) / (n - 1) ** 2


@pytest.mark.parametrize(("n_words", "n_dims"), [(5, 40), (60, 8)])
def test_cka_is_the_normalised_hsic(n_words: int, n_dims: int) -> None:
    first, second = vectors(3, n_words, n_dims), vectors(2, n_words, n_dims + 5)
    found = alike(first, second)
    for i, x in enumerate(first.astype(float)):
        for j, y in enumerate(second.astype(float)):
            expected = hsic(x, y) / np.sqrt(hsic(x, x) * hsic(y, y))
            assert found.cka[i, j] == pytest.approx(expected, abs=1e-6)
    assert found.n_words == n_words


def unbiased_hsic(x: np.ndarray, y: np.ndarray) -> float:
    """The estimator as Song et al. 2007 define it: a mean over all four different words."""
    k, m = x @ x.T, y @ y.T
    fours = permutations(range(len(x)), 4)
    return float(np.mean([k[a, b] * (m[a, b] + m[c, d] - 2 * m[a, c]) for a, b, c, d in fours]))


@pytest.mark.parametrize(("n_words", "n_dims"), [(4, 3), (5, 40), (7, 2)])
def test_debiased_cka_is_made_of_the_unbiased_estimator(n_words: int, n_dims: int) -> None:
    first, second = vectors(2, n_words, n_dims), vectors(2, n_words, n_dims + 5)
    found = alike(first, second)
    for i, x in enumerate(first.astype(float)):
        for j, y in enumerate(second.astype(float)):
            norms = unbiased_hsic(x, x) * unbiased_hsic(y, y)
            expected = unbiased_hsic(x, y) / np.sqrt(norms)
            assert found.debiased[i, j] == pytest.approx(expected, abs=1e-5)


def test_debiased_cka_of_independent_features_averages_0_where_the_plain_one_is_far_above() -> None:
    found = alike(vectors(30, 20, 100), vectors(30, 20, 100))
    assert abs(found.debiased.mean()) < 0.02
    assert found.cka.mean() > 0.5
    assert (found.debiased < 0).any()


def test_debiased_cka_of_the_same_features_is_1() -> None:
    own = vectors(3, 20, 100)
    turned = 3 * own @ ortho_group.rvs(100, random_state=0).astype(np.float32) + 1
    np.testing.assert_allclose(np.diag(alike(own, turned).debiased), 1, atol=1e-5)


@pytest.mark.parametrize("n_words", [0, 1, 2, 3])
def test_debiased_cka_needs_four_words(n_words: int) -> None:
    own = vectors(2, n_words, 5)
    assert np.isnan(alike(own, own).debiased).all()


def test_debiased_cka_that_is_0_by_0_is_not_a_number() -> None:
    """One word apart from equal ones leaves nothing but the diagonal."""
    own = np.zeros((1, 5, 3), np.float32)
    own[0, 0] = 1
    found = alike(own, own)
    assert found.cka == pytest.approx(1)
    assert np.isnan(found.debiased).all()


def test_cka_is_that_of_the_features_on_the_model(service: EncoderService) -> None:
    own = words_of(service.encode(BUNDLED_ID, TEXTS)).vectors
    x, y = (own[layer].astype(float) - own[layer].astype(float).mean(axis=0) for layer in (1, 5))
    norms = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
    assert alike(own, own).cka[1, 5] == pytest.approx(
        np.linalg.norm(y.T @ x) ** 2 / norms, abs=1e-5
    )


def test_cka_does_not_see_rotation_scale_or_shift() -> None:
    first = vectors(1, 20, 6)
    turned = 3.0 * first @ ortho_group.rvs(6, random_state=0).astype(np.float32) + 7.0
    assert alike(first, turned).cka[0, 0] == pytest.approx(1, abs=1e-5)


def test_cka_is_symmetric_with_ones_on_the_diagonal_and_within_bounds() -> None:
    own = vectors(4, 12, 30)
    cka = alike(own, own).cka
    np.testing.assert_allclose(cka, cka.T, atol=1e-6)
    np.testing.assert_allclose(np.diag(cka), 1, atol=1e-6)
    assert cka.min() >= 0
    assert cka.max() <= 1


def test_shuffled_words_show_how_much_of_cka_is_the_number_of_words() -> None:
    many, few = vectors(1, 400, 10), vectors(1, 6, 200)
    assert alike(many, many).shuffled[0, 0] < 0.1
    assert alike(few, few).shuffled[0, 0] > 0.7
    assert alike(few, few).shuffled.tolist() == alike(few, few).shuffled.tolist()


@pytest.mark.parametrize("n_words", [0, 1])
def test_cka_of_fewer_than_two_words_is_not_a_number(n_words: int) -> None:
    own = vectors(3, n_words, 8)
    assert np.isnan(alike(own, own).cka).all()
    assert alike(own, own).n_words == n_words


def test_cka_of_equal_words_is_not_a_number() -> None:
    own = np.repeat(vectors(2, 1, 8), 5, axis=1)
    assert np.isnan(alike(own, own).cka).all()


@pytest.mark.parametrize(("n_words", "n_dims"), [(50, 12), (12, 50)])
def test_variance_shares_are_scikit_learn_s(n_words: int, n_dims: int) -> None:
    own = vectors(2, n_words, n_dims)
    shares = variance_shares(own, 10)
    for found, layer in zip(shares, own, strict=True):
        expected = PCA(n_components=10).fit(layer.astype(float)).explained_variance_ratio_.cumsum()
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_single_direction_holds_everything() -> None:
    line = np.outer(np.arange(5), np.ones(4))[None].astype(np.float32)
    np.testing.assert_allclose(variance_shares(line, 3), 1, atol=1e-6)


@pytest.mark.parametrize("own", [vectors(2, 0, 4), vectors(2, 1, 4), np.ones((2, 3, 4))])
def test_what_does_not_vary_has_no_shares(own: np.ndarray) -> None:
    assert np.isnan(variance_shares(own.astype(np.float32), 3)).all()


@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in FAMILIES)])
def test_words_are_the_means_of_their_tokens(tiny_service: EncoderService, model: str) -> None:
    encodings = tiny_service.encode(model, TEXTS, pairs=[None, "One word, many meanings"])
    found = words_of(encodings)
    for (sentence, which, word), own in zip(
        found.keys, np.swapaxes(found.vectors, 0, 1), strict=True
    ):
        encoding = encodings[sentence]
        start, end = split_words((encoding.text, encoding.pair)[which])[word]
        inside = [
            i
            for i in range(encoding.n_tokens)
            if encoding.text_ids[i] == which
            and encoding.offsets[i, 0] < end
            and encoding.offsets[i, 1] > start
        ]
        np.testing.assert_allclose(own, encoding.hidden[:, inside].mean(axis=1), atol=1e-5)
    assert len(set(found.keys)) == len(found.keys) >= 15


def test_two_models_share_the_same_words(tiny_service: EncoderService) -> None:
    ours, theirs = (
        words_of(tiny_service.encode(model, TEXTS)) for model in (BUNDLED_ID, "folder:roberta")
    )
    first, second = shared(ours, theirs)
    assert first.shape[1] == second.shape[1] == len(set(ours.keys) & set(theirs.keys)) > 5
    assert first.shape[0] == 7
    assert second.shape[0] == 4


def test_shared_words_keep_their_order_and_leave_out_the_others() -> None:
    first = WordVectors(((0, 0, 0), (0, 0, 1), (0, 0, 2)), np.arange(3.0).reshape(1, 3, 1))
    second = WordVectors(((0, 0, 2), (0, 0, 0)), np.array([[[20.0], [0.0]]]))
    ours, theirs = shared(first, second)
    assert ours.ravel().tolist() == [0, 2]
    assert theirs.ravel().tolist() == [0, 20]


def test_there_are_at_most_so_many_words(service: EncoderService) -> None:
    encodings = service.encode(BUNDLED_ID, ["one two three four " * 100] * 2)
    assert len(words_of(encodings).keys) == MAX_WORDS


def test_texts_without_words_have_none(service: EncoderService) -> None:
    assert words_of(service.encode(BUNDLED_ID, ["", "  "])).vectors.shape == (7, 0, 384)


def test_runs_of_sentences_join_to_what_one_run_gives(service: EncoderService) -> None:
    encodings = service.encode(BUNDLED_ID, [*TEXTS, "A third one"])
    parts = [words_of(encodings[:2]), words_of(encodings[2:])]
    joined, whole = join(parts, [2, 1]), words_of(encodings)
    assert joined.keys == whole.keys
    np.testing.assert_array_equal(joined.vectors, whole.vectors)


def test_the_sample_s_words_are_long_few_and_always_the_same() -> None:
    spans = [[(a, b, text[a:b]) for a, b in split_words(text)] for text in TEXTS * 5]
    chosen = sample_choice(spans)
    assert chosen == sample_choice(spans)
    for words, own in zip(spans, chosen, strict=True):
        assert len(own) <= 4
        assert all(len(words[i][2]) >= 4 and words[i][2].isalpha() for i in own)
