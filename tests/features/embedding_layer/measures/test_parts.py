"""The embedding layer computed again in NumPy, beside torch and transformers, for every family."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import EmbeddingParts
from components.features.embedding_layer.compute import normalization_of
from components.features.embedding_layer.measures import (
    Normalization,
    constant_parts,
    contributions,
    layer_norm,
    part_rows,
    rebuild,
    shares,
    summands,
)
from tests.support.tiny_models import ALL

TEXT = "The python's owner walked by the river"
RANDOM = np.random.default_rng(0)
MODELS = (BUNDLED_ID, *ALL)


def rows_of(parts: EmbeddingParts, model: str, service: EncoderService) -> list[dict[str, Any]]:
    found = contributions(parts, normalization_of(model, service, parts))
    return part_rows(parts, found, parts.tokens.tokens)


def plain(model: str, tiny_root: Path, bundled_folder: Path) -> tuple[Any, Any]:
    """Tokenizer and model as plain transformers loads them."""
    folder = bundled_folder if model == BUNDLED_ID else tiny_root / model
    return (
        AutoTokenizer.from_pretrained(folder),
        AutoModel.from_pretrained(folder, attn_implementation="eager").eval(),
    )


@pytest.mark.parametrize("pair", [None, "a green bank"])
@pytest.mark.parametrize("name", MODELS)
def test_the_sum_in_numpy_is_the_layer_0_of_plain_transformers(
    name: str, pair: str | None, tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path
) -> None:
    model = name if name == BUNDLED_ID else f"folder:{name}"
    parts = tiny_service.embedding_parts(model, TEXT, pair=pair)
    ours = rebuild(list(summands(parts).values()), normalization_of(model, tiny_service, parts))
    tokenizer, network = plain(name, tiny_root, bundled_folder)
    batch = tokenizer(
        *([TEXT] if pair is None else [TEXT, pair]),
        return_token_type_ids=tiny_service.load(model).has_segments,  # ALBERT's has them on request
        return_tensors="pt",
    )
    with torch.inference_mode():
        theirs = network(**batch, output_hidden_states=True).hidden_states[0][0].numpy()
    assert ours.dtype == np.float32
    assert np.abs(ours - theirs).max() <= 1e-6 * max(1.0, np.abs(theirs).max())


def test_the_bundled_model_s_parts_are_not_the_layer_without_one_of_them(
    service: EncoderService,
) -> None:
    """A part that is left out shows: the agreement above is not vacuous."""
    parts = service.embedding_parts(BUNDLED_ID, TEXT)
    norm = normalization_of(BUNDLED_ID, service, parts)
    rows = list(summands(parts).values())
    for left_out in range(3):
        ours = rebuild([r for i, r in enumerate(rows) if i != left_out], norm)
        assert np.abs(ours - parts.output).max() > 0.01


def test_layer_norm_is_torch_s() -> None:
    rows = RANDOM.normal(size=(5, 16)).astype(np.float32)
    scale, shift = RANDOM.normal(size=(2, 16)).astype(np.float32)
    expected = torch.nn.functional.layer_norm(
        *map(torch.from_numpy, (rows,)), (16,), torch.tensor(scale), torch.tensor(shift), 1e-5
    )
    np.testing.assert_allclose(
        layer_norm(rows, Normalization(scale, shift, 1e-5)), expected, atol=1e-5
    )


@pytest.mark.parametrize("name", MODELS)
def test_shares_add_up_to_one_and_are_projections(name: str, tiny_service: EncoderService) -> None:
    model = name if name == BUNDLED_ID else f"folder:{name}"
    parts = tiny_service.embedding_parts(model, TEXT)
    found = shares(parts)
    np.testing.assert_allclose(sum(found.values()), 1, atol=1e-5)
    unit = parts.total / np.linalg.norm(parts.total, axis=1, keepdims=True)
    for part, rows in summands(parts).items():
        along = (rows * unit).sum(axis=1) / np.linalg.norm(parts.total, axis=1)
        np.testing.assert_allclose(found[part], along, atol=1e-5)
    assert ("segment" in found) == (parts.segment is not None)


def test_a_part_against_the_sum_has_a_negative_share(service: EncoderService) -> None:
    parts = service.embedding_parts(BUNDLED_ID, TEXT)
    turned = replace(parts, position=-0.5 * parts.word, total=0.5 * parts.word, segment=None)
    assert shares(turned)["position"] == pytest.approx(-1, abs=1e-5)
    assert shares(turned)["word"] == pytest.approx(2, abs=1e-5)


def test_a_sum_of_zeros_has_shares_of_zero(service: EncoderService) -> None:
    parts = service.embedding_parts(BUNDLED_ID, TEXT)
    nothing = np.zeros_like(parts.word)
    empty = replace(parts, word=nothing, position=nothing, segment=None, total=nothing)
    assert all((share == 0).all() for share in shares(empty).values())


@pytest.mark.parametrize("name", MODELS)
def test_a_part_left_out_moves_layer_0_as_plain_torch_says(
    name: str, tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path
) -> None:
    model = name if name == BUNDLED_ID else f"folder:{name}"
    parts = tiny_service.embedding_parts(model, TEXT)
    found = contributions(parts, normalization_of(model, tiny_service, parts))
    _, network = plain(name, tiny_root, bundled_folder)
    project = getattr(network, "embeddings_project", None) or getattr(
        network.encoder, "embedding_hidden_mapping_in", None
    ) if parts.projected else torch.nn.Identity()  # fmt: skip
    with torch.inference_mode():
        for part, rows in summands(parts).items():
            rest = torch.tensor(parts.total - rows)
            without = project(network.embeddings.LayerNorm(rest)).numpy()
            away = np.linalg.norm(without - parts.output, axis=1)
            lengths = np.linalg.norm(parts.output, axis=1)
            both = lengths * np.linalg.norm(without, axis=1)
            cosine = (without * parts.output).sum(axis=1) / both
            np.testing.assert_allclose(found[part].moved, away / lengths, atol=1e-4)
            np.testing.assert_allclose(found[part].turned, 1 - cosine, atol=1e-4)
            np.testing.assert_allclose(found[part].norm, np.linalg.norm(rows, axis=1), atol=1e-5)


def test_the_constant_segment_row_has_a_share_and_is_named_constant(
    service: EncoderService,
) -> None:
    """Its share is no finding: every token gets the same row."""
    parts = service.embedding_parts(BUNDLED_ID, TEXT)
    found = contributions(parts, normalization_of(BUNDLED_ID, service, parts))
    assert constant_parts(parts) == ["segment"]
    assert found["segment"].share.mean() > 0.1
    assert found["segment"].share.min() > 0
    assert np.ptp(found["segment"].norm) == 0
    assert constant_parts(service.embedding_parts(BUNDLED_ID, TEXT, pair="a bank")) == []


def test_the_table_names_the_rows_that_were_added(service: EncoderService) -> None:
    parts = service.embedding_parts(BUNDLED_ID, "I am Sinan", pair="a bank")
    rows = rows_of(parts, BUNDLED_ID, service)
    table = service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")
    kinds = service.matrix(BUNDLED_ID, "embeddings.token_type_embeddings.weight")
    for i, row in enumerate(rows):
        word = service.word_rows(BUNDLED_ID, [row["word row (ID)"]])[0]
        assert row["word norm"] == pytest.approx(np.linalg.norm(word))
        assert row["position norm"] == pytest.approx(np.linalg.norm(table[i]))
        assert row["segment norm"] == pytest.approx(np.linalg.norm(kinds[row["segment row"]]))
        assert sum(row[f"{part} share"] for part in summands(parts)) == pytest.approx(1, abs=1e-5)
    assert [row["segment row"] for row in rows][-3:] == [1, 1, 1]


def test_a_model_without_segments_has_no_segment_in_the_table(tiny_service: EncoderService) -> None:
    parts = tiny_service.embedding_parts("folder:distilbert", TEXT)
    rows = rows_of(parts, "folder:distilbert", tiny_service)
    assert {row["segment row"] for row in rows} == {None}
    assert "segment norm" not in rows[0]


def test_facts_of_bert_base_hold_where_they_are_about_structure(
    service: EncoderService, facts: dict[str, Any]
) -> None:
    fact = facts["embedding_layer"]
    parts = service.embedding_parts(BUNDLED_ID, fact["text"])
    assert parts.tokens.token_ids.tolist() == fact["token_ids"]
    assert fact["same_word_row_for"] == "[CLS] and [SEP] in every sentence"
    assert parts.position_ids.tolist() == list(range(6))
    assert (parts.segment == parts.segment[0]).all()
