"""Linear CKA of layers: beside a direct HSIC, in words, as a heatmap and as a script."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import split_words
from contextlens.features.layers.controls import WORDS
from contextlens.features.layers.layers_compared import (
    ComparedLayers,
    LayerSimilarity,
    SnippetText,
    cka_snippet,
    compared_layers,
    layer_similarity,
    shared_words,
    snippet_texts,
)
from contextlens.features.layers.word_vectors import words_of
from contextlens.ui.state.view import DEFAULT
from tests.features.layers.odd import Chance, Draw, drawn, keys_of, odd_values, tied, view_of
from tests.support.claims import unreached
from tests.support.snippets import run

RANDOM = np.random.default_rng(0)


def vectors(n_layers: int, n_words: int, n_dims: int) -> np.ndarray:
    return RANDOM.normal(size=(n_layers, n_words, n_dims)).astype(np.float32)


# The numbers


def hsic(x: np.ndarray, y: np.ndarray) -> float:
    """The biased estimator with linear kernels, as in Kornblith et al. 2019, equation 3."""
    n = len(x)
    centring = np.eye(n) - np.ones((n, n)) / n
    return np.trace(x @ x.T @ centring @ y @ y.T @ centring) / (n - 1) ** 2


def unbiased_hsic(x: np.ndarray, y: np.ndarray) -> float:
    """The estimator as Song et al. 2007 define it: a mean over all four different words."""
    k, m = x @ x.T, y @ y.T
    fours = permutations(range(len(x)), 4)
    return float(np.mean([k[a, b] * (m[a, b] + m[c, d] - 2 * m[a, c]) for a, b, c, d in fours]))


@pytest.mark.parametrize(("n_words", "n_dims"), [(4, 3), (5, 40), (7, 2)])
def test_both_kinds_of_cka_are_their_estimators_normalised(n_words: int, n_dims: int) -> None:
    first, second = vectors(3, n_words, n_dims), vectors(2, n_words, n_dims + 5)
    found = layer_similarity(first, second)
    assert found.n_words == n_words
    for estimator, cka in ((hsic, found.cka), (unbiased_hsic, found.debiased)):
        for i, x in enumerate(first.astype(float)):
            for j, y in enumerate(second.astype(float)):
                expected = estimator(x, y) / np.sqrt(estimator(x, x) * estimator(y, y))
                assert cka[i, j] == pytest.approx(expected, abs=1e-5)


def test_debiased_cka_of_independent_features_averages_0_where_the_plain_one_is_far_above() -> None:
    found = layer_similarity(vectors(30, 20, 100), vectors(30, 20, 100))
    assert abs(found.debiased.mean()) < 0.02
    assert found.cka.mean() > 0.5
    assert (found.debiased < 0).any()


@pytest.mark.parametrize("n_words", [0, 1, 2, 3])
def test_cka_needs_two_words_and_debiased_cka_four(n_words: int) -> None:
    own = vectors(2, n_words, 5)
    found = layer_similarity(own, own)
    assert np.isnan(found.debiased).all()
    assert np.isnan(found.cka).all() == (n_words < 2)
    assert found.n_words == n_words
    equal = np.repeat(vectors(2, 1, 8), n_words, axis=1)
    assert np.isnan(layer_similarity(equal, equal).cka).all()
    one_apart = np.zeros((1, 5, 3), np.float32)  # leaves nothing but the diagonal
    one_apart[0, 0] = 1
    assert np.isnan(layer_similarity(one_apart, one_apart).debiased).all()


def test_shuffled_words_show_how_much_of_cka_is_the_number_of_words() -> None:
    many, few = vectors(1, 400, 10), vectors(1, 6, 200)
    found, again = layer_similarity(few, few), layer_similarity(few, few)
    assert layer_similarity(many, many).shuffled[0, 0] < 0.1
    assert found.shuffled[0, 0] > 0.7
    assert found.shuffled.tolist() == again.shuffled.tolist()


# A view


def test_layers_are_compared_over_the_words_of_the_sentences(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    compared = compared_layers(DEFAULT, card, card, service)
    similarity = compared.similarity
    np.testing.assert_allclose(np.diag(similarity.cka), 1, atol=1e-4)
    assert (similarity.n_words, compared.is_one) == (10, True)
    assert compared_layers(DEFAULT, card, card, service).similarity is similarity
    table = compared.table(similarity.debiased)
    np.testing.assert_array_equal(table.iloc[:, 1:], similarity.debiased)
    sample = compared_layers(WORDS.put(DEFAULT, "Sample sentences"), card, card, service)
    assert 400 <= sample.similarity.n_words <= 512
    assert abs(sample.similarity.cka - similarity.cka).max() > 0.05
    assert (bool(compared.snippet()), bool(sample.snippet())) == (True, False)
    assert (bool(compared.no_code), bool(sample.no_code)) == (False, True)


def test_two_models_are_compared_over_the_same_words(tiny_service: EncoderService) -> None:
    cards = [tiny_service.load(model) for model in (BUNDLED_ID, "folder:roberta")]
    for pair, n_words in ((None, 3), ("by the sea", 6)):
        view = view_of("a python slept", pair=pair)
        assert compared_layers(view, *cards, tiny_service).similarity.n_words == n_words
    compared = compared_layers(DEFAULT, *cards, tiny_service)
    assert compared.similarity.cka.shape == (7, 4)
    assert not compared.is_one
    texts = [sentence.text for sentence in DEFAULT.sentences]
    words = [words_of(tiny_service.encode(card.id, texts)) for card in cards]
    spans = [span for text in snippet_texts(DEFAULT, *words) for span in text.words]
    assert len(spans) == compared.similarity.n_words


# In words and as a heatmap


def check_alike(chance: Chance, draw: Draw) -> Iterator[Claim]:
    same = chance.random() < 0.5
    n_layers = chance.choice((1, 2, 5))
    shape = (n_layers, n_layers if same else chance.choice((1, 3)))
    cka, debiased, shuffled = (odd_values(draw, *shape) for _ in range(3))
    if chance.random() < 0.3:
        cka[draw.random(shape) < chance.choice((0.3, 1))] = np.nan
    debiased[draw.random(shape) < 0.3] = np.nan
    found = LayerSimilarity(cka, debiased, shuffled, chance.choice((2, 3, 4, 10)))
    result = ComparedLayers(("*X*", "Y"), found, same)
    title, claims, sure = result.title(), result.claims(), result.sure()
    yield from [title, *claims, *sure]
    cells = [(i, j) for i, j in np.ndindex(shape) if np.isfinite(cka[i, j])]
    compared = [(i, j) for i, j in cells if j == i + 1] if same else cells
    is_few = not cells or found.n_words < 4
    assert (result.figure() is None) == is_few
    if is_few or not compared:
        verdict = "few" if is_few else "none"
        assert (title.key, claims[0].key) == (
            f"layers.alike.title.{verdict}", f"layers.alike.{verdict}"
        )  # fmt: skip
        assert not sure
        return
    values = [float(cka[cell]) for cell in compared]
    best = tied(values, sign=-1 if same else 1)
    kind = "steps" if same else "models"
    numbers = claims[0].numbers
    assert numbers["n_words"] == found.n_words
    if best is None:
        assert claims[0].key == f"layers.alike.{kind}_even"
        assert numbers["cka"] == pytest.approx(np.mean(values), abs=1e-6)
    else:
        assert claims[0].key == f"layers.alike.{kind}"
        assert numbers["n"] == title.numbers["n"] == len(best)
        assert (numbers["i"], numbers["j"]) in [compared[k] for k in best]
        assert numbers["cka"] == (min if same else max)(values)
    assert claims[1].numbers["cka"] == pytest.approx(float(shuffled.mean()), abs=1e-5)
    end = cka[0, -1] if same else cka[-1, -1]
    other = debiased[0, -1] if same else debiased[-1, -1]
    expected = [end, other] if np.isfinite([end, other]).all() else [end]
    assert [each.numbers["cka"] for each in sure] == (expected if np.isfinite(end) else [])


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    assert not unreached("layers.alike", keys_of(check_alike, 500))


def test_cka_shows_its_value_beside_that_of_shuffled_words() -> None:
    cka = RANDOM.uniform(size=(3, 5)).astype(np.float32)
    found = LayerSimilarity(cka, cka / 4, cka / 2, 9)
    figure = ComparedLayers(("<X>", "Y"), found, False).figure()
    np.testing.assert_allclose(drawn(figure), cka, atol=1e-4)
    beside = np.array(figure.data[0].customdata, float)
    np.testing.assert_allclose(beside[..., 0], cka / 4, atol=1e-4)
    np.testing.assert_allclose(beside[..., 1], cka / 2, atol=1e-4)
    assert figure.data[0].zmin == 0
    assert figure.data[0].zmax == 1
    assert "<X>" not in figure.to_json()


def test_what_is_not_a_number_is_a_gap() -> None:
    cka = np.array([[1, np.nan], [np.nan, 1]], np.float32)
    similarity = LayerSimilarity(cka, cka, cka, 4)
    assert "NaN" not in ComparedLayers(("X", "Y"), similarity, False).figure().to_json()
    nothing = LayerSimilarity(*[np.full((2, 2), np.nan, np.float32)] * 3, n_words=0)
    assert ComparedLayers(("X", "Y"), nothing, False).figure() is None


# As a script

TEXTS = (("A python slept under the lamp", None), ("She is an engineer", "One word, {many} means"))


@pytest.mark.parametrize("other", ["folder:bert", "folder:roberta", None])
def test_the_script_gives_the_same_for_one_model_and_for_two(
    tiny_service: EncoderService, tiny_root: Path, other: str | None
) -> None:
    texts, pairs = zip(*TEXTS, strict=True)
    ours, theirs = (
        words_of(tiny_service.encode(model, texts, pairs=pairs))
        for model in (BUNDLED_ID, other or BUNDLED_ID)
    )
    first, second = shared_words(ours, theirs)
    assert first.shape[1] == len(ours.keys)
    second_card = None if other is None else tiny_service.load(other)
    spans = [SnippetText(a, b, split_words(a), split_words(b or "")) for a, b in TEXTS]
    code = cka_snippet(tiny_service.load(BUNDLED_ID), spans, second_card)
    assert "contextlens" not in code
    numbers = run(code.replace("path/to/", f"{tiny_root}/"))
    own = layer_similarity(first, second)
    assert np.isfinite(own.debiased).all()
    np.testing.assert_allclose(numbers["matrix"].numpy(), own.cka, atol=1e-5)
    np.testing.assert_allclose(numbers["debiased"].numpy(), own.debiased, atol=1e-5)
    np.testing.assert_allclose(numbers["shuffled"].numpy(), own.shuffled, atol=1e-5)
