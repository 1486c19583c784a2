"""The position table: its rows compared, beside sklearn and the formula, in words and pictures."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer.controls import PAGE
from contextlens.features.embedding_layer.position_table import (
    compare_positions,
    sinusoid,
)
from contextlens.features.embedding_layer.positions import (
    Positions,
    drawn_positions,
    mean_cosine,
)
from contextlens.ui.state.view import DEFAULT
from tests.features.embedding_layer.sums import TRAINED, UNTRAINED, Chance, Draw, keys_of, on
from tests.support.claims import unreached


@pytest.fixture(scope="module")
def table(service: EncoderService) -> np.ndarray:
    return service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")


@pytest.mark.parametrize("n", [None, 300])
@pytest.mark.parametrize("first", [0, 2])
def test_the_curve_is_sklearn_s(table: np.ndarray, first: int, n: int | None) -> None:
    table = table[:n]  # more rows than dimensions, or fewer
    statistics, rows = compare_positions(table, first), table[first:].astype(np.float64)
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


@pytest.mark.parametrize("distance", [1, 50, 511])
def test_mean_cosines_are_those_of_sklearn(table: np.ndarray, distance: int) -> None:
    expected = np.diagonal(cosine_similarity(table.astype(np.float64)), distance).mean()
    assert mean_cosine(table, distance) == pytest.approx(expected, abs=1e-6)


def test_a_long_table_takes_memory_for_its_rows_alone() -> None:
    rows = np.random.default_rng(0).normal(size=(20_000, 8)).astype(np.float32)
    tracemalloc.start()
    result = Positions(rows, compare_positions(rows, 0), drawn_positions(DEFAULT, 20_000), TRAINED)
    assert result.claims()
    assert len(result.figure().data[0].z) <= 128
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000_000  # all cosines would take 1,600 MB


@pytest.mark.parametrize("rows", [np.zeros((3, 4)), np.ones((1, 4)), np.ones((2, 4))], ids=str)
def test_tables_without_any_spread_are_no_error(rows: np.ndarray) -> None:
    statistics = compare_positions(rows.astype(np.float32), 0)
    assert statistics.curve.shape == (len(rows), 2)
    assert np.isfinite(statistics.curve).all()
    assert statistics.explained == (0, 0)


def test_positions_are_drawn_in_steps() -> None:
    assert drawn_positions(DEFAULT, 512) == range(0, 512, 4)
    few = on(positions="First 64")
    assert drawn_positions(few, 512) == range(64)
    assert drawn_positions(few, 40) == drawn_positions(DEFAULT, 40) == range(40)


def test_positions_keep_their_numbers_when_only_some_are_drawn() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    statistics, cosines = compare_positions(rows, 0), cosine_similarity(rows.astype(np.float64))
    result = Positions(rows, statistics, range(0, 12, 4), TRAINED)
    (trace,) = result.figure().data
    assert (trace.x0, trace.dx, trace.y0, trace.dy) == (0, 4, 0, 4)
    np.testing.assert_allclose(trace.z, cosines[::4, ::4], atol=1e-5)
    figure = result.curve()
    np.testing.assert_allclose(figure.data[0].x, statistics.curve[:, 0], atol=1e-5)
    assert [note.text for note in figure.layout.annotations] == ["0", "1", "10", "11"]
    assert len(Positions(rows, statistics, range(5), TRAINED).curve().data[0].x) == 5


def check_positions(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n, first = chance.choice((1, 2, 3, 4, 20, 60)), chance.choice((0, 0, 1, 2))
    rows = draw.normal(size=(n + first, chance.choice((2, 3, 6))))
    rows += chance.choice((0, 3)) * draw.normal(size=(1, rows.shape[1]))
    rows = rows.cumsum(axis=0) if chance.random() < 0.4 else rows
    if chance.random() < 0.2:
        rows = rows[:1] * np.where(np.arange(n + first) % 2, 1, -1)[:, None]  # neighbours opposite
    rows = (np.ones_like(rows) if chance.random() < 0.1 else rows).astype(np.float32)
    statistics, state = compare_positions(rows, first), chance.choice((TRAINED, UNTRAINED))
    result = Positions(rows[first:], statistics, range(0, n, chance.choice((1, 2))), state)
    claims, sure, notes = result.claims(), result.sure(), result.notes()
    title, curve = result.title(), result.curve_title()
    assert [note.numbers["step"] for note in notes] == [2] * (result.drawn.step == 2)
    yield from [title, curve, *claims, *sure, *notes]
    if n < 3:
        assert title.key.endswith(".few")
        assert [claim.key for claim in claims] == [f"{PAGE}.positions.few"]
        assert claims[0].numbers == {"n": n}
        return
    main, in_curve, *cautions = claims
    used = rows[first:].astype(np.float64)
    units = used / np.linalg.norm(used, axis=1, keepdims=True)
    distance = min(50, n - 1)
    near, far = (np.mean([units[i] @ units[i + k] for i in range(n - k)]) for k in (1, distance))
    expected = {"near": near, "far": far, "distance": distance}
    assert main.numbers == pytest.approx(expected, abs=1e-5)
    if abs(abs(near - far) - 0.1) > 1e-5:
        verdict = "even" if abs(near - far) < 0.1 else "nearer" if near > far else "farther"
        assert main.key == f"{PAGE}.positions.{verdict}"
        assert title.numbers == {name: main.numbers[name] for name in ("near", "far")}
    squares = np.linalg.svd(used - used.mean(axis=0), compute_uv=False) ** 2
    share = squares[:2].sum() / squares.sum() if squares.sum() > 1e-9 else 0
    assert in_curve.numbers["share"] == curve.numbers["share"] == pytest.approx(share, abs=1e-5)
    assert in_curve.key.endswith("curve.some" if share else "curve.none")
    assert [claim.key for claim in cautions] == ([] if state is TRAINED else [f"{PAGE}.untrained"])
    assert [claim.numbers["first"] for claim in sure] == ([first] if first else [])


def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead() -> None:
    assert not unreached(f"{PAGE}.positions", keys_of(check_positions, 500))
