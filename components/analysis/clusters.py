"""Clusters of a map's points, and the words that are typical of each: what labels a map.

Clusters are found on the map, not in the model's space: they name what a reader sees there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex

from components.analysis.points import Points
from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.core.words import split_words

__all__ = ["MAX_CLUSTERED", "ClusterLabel", "cluster", "cluster_labels", "typical_words"]

MAX_CLUSTERED = 15_000
"""Points that HDBSCAN itself sees: its time grows with their square, 0.6 s for these."""
_SEED = 0
_MIN_SAMPLES = 5  # neighbours that make a place dense; hdbscan's default here would be `least`
_NAMES = 0.2  # share of a cluster's points whose name may label it though it is a function word
_EVERYWHERE = 0.5  # a word in more of every cluster's documents tells none of them apart
_WORD = regex.compile(r"[\p{L}\p{M}]{2,}")
_TOO_MUCH = "computer cry detail fill fire interest mill mine move name side system thick thin"
_TOO_LITTLE = "did does doing just let like really"
"""What scikit-learn's list of English function words has and should not, and the other way."""


@dataclass(frozen=True)
class ClusterLabel:
    """What to write on a cluster, and where.

    Attributes:
        cluster: its number.
        words: the most typical words, the most typical first; none where it has no words.
        place: the median of its points, a number for each coordinate of the map.
        n_points: how many points it has.
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
    """(n_points,) int64: the cluster of each point, 0 the largest, -1 for those in none.

    HDBSCAN (Campello, Moulavi and Sander 2013; scikit-learn's) on the map's coordinates. Of more
    than `MAX_CLUSTERED` points a seeded sample is clustered, and each other point gets what its
    nearest point of the sample has. The same coordinates always give the same clusters.

    Args:
        coordinates: (n_points, n_coordinates), finite.
        least: points that a cluster has at least; by default 5, and half the square root of the
            number of points where that is more.

    Raises:
        RequestError: the coordinates are no finite table, or `least` is below 2.
    """
    places = _checked(coordinates)
    size = max(5, round(len(places) ** 0.5 / 2)) if least is None else least
    if size < 2:
        raise RequestError(f"A cluster has at least 2 points, and {size} was asked for.")
    if len(places) <= MAX_CLUSTERED:
        return _by_size(_hdbscan(places, size))
    chosen = np.random.default_rng(_SEED).choice(len(places), MAX_CLUSTERED, replace=False)
    chosen.sort()
    found = _hdbscan(places[chosen], max(2, round(size * MAX_CLUSTERED / len(places))))
    return _by_size(found[_nearest(places[chosen], places)])


def typical_words(
    documents: Sequence[str], labels: IntArray | Sequence[int], *, n_words: int = 3
) -> Mapping[int, tuple[str, ...]]:
    """The most typical words of each cluster of documents, the most typical first.

    Class-based TF-IDF (Grootendorst 2022): a word's share of a cluster's words times
    log(1 + A / f), A the average number of words in a cluster and f the word's count in all of
    them; documents in no cluster (-1) are one more. Left out are what is no word of at least two
    letters, English function words, and words in more than half of every cluster's documents,
    which tell none apart.

    Args:
        documents: one for each label.
        labels: (n_documents,) cluster of each, -1 for none.
        n_words: how many words at most.

    Raises:
        RequestError: there are not as many labels as documents.
    """
    number = {text: i for i, text in enumerate(dict.fromkeys(documents))}
    which = np.array([number[text] for text in documents], dtype=np.int64)
    return _typical(tuple(number), which, np.asarray(labels, dtype=np.int64), (), n_words)


def cluster_labels(
    points: Points, coordinates: FloatArray, clusters: IntArray, *, n_words: int = 3
) -> tuple[ClusterLabel, ...]:
    """What to write on each cluster of a map and where, the largest first.

    A word's or token's document is the sentence it stands in, and its own name, which counts as
    much as a whole sentence. A name that is a function word or a sign labels a cluster where it
    names a fifth of it.

    Raises:
        RequestError: coordinates or clusters are not as many as points.
    """
    places = _checked(coordinates)
    labels = np.asarray(clusters, dtype=np.int64)
    if len(places) != points.n_points:
        raise RequestError(
            f"{points.n_points} points need as many coordinates; {len(places)} were given."
        )
    names = () if points.unit == "sentences" else points.names
    words = _typical(points.texts, points.sentence, labels, names, n_words)
    found = [
        ClusterLabel(
            cluster=number,
            words=words[number],
            place=tuple(float(v) for v in np.median(places[labels == number], axis=0)),
            n_points=int((labels == number).sum()),
        )
        for number in words
    ]
    return tuple(sorted(found, key=lambda label: (-label.n_points, label.cluster)))


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
    own = HDBSCAN(min_cluster_size=least, min_samples=_MIN_SAMPLES, copy=True)
    labels: IntArray = own.fit(places).labels_.astype(np.int64)
    return labels


def _nearest(known: FloatArray, places: FloatArray) -> IntArray:
    """The row of the nearest known place for each place."""
    from sklearn.neighbors import KDTree

    rows: IntArray = KDTree(known).query(places, k=1, return_distance=False)[:, 0]
    return rows


def _by_size(labels: IntArray) -> IntArray:
    """The same clusters, numbered from the largest on."""
    numbers, counts = np.unique(labels[labels >= 0], return_counts=True)
    new = np.full(len(numbers) + 1, -1, dtype=np.int64)  # the last one is for -1
    new[numbers[np.lexsort((numbers, -counts))]] = np.arange(len(numbers))
    return new[labels]


# Words


def _typical(
    texts: Sequence[str],
    which: IntArray,
    labels: IntArray,
    names: Sequence[str],
    n_words: int,
) -> dict[int, tuple[str, ...]]:
    """The words of each cluster, from documents given as numbers of texts, and names of points."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if len(labels) != len(which):
        raise RequestError(
            f"{len(which)} documents need as many cluster numbers; {len(labels)} were given."
        )
    if not len(which):
        return {}
    ids: dict[str, int] = {}
    named = [ids.setdefault(name.casefold(), len(ids)) for name in names]
    in_texts = _term_counts(texts, ids)
    numbers, rows = np.unique(labels, return_inverse=True)
    sizes = np.bincount(rows, minlength=len(numbers))
    called = _table(rows[: len(named)], named, len(sizes), len(ids))
    members = _table(rows, which, len(sizes), len(texts))
    counts = members @ in_texts
    as_much = counts.sum() / len(which)
    weights = _class_tf_idf(counts + called * as_much)
    terms = list(ids)
    stop = (ENGLISH_STOP_WORDS - set(_TOO_MUCH.split())) | set(_TOO_LITTLE.split())
    common = _everywhere(members @ (in_texts > 0), sizes)
    telling = np.array([_WORD.fullmatch(t) is not None and t not in stop for t in terms], bool)
    found: dict[int, tuple[str, ...]] = {}
    for row, number in enumerate(numbers.tolist()):
        if number >= 0:
            allowed = telling.copy()
            own, times = _row(called, row)
            allowed[own[times >= _NAMES * sizes[row]]] = True
            found[number] = _best(_row(weights, row), terms, allowed & ~common, n_words)
    return found


def _term_counts(texts: Sequence[str], ids: dict[str, int]) -> Any:
    """How often each term stands in each text, sparse; new terms get the next ids."""
    known: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for text in texts:
        for start, end in split_words(text):
            word = text[start:end]
            if word not in known:
                folded = word.casefold()
                is_word = _WORD.fullmatch(folded) is not None
                known[word] = ids.setdefault(folded, len(ids)) if is_word else -1
            if known[word] >= 0:
                columns.append(known[word])
        ends.append(len(columns))
    return _table(np.repeat(np.arange(len(texts)), np.diff(ends)), columns, len(texts), len(ids))


def _table(
    rows: Sequence[int] | IntArray,
    columns: Sequence[int] | IntArray,
    n_rows: int,
    n_columns: int,
) -> Any:
    """A sparse table of counts; pairs that come again add up."""
    from scipy.sparse import csr_array

    where = (np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64))
    return csr_array((np.ones(len(rows)), where), shape=(n_rows, n_columns))


def _class_tf_idf(counts: Any) -> Any:
    """Each cluster's weights of its terms, sparse, from its counts of them."""
    weights = counts.tocsr().astype(float)
    of_class = np.maximum(weights.sum(axis=1), 1)
    of_term = np.maximum(weights.sum(axis=0), 1)
    idf = np.log1p(of_class.mean() / of_term)
    lengths = np.diff(weights.indptr)
    weights.data *= idf[weights.indices] / np.repeat(of_class, lengths)
    return weights


def _everywhere(documents: Any, sizes: IntArray) -> Any:
    """Which terms stand in most documents of every cluster; none where there is one cluster."""
    often = documents.tocsr().astype(float)
    often.data = often.data > _EVERYWHERE * np.repeat(sizes, np.diff(often.indptr))
    return (often.sum(axis=0) == len(sizes)) & (len(sizes) > 1)


def _row(table: Any, row: int) -> tuple[Any, Any]:
    """The columns that a row of a sparse table has, and what stands there."""
    own = slice(*table.indptr[row : row + 2])
    return table.indices[own], table.data[own]


def _best(
    weights: tuple[Any, Any], terms: Sequence[str], allowed: Any, n_words: int
) -> tuple[str, ...]:
    """The terms of one cluster with the largest weights; the alphabet decides between equals."""
    own = [(-weight, terms[i]) for i, weight in zip(*weights, strict=True) if allowed[i]]
    return tuple(term for _, term in sorted(own)[:n_words])
