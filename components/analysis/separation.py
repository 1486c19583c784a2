"""How well labelled senses of a word are told apart: the nearest centroid, on held-out examples.

A word vector is scaled to length 1; a centroid is the mean of its sense's training vectors, scaled
to length 1; the sense with the highest cosine wins. (scikit-learn's `NearestCentroid` does not
scale the means.) Examples are held out by a given split, or by the folds of stratified k-fold
cross-validation in the order of the text, not shuffled: what stands in one text then mostly falls
into one fold and is not tested on itself.

`verdict_of` draws one conclusion from the tests at all layers. Every page that speaks of labelled
senses uses it, so that pages agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray

__all__ = [
    "LOW_COSINE",
    "LOW_MARGIN",
    "MAX_SILHOUETTE",
    "MAX_TABLE",
    "MOST_FOLDS",
    "RISK",
    "SPLIT",
    "TEST",
    "TRAIN",
    "Problem",
    "SenseVerdict",
    "Separation",
    "Trial",
    "best_of",
    "centroids",
    "cosine_table",
    "cosines_to",
    "scaled",
    "separation",
    "silhouette",
    "trial_of",
    "two_nearest",
    "verdict_of",
    "wilson",
]

MOST_FOLDS = 5
LEAST = 2
"""Examples of a sense that cross-validation needs: one to learn from, one to test."""
SPLIT = "split"
"""The column that says which rows are to train on and which to test."""
TRAIN, TEST = ("train", "training"), ("test", "testing")

Problem = Literal["", "none", "one", "single"]
"""Why nothing can be tested: no labels, all equal, or at most one sense that occurs twice."""
RISK = 0.05
"""How often an interval may miss."""
MAX_SILHOUETTE = 1_000
"""Vectors that a silhouette is measured on; all pairs of them are compared."""
LOW_MARGIN, LOW_COSINE = 0.10, 0.05
"""The shares of the tested occurrences whose margins, and whose cosines, count as low."""
MAX_TABLE = 2_000
"""Vectors of which all pairs are compared at most: 16 MB of cosines."""


def scaled(vectors: NDArray[Any]) -> FloatArray:
    """(n, n_dims) float32 vectors scaled to length 1; one of length 0 stays as it is."""
    doubles = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(doubles, axis=-1, keepdims=True)
    units: FloatArray = np.divide(
        doubles, lengths, out=np.zeros_like(doubles), where=lengths > 0
    ).astype(np.float32)
    return units


def cosines_to(units: FloatArray, vector: FloatArray) -> FloatArray:
    """(n,) float32 cosines in [-1, 1] of scaled vectors with any vector."""
    cosines: FloatArray = np.clip(units @ scaled(vector), -1.0, 1.0)
    return cosines


def cosine_table(units: FloatArray) -> FloatArray:
    """(n, n) float32 cosines of all pairs of scaled vectors.

    Raises:
        RequestError: there are more than `MAX_TABLE`.
    """
    if len(units) > MAX_TABLE:
        raise RequestError(
            f"All pairs of {len(units):,} vectors are too many to compare; at most {MAX_TABLE:,} "
            "are. Choose fewer."
        )
    table: FloatArray = np.clip(units @ units.T, -1.0, 1.0)
    return table


@dataclass(frozen=True, eq=False)
class Trial:
    """Which occurrences are tested on which others.

    Attributes:
        senses: every sense that is learned or tested, the most frequent first.
        codes: (n,) the sense of each occurrence, by its number; -1 where it takes no part.
        folds: (n,) the fold that tests it; -1 where it is never tested.
        teaches: (n,) bool: whether others learn from it.
        how: "split" for the one that was given, "folds" for cross-validation.
        n_folds: how many folds there are; 1 for a split.
        left_out: senses with too few examples.
        problem: why nothing can be tested; "" where it can.
        has_split: whether a split was given, even one that could not be used for this word.
    """

    senses: tuple[str, ...]
    codes: IntArray
    folds: IntArray
    teaches: np.ndarray
    how: Literal["split", "folds"]
    n_folds: int
    left_out: tuple[str, ...]
    problem: Problem
    has_split: bool = False

    @cached_property
    def tested(self) -> IntArray:
        """The occurrences that are tested."""
        return np.flatnonzero(self.folds >= 0)

    @cached_property
    def chance(self) -> float:
        """The share of the most frequent sense among the tested: naming it always is right so."""
        own = self.codes[self.tested]
        return float(np.bincount(own).max() / len(own)) if len(own) else float("nan")

    @property
    def most_frequent(self) -> str:
        """The sense that is named by who always says the same."""
        own = self.codes[self.tested]
        return self.senses[int(np.bincount(own).argmax())] if len(own) else ""


def trial_of(labels: Sequence[str], split: Sequence[str] = ()) -> Trial:
    """How the senses of a word are tested.

    Where `split` has rows of two senses to train on, and of two to test, these are held out. Else
    it is stratified k-fold cross-validation with k the number of examples of the rarest sense, at
    most `MOST_FOLDS`; senses of fewer than two examples are left out.

    Args:
        labels: the sense of each occurrence, "" for none.
        split: for each, the value in the split column; nothing where there is no such column.
    """
    parts = [value.strip().casefold() for value in split]
    if any(part in TEST for part in parts):
        found = _held_out(labels, parts)
        if found is not None:
            return found
    return _folded(labels, has_split=bool(split))


def _held_out(labels: Sequence[str], parts: Sequence[str]) -> Trial | None:
    """The given split; None where it does not leave two senses to learn and two to test."""
    train = np.array([part in TRAIN for part in parts], dtype=np.bool_)
    test = np.array([part in TEST for part in parts], dtype=np.bool_)
    rows = zip(labels, (train | test).tolist(), strict=True)
    senses, codes = _coded([label if used else "" for label, used in rows])
    taught = np.unique(codes[train & (codes >= 0)])
    tested = test & (codes >= 0)
    if len(taught) < 2 or len(np.unique(codes[tested])) < 2:
        return None
    folds = np.where(tested, 0, -1)
    teaches = train & (codes >= 0)
    return Trial(senses, codes, folds, teaches, "split", 1, (), "", has_split=True)


def _folded(labels: Sequence[str], *, has_split: bool) -> Trial:
    counts = Counter(label for label in labels if label)
    left_out = tuple(sorted(label for label, n in counts.items() if n < LEAST))
    senses, codes = _coded([label if counts[label] >= LEAST else "" for label in labels])
    problem: Problem = "" if len(senses) > 1 else "single"
    if len(counts) < 2:
        problem = "one" if counts else "none"
    folds = np.full(len(codes), -1, dtype=np.int64)
    n_folds = 0
    if not problem:
        n_folds = min(MOST_FOLDS, *(counts[sense] for sense in senses))
        own = np.flatnonzero(codes >= 0)
        folds[own] = _stratified(codes[own], n_folds)
    teaches = (codes >= 0) & (not problem)
    return Trial(senses, codes, folds, teaches, "folds", n_folds, left_out, problem, has_split)


def _stratified(codes: IntArray, n_folds: int) -> IntArray:
    """The fold that tests each: scikit-learn's `StratifiedKFold`, not shuffled."""
    from sklearn.model_selection import StratifiedKFold

    folds = np.zeros(len(codes), dtype=np.int64)
    for fold, (_, tested) in enumerate(StratifiedKFold(n_folds).split(codes[:, None], codes)):
        folds[tested] = fold
    return folds


def _coded(labels: Sequence[str]) -> tuple[tuple[str, ...], IntArray]:
    """The different labels, the most frequent first, and the number of each; -1 for ""."""
    counts = Counter(label for label in labels if label)
    senses = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    places = {sense: i for i, sense in enumerate(senses)}
    return senses, np.array([places.get(label, -1) for label in labels], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Separation:
    """What the test of the nearest centroid gives at one layer.

    Attributes:
        layer: which one.
        right, n: how many of the tested occurrences get their own sense.
        interval: where the share may lie, Wilson's interval at 95%.
        predicted: (n_occurrences,) the sense that each tested one gets, by number; -1 for others.
        margins: (n,) of each tested one, its cosine to the nearest centroid less the second's.
        confusion: (n_senses, n_senses) how often a sense (row) gets another's name (column).
        silhouette: mean silhouette of all that take part, by cosine distance, in [-1, 1]; nan
            where it is not defined.
        low_margin: a tenth of the margins are lower.
        low_cosine: a twentieth of the tested have a lower cosine to their nearest centroid.
    """

    layer: int
    right: int
    n: int
    interval: tuple[float, float]
    predicted: IntArray
    margins: FloatArray
    confusion: IntArray
    silhouette: float
    low_margin: float
    low_cosine: float

    @property
    def accuracy(self) -> float:
        """The share of the tested that get their own sense."""
        return self.right / self.n


def wilson(right: int, n: int, *, risk: float = RISK) -> tuple[float, float]:
    """Wilson's score interval (1927) of a share of n observations; n at least 1."""
    z = NormalDist().inv_cdf(1 - risk / 2)
    share, whole = right / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / whole
    half = z / whole * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def centroids(units: FloatArray, codes: IntArray, n: int) -> FloatArray:
    """(n, n_dims) the scaled mean of each sense's scaled vectors; zeros for one without any."""
    members = codes == np.arange(n)[:, None]
    return scaled(members.astype(np.float64) @ units)


def two_nearest(
    units: FloatArray, centres: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """For each vector the nearest and the second centroid, and the cosines to both.

    One without examples (zeros) is never nearest. With fewer than two, the second is -1 at -1.
    """
    there = np.linalg.norm(centres, axis=1) > 0
    cosines = np.where(there, units @ centres.T, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :2]
    rows = np.arange(len(units))
    first, best = order[:, 0], cosines[rows, order[:, 0]]
    if there.sum() < 2:
        return first, np.full(len(units), -1), best, np.full(len(units), -1.0)
    return first, order[:, 1], best, cosines[rows, order[:, 1]]


def separation(units: FloatArray, trial: Trial, layer: int) -> Separation:
    """The test at one layer.

    Args:
        units: (n, n_dims) the occurrences' vectors, scaled.
        trial: who is tested on whom; one without a problem.
        layer: which layer the vectors are of.
    """
    n_senses = len(trial.senses)
    predicted = np.full(len(units), -1, dtype=np.int64)
    best, margins = np.zeros(len(units)), np.zeros(len(units))
    for fold in range(trial.n_folds):
        rows = np.flatnonzero(trial.folds == fold)
        learned = np.where(trial.teaches & (trial.folds != fold), trial.codes, -1)
        centres = centroids(units, learned, n_senses)
        predicted[rows], _, best[rows], second = two_nearest(units[rows], centres)
        margins[rows] = best[rows] - second
    tested = trial.tested
    confusion = np.zeros((n_senses, n_senses), dtype=np.int64)
    np.add.at(confusion, (trial.codes[tested], predicted[tested]), 1)
    right, n = int(np.trace(confusion)), len(tested)
    return Separation(
        layer=layer,
        right=right,
        n=n,
        interval=wilson(right, n),
        predicted=predicted,
        margins=margins[tested].astype(np.float32),
        confusion=confusion,
        silhouette=silhouette(units, trial.codes),
        low_margin=float(np.quantile(margins[tested], LOW_MARGIN)),
        low_cosine=float(np.quantile(best[tested], LOW_COSINE)),
    )


def silhouette(units: FloatArray, codes: IntArray) -> float:
    """The mean silhouette (Rousseeuw 1987) by cosine distance; nan where it is not defined.

    Of more than `MAX_SILHOUETTE` vectors, that of a sample with a fixed seed.
    """
    from sklearn.metrics import silhouette_score

    own = np.flatnonzero(codes >= 0)
    if len(own) > MAX_SILHOUETTE:
        own = np.random.default_rng(0).choice(own, MAX_SILHOUETTE, replace=False)
    n_kinds = len(np.unique(codes[own]))
    if not 2 <= n_kinds < len(own):
        return float("nan")
    return float(silhouette_score(units[own], codes[own], metric="cosine"))


def best_of(curve: Sequence[Separation]) -> tuple[list[int], list[int]]:
    """The layers with most right, and the others whose share lies within the best's interval."""
    most = max(own.right for own in curve)
    best = [own.layer for own in curve if own.right == most]
    low = next(own.interval[0] for own in curve if own.right == most)
    near = [own.layer for own in curve if own.right < most and own.accuracy >= low]
    return best, near


@dataclass(frozen=True)
class SenseVerdict:
    """The conclusion from the tests of labelled senses at all layers.

    Attributes:
        state: "separate" where the best layer does better than always guessing the commonest
            sense, its interval widened for having been chosen among all layers (Bonferroni);
            "unclear" where that is not shown; "untested" where nothing can be tested.
        best: the layers with most right, rising.
        near: the other layers whose accuracy lies within the best one's interval.
        accuracy, interval: of the best layer; the interval is Wilson's at 95%.
        n: held-out examples that were tested.
        baseline: the accuracy of always guessing the commonest sense.
        commonest: that sense.
    """

    state: Literal["separate", "unclear", "untested"]
    best: tuple[int, ...] = ()
    near: tuple[int, ...] = ()
    accuracy: float = float("nan")
    interval: tuple[float, float] = (0.0, 1.0)
    n: int = 0
    baseline: float = float("nan")
    commonest: str = ""


def verdict_of(curve: Sequence[Separation], trial: Trial) -> SenseVerdict:
    """Return what the tests of one trial at all layers show.

    Shares are compared in whole per cent, as they are shown.

    Args:
        curve: the test at each layer; none where the trial has a problem.
        trial: the one that was tested.
    """
    if not curve:
        return SenseVerdict("untested")
    best, near = best_of(curve)
    top = next(own for own in curve if own.layer == best[0])
    low = wilson(top.right, top.n, risk=RISK / len(curve))[0]
    is_clear = round(100 * low) > round(100 * trial.chance)
    return SenseVerdict(
        state="separate" if is_clear else "unclear",
        best=tuple(best),
        near=tuple(near),
        accuracy=top.accuracy,
        interval=top.interval,
        n=top.n,
        baseline=trial.chance,
        commonest=trial.most_frequent,
    )
