"""The typical words of clusters of documents, by class-based TF-IDF on sparse counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from contextlens.core.errors import RequestError
from contextlens.core.schema import IntArray
from contextlens.core.words import split_words

__all__ = ["TermCounts", "count_terms", "typical_of"]

_NAMED_SHARE = 0.2  # a function word may label a cluster if it names this share of its points
_COMMON_SHARE = 0.5  # a word in more than this share of each cluster's documents is left out
_WORD = regex.compile(r"[\p{L}\p{M}]{2,}")
_WRONG_STOP_WORDS = (
    "computer cry detail fill fire interest mill mine move name side system thick thin"
)
_MISSING_STOP_WORDS = "did does doing just let like really"
"""Words that scikit-learn wrongly lists as English function words, and words that it lacks."""


@dataclass(frozen=True, eq=False)
class TermCounts:
    """The number of occurrences of each term in each text.

    Attributes:
        terms: the distinct terms, casefolded.
        counts: (n_texts, n_terms), sparse.
    """

    terms: tuple[str, ...]
    counts: Any

    @cached_property
    def ids(self) -> dict[str, int]:
        """The column of each term."""
        return {term: i for i, term in enumerate(self.terms)}

    @property
    def n_texts(self) -> int:
        """The number of texts."""
        return int(self.counts.shape[0])


def typical_of(
    texts: TermCounts,
    which: IntArray,
    labels: IntArray,
    *,
    names: Sequence[str] = (),
    n_words: int = 3,
) -> dict[int, tuple[str, ...]]:
    """Return the most typical words of each cluster of documents, the most typical first.

    Class-based TF-IDF (Grootendorst 2022): a word's share of a cluster's words times log(1 + A /
    f), where A is the average number of words in a cluster and f the word's count in all of them;
    the documents in no cluster (-1) count as one more cluster. Left out are terms that are not
    words of at least two letters, English function words, and words in more than half of every
    cluster's documents, which distinguish no cluster.

    A name counts as much as an average document. A name that a fifth of a cluster's documents share
    may label the cluster even if it is a function word or a punctuation mark.

    Args:
        texts: the terms of each distinct text.
        which: (n_documents,) the index of each document's text; documents can share a text.
        labels: (n_documents,) the cluster of each document, -1 for none.
        names: a name for each document, or no names at all.
        n_words: the largest number of words for a cluster.

    Raises:
        RequestError: the numbers of labels and documents differ.
    """
    if len(labels) != len(which):
        raise RequestError(
            f"{len(which)} documents need as many cluster numbers; {len(labels)} were given."
        )
    if not len(which):
        return {}
    ids = dict(texts.ids)
    name_ids = [ids.setdefault(name.casefold(), len(ids)) for name in names]
    numbers, rows = np.unique(labels, return_inverse=True)
    sizes = np.bincount(rows, minlength=len(numbers))
    name_counts = _count_table(rows[: len(name_ids)], name_ids, len(sizes), len(ids))
    members = _count_table(rows, which, len(sizes), texts.n_texts)
    counts, documents = members @ texts.counts, members @ (texts.counts > 0)
    for table in (counts, documents):  # a name need not be a term of any text
        table.resize((len(sizes), len(ids)))
    mean_length = counts.sum() / len(which)
    weights = _class_tf_idf(counts + name_counts * mean_length)
    terms = list(ids)
    are_content, are_common = _are_content_words(terms), _are_common(documents, sizes)
    typical: dict[int, tuple[str, ...]] = {}
    for row, number in enumerate(numbers.tolist()):
        if number >= 0:
            allowed = are_content.copy()
            columns, times = _row(name_counts, row)
            allowed[columns[times >= _NAMED_SHARE * sizes[row]]] = True
            typical[number] = _best(_row(weights, row), terms, allowed & ~are_common, n_words)
    return typical


def count_terms(texts: Sequence[str]) -> TermCounts:
    """Return the terms of each text: words of at least two letters, ignoring case."""
    ids: dict[str, int] = {}
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
    rows = np.repeat(np.arange(len(texts)), np.diff(ends))
    return TermCounts(tuple(ids), _count_table(rows, columns, len(texts), len(ids)))


def _count_table(
    rows: Sequence[int] | IntArray,
    columns: Sequence[int] | IntArray,
    n_rows: int,
    n_columns: int,
) -> Any:
    """Return a sparse table that counts how often each pair of row and column occurs."""
    from scipy.sparse import csr_array

    where = (np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64))
    return csr_array((np.ones(len(rows)), where), shape=(n_rows, n_columns))


def _are_content_words(terms: Sequence[str]) -> NDArray[np.bool_]:
    """(n_terms,) True for terms that are words but not function words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    stop = (ENGLISH_STOP_WORDS - set(_WRONG_STOP_WORDS.split())) | set(_MISSING_STOP_WORDS.split())
    return np.array([_WORD.fullmatch(t) is not None and t not in stop for t in terms], bool)


def _class_tf_idf(counts: Any) -> Any:
    """Return the sparse weights of terms in clusters, from their counts."""
    weights = counts.tocsr().astype(float)
    of_class = np.maximum(weights.sum(axis=1), 1)
    of_term = np.maximum(weights.sum(axis=0), 1)
    idf = np.log1p(of_class.mean() / of_term)
    lengths = np.diff(weights.indptr)
    weights.data *= idf[weights.indices] / np.repeat(of_class, lengths)
    return weights


def _are_common(documents: Any, sizes: IntArray) -> Any:
    """(n_terms,) True for terms in most documents of every cluster; False if there is only one."""
    in_most = documents.tocsr().astype(float)
    in_most.data = in_most.data > _COMMON_SHARE * np.repeat(sizes, np.diff(in_most.indptr))
    return (in_most.sum(axis=0) == len(sizes)) & (len(sizes) > 1)


def _row(table: Any, row: int) -> tuple[Any, Any]:
    """Return the columns of the entries in a row of a sparse table, and their values."""
    entries = slice(*table.indptr[row : row + 2])
    return table.indices[entries], table.data[entries]


def _best(
    weights: tuple[Any, Any], terms: Sequence[str], allowed: Any, n_words: int
) -> tuple[str, ...]:
    """Return one cluster's terms with the largest weights; ties in alphabetical order."""
    columns, values = (entries[allowed[weights[0]]] for entries in weights)
    if len(values) > n_words:
        is_large = values >= np.partition(values, -n_words)[-n_words]
        columns, values = columns[is_large], values[is_large]
    ranked = sorted((-weight, terms[i]) for i, weight in zip(columns, values, strict=True))
    return tuple(term for _, term in ranked[:n_words])
