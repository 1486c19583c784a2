"""The embedding layer computed again in NumPy, beside torch, transformers and sklearn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from transformers import AutoModel, AutoTokenizer
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import EmbeddingParts
from contextlens.features.embedding_layer.compute import normalization_of
from contextlens.features.embedding_layer.measures import (
    Contribution,
    compare_positions,
    constant_parts,
    contributions,
    distance_means,
    part_rows,
    random_band,
    rebuild,
    row_cosines,
    shared_tokens,
    shares,
    sinusoid,
    summands,
)
from tests.support.tiny_models import ALL

TEXT = "The python's owner walked by the river"
RANDOM = np.random.default_rng(0)
by_model = pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in ALL)])


# The sum


def contributed(
    service: EncoderService, model: str, pair: str | None = None
) -> tuple[EmbeddingParts, Mapping[str, Contribution]]:
    parts = service.embedding_parts(model, TEXT, pair=pair)
    return parts, contributions(parts, normalization_of(model, service, parts))


def plain(model: str, tiny_root: Path, bundled_folder: Path) -> tuple[Any, Any]:
    """Tokenizer and model as plain transformers loads them."""
    folder = bundled_folder if model == BUNDLED_ID else tiny_root / model.split(":")[1]
    network = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return AutoTokenizer.from_pretrained(folder), network


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
        without = rebuild(rows[:left_out] + rows[left_out + 1 :], normalization)
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
    with torch.inference_mode():
        for name, rows in summands(parts).items():
            rest = torch.tensor(parts.total - rows)
            without = project(network.embeddings.LayerNorm(rest)).numpy()
            away = np.linalg.norm(without - parts.output, axis=1)
            both = lengths * np.linalg.norm(without, axis=1)
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


def test_the_table_names_the_rows_that_were_added(tiny_service: EncoderService) -> None:
    parts, measured = contributed(tiny_service, BUNDLED_ID, "a bank")
    rows = part_rows(parts, measured, parts.tokens.tokens)
    position, segment = (
        tiny_service.matrix(BUNDLED_ID, f"embeddings.{name}_embeddings.weight")
        for name in ("position", "token_type")
    )
    for i, row in enumerate(rows):
        word = tiny_service.word_rows(BUNDLED_ID, [row["word row (ID)"]])[0]
        norms = [row[f"{name} norm"] for name in ("word", "position", "segment")]
        added = (word, position[row["position row"]], segment[row["segment row"]])
        assert norms == pytest.approx(list(map(np.linalg.norm, added)))
        assert row["position row"] == i
    assert [row["segment row"] for row in rows][-3:] == [1, 1, 1]
    parts, measured = contributed(tiny_service, "folder:distilbert")
    row = part_rows(parts, measured, parts.tokens.tokens)[0]
    assert row["segment row"] is None
    assert "segment norm" not in row


# Rows of the word table


@pytest.mark.parametrize("text", ["Programming in python is fun", "", "🐍", "[SEP]", "word " * 600])
def test_the_ends_have_the_same_word_row_in_every_sentence(
    text: str, service: EncoderService
) -> None:
    one, other = (service.embedding_parts(BUNDLED_ID, t) for t in ("I love my pet python", text))
    shared = {token.token_id: token for token in shared_tokens(one, other)}
    assert {101, 102} <= set(shared)
    assert {token.word for token in shared.values()} == {0}


def test_a_common_token_elsewhere_differs_at_layer_0_only(service: EncoderService) -> None:
    one = service.embedding_parts(BUNDLED_ID, "python is a language")
    other = service.embedding_parts(BUNDLED_ID, "a language is python")
    shared = shared_tokens(one, other)
    assert len(shared) == 6
    for token in shared:
        assert token.word == 0
        assert (token.output == 0) == (token.first == token.second)
    bare = replace(one, tokens=replace(one.tokens, token_ids=np.array([1, 2, 3, 4, 5, 6])))
    assert shared_tokens(one, bare) == []


def test_cosines_of_rows_and_of_random_pairs_are_sklearn_s() -> None:
    one, other = RANDOM.normal(size=(4, 9)), RANDOM.normal(size=(7, 9))
    one[2] = 0
    np.testing.assert_allclose(row_cosines(one, other), cosine_similarity(one, other), atol=1e-6)
    rows = RANDOM.normal(size=(400, 20)).astype(np.float32)
    cosines = np.diag(cosine_similarity(rows[:-1], rows[1:]))
    band = random_band(rows)
    low, high = np.percentile(cosines, [5, 95])
    assert (band.low, band.mean, band.high) == pytest.approx((low, cosines.mean(), high), abs=1e-5)
    assert random_band(rows[:1]).mean == 0


# Positions


@pytest.fixture(scope="module")
def table(service: EncoderService) -> np.ndarray:
    return service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")


@pytest.mark.parametrize("first", [0, 2])
def test_cosines_and_curve_are_sklearn_s(table: np.ndarray, first: int) -> None:
    statistics, rows = compare_positions(table, first), table[first:].astype(np.float64)
    np.testing.assert_allclose(statistics.cosines, cosine_similarity(rows), atol=1e-5)
    oracle = PCA(2, svd_solver="full").fit(rows)
    expected = oracle.transform(rows)
    expected *= np.sign((statistics.curve * expected).sum(axis=0))
    np.testing.assert_allclose(statistics.curve, expected, atol=1e-4)
    assert statistics.explained == pytest.approx(oracle.explained_variance_ratio_, abs=1e-5)
    assert abs(statistics.fixed) < 0.1
    assert not statistics.is_fixed
    assert compare_positions(0.02 * sinusoid(64, 32), first).is_fixed


def test_the_formula_is_the_one_that_transformers_has() -> None:
    expected = torch.empty(40, 24)
    create_sinusoidal_embeddings(40, 24, expected)
    np.testing.assert_allclose(sinusoid(40, 24), expected.numpy(), atol=1e-5)


def test_distance_means_are_those_of_the_diagonals() -> None:
    cosines = np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]], np.float32)
    np.testing.assert_allclose(distance_means(cosines), [1, 0.3, 0.2], atol=1e-6)


@pytest.mark.parametrize("rows", [np.zeros((3, 4)), np.ones((1, 4)), np.ones((2, 4))], ids=str)
def test_tables_without_any_spread_are_no_error(rows: np.ndarray) -> None:
    statistics = compare_positions(rows.astype(np.float32), 0)
    assert statistics.curve.shape == (len(rows), 2)
    assert np.isfinite(statistics.curve).all()
    assert statistics.explained == (0, 0)
