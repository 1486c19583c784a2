"""The separation of a word's labelled senses: the nearest centroid, on held-out examples.

A word vector is scaled to length 1; a centroid is the mean of its sense's training vectors, scaled
to length 1; the sense with the highest cosine wins. (scikit-learn's `NearestCentroid` does not
scale the means.) Examples are held out by a given split, or by the folds of stratified k-fold
cross-validation in the order of the text, not shuffled. So the examples of one text mostly fall
into one fold and are not tested on each other.

`verdict_of` draws one conclusion from the tests at all layers, by a permutation test: Wilson's
interval takes uses for independent, but similar ones are right or wrong together. Every page about
labelled senses uses it, so that pages agree.
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

from contextlens.analysis.shuffles import n_shuffles, shuffled
from contextlens.core.errors import RequestError
from contextlens.core.schema import TEST, TRAIN, VALIDATION, FloatArray, IntArray

__all__ = [
    "LOW_COSINE",
    "LOW_MARGIN",
    "MAX_FOLDS",
    "MAX_SHUFFLED",
    "MAX_SILHOUETTE",
    "MAX_TABLE",
    "RISK",
    "SPLIT",
    "Problem",
    "SenseVerdict",
    "Separation",
    "Trial",
    "best_of",
    "centroids",
    "cosine_table",
    "cosines_to",
    "is_beyond_luck",
    "scaled",
    "separation",
    "silhouette",
    "trial_of",
    "two_nearest",
    "verdict_of",
    "wilson",
]

MAX_FOLDS = 5
LEAST = 2
"""The fewest examples of a sense for cross-validation: one to learn from, one to test."""
SPLIT = "split"
"""The column that says which rows are for training and which are for testing."""

Problem = Literal["", "none", "one", "single"]
"""The reason why nothing can be tested: no labels, all equal, or only one sense that repeats."""
RISK = 0.05
"""The risk that an interval misses the true share."""
MAX_SILHOUETTE = 1_000
"""The largest number of vectors for a silhouette, which compares all pairs of them."""
LOW_MARGIN, LOW_COSINE = 0.10, 0.05
"""The shares of the tested occurrences whose margins, and whose cosines, count as low."""
MAX_SHUFFLED = 2_000
"""The largest number of occurrences whose labels are shuffled; of more, a sample's are."""
_MAX_PRODUCTS = 1e9  # multiplications for all shuffles at a layer, above which there are fewer
_MAX_NUMBERS = 4e6  # in memory at a time
MAX_TABLE = 2_000
"""The largest number of vectors of which all pairs are compared: 16 MB of cosines."""


def scaled(vectors: NDArray[Any]) -> FloatArray:
    """(n, n_dims) float32 vectors scaled to length 1; a vector of length 0 stays zero."""
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
        RequestError: there are more than `MAX_TABLE` vectors.
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
    """The occurrences that are tested, and those that the test learns from.

    Attributes:
        senses: every sense that is learned or tested, the most frequent first.
        codes: (n,) the number of each occurrence's sense; -1 if it takes no part.
        folds: (n,) the fold that tests it; -1 if it is never tested.
        teaches: (n,) bool: True if others learn from it.
        how: "split" for the given split, "folds" for cross-validation.
        n_folds: the number of folds; 1 for a split.
        left_out: senses with too few examples.
        problem: why nothing can be tested; "" if it can.
        has_split: True if a split was given, even one that could not be used for this word.
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
        """The tested occurrences."""
        return np.flatnonzero(self.folds >= 0)

    @cached_property
    def chance(self) -> float:
        """The accuracy of always naming the most frequent sense among the tested."""
        codes = self.codes[self.tested]
        return float(np.bincount(codes).max() / len(codes)) if len(codes) else float("nan")

    @property
    def most_frequent(self) -> str:
        """The most frequent sense among the tested, which the baseline always names."""
        codes = self.codes[self.tested]
        return self.senses[int(np.bincount(codes).argmax())] if len(codes) else ""


def trial_of(labels: Sequence[str], split: Sequence[str] = ()) -> Trial:
    """Return the split or the folds that test the senses of a word.

    If `split` has rows of at least two senses for training and for testing, it is used. Otherwise
    the test is stratified k-fold cross-validation, where k is the number of examples of the rarest
    sense, at most `MAX_FOLDS`; senses of fewer than two examples are left out.

    Args:
        labels: the sense of each occurrence, "" for none.
        split: the value in the split column for each occurrence; empty if there is no such column.
    """
    parts = [value.strip().casefold() for value in split]
    tests = next((names for names in (TEST, VALIDATION) if not set(parts).isdisjoint(names)), ())
    if tests:
        given = _held_out(labels, parts, tests)
        if given is not None:
            return given
    return _folded(labels, has_split=bool(split))


def _held_out(labels: Sequence[str], parts: Sequence[str], tests: Sequence[str]) -> Trial | None:
    """Return the trial of a given split; None unless it has two senses to learn and two to test."""
    train = np.array([part in TRAIN for part in parts], dtype=np.bool_)
    test = np.array([part in tests for part in parts], dtype=np.bool_)
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
        n_folds = min(MAX_FOLDS, *(counts[sense] for sense in senses))
        members = np.flatnonzero(codes >= 0)
        folds[members] = _stratified(codes[members], n_folds)
    teaches = (codes >= 0) & (not problem)
    return Trial(senses, codes, folds, teaches, "folds", n_folds, left_out, problem, has_split)


def _stratified(codes: IntArray, n_folds: int) -> IntArray:
    """The fold that tests each occurrence: scikit-learn's `StratifiedKFold`, not shuffled."""
    from sklearn.model_selection import StratifiedKFold

    folds = np.zeros(len(codes), dtype=np.int64)
    for fold, (_, tested) in enumerate(StratifiedKFold(n_folds).split(codes[:, None], codes)):
        folds[tested] = fold
    return folds


def _coded(labels: Sequence[str]) -> tuple[tuple[str, ...], IntArray]:
    """Return the labels, most frequent first, and each occurrence's index among them, or -1."""
    counts = Counter(label for label in labels if label)
    senses = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    places = {sense: i for i, sense in enumerate(senses)}
    return senses, np.array([places.get(label, -1) for label in labels], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Separation:
    """The result of the nearest-centroid test at one layer.

    Attributes:
        layer: the layer.
        right, n: the numbers of correctly classified and of tested occurrences.
        interval: Wilson's 95% interval of the accuracy.
        predicted: (n_occurrences,) the number of the predicted sense; -1 where not tested.
        margins: (n,) each tested occurrence's cosine to the nearest centroid minus that to the
            second nearest.
        confusion: (n_senses, n_senses) how often a sense (row) is classified as another (column).
        silhouette: the mean silhouette of all occurrences that take part, by cosine distance, in
            [-1, 1]; NaN if it is not defined.
        low_margin: a tenth of the margins are lower.
        low_cosine: a twentieth of the tested have a lower cosine to their nearest centroid.
        rights: (1 + n_shuffles,) the number right of at most `MAX_SHUFFLED` occurrences, then that
            after each shuffle of their labels, the same shuffles at each layer.
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
    rights: IntArray

    @property
    def accuracy(self) -> float:
        """The share of the tested occurrences that are classified correctly."""
        return self.right / self.n

    def strays(self, trial: Trial) -> IntArray:
        """The occurrences of a trial that this test gives another sense than their own."""
        is_wrong = self.predicted[trial.tested] != trial.codes[trial.tested]
        strays: IntArray = trial.tested[is_wrong]
        return strays


def wilson(right: float, n: float, *, risk: float = RISK) -> tuple[float, float]:
    """Return Wilson's score interval (1927) of a share of n > 0 observations."""
    z = NormalDist().inv_cdf(1 - risk / 2)
    share, scale = right / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z / scale * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def centroids(units: FloatArray, codes: IntArray, n: int) -> FloatArray:
    """(n, n_dims) the scaled mean of each sense's scaled vectors; zeros if it has none."""
    members = codes == np.arange(n)[:, None]
    return scaled(members.astype(np.float64) @ units)


def two_nearest(
    units: FloatArray, centres: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return the nearest and second centroids of each vector, and the cosines to both.

    A centroid without examples (zeros) is never nearest. If there are fewer than two, the second is
    -1 with cosine -1.
    """
    has_members = np.linalg.norm(centres, axis=1) > 0
    cosines = np.where(has_members, units @ centres.T, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :2]
    rows = np.arange(len(units))
    first, best = order[:, 0], cosines[rows, order[:, 0]]
    if has_members.sum() < 2:
        return first, np.full(len(units), -1), best, np.full(len(units), -1.0)
    return first, order[:, 1], best, cosines[rows, order[:, 1]]


def separation(units: FloatArray, trial: Trial, layer: int) -> Separation:
    """Return the result of the test at one layer.

    Args:
        units: (n, n_dims) the occurrences' vectors, scaled.
        trial: the occurrences to test and to learn from; its `problem` is empty.
        layer: the layer of the vectors.
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
        rights=_rights(units, trial),
    )


def _rights(units: FloatArray, trial: Trial) -> IntArray:
    """(1 + n_shuffles,) the number right with the labels, and with each shuffle of them.

    Folds are made anew for shuffled labels; those of a split stay in their part. More than
    `MAX_SHUFFLED` occurrences are sampled with a fixed seed. There are 199 shuffles, or as few as
    39 where more would be too much work.
    """
    rows = np.flatnonzero(trial.codes >= 0)
    if len(rows) > MAX_SHUFFLED:
        rows = np.sort(np.random.default_rng(0).choice(rows, MAX_SHUFFLED, replace=False))
    units, teaches = units[rows], trial.teaches[rows]
    codes, folds = trial.codes[rows], trial.folds[rows]
    if len(units) < units.shape[1]:  # the same products between vectors, in fewer dimensions
        units = np.linalg.qr(units.T)[1].T
    n_senses, is_split = len(trial.senses), trial.how == "split"
    n = n_shuffles(units.size * n_senses * (1.0 + 2 * trial.n_folds), _MAX_PRODUCTS)
    columns = shuffled(codes, folds if is_split else np.zeros_like(folds), n)
    column_folds = np.tile(folds[:, None], n + 1) if is_split else _refolded(columns, folds)
    rights = np.zeros(n + 1, dtype=np.int64)
    n_columns = max(1, int(_MAX_NUMBERS / (n_senses * max(units.shape))))
    for start in range(0, n + 1, n_columns):
        chunk = columns[:, start : start + n_columns]
        members = (chunk[..., None] == np.arange(n_senses)) & teaches[:, None, None]
        sums = _sums(members, units)
        for fold in range(trial.n_folds):
            tested = column_folds[:, start : start + n_columns] == fold
            centres = sums - _sums(members & tested[..., None], units)
            lengths = np.sqrt(np.einsum("ij,ij->i", centres, centres))
            scores = units @ centres.T / np.maximum(lengths, np.finfo(np.float32).tiny)
            # shuffles leave each sense as many examples to learn from as it had
            learned = np.bincount(codes[teaches & (folds != fold)], minlength=n_senses) > 0
            predicted = np.where(learned, scores.reshape(members.shape), -np.inf).argmax(axis=2)
            rights[start : start + n_columns] += ((predicted == chunk) & tested).sum(axis=0)
    return rights


def _sums(members: NDArray[np.bool_], units: FloatArray) -> FloatArray:
    """(n_columns * n_senses, n_dims) the sums of each column's members of each sense."""
    sums: FloatArray = members.reshape(len(units), -1).astype(np.float32).T @ units
    return sums


def _refolded(columns: IntArray, folds: IntArray) -> IntArray:
    """(n, n_columns) the folds of `_stratified` for each column of codes; `folds` for the first."""
    refolded = np.zeros_like(columns)
    for sense in np.unique(columns[:, 0]):
        in_order = np.sort(folds[columns[:, 0] == sense])
        members = columns == sense
        refolded[members] = in_order[(members.cumsum(axis=0) - 1)[members]]
    return refolded


def silhouette(units: FloatArray, codes: IntArray) -> float:
    """Return the mean silhouette (Rousseeuw 1987) by cosine distance; NaN if it is not defined.

    More than `MAX_SILHOUETTE` vectors are sampled with a fixed seed.
    """
    from sklearn.metrics import silhouette_score

    members = np.flatnonzero(codes >= 0)
    if len(members) > MAX_SILHOUETTE:
        members = np.random.default_rng(0).choice(members, MAX_SILHOUETTE, replace=False)
    n_kinds = len(np.unique(codes[members]))
    if not 2 <= n_kinds < len(members):
        return float("nan")
    return float(silhouette_score(units[members], codes[members], metric="cosine"))


def best_of(curve: Sequence[Separation]) -> tuple[list[int], list[int]]:
    """Return the layers with most right, and others whose accuracy lies in the best's interval."""
    most = max(test.right for test in curve)
    best = [test.layer for test in curve if test.right == most]
    low = next(test.interval[0] for test in curve if test.right == most)
    near = [test.layer for test in curve if test.right < most and test.accuracy >= low]
    return best, near


@dataclass(frozen=True)
class SenseVerdict:
    """The conclusion from the tests of labelled senses at all layers.

    Attributes:
        state: "separate" if the best layer does better than always guessing the commonest sense,
            and the best layer of at most 2.5% of the shuffles does as well; "unclear" if that is
            not shown; "untested" if nothing can be tested.
        best: the layers with most right, ascending.
        near: the other layers whose accuracy lies within the interval of the best.
        accuracy, interval: those of the best layer; the interval is Wilson's at 95%.
        n: the number of held-out examples that were tested.
        baseline: the accuracy of always guessing the commonest sense.
        commonest: the commonest sense.
    """

    state: Literal["separate", "unclear", "untested"]
    best: tuple[int, ...] = ()
    near: tuple[int, ...] = ()
    accuracy: float = float("nan")
    interval: tuple[float, float] = (0.0, 1.0)
    n: int = 0
    baseline: float = float("nan")
    commonest: str = ""


def is_beyond_luck(tests: Sequence[Separation], accuracy: float, chance: float) -> bool:
    """Return True if senses are told apart: better than always guessing, and than shuffled labels.

    Args:
        tests: one layer's test, or several of which the best is chosen.
        accuracy: the best accuracy; it and `chance` are compared in whole per cent.
        chance: the accuracy of always guessing the commonest sense.
    """
    rights = np.max([test.rights for test in tests], axis=0)
    is_rare = bool(np.mean(rights >= rights[0]) <= RISK / 2)
    return is_rare and round(100 * accuracy) > round(100 * chance)


def verdict_of(curve: Sequence[Separation], trial: Trial) -> SenseVerdict:
    """Return the conclusion from the tests of one trial at all layers.

    Shares are compared in whole per cent, as pages show them.

    Args:
        curve: the test at each layer; empty if the trial has a problem.
        trial: the trial that the tests belong to.
    """
    if not curve:
        return SenseVerdict("untested")
    best, near = best_of(curve)
    top = next(test for test in curve if test.layer == best[0])
    return SenseVerdict(
        state="separate" if is_beyond_luck(curve, top.accuracy, trial.chance) else "unclear",
        best=tuple(best),
        near=tuple(near),
        accuracy=top.accuracy,
        interval=top.interval,
        n=top.n,
        baseline=trial.chance,
        commonest=trial.most_frequent,
    )
