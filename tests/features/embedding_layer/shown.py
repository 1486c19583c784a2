"""The content of the Embedding layer page, checked by the model's numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.features.embedding_layer.compute import (
    EmbeddingView,
    embedding_view,
    token_table,
)
from contextlens.features.embedding_layer.controls import PAGE
from contextlens.features.embedding_layer.measures import constant_parts
from contextlens.features.embedding_layer.reading import embedding_reading
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState


def on(*texts: str, pair: str | None = None, **controls: Any) -> ViewState:
    """A view on texts, the first with a pair, and the page's controls."""
    sentences = tuple(Sentence(text, pair if i == 0 else None) for i, text in enumerate(texts))
    view = replace(DEFAULT, sentences=sentences or DEFAULT.sentences)
    return replace(view, controls={PAGE: controls} if controls else {})


def shown(view: ViewState, service: EncoderService) -> EmbeddingView:
    return embedding_view(view, service, service.load(view.model))


def drawn(embedding: EmbeddingView) -> dict[str, np.ndarray]:
    return {panel.name: panel.rows for panel in embedding.panels()}


def assert_the_model_s(view: ViewState, service: EncoderService, index: int = 0) -> EmbeddingView:
    """Picture, tables and reading have the model's numbers."""
    embedding, sentence = shown(view, service), view.sentences[index]
    parts = service.embedding_parts(view.model, sentence.text, pair=sentence.pair)
    layer_0 = service.encode(view.model, [sentence.text], pairs=[sentence.pair], layers=[0])[0]
    expected = {"word": parts.word, "position": parts.position, "sum": parts.total}
    expected |= {} if parts.segment is None else {"segment": parts.segment}
    expected |= {"LayerNorm": parts.normalized} if parts.projected else {}
    expected |= {"layer 0": layer_0.hidden[0]}
    panels = drawn(embedding)
    assert set(panels) == set(expected)
    for name, rows in expected.items():
        np.testing.assert_array_equal(panels[name], rows[embedding.window])
    assert embedding.difference <= 1e-6 * max(1.0, np.abs(layer_0.hidden).max())
    table = token_table(embedding)
    assert table["word row (ID)"].tolist() == parts.tokens.token_ids.tolist()
    assert table["position row"].tolist() == parts.position_ids.tolist()
    return embedding


def claims_of(embedding: EmbeddingView) -> list[Claim]:
    claims, sure = embedding_reading(
        embedding.contributions,
        embedding.labels,
        embedding.focus,
        difference=embedding.difference,
        agrees=embedding.agrees,
        state=embedding.card.provenance.embedding_layer,
        constant=constant_parts(embedding.parts),
    )
    return [*claims, *sure]
