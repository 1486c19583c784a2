"""The snippets are run as a reader would run them, and must give the page's cosines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.sentences.compute import compared, encode_texts
from contextlens.features.sentences.snippet import cosines_snippet, recipe_snippet
from contextlens.maps.vectors import RECIPE
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.support.snippets import run
from tests.support.tiny_models import ALL


@pytest.mark.slow
def test_transformers_and_sentence_transformers_give_the_pages_cosines(
    service: EncoderService,
) -> None:
    card = service.load(BUNDLED_ID)
    rows = Sentence('A "python"\n'), Sentence("Long " * 600), Sentence("One", pair="and its pair")
    random = encode_texts(["One.", "Two things.", "Three."], card, service)
    result = compared(replace(DEFAULT, sentences=rows), card, service, random)
    assert result is not None
    assert result.vectors.n_cut == 1
    left = run(cosines_snippet(card, rows, has_pooler=False))["cosines"]
    assert [*left, RECIPE] == list(result.poolings)
    for name, cosines in left.items():
        at = result.poolings.index(name)
        np.testing.assert_allclose(cosines.numpy(), result.cosines[at], atol=1e-5)
    own = run(recipe_snippet(card, rows))["cosines"]
    np.testing.assert_allclose(own.numpy(), result.cosines[-1], atol=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_every_family_has_the_vectors_that_its_card_offers(
    tiny_service: EncoderService, name: str
) -> None:
    model = f"folder:{name}"
    card = tiny_service.load(model)
    texts = ["", "One", "Two words"]
    vectors = encode_texts(texts, card, tiny_service).by_pooling
    assert ("pooler" in vectors) == (card.provenance.pooler.state == "trained")
    assert (RECIPE in vectors) == (card.recipe is not None)
    last = tiny_service.encode(model, texts)
    for rows in vectors.values():
        assert rows.shape == (3, card.n_dims)
        assert np.isfinite(rows).all()
    np.testing.assert_allclose(vectors["cls"], [e.hidden[-1, 0] for e in last], atol=1e-5)
    n_last = min(4, card.n_layers)
    expected = [e.hidden[-n_last:].mean(axis=(0, 1)) for e in last]
    np.testing.assert_allclose(vectors["last_four"], expected, atol=1e-5)
