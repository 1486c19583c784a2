"""The numbers of a model's arrays, against torch itself."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from components.core import EncoderService
from components.features.anatomy.measures import evenly_spaced, weight_statistics
from tests.features.anatomy.measures.models import MODELS, direct, made

by_model = pytest.mark.parametrize("model", MODELS)


@pytest.mark.slow
@by_model
def test_statistics_are_torchs(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str
) -> None:
    own = dict(direct(model, tiny_root, bundled_folder).named_parameters())
    made(tiny_service, model)
    for name, value in list(own.items())[-10:]:
        ours, theirs = weight_statistics(tiny_service.matrix(model, name)), value.detach().double()
        found = (ours.mean, ours.std, ours.low, ours.high, ours.norm)
        wanted = (
            theirs.mean(), theirs.std(correction=0), theirs.min(), theirs.max(), theirs.norm()
        )  # fmt: skip
        assert found == pytest.approx([float(w) for w in wanted], abs=1e-9)
        assert ours.counts.sum() == value.numel()
        if value.ndim == 2:
            singular = torch.linalg.svdvals(theirs).numpy()
            np.testing.assert_allclose(ours.singular, singular, atol=1e-5 * singular[0])
            assert np.linalg.norm(ours.random) == pytest.approx(ours.norm)
        else:
            assert not ours.singular.size


def test_a_random_matrix_looks_like_the_random_one() -> None:
    given_array = np.random.default_rng(7).normal(size=(120, 80)).astype(np.float32)
    stats = weight_statistics(given_array)
    np.testing.assert_allclose(stats.singular, stats.random, rtol=0, atol=1.0)
    assert abs(stats.n_for(0.9) - stats.n_for(0.9, stats.random)) <= 2


def test_one_direction_holds_everything_in_a_matrix_of_rank_one() -> None:
    stats = weight_statistics(np.outer(np.arange(1, 9), np.ones(5)).astype(np.float32))
    assert stats.n_for(0.9) == stats.n_for(1.0) == 1


@pytest.mark.parametrize("value", [0.0, 1.0, -2.5])
def test_constant_arrays_are_no_trouble(value: float) -> None:
    for shape in ((6,), (4, 3)):
        stats = weight_statistics(np.full(shape, value, np.float32))
        assert (stats.low, stats.high, stats.std) == (value, value, 0.0)
        assert np.isfinite(stats.edges).all()
        assert stats.counts.sum() == math.prod(shape)


def test_layernorm_weights_are_shown_around_their_own_middle() -> None:
    stats = weight_statistics((1 + np.random.default_rng(0).normal(0, 0.01, 500)).astype("f4"))
    assert 0.9 < stats.edges[0] < 1 < stats.edges[-1] < 1.1


@given(n_rows=st.integers(1, 5000), n_columns=st.integers(1, 50), most=st.integers(50, 10_000))
def test_sampled_rows_are_evenly_spaced_and_within_the_bound(
    n_rows: int, n_columns: int, most: int
) -> None:
    rows = evenly_spaced(n_rows, n_columns, most)
    assert rows[0] == 0
    assert rows[-1] < n_rows
    assert len(set(np.diff(rows))) <= 1
    assert len(rows) * n_columns <= most
