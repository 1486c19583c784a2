"""The interface of every corpus whose words have vectors, wherever these come from.

A stored corpus reads its vectors from disk. A corpus that ships with the app computes them on
demand. Pages see no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contextlens.core.schema import FloatArray, IntArray

__all__ = ["BoolArray", "Nearest", "Occurrences", "SearchableCorpus", "WordCount"]

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class WordCount:
    """A word, casefolded, and the number of its occurrences."""

    word: str
    n: int


@dataclass(frozen=True, eq=False)
class Occurrences:
    """All occurrences of a word or a sample, in the corpus's order; or any, as chosen by `at`.

    Attributes:
        word: the word, casefolded; "" from `at`.
        rows: (n,) the row of each in its corpus.
        texts: (n,) the number of its text.
        spans: (n, 2) its start and end in that text, in code points.
        surfaces: the word as written in the text.
        left, right: the words beside it, casefolded; "" at the ends of a text.
        is_target: (n,) True if it is the marked word of its text.
        n_total: the number in the corpus; larger than n if these are a sample.
    """

    word: str
    rows: IntArray
    texts: IntArray
    spans: IntArray
    surfaces: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    is_target: BoolArray
    n_total: int

    def __len__(self) -> int:
        return len(self.surfaces)

    @property
    def is_sample(self) -> bool:
        """True if the corpus has more of them."""
        return self.n_total > len(self)

    def take(self, places: IntArray) -> Occurrences:
        """Return the occurrences at these places, in the order given; `n_total` stays."""
        chosen = [int(place) for place in places]
        return Occurrences(
            word=self.word,
            rows=self.rows[chosen],
            texts=self.texts[chosen],
            spans=self.spans[chosen].reshape(-1, 2),
            surfaces=tuple(self.surfaces[place] for place in chosen),
            left=tuple(self.left[place] for place in chosen),
            right=tuple(self.right[place] for place in chosen),
            is_target=self.is_target[chosen],
            n_total=self.n_total,
        )


@dataclass(frozen=True, eq=False)
class Nearest:
    """The occurrences nearest to a vector, nearest first.

    Attributes:
        rows: (n,) occurrences, as in `Occurrences.rows`; `SearchableCorpus.at` gives them.
        cosines: (n,) float32 in [-1, 1].
    """

    rows: IntArray
    cosines: FloatArray

    def __len__(self) -> int:
        return len(self.rows)


class SearchableCorpus(Protocol):
    """A corpus whose word vectors can be looked up. Thread-safe.

    Methods raise `CorpusError`, with one sentence, if the requested item does not exist.
    """

    @property
    def name(self) -> str:
        """The name by which the corpus is found."""

    @property
    def title(self) -> str:
        """The title of the corpus, such as its file's name."""

    @property
    def n_texts(self) -> int:
        """The number of its texts, including those that have no vectors yet."""

    @property
    def n_occurrences(self) -> int:
        """The number of occurrences of words so far."""

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers whose vectors it has, increasing."""

    @property
    def n_dims(self) -> int:
        """The length of a vector."""

    @property
    def model(self) -> str:
        """The id of the model that its vectors come from."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The titles of its columns of labels."""

    @property
    def split(self) -> str:
        """The title of the column that separates training from test, or ""."""

    @property
    def has_targets(self) -> bool:
        """True if each of its texts is marked for one word, which alone carries the labels."""

    def words(self, prefix: str = "", n: int = 20) -> tuple[WordCount, ...]:
        """Return words with this prefix, most frequent first."""
        ...

    def similar(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """Return words of similar spelling, nearest first."""
        ...

    def inside(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """Return longer words that contain this one, most frequent first."""
        ...

    def occurrences(self, word: str, *, most: int | None = None, seed: int = 0) -> Occurrences:
        """Return all occurrences of a word, ignoring case, or a random sample of `most`."""
        ...

    def at(self, rows: IntArray) -> Occurrences:
        """Return the occurrences in these rows, in the order given, of any words."""
        ...

    def text(self, ids: IntArray) -> tuple[str, ...]:
        """Return the texts with these numbers, in the order given."""
        ...

    def column(self, title: str, ids: IntArray) -> tuple[str, ...]:
        """Return the labels of these texts in a column, "" for none."""
        ...

    def vectors(self, occurrences: Occurrences, layer: int) -> FloatArray:
        """(n, n_dims) float32: the occurrences' vectors at a layer, not scaled."""
        ...

    def nearest(
        self, vector: FloatArray, layer: int, n: int, *, word: str | None = None
    ) -> Nearest:
        """Return the n occurrences nearest to a vector at a layer, of one word or of any."""
        ...
