"""A ruler for the cosine of two uses of a word: its ranges, and the values that settle a meaning.

It is measured on sentences in which the sense of a word is labelled: pairs of one ambiguous word in
two senses, of one ambiguous word in one sense, and of everyday words that have one sense. Their
ranges overlap, so a cosine alone seldom settles whether two uses have the same meaning. A verdict
is given only below or above a threshold that is confirmed on words that it was not fitted on
(leave-one-word-out): the lower end of a one-sided 95% interval of the share of right verdicts
(Student's t, over words) must reach `RIGHT`. All words weigh the same, and all pairs of one sense
together weigh as much as all pairs of two senses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.kept_arrays import load_arrays, save_arrays
from contextlens.analysis.words import POOLINGS, Pooling
from contextlens.core.schema import FloatArray, IntArray

__all__ = [
    "EVERYDAY",
    "KINDS",
    "ONE_SENSE",
    "RIGHT",
    "TWO_SENSES",
    "Calibration",
    "LabelledWords",
    "Range",
    "Ruler",
    "Verdict",
    "load",
    "measure",
    "save",
]

TWO_SENSES, ONE_SENSE, EVERYDAY = range(3)
KINDS = ("one word, two senses", "one word, one sense", "everyday words, one sense")
RIGHT = 0.85
"""The share of verdicts that must be right, on words that are not in the fit."""
FALSE_ALARMS = 0.05
"""The largest share of the other kind's pairs that may get the verdict by mistake."""
_FITTED = 0.9
"""The share of right verdicts that a threshold is fitted to, with at most half of `FALSE_ALARMS`.

It is above `RIGHT`, so that new words still reach `RIGHT`.
"""
MIN_WORDS = 4
"""The fewest words that must get a verdict in the test; with fewer, there is no threshold."""
_SURE = 0.95


class Verdict(Enum):
    """The conclusion on whether two uses of a word have the same meaning."""

    SAME = "same"
    DIFFERENT = "different"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Range:
    """The cosines of pairs of one kind at a layer: 5th percentile, median, 95th percentile."""

    kind: str
    low: float
    median: float
    high: float
    n_pairs: int


@dataclass(frozen=True)
class Calibration:
    """The cosines of two uses of a word that settle their meaning at a layer.

    Attributes:
        different_below: uses with a lower cosine have different meanings; None if no cosine shows
            that.
        same_above: uses with a higher cosine have the same meaning; None if no cosine shows that.
        n_words: the number of words that it was measured on.
    """

    different_below: float | None
    same_above: float | None
    n_words: int

    def verdict(self, cosine: float) -> Verdict:
        """Return the conclusion for one cosine."""
        if self.different_below is not None and cosine < self.different_below:
            return Verdict.DIFFERENT
        if self.same_above is not None and cosine > self.same_above:
            return Verdict.SAME
        return Verdict.CANNOT_TELL


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

    def calibration(
        self, layer: int, pooling: Pooling, *, centred: bool, without: Sequence[str] = ()
    ) -> Calibration:
        """Return the thresholds at a layer, leaving out some words."""
        used = self._used(without)
        cosines = self._at(layer, pooling, centred)[used].astype(np.float64)
        order = np.argsort(cosines, kind="stable")
        cosines, words = cosines[order], self.pairs[used][order]
        two = self.kinds[used][order] == TWO_SENSES
        weights = _weights(words, two)
        falling = (-cosines[::-1], words[::-1], ~two[::-1], weights[::-1])
        return Calibration(
            different_below=_threshold(cosines, words, two, weights),
            same_above=_negative(_threshold(*falling)),
            n_words=len(np.unique(words)),
        )

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


def _weights(words: IntArray, two: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return weights that sum to 1 for each kind, with an equal share for each word of a kind."""
    weights = np.zeros(len(words))
    for kind in (False, True):
        of_kind = two == kind
        _, place, counts = np.unique(words[of_kind], return_inverse=True, return_counts=True)
        weights[of_kind] = 1 / counts[place] / max(1, len(counts))
    return weights


def _threshold(
    cosines: NDArray[np.float64],
    words: IntArray,
    target: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> float | None:
    """Return the cosine below which pairs are of the target kind; None if the test fails.

    The test fits it without each word in turn and tries it on that word. `cosines` are ascending.
    """
    right, wrong = [], []  # for each word, the weight of its pairs with a right and a wrong verdict
    for word in np.unique(words).tolist():
        of_word = words == word
        cut = _fitted(cosines[~of_word], target[~of_word], weights[~of_word])
        below = cosines[of_word] < (-np.inf if cut is None else cut)
        hits, misses = below & target[of_word], below & ~target[of_word]
        right.append(float((hits * weights[of_word]).sum()))
        wrong.append(float((misses * weights[of_word]).sum()))
    judgements = np.add(right, wrong)
    judged = judgements > 0
    n_words = int(judged.sum())
    if n_words < MIN_WORDS or sum(wrong) > FALSE_ALARMS:
        return None
    # The share of right verdicts is a ratio of sums. Its error is estimated by leaving out one word
    # at a time (the jackknife, Efron and Tibshirani 1993).
    share = sum(right) / judgements.sum()
    shares = (sum(right) - np.array(right)[judged]) / (judgements.sum() - judgements[judged])
    error = math.sqrt((n_words - 1) / n_words * float(np.square(shares - shares.mean()).sum()))
    if share - _quantile(n_words - 1) * error < RIGHT:
        return None
    return _fitted(cosines, target, weights)


def _fitted(
    cosines: NDArray[np.float64], target: NDArray[np.bool_], weights: NDArray[np.float64]
) -> float | None:
    """Return the highest cosine below which nearly all the weight is of the target kind, or None.

    `cosines` are ascending.
    """
    right, wrong = (weights * target).cumsum(), (weights * ~target).cumsum()
    allowed = (right >= _FITTED * (right + wrong)) & (wrong <= FALSE_ALARMS / 2)
    last_of_equals = np.append(np.diff(cosines) > 0, True)
    ends = np.flatnonzero(allowed & last_of_equals)
    if not len(ends):
        return None
    last = int(ends[-1])
    if last + 1 < len(cosines):
        return float((cosines[last] + cosines[last + 1]) / 2)
    return math.nextafter(float(cosines[last]), math.inf)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def _quantile(degrees: int) -> float:
    from scipy.special import stdtrit  # scipy.stats takes 0.3 s to import

    return float(stdtrit(degrees, _SURE))


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


def save(ruler: Ruler, path: Path) -> None:
    """Write a ruler to disk, whole or not at all.

    Raises:
        OSError: the disk is full or not writable.
    """
    save_arrays({f.name: getattr(ruler, f.name) for f in fields(ruler)}, path)


def load(path: Path) -> Ruler | None:
    """Return a ruler from disk; None if there is none or it cannot be read (then measure again)."""
    arrays = load_arrays(path, [f.name for f in fields(Ruler)])
    return None if arrays is None else Ruler(**arrays)
