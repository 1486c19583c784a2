"""The embedding layer rebuilt step by step from the model's own tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from tests.support.tiny_models import (
    ALL,
    FROM_PADDING,
    NO_POSITIONS,
    NO_SEGMENT_TABLE,
    NORMS,
    PROJECTED,
    family_of,
)

TEXT = "The python's owner walked by the river"
PROJECTIONS = {
    "albert": "encoder.embedding_hidden_mapping_in",
    "electra": "embeddings_project",
    "rembert": "encoder.embedding_hidden_mapping_in",
}


@dataclass(frozen=True)
class Subject:
    """A model under test and the same model as plain transformers loads it."""

    name: str
    model: str
    plain: torch.nn.Module

    def table(self, name: str) -> np.ndarray:
        return self.plain.get_parameter(name).detach().numpy()

    @property
    def words(self) -> np.ndarray:
        return self.plain.get_input_embeddings().weight.detach().numpy()


@pytest.fixture(scope="module", params=[BUNDLED_ID, *ALL])
def subject(request: pytest.FixtureRequest, tiny_root: Path, bundled_folder: Path) -> Subject:
    name = request.param
    if name == BUNDLED_ID:
        return Subject("bert", BUNDLED_ID, AutoModel.from_pretrained(bundled_folder))
    return Subject(name, f"folder:{name}", AutoModel.from_pretrained(tiny_root / name))


@pytest.mark.parametrize("pair", [None, "a green bank"])
def test_the_parts_add_up_to_layer_0(
    subject: Subject, tiny_service: EncoderService, pair: str | None
) -> None:
    parts = tiny_service.embedding_parts(subject.model, TEXT, pair=pair)
    encoding = tiny_service.encode(subject.model, [TEXT], pairs=[pair])[0]
    assert parts.tokens.tokens == encoding.tokens
    rows = [rows for rows in (parts.word, parts.position, parts.segment) if rows is not None]
    added = np.sum(rows, axis=0)
    np.testing.assert_allclose(parts.total, added, rtol=0, atol=1e-6)
    np.testing.assert_allclose(parts.output, encoding.layer(0), rtol=0, atol=1e-6)


@pytest.mark.parametrize("pair", [None, "a green bank"])
def test_each_step_follows_from_the_models_tables(
    subject: Subject, tiny_service: EncoderService, pair: str | None
) -> None:
    parts = tiny_service.embedding_parts(subject.model, TEXT, pair=pair)
    table = subject.table
    n_tokens = parts.tokens.n_tokens
    rows = subject.words[parts.tokens.token_ids]
    assert parts.word_scale == (32**0.5 if "gemma" in subject.name else 1)
    np.testing.assert_allclose(parts.word, rows * parts.word_scale, rtol=1e-6)
    if subject.name in NO_POSITIONS:
        assert (parts.position, parts.position_ids) == (None, None)
    else:
        np.testing.assert_array_equal(
            parts.position, table("embeddings.position_embeddings.weight")[parts.position_ids]
        )
        first = 2 if subject.name in FROM_PADDING else 0
        assert parts.position_ids.tolist() == list(range(first, first + n_tokens))
    if subject.name in NO_SEGMENT_TABLE:
        assert parts.segment is None
    else:
        rows = parts.tokens.token_type_ids
        rows = np.zeros(n_tokens, int) if rows is None else rows
        segments = table("embeddings.token_type_embeddings.weight")[rows]
        np.testing.assert_array_equal(parts.segment, segments)
    total = parts.total.astype(np.float64)
    norm, normalized = NORMS.get(subject.name, "LayerNorm"), total
    if norm is None:
        assert parts.epsilon is None
    else:
        layer_norm = getattr(subject.plain.embeddings, norm)
        epsilon = getattr(layer_norm, "eps", None) or layer_norm.variance_epsilon
        assert parts.epsilon == epsilon
        centred = total - total.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt(total.var(axis=1, keepdims=True) + epsilon)
        normalized = scaled * layer_norm.weight.detach().numpy()
        normalized += 0 if layer_norm.bias is None else layer_norm.bias.detach().numpy()
    np.testing.assert_allclose(parts.normalized, normalized, rtol=0, atol=3e-6)
    output = parts.normalized
    assert parts.projected == (subject.name in PROJECTED)
    if parts.projected:
        linear = PROJECTIONS[family_of(subject.name)]
        output = output @ table(f"{linear}.weight").T + table(f"{linear}.bias")
    np.testing.assert_allclose(parts.output, output, rtol=0, atol=3e-6)
    for array in (parts.word, parts.total, parts.normalized, parts.output):
        assert array.dtype == np.float32
        assert not array.flags.writeable


def test_word_rows_are_the_tables_rows(subject: Subject, tiny_service: EncoderService) -> None:
    table = subject.words
    ids = [len(table) - 1, 0, 7, 7]
    rows = tiny_service.word_rows(subject.model, ids)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, table[ids])
    everything = tiny_service.word_rows(subject.model, range(len(table)))
    np.testing.assert_array_equal(everything, table)


@pytest.mark.parametrize("wrong", [[30_522], [3, -2], [1.5]], ids=str)
def test_rows_outside_the_table_are_refused(service: EncoderService, wrong: list[int]) -> None:
    with pytest.raises(RequestError):
        service.word_rows(BUNDLED_ID, wrong)


def test_a_row_is_nearest_to_itself(subject: Subject, tiny_service: EncoderService) -> None:
    tokens = tiny_service.tokenize(subject.model, ["the river"])[0]
    table = subject.words.astype(np.float64)
    for token, row in zip(tokens.tokens, tokens.token_ids.tolist(), strict=True):
        vector = tiny_service.word_rows(subject.model, [row])[0]
        nearest = tiny_service.nearest_rows(subject.model, vector, 5)
        assert nearest[0][:2] == (row, token)
        cosines = [cosine for _, _, cosine in nearest]
        norms = np.linalg.norm(table, axis=1) * np.linalg.norm(table[row])
        expected = np.sort(table @ table[row] / np.where(norms == 0, 1, norms))[::-1][:5]
        np.testing.assert_allclose(cosines, expected, rtol=0, atol=1e-5)


def test_all_rows_can_be_ranked(tiny_service: EncoderService) -> None:
    vector = tiny_service.word_rows("folder:bert", [20])[0]
    size = tiny_service.load("folder:bert").vocabulary_size
    ranked = tiny_service.nearest_rows("folder:bert", vector, size)
    assert sorted(row for row, _, _ in ranked) == list(range(size))
    assert np.isfinite([cosine for _, _, cosine in ranked]).all()


@pytest.mark.parametrize("vector", [np.ones(3), np.full(32, np.nan), np.zeros(32)], ids=len)
def test_vectors_that_have_no_neighbours_are_refused(
    tiny_service: EncoderService, vector: np.ndarray
) -> None:
    with pytest.raises(RequestError):
        tiny_service.nearest_rows("folder:bert", vector.astype(np.float32), 5)


def test_parameters_are_those_of_the_torch_model(
    subject: Subject, tiny_service: EncoderService
) -> None:
    pooler = subject.name != "bert-without-pooler"
    expected = [
        (name, tuple(value.shape), value.numel() * 4)
        for name, value in subject.plain.named_parameters(remove_duplicate=False)
        if pooler or not name.startswith("pooler.")
    ]
    found = tiny_service.parameters(subject.model)
    assert [(p.name, p.shape, p.n_bytes) for p in found] == expected
    assert {p.dtype for p in found} == {"float32"}
    assert {p.tied_to for p in found} == {None}
    card = tiny_service.load(subject.model)
    assert sum(p.n_bytes for p in found) == 4 * card.n_parameters == card.memory_bytes


def test_a_matrix_equals_the_parameter(subject: Subject, tiny_service: EncoderService) -> None:
    small = [p for p in tiny_service.parameters(subject.model) if p.n_bytes < 1_000_000]
    for parameter in small[::5]:
        matrix = tiny_service.matrix(subject.model, parameter.name)
        assert matrix.dtype == np.float32
        assert not matrix.flags.writeable
        np.testing.assert_array_equal(matrix, subject.table(parameter.name))


def test_an_unknown_or_too_large_matrix_is_refused(service: EncoderService) -> None:
    with pytest.raises(RequestError, match=r"no\.such\.weight"):
        service.matrix(BUNDLED_ID, "no.such.weight")
    with pytest.raises(RequestError, match="word_rows"):
        service.matrix(BUNDLED_ID, "embeddings.word_embeddings.weight")
