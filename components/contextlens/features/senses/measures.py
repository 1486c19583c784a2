"""Planes for a word's vectors at each layer, and groups of the vectors at one layer.

Pure functions of numpy arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import scaled, silhouette
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.maps.clusters import cluster

# --- A picture of a word's occurrences at every layer


@dataclass(frozen=True, eq=False)
class Placed:
    """Occurrences on a plane at one layer.

    Attributes:
        places: (n, 2) float32.
        middle: (n_dims,) the mean that was subtracted.
        axes: (2, n_dims) the directions of the two coordinates.
        held: the share of the variance that the plane keeps; nan if all vectors are equal.
    """

    places: FloatArray
    middle: FloatArray
    axes: FloatArray
    held: float

    def put(self, unit: FloatArray) -> FloatArray:
        """(2,) the position of another scaled vector."""
        place: FloatArray = (self.axes @ (unit - self.middle)).astype(np.float32)
        return place


def first_placed(units: FloatArray) -> Placed:
    """The first two principal components of scaled vectors, the longer one horizontal."""
    n, n_dims = units.shape
    middle = units.mean(axis=0, dtype=np.float64) if n else np.zeros(n_dims)
    axes, held = np.zeros((2, n_dims)), float("nan")
    pca = principal(units, 2)
    if pca is not None:
        axes[: len(pca.components_)] = pca.components_
        held = float(pca.explained_variance_ratio_.sum())
    return _placed(units, middle, axes, held)


def principal(units: FloatArray, n: int) -> Any | None:
    """scikit-learn's fitted PCA with at most n components; None if all vectors are equal."""
    from sklearn.decomposition import PCA

    most = min(n, len(units) - 1, units.shape[1])
    if most < 1 or not np.ptp(units, axis=0).any():
        return None
    solver = "covariance_eigh" if len(units) > units.shape[1] else "auto"  # a tenth of the time
    return PCA(most, svd_solver=solver, random_state=_SEED).fit(units.astype(np.float64))


def next_placed(units: FloatArray, neighbour: Placed) -> Placed:
    """The plane of an adjacent layer, rotated or mirrored to fit the given one best.

    Orthogonal Procrustes (Schönemann 1966).
    """
    placed = first_placed(units)
    left, _, right = np.linalg.svd(placed.places.T.astype(np.float64) @ neighbour.places)
    turned = (left @ right).T @ placed.axes
    return _placed(units, placed.middle, turned, placed.held)


def _placed(units: FloatArray, middle: NDArray[Any], axes: NDArray[Any], held: float) -> Placed:
    places = ((units - middle) @ axes.T).astype(np.float32)
    return Placed(places, middle.astype(np.float32), axes.astype(np.float32), held)


# --- Groups of a word's occurrences at one layer

N_COMPONENTS = 10
"""Maximum number of principal components for HDBSCAN."""
MOST_GROUPS = 12
MOST_TRIED = 6
"""Maximum number of groups when searching for the best number."""
N_SHUFFLES = 100
_SEED = 0
_LEAST = 5  # vectors in a group, on average
_MANY = 500  # with more vectors, k-means has fewer starts, and `best_k` uses a sample
_HIGH = 0.95


def components_of(units: FloatArray, n: int = N_COMPONENTS) -> FloatArray:
    """(n_vectors, at most n) float32: the vectors on their first principal components."""
    pca = principal(units, n)
    if pca is None:
        return np.zeros((len(units), 1), dtype=np.float32)
    places: FloatArray = pca.transform(units.astype(np.float64)).astype(np.float32)
    return places


def dense_groups(units: FloatArray) -> IntArray:
    """(n,) the group of each vector by HDBSCAN, as for maps: 0 the largest, -1 for none.

    A group has at least 5 members, or half the square root of the number of vectors if that is
    more.
    """
    return cluster(components_of(units))


def best_k(units: FloatArray) -> int:
    """The number of groups, from 2 to `MOST_TRIED`, with the highest silhouette; 0 for too few.

    Groups have five members or more on average. k-means runs on the components that HDBSCAN uses;
    of more than 500 vectors, a sample with a fixed seed is used.
    """
    if len(units) > _MANY:
        rows = np.random.default_rng(_SEED).choice(len(units), _MANY, replace=False)
        units = units[np.sort(rows)]
    n, places = len(np.unique(units, axis=0)), components_of(units)
    scores = {
        k: silhouette(units, _k_means(places, k, n_starts=3))
        for k in range(2, min(MOST_TRIED, n // _LEAST) + 1)
    }
    return max(scores, key=lambda k: scores[k]) if scores else 0


def k_groups(units: FloatArray, k: int) -> IntArray:
    """(n,) the group of each vector by seeded k-means into k groups: 0 the largest.

    It uses scaled vectors, so that distances rank as cosines do.

    Raises:
        RequestError: there are fewer different vectors than groups.
    """
    n = len(np.unique(units, axis=0))
    if not 1 <= k <= n:
        raise RequestError(
            f"{n} different vectors cannot make {k} groups. Choose {n} groups at most."
        )
    return _k_means(units, k, n_starts=10 if len(units) <= _MANY else 3)


def _k_means(vectors: FloatArray, k: int, *, n_starts: int) -> IntArray:
    from sklearn.cluster import KMeans

    labels = KMeans(k, n_init=n_starts, random_state=_SEED).fit(vectors.astype(np.float64)).labels_
    numbers, counts = np.unique(labels, return_counts=True)
    new = np.zeros(k, dtype=np.int64)
    new[numbers[np.lexsort((numbers, -counts))]] = np.arange(len(numbers))
    groups: IntArray = new[labels]
    return groups


def agreement(groups: IntArray, codes: IntArray) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985) of groups and senses; nan for under two labels.

    Only labelled occurrences count. Those in no group form one more group, so that a grouping
    which leaves most out does not score well.
    """
    from sklearn.metrics import adjusted_rand_score

    is_labelled = codes >= 0
    if is_labelled.sum() < 2:
        return float("nan")
    return float(adjusted_rand_score(codes[is_labelled], groups[is_labelled]))


def shuffled_agreement(groups: IntArray, codes: IntArray) -> float:
    """The agreement that 5 of 100 shufflings of the labels reach; nan for under two labels."""
    is_labelled = codes >= 0
    if is_labelled.sum() < 2:
        return float("nan")
    random = np.random.default_rng(_SEED)
    labels, labelled_groups = codes[is_labelled], groups[is_labelled]
    values = [agreement(labelled_groups, random.permutation(labels)) for _ in range(N_SHUFFLES)]
    return float(np.quantile(values, _HIGH))


def central(units: FloatArray, groups: IntArray, group: int, n: int = 3) -> list[int]:
    """The members of a group nearest to its scaled mean, nearest first."""
    members = np.flatnonzero(groups == group)
    cosines = units[members] @ scaled(units[members].mean(axis=0))
    chosen: list[int] = members[np.argsort(-cosines, kind="stable")[:n]].tolist()
    return chosen
