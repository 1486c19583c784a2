"""What can be asked of any corpus whose words have vectors, wherever those come from.

A corpus kept on disk answers it from there, one that ships with the app works the vectors out when
they are asked for: pages cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from components.core.schema import FloatArray, IntArray

__all__ = ["BoolArray", "Nearest", "Occurrences", "SearchableCorpus", "WordCount"]

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class WordCount:
    """A word, casefolded, and how many occurrences it has."""

    word: str
    n: int


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Occurrences of one word, in the order of the text; all of them, or a sample.

    Attributes:
        word: casefolded.
        rows: (n,) what names each in its corpus, increasing.
        texts: (n,) the number of its text.
        spans: (n, 2) start and end in that text, in code points.
        surfaces: as it stands there.
        left, right: the words beside it, casefolded; "" at the ends of a text.
        is_target: (n,) whether it is the word that its text was marked for.
        n_total: how many the corpus has; more than there are here where these are a sample.
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
        """Whether the corpus has more of them."""
        return self.n_total > len(self)

    def take(self, places: IntArray) -> Occurrences:
        """Those at places of this list, in the order given; `n_total` stays."""
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
    """What is nearest to a vector, nearest first.

    Attributes:
        rows: (n,) occurrences, as in `Occurrences.rows`; `SearchableCorpus.at` gives them.
        cosines: (n,) float32 in [-1, 1].
    """

    rows: IntArray
    cosines: FloatArray

    def __len__(self) -> int:
        return len(self.rows)


class SearchableCorpus(Protocol):
    """A corpus whose words' vectors can be asked for. Thread-safe.

    Its questions raise `CorpusError`, in one sentence, where what is asked for is not there.
    """

    @property
    def name(self) -> str:
        """What it is found by."""

    @property
    def title(self) -> str:
        """What to call it: the name of its file."""

    @property
    def n_texts(self) -> int:
        """How many texts it has; those that have no vectors yet count too."""

    @property
    def n_occurrences(self) -> int:
        """How many occurrences of words it has so far."""

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that it has vectors of, increasing."""

    @property
    def n_dims(self) -> int:
        """How long a vector is."""

    @property
    def model(self) -> str:
        """The id of the model that its vectors come from."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The titles of its labels."""

    @property
    def split(self) -> str:
        """The title of the column that parts training from test, or ""."""

    @property
    def has_targets(self) -> bool:
        """Whether its texts are each marked for one word, which alone carries their labels."""

    def words(self, prefix: str = "", n: int = 20) -> tuple[WordCount, ...]:
        """Words that begin so, most frequent first."""
        ...

    def similar(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """Words spelled alike, nearest first."""
        ...

    def inside(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """Longer words that contain it, most frequent first."""
        ...

    def occurrences(self, word: str, *, most: int | None = None, seed: int = 0) -> Occurrences:
        """All occurrences of a word, ignoring case, or a random sample of `most`; maybe none."""
        ...

    def at(self, rows: IntArray) -> Occurrences:
        """Those of these rows, in the order given, of any words; `word` is ""."""
        ...

    def text(self, ids: IntArray) -> tuple[str, ...]:
        """The texts of these numbers, in the order given."""
        ...

    def column(self, title: str, ids: IntArray) -> tuple[str, ...]:
        """The labels that these texts have in a column, "" where there is none."""
        ...

    def vectors(self, occurrences: Occurrences, layer: int) -> FloatArray:
        """(n, n_dims) float32: the occurrences' vectors at a layer, not scaled."""
        ...

    def nearest(
        self, vector: FloatArray, layer: int, n: int, *, word: str | None = None
    ) -> Nearest:
        """The n occurrences nearest to a vector at a layer, of one word or of any."""
        ...
