"""Clusters of a map's points, labelled with the words that are typical of each.

Clusters are found on the map, not in the model's space, because they name what a reader sees on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.maps.points import Points
from components.maps.typical import typical_of

__all__ = ["MAX_CLUSTERED", "ClusterLabel", "cluster", "cluster_labels"]

MAX_CLUSTERED = 15_000
"""The most points that HDBSCAN gets; its time grows with their square, and is 0.6 s for these."""
_SEED = 0
_MIN_SAMPLES = 5  # neighbours that make a place dense; HDBSCAN's default is the least cluster size


@dataclass(frozen=True)
class ClusterLabel:
    """The label of a cluster and its place.

    Attributes:
        cluster: the number of the cluster.
        words: the most typical words, most typical first; empty if the cluster has no words.
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
    words = typical_of(points.terms, points.sentence, labels, names=names, n_words=n_words)
    all_labels = [
        ClusterLabel(
            cluster=number,
            words=words[number],
            place=tuple(float(v) for v in np.median(places[labels == number], axis=0)),
            n_points=int((labels == number).sum()),
        )
        for number in words
    ]
    return tuple(sorted(all_labels, key=lambda label: (-label.n_points, label.cluster)))


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
