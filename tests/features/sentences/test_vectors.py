"""The vectors of texts, by every way, against plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.sentences.vectors import (
    LAST_FOUR,
    POOLINGS,
    encode_texts,
    layers_of,
    poolings_of,
    vectors_of,
)
from contextlens.maps.vectors import RECIPE
from tests.support.tiny_models import ALL


def test_the_vectors_are_those_of_the_last_layers_states(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    text = "Is it going to rain?"
    whole = service.encode(BUNDLED_ID, [text])[0]
    encoding = service.encode(BUNDLED_ID, [text], layers=layers_of(card))[0]
    last, own = whole.hidden[-1], whole.special_tokens_mask == 0
    expected = {
        "cls": last[0],
        "mean": last.mean(axis=0),
        "own": last[own].mean(axis=0),
        "max": last.max(axis=0),
        "pooler": whole.pooler_output,
        LAST_FOUR: whole.hidden[-4:].mean(axis=(0, 1)),
    }
    found = vectors_of(encoding, POOLINGS)
    assert found.keys() == expected.keys()
    for name, vector in expected.items():
        np.testing.assert_allclose(found[name], vector, atol=1e-5)


def test_an_untrained_pooler_is_not_offered(service: EncoderService) -> None:
    assert poolings_of(service.load(BUNDLED_ID)) == (
        *("cls", "mean", "own", "max"),
        *(LAST_FOUR, "recipe"),
    )


@pytest.mark.parametrize("name", ALL)
def test_every_family_has_the_vectors_that_its_card_offers(
    tiny_service: EncoderService, name: str
) -> None:
    model = f"folder:{name}"
    card = tiny_service.load(model)
    texts = ["", "One", "Two words"]
    if name == "bert-generation":  # it adds no special tokens
        texts[0] = "a"
    vectors = encode_texts(texts, card, tiny_service).by_pooling
    assert ("pooler" in vectors) == (card.provenance.pooler.state == "trained")
    assert (RECIPE in vectors) == (card.recipe is not None)
    last = tiny_service.encode(model, texts)
    for pooling, rows in vectors.items():
        is_projected = pooling == RECIPE and card.last_projection
        assert rows.shape == (3, 24 if is_projected else card.n_dims)
        assert np.isfinite(rows).all()
    np.testing.assert_allclose(vectors["cls"], [e.hidden[-1, 0] for e in last], atol=1e-5)
    n_last = min(4, card.n_layers)
    expected = [e.hidden[-n_last:].mean(axis=(0, 1)) for e in last]
    np.testing.assert_allclose(vectors["last_four"], expected, atol=1e-5)
