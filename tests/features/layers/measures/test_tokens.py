"""Tokens layer by layer: every number against torch or scikit-learn, on every family."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity
from transformers import AutoModel, AutoTokenizer

from components.core import BUNDLED_ID, EncoderService, Encoding
from components.features.layers.measures import (
    KINDS,
    layer_rows,
    lowest_cosine,
    measure,
    measures,
    nearest,
    own_tokens,
    pool_by_hand,
    token_pairs,
)
from tests.support.tiny_models import ALL, FAMILIES

TEXT, PAIR = "A python slept under the lamp", "She is an engineer"
RANDOM = np.random.default_rng(0)


@pytest.fixture(scope="module")
def encoding(service: EncoderService) -> Encoding:
    return service.encode(BUNDLED_ID, ["I love my pet python"])[0]


def direct(folder, text: str, pair: str | None = None, *, segments: bool = True) -> torch.Tensor:
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


def test_the_measures_are_torch_s_on_the_bundled_model(encoding: Encoding, bundled_folder) -> None:
    expected = by_torch(direct(bundled_folder, encoding.text))
    for kind, found in measures(encoding).items():
        np.testing.assert_allclose(found.values, expected[kind].numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [None, PAIR])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_measures_are_torch_s_on_every_family(
    tiny_service: EncoderService, tiny_root, family: str, pair: str | None
) -> None:
    own = tiny_service.encode(f"folder:{family}", [TEXT], pairs=[pair])[0]
    expected = by_torch(
        direct(tiny_root / family, TEXT, pair, segments=own.token_type_ids is not None)
    )
    for kind, found in measures(own).items():
        np.testing.assert_allclose(found.values, expected[kind].numpy(), rtol=1e-4, atol=1e-5)


def test_a_measure_has_a_row_for_each_of_its_layers(encoding: Encoding) -> None:
    for kind in KINDS:
        found = measure(encoding, kind)
        first = 1 if kind == "before" else 0
        assert found.layers == tuple(range(first, 7))
        assert found.values.shape == (len(found.layers), encoding.n_tokens)
    assert np.allclose(measure(encoding, "start").values[0], 1, atol=1e-6)
    assert np.allclose(measure(encoding, "first").values[:, 0], 1, atol=1e-6)


@pytest.mark.parametrize("kind", ["start", "before"])
def test_chance_is_the_average_over_all_pairs_of_other_tokens(
    encoding: Encoding, kind: str
) -> None:
    found = measure(encoding, kind)
    own = np.flatnonzero(own_tokens(encoding))
    for row, layer in enumerate(found.layers):
        back = encoding.hidden[0 if kind == "start" else layer - 1]
        cosines = cosine_similarity(encoding.hidden[layer], back)
        pairs = [cosines[i, j] for i, j in permutations(own, 2)]
        assert found.chance[row] == pytest.approx(np.mean(pairs), abs=1e-5)


def test_averages_leave_added_tokens_out_unless_there_is_nothing_else(
    service: EncoderService, encoding: Encoding
) -> None:
    found = measure(encoding, "start")
    np.testing.assert_allclose(found.averages, found.values[:, 1:-1].mean(axis=1), rtol=1e-6)
    empty = measure(service.encode(BUNDLED_ID, [""])[0], "start")
    np.testing.assert_allclose(empty.averages, empty.values.mean(axis=1), rtol=1e-6)
    assert empty.chance is None


def test_one_token_has_no_chance_level(service: EncoderService) -> None:
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


def test_the_first_token_is_not_counted_as_like_itself(service: EncoderService) -> None:
    empty = measure(service.encode(BUNDLED_ID, [""])[0], "first")
    assert empty.counted.tolist() == [1]
    assert measure(service.encode(BUNDLED_ID, [""])[0], "start").counted.tolist() == [0, 1]


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
