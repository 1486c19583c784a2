"""Hidden states measured: tokens against torch and scikit-learn, layers against a direct HSIC."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import ortho_group
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from transformers import AutoModel, AutoTokenizer

from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from contextlens.core.words import split_words
from contextlens.features.layers.measures import (
    MAX_WORDS,
    WordVectors,
    alike,
    cosines_to_starts,
    join,
    layer_rows,
    lowest_cosine,
    measure,
    measures,
    nearest,
    own_tokens,
    pool_by_hand,
    sample_choice,
    shared,
    token_pairs,
    variance_shares,
    words_of,
)
from tests.support.tiny_models import ALL, FAMILIES

TEXT, PAIR = "A python slept under the lamp", "She is an engineer"
RANDOM = np.random.default_rng(0)


@pytest.fixture(scope="module")
def encoding(service: EncoderService) -> Encoding:
    return service.encode(BUNDLED_ID, ["I love my pet python"])[0]


def direct(
    folder: Path, text: str, pair: str | None = None, *, segments: bool = True
) -> torch.Tensor:
    """(n_layers + 1, n_tokens, n_dims) by transformers alone."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    texts = (text,) if pair is None else (text, pair)
    with torch.inference_mode():
        batch = tokenizer(*texts, return_token_type_ids=segments, return_tensors="pt")
        out = model(**batch, output_hidden_states=True)
    return torch.stack(out.hidden_states)[:, 0]


def by_torch(hidden: torch.Tensor) -> dict[str, torch.Tensor]:
    cosine = torch.nn.functional.cosine_similarity
    return {
        "length": hidden.norm(dim=-1),
        "start": cosine(hidden, hidden[:1], dim=-1),
        "before": cosine(hidden[1:], hidden[:-1], dim=-1),
        "first": cosine(hidden, hidden[:, :1], dim=-1),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "pair"), [("bert", None), *((family, PAIR) for family in FAMILIES)]
)
def test_the_measures_are_torch_s_on_every_family(
    tiny_service: EncoderService, tiny_root: Path, family: str, pair: str | None
) -> None:
    own = tiny_service.encode(f"folder:{family}", [TEXT], pairs=[pair])[0]
    expected = by_torch(
        direct(tiny_root / family, TEXT, pair, segments=own.token_type_ids is not None)
    )
    for kind, found in measures(own).items():
        assert found.layers == tuple(range(kind == "before", len(own.layers)))
        np.testing.assert_allclose(found.values, expected[kind].numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["start", "before"])
def test_chance_is_of_all_pairs_of_other_tokens(encoding: Encoding, kind: str) -> None:
    found = measure(encoding, kind)
    own = np.flatnonzero(own_tokens(encoding))
    for row, layer in enumerate(found.layers):
        back = encoding.hidden[0 if kind == "start" else layer - 1]
        cosines = cosine_similarity(encoding.hidden[layer], back)
        pairs = [cosines[i, j] for i, j in permutations(own, 2)]
        band = found.chance.low[row], found.chance.mean[row], found.chance.high[row]
        ends = np.quantile(pairs, [0.05, 0.95])
        assert band == pytest.approx((ends[0], np.mean(pairs), ends[1]), abs=1e-5)


def test_a_token_is_compared_with_the_starts_of_all(encoding: Encoding) -> None:
    found = cosines_to_starts(encoding, 2)
    expected = cosine_similarity(encoding.hidden[:, 2], encoding.hidden[0])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_averages_leave_added_tokens_out_unless_there_is_nothing_else(
    service: EncoderService, encoding: Encoding
) -> None:
    found = measure(encoding, "start")
    np.testing.assert_allclose(found.averages, found.values[:, 1:-1].mean(axis=1), rtol=1e-6)
    blank = service.encode(BUNDLED_ID, [""])[0]
    empty = measure(blank, "start")
    np.testing.assert_allclose(empty.averages, empty.values.mean(axis=1), rtol=1e-6)
    assert empty.chance is None
    assert (empty.counted.tolist(), measure(blank, "first").counted.tolist()) == ([0, 1], [1])
    assert measure(service.encode(BUNDLED_ID, ["hello"])[0], "start").chance is None


def test_pairs_are_scikit_learn_s(encoding: Encoding) -> None:
    pairs = token_pairs(encoding.hidden)
    for found, rows in zip(pairs, encoding.hidden, strict=True):
        np.testing.assert_allclose(found, cosine_similarity(rows), atol=1e-5)
    assert lowest_cosine(encoding.hidden) == pytest.approx(pairs.min(), abs=1e-6)
    assert np.abs(pairs).max() <= 1


def test_a_vector_of_zeros_has_cosine_zero(encoding: Encoding) -> None:
    hidden = encoding.hidden.copy()
    hidden[2, 3] = 0
    holed = replace(encoding, hidden=hidden)
    assert measure(holed, "start").values[2, 3] == 0
    assert measure(holed, "first").values[2, 3] == 0
    assert not np.isnan(token_pairs(hidden)).any()


def test_neighbours_are_the_highest_cosines_among_the_candidates() -> None:
    texts = [RANDOM.normal(size=(3, n, 8)).astype(np.float32) for n in (4, 6)]
    candidates = np.array([0, 2, 5, 9])
    found = nearest(texts[0][:, 1], texts, candidates, 3)
    for layer in range(3):
        rows = np.concatenate([text[layer] for text in texts])
        cosines = cosine_similarity(texts[0][layer, 1:2], rows)[0]
        best = sorted(candidates, key=lambda i: -cosines[i])[:3]
        assert found.indices[layer].tolist() == best
        np.testing.assert_allclose(found.cosines[layer], cosines[best], atol=1e-6)


def test_candidates_as_near_as_the_nearest_are_tied() -> None:
    text = RANDOM.normal(size=(1, 5, 8)).astype(np.float32)
    twice = [text, text * np.float32(1.00001)]
    found = nearest(text[:, 2], twice, np.array([0, 1, 3, 5, 6, 8]), 2)
    rows = cosine_similarity(text[0, 2:3], text[0, [0, 1, 3]])[0]
    best = (0, 1, 3)[int(rows.argmax())]
    assert found.tied == (frozenset({best, best + 5}),)


@pytest.mark.parametrize("n", [0, 1])
def test_few_or_no_candidates_are_given_as_they_are(n: int) -> None:
    texts = [RANDOM.normal(size=(3, 2, 8)).astype(np.float32)]
    found = nearest(texts[0][:, 0], texts, np.arange(1, 1 + n), 3)
    assert found.indices.shape == found.cosines.shape == (3, n)


@pytest.mark.slow
@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in ALL)])
def test_the_pooler_by_hand_is_the_model_s_own(tiny_service: EncoderService, model: str) -> None:
    own = tiny_service.encode(model, [TEXT])[0]
    card = tiny_service.load(model)
    assert (own.pooler_output is None) == (card.provenance.pooler.state == "absent")
    if own.pooler_output is None:
        return
    names = [p.name for p in tiny_service.parameters(model) if p.name.startswith("pooler.")]
    weight, bias = (tiny_service.matrix(model, name) for name in sorted(names, reverse=True))
    _, pooled = pool_by_hand(own.hidden[-1, 0], weight, bias)
    np.testing.assert_allclose(pooled, own.pooler_output, atol=1e-6)


def test_rows_hold_every_token_at_every_layer(encoding: Encoding) -> None:
    rows = layer_rows(encoding, encoding.tokens, "A")
    assert len(rows) == 7 * encoding.n_tokens
    row = next(r for r in rows if r["token"] == "python" and r["layer"] == 3)
    assert row["sentence"] == "A"
    assert row["cosine to layer 0"] == pytest.approx(measure(encoding, "start").values[3, 5])
    assert row["cosine to layer before"] == pytest.approx(measure(encoding, "before").values[2, 5])
    assert row["vector length"] == pytest.approx(np.linalg.norm(encoding.hidden[3, 5]))
    assert rows[0]["cosine to layer before"] is None


TEXTS = ["I love my pet python", "Its unbelievability is overrated, she said."]


def vectors(n_layers: int, n_words: int, n_dims: int) -> np.ndarray:
    return RANDOM.normal(size=(n_layers, n_words, n_dims)).astype(np.float32)


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
    found = alike(first, second)
    assert found.n_words == n_words
    for estimator, cka in ((hsic, found.cka), (unbiased_hsic, found.debiased)):
        for i, x in enumerate(first.astype(float)):
            for j, y in enumerate(second.astype(float)):
                expected = estimator(x, y) / np.sqrt(estimator(x, x) * estimator(y, y))
                assert cka[i, j] == pytest.approx(expected, abs=1e-5)


def test_debiased_cka_of_independent_features_averages_0_where_the_plain_one_is_far_above() -> None:
    found = alike(vectors(30, 20, 100), vectors(30, 20, 100))
    assert abs(found.debiased.mean()) < 0.02
    assert found.cka.mean() > 0.5
    assert (found.debiased < 0).any()


@pytest.mark.parametrize("n_words", [0, 1, 2, 3])
def test_cka_needs_two_words_and_debiased_cka_four(n_words: int) -> None:
    own = vectors(2, n_words, 5)
    found = alike(own, own)
    assert np.isnan(found.debiased).all()
    assert np.isnan(found.cka).all() == (n_words < 2)
    assert found.n_words == n_words
    equal = np.repeat(vectors(2, 1, 8), n_words, axis=1)
    assert np.isnan(alike(equal, equal).cka).all()


def test_debiased_cka_that_is_0_by_0_is_not_a_number() -> None:
    """One word apart from equal ones leaves nothing but the diagonal."""
    own = np.zeros((1, 5, 3), np.float32)
    own[0, 0] = 1
    found = alike(own, own)
    assert found.cka == pytest.approx(1)
    assert np.isnan(found.debiased).all()


def test_cka_ignores_rotation_scale_and_shift_and_is_symmetric_within_bounds() -> None:
    own = vectors(4, 12, 30)
    cka = alike(own, own).cka
    np.testing.assert_allclose(cka, cka.T, atol=1e-6)
    assert cka.min() >= 0
    assert cka.max() <= 1
    turned = alike(own, 3 * own @ ortho_group.rvs(30, random_state=0).astype(np.float32) + 1)
    np.testing.assert_allclose(np.diag(turned.cka), 1, atol=1e-5)
    np.testing.assert_allclose(np.diag(turned.debiased), 1, atol=1e-5)


def test_shuffled_words_show_how_much_of_cka_is_the_number_of_words() -> None:
    many, few = vectors(1, 400, 10), vectors(1, 6, 200)
    assert alike(many, many).shuffled[0, 0] < 0.1
    assert alike(few, few).shuffled[0, 0] > 0.7
    assert alike(few, few).shuffled.tolist() == alike(few, few).shuffled.tolist()


@pytest.mark.parametrize(("n_words", "n_dims"), [(50, 12), (12, 50)])
def test_variance_shares_are_scikit_learn_s(n_words: int, n_dims: int) -> None:
    own = vectors(2, n_words, n_dims)
    shares = variance_shares(own, 10)
    for found, layer in zip(shares, own, strict=True):
        expected = PCA(n_components=10).fit(layer.astype(float)).explained_variance_ratio_.cumsum()
        np.testing.assert_allclose(found, expected, atol=1e-5)
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


def test_shared_words_keep_their_order_and_leave_out_the_others() -> None:
    first = WordVectors(((0, 0, 0), (0, 0, 1), (0, 0, 2)), np.arange(3.0).reshape(1, 3, 1))
    second = WordVectors(((0, 0, 2), (0, 0, 0)), np.array([[[20.0], [0.0]]]))
    ours, theirs = shared(first, second)
    assert ours.ravel().tolist() == [0, 2]
    assert theirs.ravel().tolist() == [0, 20]


def test_there_are_at_most_so_many_words_and_none_in_blank_texts(service: EncoderService) -> None:
    encodings = service.encode(BUNDLED_ID, ["one two three four " * 100] * 2)
    assert len(words_of(encodings).keys) == MAX_WORDS
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
