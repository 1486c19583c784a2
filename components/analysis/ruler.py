"""A ruler for cosines: what pairs of known kinds get, and what one cosine tells of a pair.

Measured on sentences in which somebody has said which sense an ambiguous word has: pairs of two
different words, of one word in two senses, and of one word in one sense. Their ranges overlap, so a
cosine gives a chance and no verdict: the share of pairs of two senses among pairs of one word at
that cosine, both kinds made equally frequent and each word counted alike. It is fitted so that it
falls as cosines rise (isotonic regression, Barlow et al. 1972), and its uncertainty is that of
leaving out one word at a time (the jackknife, Efron and Tibshirani 1993, with Student's t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from components.analysis.baseline import Baseline
from components.analysis.kept_arrays import load_arrays, save_arrays
from components.analysis.words import POOLINGS, Pooling
from components.core.schema import FloatArray, IntArray

__all__ = [
    "DIFFERENT",
    "KINDS",
    "ONE_SENSE",
    "TWO_SENSES",
    "Chance",
    "LabelledWords",
    "Range",
    "Ruler",
    "load",
    "measure",
    "save",
]

DIFFERENT, TWO_SENSES, ONE_SENSE = range(3)
KINDS = ("two different words", "one word, two senses", "one word, one sense")
N_DIFFERENT = 5000
FEWEST_WORDS = 4
"""Words of two senses below which no chance is told."""
_SEED = 0
_SURE = 0.9


@dataclass(frozen=True)
class Range:
    """What pairs of one kind get at a layer: 5th percentile, median, 95th percentile."""

    kind: str
    low: float
    median: float
    high: float
    n_pairs: int


@dataclass(frozen=True)
class Chance:
    """How often pairs of one word at some cosine are of two senses, were both equally frequent.

    Attributes:
        share: the best guess, in [0, 1].
        low, high: its 90% interval.
        n_words: words that it was measured on.
        outside: "below" or "above" where no pair of one word has such a cosine, else "".
    """

    share: float
    low: float
    high: float
    n_words: int
    outside: str

    @property
    def tells(self) -> bool:
        """Whether it says anything: one half is outside the interval."""
        return self.low > 0.5 or self.high < 0.5


@dataclass(frozen=True, eq=False)
class LabelledWords:
    """Words whose senses are known.

    Attributes:
        words, senses: for each, which word it is and which sense it has there.
        vectors: (n_poolings, n, n_layers, n_dims).
    """

    words: tuple[str, ...]
    senses: tuple[str, ...]
    vectors: FloatArray


@dataclass(frozen=True, eq=False)
class Ruler:
    """The cosines of labelled pairs in one model.

    Attributes:
        words: the words, by number.
        pairs: (n_pairs, 2) the words' numbers of each pair.
        kinds: (n_pairs,) `DIFFERENT`, `TWO_SENSES` or `ONE_SENSE`.
        plain, centred: (n_poolings, n_layers, n_pairs) cosines and centred cosines.
    """

    words: NDArray[np.str_]
    pairs: IntArray
    kinds: IntArray
    plain: FloatArray
    centred: FloatArray

    def fits(self, n_layers: int) -> bool:
        """Whether the arrays have the shapes of a model with layers 0 to `n_layers`."""
        shape = (len(POOLINGS), n_layers + 1, len(self.kinds))
        return self.plain.shape == self.centred.shape == shape

    def knows(self, word: str) -> bool:
        """Whether a word is among those that were measured."""
        return word.casefold() in self.words.tolist()

    def ranges(
        self, layer: int, pooling: Pooling, *, centred: bool, without: Sequence[str] = ()
    ) -> tuple[Range, ...]:
        """The range of each kind at a layer, leaving out words; kinds without pairs are missing."""
        cosines, used = self._at(layer, pooling, centred), self._used(without)
        found = []
        for kind, name in enumerate(KINDS):
            own = cosines[used & (self.kinds == kind)]
            if own.size:
                low, median, high = np.percentile(own, [5, 50, 95]).tolist()
                found.append(Range(name, low, median, high, own.size))
        return tuple(found)

    def chance(
        self,
        cosine: float,
        layer: int,
        pooling: Pooling,
        *,
        centred: bool,
        without: Sequence[str] = (),
    ) -> Chance | None:
        """What a cosine of one word's two vectors tells; None with too few words."""
        cosines = self._at(layer, pooling, centred)
        used = self._used(without) & (self.kinds != DIFFERENT)
        words, two = self.pairs[used, 0], self.kinds[used] == TWO_SENSES
        own = cosines[used]
        both = [n for n in np.unique(words) if len(np.unique(two[words == n])) == 2]
        if len(both) < FEWEST_WORDS:
            return None
        order = np.argsort(own, kind="stable")
        own, words, two = own[order], words[order], two[order]
        weights = _weights(words, two, both)
        share = _fitted(own, two, weights, cosine)
        each = np.array([_fitted(own, two, weights * (words != n), cosine) for n in both])
        error = math.sqrt((len(both) - 1) / len(both) * float(np.square(each - each.mean()).sum()))
        margin = _quantile(len(both) - 1) * error
        outside = "below" if cosine < own[0] else "above" if cosine > own[-1] else ""
        low, high = max(0.0, share - margin), min(1.0, share + margin)
        return Chance(share, low, high, len(both), outside)

    def _at(self, layer: int, pooling: Pooling, centred: bool) -> FloatArray:
        own: FloatArray = (self.centred if centred else self.plain)[POOLINGS.index(pooling), layer]
        return own

    def _used(self, without: Sequence[str]) -> NDArray[np.bool_]:
        """(n_pairs,) bool: pairs in which no word stands that is left out."""
        gone = {word.casefold() for word in without}
        kept = np.array([word not in gone for word in self.words.tolist()], dtype=bool)
        used: NDArray[np.bool_] = kept[self.pairs[:, 0]] & kept[self.pairs[:, 1]]
        return used


def _weights(words: IntArray, two: NDArray[np.bool_], both: Sequence[int]) -> NDArray[np.float64]:
    """Each word's pairs of either kind weigh 1 together."""
    weights = np.zeros(len(words))
    for n in both:
        for kind in (False, True):
            own = (words == n) & (two == kind)
            weights[own] = 1 / own.sum()
    return weights


def _fitted(
    cosines: FloatArray, two: NDArray[np.bool_], weights: NDArray[np.float64], cosine: float
) -> float:
    """The falling share of two senses at a cosine; `cosines` rise, weights may be 0."""
    from scipy.optimize import isotonic_regression

    used = weights > 0
    fit = isotonic_regression(two[used].astype(float), weights=weights[used], increasing=False)
    return float(np.interp(cosine, cosines[used], fit.x))


def _quantile(degrees: int) -> float:
    from scipy.special import stdtrit  # scipy.stats would take 0.3 s to import

    return float(stdtrit(degrees, (1 + _SURE) / 2))


def measure(sample: LabelledWords, baseline: Baseline) -> Ruler:
    """The ruler of a model: all pairs of one word, and random pairs of different ones."""
    names = sorted(set(sample.words))
    words = np.array([names.index(word) for word in sample.words])
    first, second = np.triu_indices(len(words), 1)
    same = words[first] == words[second]
    apart = np.flatnonzero(~same)
    drawn = np.random.default_rng(_SEED).permutation(apart)[:N_DIFFERENT]
    chosen = np.sort(np.concatenate([np.flatnonzero(same), drawn]))
    first, second = first[chosen], second[chosen]
    senses = np.array(sample.senses)
    one = np.where(senses[first] == senses[second], ONE_SENSE, TWO_SENSES)
    centres = [baseline.centre(pooling)[0] for pooling in POOLINGS]
    both = list(zip(sample.vectors, centres, strict=True))
    return Ruler(
        words=np.array(names),
        pairs=np.stack([words[first], words[second]], axis=1),
        kinds=np.where(words[first] == words[second], one, DIFFERENT),
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


def save(ruler: Ruler, path: Path) -> None:
    """Write a ruler to disk, whole or not at all.

    Raises:
        OSError: the disk is full or not writable.
    """
    save_arrays({f.name: getattr(ruler, f.name) for f in fields(ruler)}, path)


def load(path: Path) -> Ruler | None:
    """A ruler from disk; None where there is none or it cannot be read (measure it again)."""
    found = load_arrays(path, [f.name for f in fields(Ruler)])
    return None if found is None else Ruler(**found)
