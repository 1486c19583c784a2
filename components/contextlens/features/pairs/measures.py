"""The accuracy of one threshold on the cosine that separates two kinds of pairs.

A pair counts as the same if its cosine is at least the threshold. The threshold is fitted on
training pairs and judged on others: those of a given test split, or those of each fold in turn
(stratified cross-validation). Intervals are Wilson's (1927); ROC and AUC are scikit-learn's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import RISK, wilson
from contextlens.content.language import say
from contextlens.core.schema import FloatArray, IntArray

UNKNOWN, DIFFERENT, SAME = -1, 0, 1
"""The label of a pair."""
NEITHER, TRAIN, TEST = -1, 0, 1
"""The split of a pair."""
_FOLDS = 5
_SEED = 0
_FEWEST = 2
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scores:
    """The accuracy of a threshold at each layer.

    Attributes:
        how: "split" if a given test split judges the threshold, "folds" for cross-validation.
        n_folds: the folds of the cross-validation; 0 for a split.
        n_train: pairs on which a threshold was fitted; with folds, all judged pairs.
        n_left_out: labelled pairs that are in neither part of a split.
        rows: (n_judged,) int64, the pairs that were judged.
        same: (n_judged,) bool, True for a pair labelled the same.
        called_same: (n_layers, n_judged) bool, True for a pair at or above the threshold.
        cuts: (n_layers, n_cuts) the thresholds that judged: one for each fold, or one for a split.
        cut_of: (n_judged,) int64, the column in `cuts` of the threshold that judged each pair.
        thresholds: (n_layers,) fitted on the training pairs; with folds, on all labelled pairs.
        accuracy, low, high: (n_layers,) the share of judged pairs called right, with its interval.
        train_accuracy: (n_layers,) the share called right of those the threshold was fitted on.
        auc: (n_layers,) area under the ROC curve of the judged pairs; NaN if all are of one kind.
        majority: the share of the more common kind among the judged pairs.
        best: the row of the layer with the highest accuracy on the training pairs; with folds, in
            the cross-validation.
        note: the reason why a given split was not used, or "".
    """

    how: Literal["split", "folds"]
    n_folds: int
    n_train: int
    n_left_out: int
    rows: IntArray
    same: Bools
    called_same: Bools
    cuts: FloatArray
    cut_of: IntArray
    thresholds: FloatArray
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    train_accuracy: FloatArray
    auc: FloatArray
    majority: float
    best: int
    note: str = ""

    @property
    def n(self) -> int:
        """The number of judged pairs."""
        return len(self.rows)

    @property
    def is_clear(self) -> bool:
        """True if the best layer does better than always giving the more common answer.

        With folds, the pairs that judge a layer also chose it, so its interval is widened to hold
        at all layers at once in 95 of 100 cases (Bonferroni). Whole per cents are compared.
        """
        n_chosen_among = 1 if self.how == "split" else len(self.accuracy)
        right = round(float(self.accuracy[self.best]) * self.n)
        low = wilson(right, self.n, risk=RISK / n_chosen_among)[0]
        return round(100 * low) > round(100 * self.majority)

    @property
    def commonest(self) -> str:
        """The most frequent label of the judged pairs."""
        return "same" if self.same.mean() > 0.5 else "different"

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.rows.nbytes + self.same.nbytes + self.called_same.nbytes

    def wrong(self, layer: int) -> IntArray:
        """The pairs that are called wrong at a layer, given by its row."""
        missed: IntArray = self.rows[self.called_same[layer] != self.same]
        return missed


def judged(cosines: FloatArray, gold: IntArray, split: IntArray | None) -> Scores | str:
    """The scores of the thresholds, or a sentence on why there are none ("" without labels).

    Args:
        cosines: (n_layers, n_pairs); NaN for a pair that has no cosine.
        gold: (n_pairs,) SAME, DIFFERENT or UNKNOWN.
        split: (n_pairs,) TRAIN, TEST or NEITHER; None if none is given.
    """
    known = (gold != UNKNOWN) & ~np.isnan(cosines[0])
    why = _why_not(gold[known])
    if not known.any() or why:
        return why
    note = ""
    if split is not None:
        train, test = known & (split == TRAIN), known & (split == TEST)
        note = _why_no_split(gold[train], int(test.sum()))
        if not note:
            left_out = int(known.sum() - train.sum() - test.sum())
            return _by_split(cosines, gold == SAME, train, test, left_out)
    return _by_folds(cosines, gold == SAME, np.flatnonzero(known), note)


def _why_not(gold: IntArray) -> str:
    counts = {"same": int((gold == SAME).sum()), "different": int((gold == DIFFERENT).sum())}
    if not len(gold):
        return ""
    if not all(counts.values()):
        only = max(counts, key=lambda name: counts[name])
        return say("pairs.untested.one_kind", kind=only)
    if min(counts.values()) < _FEWEST:
        rare = min(counts, key=lambda name: counts[name])
        return say("pairs.untested.too_few", kind=rare, least=_FEWEST)
    return ""


def _why_no_split(train: IntArray, n_test: int) -> str:
    if not n_test:
        return say("pairs.untested.no_test")
    if len(set(train.tolist())) < 2:
        return say("pairs.untested.no_train")
    return ""


def _by_split(cosines: FloatArray, same: Bools, train: Bools, test: Bools, left_out: int) -> Scores:
    thresholds = np.array(
        [best_threshold(layer_cosines[train], same[train]) for layer_cosines in cosines]
    )
    fitted = ((cosines[:, train] >= thresholds[:, None]) == same[train]).mean(axis=1)
    rows = np.flatnonzero(test)
    called_same = cosines[:, rows] >= thresholds[:, None]
    return _scores(
        cosines,
        rows,
        same[rows],
        called_same,
        how="split",
        n_folds=0,
        n_train=int(train.sum()),
        n_left_out=left_out,
        cuts=thresholds[:, None],
        cut_of=np.zeros(len(rows), np.int64),
        thresholds=thresholds,
        train_accuracy=fitted,
        best=int(np.argmax(fitted)),
    )


def _by_folds(cosines: FloatArray, same: Bools, rows: IntArray, note: str) -> Scores:
    from sklearn.model_selection import StratifiedKFold

    rated, kind = cosines[:, rows], same[rows]
    k = int(min(_FOLDS, kind.sum(), (~kind).sum()))
    folds = StratifiedKFold(k, shuffle=True, random_state=_SEED)
    cuts, cut_of = np.zeros((len(rated), k)), np.zeros(len(rows), np.int64)
    for fold, (train, test) in enumerate(folds.split(rows, kind)):
        cuts[:, fold] = [
            best_threshold(layer_cosines[train], kind[train]) for layer_cosines in rated
        ]
        cut_of[test] = fold
    called_same = rated >= cuts[:, cut_of]
    thresholds = np.array([best_threshold(layer_cosines, kind) for layer_cosines in rated])
    return _scores(
        cosines,
        rows,
        kind,
        called_same,
        how="folds",
        n_folds=k,
        n_train=len(rows),
        n_left_out=0,
        cuts=cuts,
        cut_of=cut_of,
        thresholds=thresholds,
        train_accuracy=((rated >= thresholds[:, None]) == kind).mean(axis=1),
        best=int(np.argmax((called_same == kind).mean(axis=1))),
        note=note,
    )


def _scores(
    cosines: FloatArray, rows: IntArray, same: Bools, called_same: Bools, **more: object
) -> Scores:
    right = (called_same == same).sum(axis=1)
    bounds = np.array([wilson(int(n), len(rows)) for n in right])
    return Scores(
        rows=rows,
        same=same,
        called_same=called_same,
        accuracy=right / len(rows),
        low=bounds[:, 0],
        high=bounds[:, 1],
        auc=np.array([_auc(layer_cosines, same) for layer_cosines in cosines[:, rows]]),
        majority=float(max(same.mean(), 1 - same.mean())),
        **more,  # type: ignore[arg-type]
    )


def best_threshold(cosines: FloatArray, same: Bools) -> float:
    """The threshold that gets most pairs right, if those at or above it count as the same.

    Thresholds lie midway between neighbouring cosines; of equally good ones, the middle one wins.
    """
    order = np.argsort(cosines, kind="stable")
    values, kinds = cosines[order].astype(float), same[order]
    # With i pairs below the cut, the different ones among them and the same ones above are right.
    below = np.concatenate([[0], np.cumsum(~kinds)])
    above = kinds.sum() - np.concatenate([[0], np.cumsum(kinds)])
    apart = np.concatenate([[True], values[1:] > values[:-1], [True]])  # equal cosines: no cut
    places = np.flatnonzero(apart)
    right = (below + above)[places]
    best = places[np.flatnonzero(right == right.max())]
    place = int(best[(len(best) - 1) // 2])
    if place == 0:
        return float(values[0])
    if place == len(values):
        return math.nextafter(float(values[-1]), math.inf)
    return _between(float(values[place - 1]), float(values[place]))


def _between(low: float, high: float) -> float:
    """The midpoint, or `high` if no float lies between the two."""
    middle = (low + high) / 2
    return middle if middle > low else high


def roc(cosines: FloatArray, same: Bools) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """False positive rates, true positive rates and thresholds; None if all pairs are one kind."""
    if len(set(same.tolist())) < 2:
        return None
    from sklearn.metrics import roc_curve

    false, true, cuts = roc_curve(same, cosines)
    return false, true, cuts


def _auc(cosines: FloatArray, same: Bools) -> float:
    if len(set(same.tolist())) < 2:
        return math.nan
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(same, cosines))
