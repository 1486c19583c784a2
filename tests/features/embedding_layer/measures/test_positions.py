"""Position tables beside sklearn: cosines, PCA, and the fixed formula told from learned rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

from components.core import BUNDLED_ID, EncoderService
from components.features.embedding_layer.measures import (
    compare_positions,
    distance_means,
    sinusoid,
)

NAME = "embeddings.position_embeddings.weight"


@pytest.fixture(scope="module")
def table(service: EncoderService) -> np.ndarray:
    return service.matrix(BUNDLED_ID, NAME)


def test_cosines_and_curve_are_sklearn_s(table: np.ndarray) -> None:
    look = compare_positions(table, 0)
    np.testing.assert_allclose(look.cosines, cosine_similarity(table), atol=1e-5)
    oracle = PCA(2, svd_solver="full").fit(table.astype(np.float64))
    expected = oracle.transform(table.astype(np.float64))
    for axis in range(2):
        sign = np.sign(look.curve[:, axis] @ expected[:, axis])
        np.testing.assert_allclose(sign * look.curve[:, axis], expected[:, axis], atol=1e-4)
    assert look.explained == pytest.approx(oracle.explained_variance_ratio_, abs=1e-5)


def test_rows_before_the_first_used_one_are_left_out(table: np.ndarray) -> None:
    look = compare_positions(table, 2)
    np.testing.assert_allclose(look.cosines, cosine_similarity(table[2:]), atol=1e-5)
    assert len(look.curve) == len(table) - 2


def test_the_formula_is_the_one_that_transformers_has() -> None:
    import torch

    expected = torch.empty(40, 24)
    create_sinusoidal_embeddings(40, 24, expected)
    np.testing.assert_allclose(sinusoid(40, 24), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("first", [0, 2])
def test_a_fixed_table_is_recognised_and_the_bundled_one_is_not(
    table: np.ndarray, first: int
) -> None:
    assert compare_positions(0.02 * sinusoid(64, 32), first).is_fixed
    look = compare_positions(table, first)
    assert not look.is_fixed
    assert abs(look.fixed) < 0.1


def test_distance_means_are_those_of_the_diagonals() -> None:
    cosines = np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]], np.float32)
    np.testing.assert_allclose(distance_means(cosines), [1, 0.3, 0.2], atol=1e-6)


@pytest.mark.parametrize("rows", [np.zeros((3, 4)), np.ones((1, 4)), np.ones((2, 4))], ids=str)
def test_tables_without_any_spread_are_no_error(rows: np.ndarray) -> None:
    look = compare_positions(rows.astype(np.float32), 0)
    assert look.curve.shape == (len(rows), 2)
    assert np.isfinite(look.curve).all()
    assert look.explained == (0, 0)
