"""Groups of a word's occurrences at one layer, and how far they agree with labelled senses.

HDBSCAN looks for dense places, and sees the first ten principal components of the scaled vectors.
On three it finds groups in 20 to 27 of 100 normal clouds of the shape of the bundled words', which
have none; on five in 8 or 9, on ten in 2 or 3. Occurrences of different words thrown together it
parts, on ten, exactly as they are. Where nothing is dense, as with most single words, the number of
groups is the one at which k-means parts the cloud best, by silhouette: that answers in how many
directions it leans, not how many meanings there are.
"""

from __future__ import annotations

import numpy as np

from components.analysis.separation import scaled, silhouette
from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.features.senses.measures.placing import principal
from components.maps.clusters import cluster

__all__ = [
    "MOST_GROUPS",
    "MOST_TRIED",
    "N_COMPONENTS",
    "N_SHUFFLES",
    "agreement",
    "best_k",
    "central",
    "components_of",
    "found_groups",
    "k_groups",
    "shuffled_agreement",
]

N_COMPONENTS = 10
"""Principal components that HDBSCAN sees at most."""
MOST_GROUPS = 12
MOST_TRIED = 6
"""Groups up to which the best number is looked for."""
N_SHUFFLES = 100
_SEED = 0
_LEAST = 5
_MANY = 500  # vectors from which k-means has fewer starts, and the best number is of a sample
_HIGH = 0.95


def components_of(units: FloatArray, n: int = N_COMPONENTS) -> FloatArray:
    """(n_vectors, at most n) float32: the vectors on their first principal components."""
    own = principal(units, n)
    if own is None:
        return np.zeros((len(units), 1), dtype=np.float32)
    places: FloatArray = own.transform(units.astype(np.float64)).astype(np.float32)
    return places


def found_groups(units: FloatArray) -> IntArray:
    """(n,) the group of each, 0 the largest, -1 for those in none: HDBSCAN, as maps use it.

    A group has at least 5 members, and half the square root of the number of vectors where that is
    more.
    """
    return cluster(components_of(units))


def best_k(units: FloatArray) -> int:
    """The number of groups, from 2 to `MOST_TRIED`, of the highest silhouette; 0 for too few.

    Groups have five members or more on average; they are looked for on the components that HDBSCAN
    sees, and of more than 500 vectors in a sample with a fixed seed.
    """
    if len(units) > _MANY:
        rows = np.random.default_rng(_SEED).choice(len(units), _MANY, replace=False)
        units = units[np.sort(rows)]
    n, places = len(np.unique(units, axis=0)), components_of(units)
    found = {
        k: silhouette(units, _k_means(places, k, n_starts=3))
        for k in range(2, min(MOST_TRIED, n // _LEAST) + 1)
    }
    return max(found, key=lambda k: found[k]) if found else 0


def k_groups(units: FloatArray, k: int) -> IntArray:
    """(n,) the group of each of a chosen number of groups, 0 the largest: k-means, seeded.

    Of scaled vectors, so that distances rank as cosines do.

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

    own = KMeans(k, n_init=n_starts, random_state=_SEED).fit(vectors.astype(np.float64)).labels_
    numbers, counts = np.unique(own, return_counts=True)
    new = np.zeros(k, dtype=np.int64)
    new[numbers[np.lexsort((numbers, -counts))]] = np.arange(len(numbers))
    groups: IntArray = new[own]
    return groups


def agreement(groups: IntArray, codes: IntArray) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985) of groups and senses; nan for under two.

    Over the labelled occurrences; those in no group count as one more group, so that a grouping
    which leaves most out is not praised for it.
    """
    from sklearn.metrics import adjusted_rand_score

    own = codes >= 0
    if own.sum() < 2:
        return float("nan")
    return float(adjusted_rand_score(codes[own], groups[own]))


def shuffled_agreement(groups: IntArray, codes: IntArray) -> float:
    """What the agreement reaches in 5 of 100 cases with the labels shuffled; nan for under two."""
    own = codes >= 0
    if own.sum() < 2:
        return float("nan")
    random = np.random.default_rng(_SEED)
    labels, kept = codes[own], groups[own]
    values = [agreement(kept, random.permutation(labels)) for _ in range(N_SHUFFLES)]
    return float(np.quantile(values, _HIGH))


def central(units: FloatArray, groups: IntArray, group: int, n: int = 3) -> list[int]:
    """The members of a group that are nearest to its scaled mean, nearest first."""
    members = np.flatnonzero(groups == group)
    cosines = units[members] @ scaled(units[members].mean(axis=0))
    chosen: list[int] = members[np.argsort(-cosines, kind="stable")[:n]].tolist()
    return chosen
