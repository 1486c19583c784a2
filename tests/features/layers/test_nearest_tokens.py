"""The tokens nearest to one, beside scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.layers.controls import TOKEN
from contextlens.features.layers.nearest_tokens import NearestTokens, nearest, nearest_tokens
from contextlens.ui.state.view import DEFAULT
from tests.features.layers.odd import (
    LABELS,
    Chance,
    Draw,
    is_named,
    keys_of,
    odd_values,
    placed,
    states_of,
)
from tests.support.claims import unreached

RANDOM = np.random.default_rng(0)


def check_nearest(chance: Chance, draw: Draw) -> Iterator[Claim]:
    sizes = [chance.choice((1, 2, 5)) for _ in range(chance.choice((1, 2)))]
    n_layers, d = chance.choice((2, 3)), chance.choice((2, 3, 8))
    texts = [draw.normal(size=(n_layers, n, d)).astype(np.float32) for n in sizes]
    if chance.random() < 0.4:
        texts = [texts[0]] * len(sizes)  # the same sentence twice
        sizes = [texts[0].shape[1]] * len(sizes)
    if chance.random() < 0.1:
        texts = [np.ones_like(text) for text in texts]
    names = [(chance.choice(LABELS[:4]), "AB"[i]) for i, n in enumerate(sizes) for _ in range(n)]
    picked = chance.randrange(sizes[0])
    candidates = [i for i in range(len(names)) if i != picked and chance.random() < 0.8]
    vectors = texts[0][:, picked]
    found = nearest(vectors, texts, np.array(candidates, int), 2)
    baseline = odd_values(draw, n_layers) if chance.random() < 0.5 else None
    claims = NearestTokens(names, picked, found, vectors, range(n_layers), 0, baseline).claims()
    yield from claims
    where = [i - (sizes[0] if letter == "B" else 0) for i, (_, letter) in enumerate(names)]
    of_each = [[label for label, own in names if own == letter] for _, letter in names]
    said = [placed(at, own) for at, own in zip(where, of_each, strict=True)]
    assert claims[0].numbers["token"] == said[picked]
    if not candidates:
        assert [each.key for each in claims] == ["layers.nearest.none"]
        return
    rows = np.concatenate(texts, axis=1).astype(float)
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    numbers = claims[0].numbers
    named = [f"{name} in {letter}" for name, (_, letter) in zip(said, names, strict=True)]
    for key, layer in (("first", 0), ("last", -1)):
        cosines = rows[layer] @ rows[layer][picked]
        best = max(cosines[i] for i in candidates)
        assert numbers[f"{key}_similarity"] == pytest.approx(best, abs=1e-5)
        gaps = [best - cosines[i] for i in candidates]
        if not any(9e-5 < gap < 1.1e-4 for gap in gaps):
            near = [i for i in candidates if best - cosines[i] <= 1e-4]
            assert is_named(numbers[key], near, named)
    assert (numbers["start"], numbers["end"]) == (0, n_layers - 1)
    random_pairs = [each.numbers["similarity"] for each in claims[1:]]
    assert random_pairs == ([] if baseline is None else [float(baseline[-1])])


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    assert not unreached("layers.nearest", keys_of(check_nearest, 500))


def test_the_nearest_token_is_that_of_scikit_learn(service: EncoderService) -> None:
    view = TOKEN.put(DEFAULT, 4)
    result = nearest_tokens(view, states_of(view, service), service)
    encodings = service.encode(BUNDLED_ID, [s.text for s in DEFAULT.sentences])
    names = [f"{t} in {s}" for s, e in zip("AB", encodings, strict=True) for t in e.tokens[1:-1]]
    table = result.table()
    for layer in range(7):
        vectors = np.concatenate([e.hidden[layer, 1:-1] for e in encodings])
        cosines = cosine_similarity(encodings[0].hidden[layer, 4:5], vectors)[0]
        cosines[names.index("pet in A")] = -2
        assert table["nearest"][layer] == names[int(cosines.argmax())]
        assert table["cosine 0"][layer] == pytest.approx(cosines.max(), abs=1e-5)
    np.testing.assert_array_equal(result.arrays()["picked_vectors"], encodings[0].hidden[:, 4])


@pytest.mark.parametrize("n", [0, 1])
def test_few_or_no_candidates_are_given_as_they_are(n: int) -> None:
    texts = [RANDOM.normal(size=(3, 2, 8)).astype(np.float32)]
    found = nearest(texts[0][:, 0], texts, np.arange(1, 1 + n), 3)
    assert found.indices.shape == found.cosines.shape == (3, n)
