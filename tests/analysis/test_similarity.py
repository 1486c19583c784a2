from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.baseline import Band
from contextlens.analysis.similarity import (
    Comparison,
    Item,
    Pair,
    compare,
    cosine_matrix,
    pair_rows,
)

shapes = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 8))
some_vectors = hnp.arrays(
    np.float32, shapes, elements=st.floats(-1e6, 1e6, width=32, allow_subnormal=False)
)
# scikit-learn takes lengths below 2e-15 for zero.
ordinary_vectors = hnp.arrays(
    np.float32, shapes, elements=st.integers(-1000, 1000).map(lambda n: np.float32(n / 7))
)


def random_vectors(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# The cosine matrix


@given(ordinary_vectors)
@settings(deadline=None)
def test_cosines_are_scikit_learns(vectors: np.ndarray) -> None:
    cosines = cosine_matrix(vectors)
    assert cosines.dtype == np.float32
    for rows, actual in zip(vectors, cosines, strict=True):
        expected = cosine_similarity(rows.astype(np.float64))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


def test_cosines_are_scipys() -> None:
    vectors = random_vectors(7, 9, 384)
    for rows, actual in zip(vectors, cosine_matrix(vectors), strict=True):
        doubles = rows.astype(np.float64)
        expected = 1 - cdist(doubles, doubles, "cosine")
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


@given(some_vectors)
@settings(deadline=None)
def test_cosines_are_symmetric_within_bounds_and_one_on_the_diagonal(vectors: np.ndarray) -> None:
    cosines = cosine_matrix(vectors)
    np.testing.assert_array_equal(cosines, np.swapaxes(cosines, 1, 2))
    assert np.abs(cosines).max() <= 1
    diagonal = np.diagonal(cosines, axis1=1, axis2=2)
    np.testing.assert_array_equal(diagonal, vectors.any(axis=-1).astype(np.float32))


@given(some_vectors, st.floats(1e-3, 1e3))
@settings(deadline=None)
def test_length_does_not_count_and_the_opposite_direction_is_minus(
    vectors: np.ndarray, factor: float
) -> None:
    both = np.concatenate([vectors, vectors.astype(np.float64) * -factor], axis=1)
    n = vectors.shape[1]
    cosines = cosine_matrix(both)
    np.testing.assert_allclose(cosines[:, :n, n:], -cosines[:, :n, :n], rtol=0, atol=1e-6)


def test_a_vector_of_length_zero_has_cosine_zero_with_everything() -> None:
    vectors = np.array([[0, 0], [3, 4], [0, 0]], np.float32)
    expected = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
    np.testing.assert_array_equal(cosine_matrix(vectors), expected)
    np.testing.assert_array_equal(cosine_similarity(vectors), expected)


def test_tiny_and_huge_vectors_keep_their_direction() -> None:
    vectors = np.array([[1e-38, 0], [3e38, 3e38], [0, 1e-30]], np.float32)
    half = np.sqrt(0.5)
    expected = [[1, half, 0], [half, 1, half], [0, half, 1]]
    np.testing.assert_allclose(cosine_matrix(vectors), expected, rtol=0, atol=1e-6)


# Comparisons


def items(n_sentences: int, n_references: int) -> list[Item]:
    own = [Item("ABCDEFGH"[i], "python", "sentence", i) for i in range(n_sentences)]
    names = [f"reference {i}" for i in range(n_references)]
    return [*own, *(Item("", name, "reference", n_sentences + i) for i, name in enumerate(names))]


@pytest.fixture
def comparison() -> Comparison:
    return compare(
        items(3, 2), random_vectors(5, 4, 16), random_vectors(5, 8, seed=1), layers=range(4)
    )


def test_every_layer_has_its_own_cosines(comparison: Comparison) -> None:
    vectors = random_vectors(5, 4, 16)
    assert comparison.layers == (0, 1, 2, 3)
    assert comparison.cosines.shape == (4, 5, 5)
    assert not comparison.centred
    np.testing.assert_array_equal(comparison.vectors, vectors)
    for layer in range(4):
        np.testing.assert_allclose(
            comparison.cosines[layer], cosine_similarity(vectors[:, layer]), rtol=0, atol=1e-6
        )
    np.testing.assert_allclose(
        comparison.static, cosine_similarity(random_vectors(5, 8, seed=1)), rtol=0, atol=1e-6
    )


def test_a_centred_cosine_takes_the_mean_off_both_vectors_first() -> None:
    vectors, static = random_vectors(3, 2, 6) + 2, random_vectors(3, 4, seed=1) + 3
    mean, static_mean = random_vectors(2, 6, seed=2) + 2, random_vectors(4, seed=3) + 3
    centred = compare(items(2, 1), vectors, static, layers=[0, 1], centre=(mean, static_mean))
    assert centred.centred
    for layer in range(2):
        a = (vectors[0, layer] - mean[layer]).astype(np.float64)
        b = (vectors[2, layer] - mean[layer]).astype(np.float64)
        by_hand = a @ b / np.sqrt((a @ a) * (b @ b))
        assert centred.along(Pair(0, 2))[layer] == pytest.approx(by_hand, abs=1e-6)
    np.testing.assert_allclose(
        centred.static, cosine_similarity(static - static_mean), rtol=0, atol=1e-6
    )
    np.testing.assert_array_equal(centred.vectors, vectors)  # as the model gives them
    plain = compare(items(2, 1), vectors, static, layers=[0, 1])
    assert np.abs(plain.cosines - centred.cosines).max() > 0.1


@pytest.mark.parametrize("n_sentences", [0, 1, 3])
@pytest.mark.parametrize("n_references", [0, 1, 3])
def test_pairs_come_in_two_kinds(n_sentences: int, n_references: int) -> None:
    n = n_sentences + n_references
    comparison = Comparison(
        items=tuple(items(n_sentences, n_references)),
        layers=(0,),
        vectors=np.ones((n, 1, 2), np.float32),
        cosines=np.ones((1, n, n), np.float32),
        static=np.ones((n, n), np.float32),
        centred=False,
    )
    own, across = comparison.pairs("sentences"), comparison.pairs("references")
    assert own == [Pair(i, j) for i in range(n_sentences) for j in range(i + 1, n_sentences)]
    assert across == [Pair(i, j) for i in range(n_sentences) for j in range(n_sentences, n)]
    together = comparison.pairs()
    assert sorted(together, key=str) == sorted([*own, *across], key=str)
    assert together == sorted(together, key=lambda pair: (pair.first, pair.second))
    main = comparison.main_pairs(0)
    assert len(main) == len(set(main)) == min(3, len(together))
    assert set(main) <= set(together)
    assert main[:1] == (own or across)[:1]


def test_the_main_pairs_are_the_words_and_both_with_the_reference_that_tells_most() -> None:
    cosines = np.zeros((2, 4, 4), np.float32)
    cosines[1, :2, 2], cosines[1, :2, 3] = (0.5, 0.2), (0.3, 0.4)
    cosines[0, :2, 2], cosines[0, :2, 3] = (0.9, 0.8), (0.1, 0.4)
    comparison = Comparison(
        items=tuple(items(2, 2)),
        layers=(0, 1),
        vectors=np.ones((4, 2, 2), np.float32),
        cosines=cosines,
        static=np.ones((4, 4), np.float32),
        centred=False,
    )
    assert comparison.main_pairs(1) == [Pair(0, 1), Pair(0, 2), Pair(1, 2)]
    assert comparison.main_pairs(0) == [Pair(0, 1), Pair(0, 3), Pair(1, 3)]


# The table


def test_the_table_has_the_numbers_of_the_comparison(comparison: Comparison) -> None:
    rows = pair_rows(comparison, None)
    pairs = comparison.pairs()
    assert len(rows) == len(pairs)
    assert (rows[2]["first"], rows[2]["second"]) == ("A python", "reference 0")
    for row, pair in zip(rows, pairs, strict=True):
        assert list(row) == [
            "first",
            "second",
            *(f"layer {n}" for n in range(4)),
            "without context",
        ]
        assert f"{row['first']} ~ {row['second']}" == comparison.pair_name(pair)
        for layer in range(4):
            assert row[f"layer {layer}"] == comparison.cosines[layer, pair.first, pair.second]
        assert row["without context"] == comparison.static[pair.first, pair.second]
        assert all(type(value) in {str, float} for value in row.values())


def test_the_baseline_has_rows_of_its_own_in_the_table(comparison: Comparison) -> None:
    band = Band(*(np.arange(4, dtype=np.float32) / 10 + shift for shift in (-0.5, 0, 0.5)))
    rows = pair_rows(comparison, band)[len(comparison.pairs()) :]
    named = {row["second"]: [row[f"layer {n}"] for n in range(4)] for row in rows}
    assert {row["first"] for row in rows} == {"random pairs of English words"}
    assert named == {
        "5th percentile": band.low.tolist(),
        "mean": band.mean.tolist(),
        "95th percentile": band.high.tolist(),
    }


def test_layers_are_named_by_number_even_where_some_are_left_out() -> None:
    some = compare(items(2, 0), random_vectors(2, 2, 8), random_vectors(2, 8), layers=[6, 3])
    row = pair_rows(some, None)[0]
    assert row["layer 6"] == some.cosines[0, 0, 1]
    assert row["layer 3"] == some.cosines[1, 0, 1]
