"""A ruler for the cosine of two uses of a word: its ranges among pairs of known senses.

It is measured on sentences in which the sense of a word is labelled: pairs of one ambiguous word in
two senses, of one ambiguous word in one sense, and of everyday words that have one sense. Their
ranges overlap, so a cosine alone does not settle whether two uses have the same meaning: on natural
text, no threshold is right in more than 73% of the pairs (Word in Context).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.words import POOLINGS, Pooling
from contextlens.core.schema import FloatArray, IntArray

__all__ = [
    "EVERYDAY",
    "KINDS",
    "ONE_SENSE",
    "TWO_SENSES",
    "LabelledWords",
    "Range",
    "Ruler",
    "measure",
]

TWO_SENSES, ONE_SENSE, EVERYDAY = range(3)
KINDS = ("one word, two senses", "one word, one sense", "everyday words, one sense")


@dataclass(frozen=True)
class Range:
    """The cosines of pairs of one kind at a layer: 5th percentile, median, 95th percentile."""

    kind: str
    low: float
    median: float
    high: float
    n_pairs: int


@dataclass(frozen=True, eq=False)
class LabelledWords:
    """Words whose senses are known.

    Attributes:
        words, senses: the word and its sense, for each occurrence.
        vectors: (n_poolings, n, n_layers, n_dims).
    """

    words: tuple[str, ...]
    senses: tuple[str, ...]
    vectors: FloatArray


@dataclass(frozen=True, eq=False)
class Ruler:
    """The cosines of labelled pairs in one model.

    Attributes:
        words: the distinct words.
        pairs: (n_pairs,) the index of each pair's word in `words`.
        kinds: (n_pairs,) `TWO_SENSES`, `ONE_SENSE` or `EVERYDAY`.
        plain, centred: (n_poolings, n_layers, n_pairs) cosines and centred cosines.
    """

    words: NDArray[np.str_]
    pairs: IntArray
    kinds: IntArray
    plain: FloatArray
    centred: FloatArray

    def fits(self, n_layers: int) -> bool:
        """True if the arrays have the shapes of a model with layers 0 to `n_layers`."""
        shape = (len(POOLINGS), n_layers + 1, len(self.kinds))
        return self.plain.shape == self.centred.shape == shape

    def knows(self, word: str) -> bool:
        """True if a word is among the measured ones."""
        return word.casefold() in self.words.tolist()

    def ranges(
        self, layer: int, pooling: Pooling, *, centred: bool, without: Sequence[str] = ()
    ) -> tuple[Range, ...]:
        """Return the range of each kind that has pairs at a layer, leaving out some words."""
        cosines, used = self._at(layer, pooling, centred), self._used(without)
        ranges = []
        for kind, name in enumerate(KINDS):
            of_kind = cosines[used & (self.kinds == kind)]
            if of_kind.size:
                low, median, high = np.percentile(of_kind, [5, 50, 95]).tolist()
                ranges.append(Range(name, low, median, high, of_kind.size))
        return tuple(ranges)

    def _at(self, layer: int, pooling: Pooling, centred: bool) -> FloatArray:
        cosines: FloatArray = (self.centred if centred else self.plain)[
            POOLINGS.index(pooling), layer
        ]
        return cosines

    def _used(self, without: Sequence[str]) -> NDArray[np.bool_]:
        """(n_pairs,) bool: True for pairs of words that are not left out."""
        left_out = {word.casefold() for word in without}
        is_used = np.array([word not in left_out for word in self.words.tolist()], dtype=bool)
        mask: NDArray[np.bool_] = is_used[self.pairs]
        return mask


def measure(sample: LabelledWords, baseline: Baseline) -> Ruler:
    """Return the ruler of a model from all pairs of uses of one word.

    A word that has one sense in the sample counts as an everyday word.
    """
    names = sorted(set(sample.words))
    words = np.array([names.index(word) for word in sample.words])
    senses = np.array(sample.senses)
    first, second = np.triu_indices(len(words), 1)
    same = words[first] == words[second]
    first, second = first[same], second[same]
    n_senses = np.array([len(set(senses[words == n])) for n in range(len(names))])
    same_sense = np.where(n_senses[words[first]] > 1, ONE_SENSE, EVERYDAY)
    centres = [baseline.centre(pooling)[0] for pooling in POOLINGS]
    both = list(zip(sample.vectors, centres, strict=True))
    return Ruler(
        words=np.array(names),
        pairs=words[first],
        kinds=np.where(senses[first] == senses[second], same_sense, TWO_SENSES),
        plain=np.stack([_cosines(vectors, first, second) for vectors, _ in both]),
        centred=np.stack([_cosines(vectors - mean, first, second) for vectors, mean in both]),
    )


def _cosines(vectors: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """(n_layers, n_pairs) float32."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = vectors / np.maximum(lengths, 1e-12)
    layers = range(vectors.shape[1])
    rows = [np.einsum("pd,pd->p", units[first, n], units[second, n]) for n in layers]
    return np.stack(rows).astype(np.float32)
