"""Clusters of a map's points, labelled with the words that are typical of each.

Clusters are found on the map, not in the model's space, because they name what a reader sees on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.maps.points import Points
from contextlens.maps.typical import typical_of

__all__ = [
    "MAX_CLUSTERED",
    "MIN_LIFT",
    "MIN_SHARE",
    "RISK",
    "ClusterLabel",
    "cluster",
    "cluster_labels",
]

MAX_CLUSTERED = 15_000
"""The most points that HDBSCAN gets; its time grows with their square, and is 0.6 s for these."""
MIN_SHARE, MIN_LIFT, RISK = 0.1, 3.0, 0.05
"""Of a word that names a cluster: the least share of its documents, its least multiple of the share
outside, and the risk that a word that is equally frequent everywhere names it."""
_SEED = 0
_N_RANKED = 12  # words of which the characteristic ones are chosen
_MIN_SAMPLES = 5  # neighbours that make a place dense; HDBSCAN's default is the least cluster size


@dataclass(frozen=True)
class ClusterLabel:
    """The label of a cluster and its place.

    Attributes:
        cluster: the number of the cluster.
        words: the most typical words, most typical first; empty if none is characteristic.
        place: the median of its points, one number for each coordinate of the map.
        n_points: the number of its points.
    """

    cluster: int
    words: tuple[str, ...]
    place: tuple[float, ...]
    n_points: int

    @property
    def text(self) -> str:
        """The words in one line."""
        return " · ".join(self.words)


def cluster(coordinates: FloatArray, *, least: int | None = None) -> IntArray:
    """(n_points,) int64: the cluster of each point; 0 is the largest, -1 means none.

    scikit-learn's HDBSCAN (Campello, Moulavi and Sander 2013) runs on the map's coordinates. If
    there are more than `MAX_CLUSTERED` points, it clusters a seeded sample, and each other point
    joins the cluster of the nearest sampled point. The same coordinates give the same clusters.

    Args:
        coordinates: (n_points, n_coordinates), finite.
        least: the smallest number of points in a cluster; by default 5, or half the square root of
            the number of points if that is more.

    Raises:
        RequestError: the coordinates are not a finite table, or `least` is below 2.
    """
    places = _checked(coordinates)
    least_size = max(5, round(len(places) ** 0.5 / 2)) if least is None else least
    if least_size < 2:
        raise RequestError(f"A cluster has at least 2 points, and {least_size} was asked for.")
    if len(places) <= MAX_CLUSTERED:
        return _by_size(_hdbscan(places, least_size))
    chosen = np.random.default_rng(_SEED).choice(len(places), MAX_CLUSTERED, replace=False)
    chosen.sort()
    sampled = _hdbscan(places[chosen], max(2, round(least_size * MAX_CLUSTERED / len(places))))
    return _by_size(sampled[_nearest(places[chosen], places)])


def cluster_labels(
    points: Points, coordinates: FloatArray, clusters: IntArray, *, n_words: int = 3
) -> tuple[ClusterLabel, ...]:
    """Return the label and place of each cluster of a map, the largest cluster first.

    A point that is a word or token stands for a document: its sentence and its own name, which
    weighs as much as the sentence. A function word or a punctuation mark labels a cluster only if
    it is the name of a fifth of the cluster's points.

    A word labels a cluster only if it is both frequent and characteristic there: it is in at least
    `MIN_SHARE` of its documents, `MIN_LIFT` times as often as in the documents outside, and
    more often than chance: by the hypergeometric test of its documents (Fisher 1935) at `RISK`,
    divided by the number of terms on the map, any of which could have come up (Bonferroni).
    Many groups have no such word, and then no name.

    Raises:
        RequestError: the numbers of coordinates or clusters and of points differ.
    """
    places = _checked(coordinates)
    labels = np.asarray(clusters, dtype=np.int64)
    if len(places) != points.n_points:
        raise RequestError(
            f"{points.n_points} points need as many coordinates; {len(places)} were given."
        )
    names = () if points.unit == "sentences" else points.names
    ranked = typical_of(points.terms, points.sentence, labels, names=names, n_words=_N_RANKED)
    documents_with, n_terms = _documents_with(points), len({*points.terms.terms, *names})
    all_labels = [
        ClusterLabel(
            cluster=number,
            words=tuple(
                islice(
                    _characteristic(labels == number, ranked[number], documents_with, n_terms),
                    n_words,
                )
            ),
            place=tuple(float(v) for v in np.median(places[labels == number], axis=0)),
            n_points=int((labels == number).sum()),
        )
        for number in ranked
    ]
    return tuple(sorted(all_labels, key=lambda label: (-label.n_points, label.cluster)))


def _characteristic(
    inside: NDArray[np.bool_],
    words: Sequence[str],
    documents_with: Callable[[str], NDArray[np.bool_]],
    n_terms: int,
) -> Iterator[str]:
    """The words that are frequent in a cluster's documents and clearly rarer in all others."""
    from scipy.stats import hypergeom

    n, n_inside = len(inside), int(inside.sum())
    for word in words:
        has_word = documents_with(word)
        total, within = int(has_word.sum()), int(has_word[inside].sum())
        share, outside = within / n_inside, (total - within) / max(1, n - n_inside)
        is_frequent = share >= max(MIN_SHARE, MIN_LIFT * outside)
        if is_frequent and hypergeom.sf(within - 1, n, total, n_inside) * n_terms <= RISK:
            yield word


def _documents_with(points: Points) -> Callable[[str], NDArray[np.bool_]]:
    """A function from a word to (n_points,) True where it is in the sentence, or is the name."""
    columns = points.terms.counts.tocsc()
    names = () if points.unit == "sentences" else points.names
    ids: dict[str, int] = {}
    codes = np.array([ids.setdefault(name.casefold(), len(ids)) for name in names], dtype=np.int64)

    def documents_with(word: str) -> NDArray[np.bool_]:
        texts = np.zeros(points.terms.n_texts, dtype=np.bool_)
        column = points.terms.ids.get(word)
        if column is not None:
            start, end = columns.indptr[column : column + 2]
            texts[columns.indices[start:end]] = True
        has_word = texts[points.sentence]
        if word in ids:
            has_word |= codes == ids[word]
        return has_word

    return documents_with


def _checked(coordinates: FloatArray) -> FloatArray:
    places = np.asarray(coordinates, dtype=np.float32)
    if places.ndim != 2 or not np.isfinite(places).all():
        raise RequestError(
            "Coordinates must be finite numbers, a row for each point and a column for each axis; "
            f"given was an array of shape {places.shape}. Draw the map again."
        )
    return places


def _hdbscan(places: FloatArray, least: int) -> IntArray:
    from sklearn.cluster import HDBSCAN

    if len(places) < max(least, _MIN_SAMPLES):
        return np.full(len(places), -1, dtype=np.int64)
    clusterer = HDBSCAN(min_cluster_size=least, min_samples=_MIN_SAMPLES, copy=True)
    labels: IntArray = clusterer.fit(places).labels_.astype(np.int64)
    return labels


def _nearest(known: FloatArray, places: FloatArray) -> IntArray:
    """Return the row of the nearest known place for each place."""
    from sklearn.neighbors import KDTree

    rows: IntArray = KDTree(known).query(places, k=1, return_distance=False)[:, 0]
    return rows


def _by_size(labels: IntArray) -> IntArray:
    """Return the same clusters, renumbered so that 0 is the largest."""
    numbers, counts = np.unique(labels[labels >= 0], return_counts=True)
    renumbered = np.full(len(numbers) + 1, -1, dtype=np.int64)  # the last entry is for -1
    renumbered[numbers[np.lexsort((numbers, -counts))]] = np.arange(len(numbers))
    return renumbered[labels]
