"""The embedding layer of a view, checked by the model's numbers, and random input for claims."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.core.schema import PartState
from contextlens.features.embedding_layer.arithmetic import summands
from contextlens.features.embedding_layer.controls import PAGE
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum, embedding_sum
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.claims import read

TRAINED = PartState("trained", "The checkpoint has weights.")
UNTRAINED = PartState("untrained", "Every bias is exactly 0.")
LABELS = ("[CLS]", "the", "##on", "[UNK]", "🐍", "שלי", "<b>", "*", "x" * 40)
Chance = random.Random
Draw = np.random.Generator


def on(*texts: str, pair: str | None = None, **controls: Any) -> ViewState:
    """A view on texts, the first with a pair, and the page's controls."""
    sentences = tuple(Sentence(text, pair if i == 0 else None) for i, text in enumerate(texts))
    view = replace(DEFAULT, sentences=sentences or DEFAULT.sentences)
    return replace(view, controls={PAGE: controls} if controls else {})


def sum_of(view: ViewState, service: EncoderService) -> EmbeddingSum:
    return embedding_sum(view, service, service.load(view.model))


def steps_of(embedding: EmbeddingSum) -> dict[str, np.ndarray]:
    return {step.name: step.rows for step in embedding.steps()}


def assert_the_model_s(view: ViewState, service: EncoderService, index: int = 0) -> EmbeddingSum:
    """Picture and tables have the model's numbers, and the words have no markup of a text."""
    embedding, sentence = sum_of(view, service), view.sentences[index]
    parts = service.embedding_parts(view.model, sentence.text, pair=sentence.pair)
    layer_0 = service.encode(view.model, [sentence.text], pairs=[sentence.pair], layers=[0])[0]
    expected = dict(summands(parts))
    if len(expected) > 1 and (parts.epsilon is not None or parts.projected):
        expected["sum"] = parts.total
    expected |= {"LayerNorm": parts.normalized} if parts.projected else {}
    expected |= {"layer 0": layer_0.hidden[0]}
    steps = steps_of(embedding)
    assert set(steps) == set(expected)
    for name, rows in expected.items():
        np.testing.assert_array_equal(steps[name], rows[embedding.window])
    assert embedding.difference <= 1e-6 * max(1.0, np.abs(layer_0.hidden).max())
    table = embedding.rows()
    assert [row["word row (ID)"] for row in table] == parts.tokens.token_ids.tolist()
    n_tokens, positions = parts.tokens.n_tokens, parts.position_ids
    wanted = [None] * n_tokens if positions is None else positions.tolist()
    assert [row["position row"] for row in table] == wanted
    assert_no_markup([*embedding.claims(), *embedding.sure()])
    return embedding


def assert_no_markup(claims: Iterable[Claim]) -> None:
    assert not [claim for claim in map(str, claims) if "<b>" in claim.replace(r"\<b\>", "")]


def keys_of(check: Callable[[Chance, Draw], Iterator[Claim]], n_inputs: int) -> set[str]:
    """The keys of all claims that a check makes on random inputs."""
    chance, draw = random.Random(1), np.random.default_rng(1)
    return set().union(*(read(check(chance, draw)) for _ in range(n_inputs)))
