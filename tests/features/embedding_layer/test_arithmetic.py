"""The embedding layer computed again in NumPy, beside torch and transformers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import EmbeddingParts
from contextlens.features.embedding_layer.arithmetic import (
    Contribution,
    constant_parts,
    contributions,
    normalization_of,
    rebuild,
    shares,
    summands,
)
from tests.support.oracle import read_plain
from tests.support.tiny_models import ALL, NORMS

TEXT = "The python's owner walked by the river"
by_model = pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in ALL)])


def contributed(
    service: EncoderService, model: str, pair: str | None = None
) -> tuple[EmbeddingParts, Mapping[str, Contribution]]:
    parts = service.embedding_parts(model, TEXT, pair=pair)
    return parts, contributions(parts, normalization_of(model, service, parts))


def plain(model: str, tiny_root: Path, bundled_folder: Path) -> tuple[Any, Any]:
    """Tokenizer and model as plain transformers loads them."""
    folder = bundled_folder if model == BUNDLED_ID else tiny_root / model.split(":")[1]
    return read_plain(folder, attn_implementation="eager")


@pytest.mark.parametrize("pair", [None, "a green bank"])
@by_model
def test_the_sum_in_numpy_is_the_layer_0_of_plain_transformers(
    model: str,
    pair: str | None,
    tiny_service: EncoderService,
    tiny_root: Path,
    bundled_folder: Path,
) -> None:
    parts = tiny_service.embedding_parts(model, TEXT, pair=pair)
    normalization = normalization_of(model, tiny_service, parts)
    rows = list(summands(parts).values())
    ours = rebuild(rows, normalization)
    tokenizer, network = plain(model, tiny_root, bundled_folder)
    batch = tokenizer(
        *([TEXT] if pair is None else [TEXT, pair]),
        return_token_type_ids=tiny_service.load(model).has_segments,  # ALBERT's has them on request
        return_tensors="pt",
    )
    with torch.inference_mode():
        theirs = network(**batch, output_hidden_states=True).hidden_states[0][0].numpy()
    assert ours.dtype == np.float32
    assert np.abs(ours - theirs).max() <= 1e-6 * max(1.0, np.abs(theirs).max())
    for left_out in range(len(rows)):  # the agreement is not vacuous
        others = rows[:left_out] + rows[left_out + 1 :]
        without = rebuild(others or [np.zeros_like(rows[0])], normalization)
        assert np.abs(without - theirs).max() > 1e-4


def test_shares_are_projections_of_either_sign(service: EncoderService) -> None:
    parts = service.embedding_parts(BUNDLED_ID, TEXT)
    against = replace(parts, position=-0.5 * parts.word, total=0.5 * parts.word, segment=None)
    assert shares(against)["position"] == pytest.approx(-1, abs=1e-5)
    assert shares(against)["word"] == pytest.approx(2, abs=1e-5)
    zeros = np.zeros_like(parts.word)
    nothing = replace(parts, word=zeros, position=zeros, segment=None, total=zeros)
    assert all((share == 0).all() for share in shares(nothing).values())


@by_model
def test_contributions_are_as_plain_torch_says(
    model: str, tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path
) -> None:
    parts, measured = contributed(tiny_service, model)
    np.testing.assert_allclose(sum(part.share for part in measured.values()), 1, atol=1e-5)
    _, network = plain(model, tiny_root, bundled_folder)
    project = getattr(network, "embeddings_project", None) or getattr(
        network.encoder, "embedding_hidden_mapping_in", None
    ) if parts.projected else torch.nn.Identity()  # fmt: skip
    sizes = np.linalg.norm(parts.total, axis=1)
    lengths = np.linalg.norm(parts.output, axis=1)
    assert set(measured) == set(summands(parts))
    norm = NORMS.get(model.removeprefix("folder:"), "LayerNorm")
    normalize = getattr(network.embeddings, norm) if norm else torch.nn.Identity()
    with torch.inference_mode():
        for name, rows in summands(parts).items():
            rest = torch.tensor(parts.total - rows)
            without = project(normalize(rest)).numpy()
            away = np.linalg.norm(without - parts.output, axis=1)
            both = np.maximum(lengths * np.linalg.norm(without, axis=1), 1e-24)
            cosine = (without * parts.output).sum(axis=1) / both
            along = (rows * parts.total).sum(axis=1) / sizes**2
            part = measured[name]
            np.testing.assert_allclose(part.share, along, atol=1e-5)
            np.testing.assert_allclose(part.moved, away / lengths, atol=1e-4)
            np.testing.assert_allclose(part.turned, 1 - cosine, atol=1e-4)
            np.testing.assert_allclose(part.norm, np.linalg.norm(rows, axis=1), atol=1e-5)


def test_a_row_that_is_the_same_for_every_token_is_constant(service: EncoderService) -> None:
    assert constant_parts(service.embedding_parts(BUNDLED_ID, TEXT)) == ["segment"]
    assert constant_parts(service.embedding_parts(BUNDLED_ID, TEXT, pair="a bank")) == []
