"""One threshold on the cosine that tells same pairs from different ones, and how often it is right.

A pair counts as the same if its cosine is at least the threshold. The threshold is fitted on
training pairs and judged on others: those of a given test split, or those of each fold in turn
(stratified cross-validation). A pair that stands in a file several times counts once. Intervals
are Wilson's (1927); AUC is scikit-learn's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.correlation import Float64Array
from contextlens.analysis.separation import MAX_FOLDS, RISK, wilson
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import number, two
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.pairs.controls import LABELLED_LISTS, LABELLED_PANELS, PLAIN_LISTS
from contextlens.features.pairs.layer_chart import (
    HEIGHT,
    interval,
    layer_axis,
    level,
    line,
    note,
    upright,
)
from contextlens.features.pairs.pair_set import (
    DIFFERENT,
    LABEL_NAMES,
    NEITHER,
    SAME,
    TEST,
    TRAIN,
    UNKNOWN,
)
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.figures.ruler import Stretch, line_ruler
from contextlens.figures.theme import figure
from contextlens.ui.panel import Arrays, Rows

THRESHOLD_FORMULA = r"""
**Threshold.** At each layer the number $\theta_\ell$ that gets most training pairs right, where
$c_\ell \ge \theta_\ell$ counts as *same*; it lies midway between two neighbouring cosines, and of
several that do equally well it is the middle one.

**Accuracy** is the share of the test pairs that this threshold gets right; the training pairs do
not count. Copies of a pair, with the same two texts and the same label, count once; the order of
the texts, case and signs do not matter. Without a split, pairs are dealt into up to five folds with
as many of either kind (stratified cross-validation), and each fold is judged by the threshold of
the others.

**Interval.** Of $n$ judged pairs a share $p$ is right; with $z = 1.96$ (Wilson, 1927):

$$\frac{p + \frac{z^2}{2n} \pm z \sqrt{\frac{p(1-p)}{n} + \frac{z^2}{4n^2}}}{1 + \frac{z^2}{n}}$$

It holds for pairs that have nothing to do with each other; pairs of the same word or text have, so
it is narrower than it should be where words repeat.

**Always guessing** the commoner kind gets the share that it has among the judged pairs.

**ROC curve.** For every threshold, the share of the same pairs that it calls the same against the
share of the different ones that it does. **AUC** is the area below: the chance that a same pair has
a higher cosine than a different one.
"""

_SEED = 0
_MIN_OF_A_KIND = 2
"""The fewest pairs of each kind, of which some are learned from and others tested."""
Bools = NDArray[np.bool_]


# --- How thresholds judge pairs


@dataclass(frozen=True, eq=False)
class Judgement:
    """The thresholds at each layer, and how they judge the pairs.

    Attributes:
        how: "split" if a given test split judges the threshold, "folds" for cross-validation.
        n_folds: the folds of the cross-validation; 0 for a split.
        n_train: pairs on which a threshold was fitted; with folds, all judged pairs.
        n_left_out: labelled pairs that are in neither part of a split.
        n_copies: labelled pairs that do not count, as they repeat one that does.
        n_taught: judged pairs whose texts a training pair of the split has, too.
        rows: (n_judged,) int64, the pairs that were judged.
        same: (n_judged,) bool, True for a pair labelled the same.
        called_same: (n_layers, n_judged) bool, True for a pair at or above the threshold.
        cuts: (n_layers, n_cuts) the thresholds that judged: one for each fold, or one for a split.
        cut_of: (n_judged,) int64, the column in `cuts` of the threshold that judged each pair.
        judged_as: (n_pairs,) int64, the place in `rows` of each pair or of the pair that it
            repeats; -1 for a pair that was not judged.
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
    n_copies: int
    n_taught: int
    rows: IntArray
    same: Bools
    called_same: Bools
    cuts: FloatArray
    cut_of: IntArray
    judged_as: IntArray
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
        arrays = (self.rows, self.same, self.called_same, self.cut_of, self.judged_as)
        return sum(array.nbytes for array in arrays)

    def wrong(self, layer: int) -> IntArray:
        """Return the pairs that are called wrong at a layer, given by its row."""
        missed: IntArray = self.rows[self.called_same[layer] != self.same]
        return missed


def judge(
    cosines: FloatArray,
    gold: IntArray,
    split: IntArray | None,
    contents: IntArray | None = None,
) -> Judgement | str:
    """Return the judgement of pairs, or the reason why there is none ("" without labels).

    Args:
        cosines: (n_layers, n_pairs); NaN for a pair that has no cosine.
        gold: (n_pairs,) SAME, DIFFERENT or UNKNOWN.
        split: (n_pairs,) TRAIN, TEST or NEITHER; None if none is given.
        contents: (n_pairs,) equal numbers for pairs of the same texts; None if all differ.
    """
    contents = np.arange(len(gold)) if contents is None else contents
    labelled = (gold != UNKNOWN) & ~np.isnan(cosines[0])
    kinds = np.stack([contents, gold])
    known = _once(labelled, kinds)
    why = _why_not(gold[known])
    if not known.any() or why:
        return why
    note = ""
    if split is not None:
        counted = _once(labelled, np.stack([contents, gold, split]))
        train, test = counted & (split == TRAIN), counted & (split == TEST)
        if not test.any():
            note = say("pairs.untested.no_test")
        elif len(set(gold[train].tolist())) < 2:
            note = say("pairs.untested.no_train")
        else:
            n_left_out = int((labelled & (split == NEITHER)).sum())
            return _by_split(
                cosines,
                kinds,
                train,
                test,
                n_left_out=n_left_out,
                n_copies=int(labelled.sum() - train.sum() - test.sum()) - n_left_out,
                n_taught=int(np.isin(contents[test], contents[train]).sum()),
            )
    n_copies = int(labelled.sum() - known.sum())
    return _by_folds(cosines, kinds, np.flatnonzero(known), n_copies=n_copies, note=note)


def _once(chosen: Bools, kinds: IntArray) -> Bools:
    """The first of the chosen pairs of each kind, given as (n_numbers, n_pairs)."""
    rows = np.flatnonzero(chosen)
    first = np.unique(kinds[:, rows], axis=1, return_index=True)[1]
    once = np.zeros_like(chosen)
    once[rows[first]] = True
    return once


def _why_not(gold: IntArray) -> str:
    counts = {"same": int((gold == SAME).sum()), "different": int((gold == DIFFERENT).sum())}
    if not len(gold):
        return ""
    if not all(counts.values()):
        only = max(counts, key=lambda name: counts[name])
        return say("pairs.untested.one_kind", kind=only)
    if min(counts.values()) < _MIN_OF_A_KIND:
        rare = min(counts, key=lambda name: counts[name])
        return say("pairs.untested.too_few", kind=rare, least=_MIN_OF_A_KIND)
    return ""


def _by_split(
    cosines: FloatArray, kinds: IntArray, train: Bools, test: Bools, **more: int
) -> Judgement:
    same = kinds[1] == SAME
    thresholds = np.array(
        [best_threshold(layer_cosines[train], same[train]) for layer_cosines in cosines]
    )
    fitted = ((cosines[:, train] >= thresholds[:, None]) == same[train]).mean(axis=1)
    rows = np.flatnonzero(test)
    called_same = cosines[:, rows] >= thresholds[:, None]
    return _judgement(
        cosines,
        kinds,
        rows,
        called_same,
        how="split",
        n_folds=0,
        n_train=int(train.sum()),
        cuts=thresholds[:, None],
        cut_of=np.zeros(len(rows), np.int64),
        thresholds=thresholds,
        train_accuracy=fitted,
        best=int(np.argmax(fitted)),
        **more,
    )


def _by_folds(
    cosines: FloatArray, kinds: IntArray, rows: IntArray, *, n_copies: int, note: str
) -> Judgement:
    from sklearn.model_selection import StratifiedKFold

    rated, kind = cosines[:, rows], kinds[1, rows] == SAME
    k = int(min(MAX_FOLDS, kind.sum(), (~kind).sum()))
    folds = StratifiedKFold(k, shuffle=True, random_state=_SEED)
    cuts, cut_of = np.zeros((len(rated), k)), np.zeros(len(rows), np.int64)
    for fold, (train, test) in enumerate(folds.split(rows, kind)):
        cuts[:, fold] = [
            best_threshold(layer_cosines[train], kind[train]) for layer_cosines in rated
        ]
        cut_of[test] = fold
    called_same = rated >= cuts[:, cut_of]
    thresholds = np.array([best_threshold(layer_cosines, kind) for layer_cosines in rated])
    return _judgement(
        cosines,
        kinds,
        rows,
        called_same,
        how="folds",
        n_folds=k,
        n_train=len(rows),
        n_left_out=0,
        n_copies=n_copies,
        n_taught=0,
        cuts=cuts,
        cut_of=cut_of,
        thresholds=thresholds,
        train_accuracy=((rated >= thresholds[:, None]) == kind).mean(axis=1),
        best=int(np.argmax((called_same == kind).mean(axis=1))),
        note=note,
    )


def _judgement(
    cosines: FloatArray, kinds: IntArray, rows: IntArray, called_same: Bools, **more: object
) -> Judgement:
    same = kinds[1, rows] == SAME
    positions = {kind: i for i, kind in enumerate(map(tuple, kinds[:, rows].T.tolist()))}
    judged_as = [positions.get(kind, -1) for kind in map(tuple, kinds.T.tolist())]
    right = (called_same == same).sum(axis=1)
    bounds = np.array([wilson(int(n), len(rows)) for n in right])
    return Judgement(
        rows=rows,
        same=same,
        called_same=called_same,
        judged_as=np.array(judged_as, np.int64),
        accuracy=right / len(rows),
        low=bounds[:, 0],
        high=bounds[:, 1],
        auc=np.array([_auc(layer_cosines, same) for layer_cosines in cosines[:, rows]]),
        majority=float(max(same.mean(), 1 - same.mean())),
        **more,  # type: ignore[arg-type]
    )


def best_threshold(cosines: FloatArray, same: Bools) -> float:
    """Return the threshold that gets most pairs right, if those at or above it count as the same.

    Thresholds lie midway between neighbouring cosines; of equally good ones, the middle one wins.
    """
    order = np.argsort(cosines, kind="stable")
    values, kinds = cosines[order].astype(float), same[order]
    # With i pairs below the cut, the different ones among them and the same ones above are right.
    below = np.concatenate([[0], np.cumsum(~kinds)])
    above = kinds.sum() - np.concatenate([[0], np.cumsum(kinds)])
    apart = np.concatenate([[True], values[1:] > values[:-1], [True]])  # equal cosines: no cut
    cuts = np.flatnonzero(apart)
    right = (below + above)[cuts]
    best = cuts[np.flatnonzero(right == right.max())]
    cut = int(best[(len(best) - 1) // 2])
    if cut == 0:
        return float(values[0])
    if cut == len(values):
        return math.nextafter(float(values[-1]), math.inf)
    low, high = float(values[cut - 1]), float(values[cut])
    middle = (low + high) / 2
    return middle if middle > low else high  # no float may lie between the two


def _auc(cosines: FloatArray, same: Bools) -> float:
    if len(set(same.tolist())) < 2:
        return math.nan
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(same, cosines))


# --- Labelled pairs at one layer

_CALLED = {True: "the same", False: "different"}


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledPairs(PairsAtLayer):
    """Pairs at one layer that a threshold judges.

    Attributes:
        judgement: how it judges them at every layer.
    """

    lists: ClassVar[tuple[str, ...]] = LABELLED_LISTS
    panels: ClassVar[tuple[str, ...]] = LABELLED_PANELS
    share_title: ClassVar[Literal["pairs.whole.title"]] = "pairs.whole.title"

    judgement: Judgement

    @property
    def best_row(self) -> int:
        """The row of the layer that is best in training."""
        return self.judgement.best

    @property
    def threshold(self) -> float:
        """The threshold at the layer."""
        return float(self.judgement.thresholds[self.row])

    @property
    def accuracy(self) -> float:
        """The share of the judged pairs that are called right at the layer."""
        return float(self.judgement.accuracy[self.row])

    @cached_property
    def pair_thresholds(self) -> Float64Array:
        """(n_pairs,) the threshold that judges each pair: of a fold, that of the others."""
        judgement = self.judgement
        cuts = judgement.cuts[self.row, judgement.cut_of]
        return np.where(judgement.judged_as >= 0, cuts[judgement.judged_as], self.threshold)

    @cached_property
    def called_same(self) -> Bools:
        """(n_pairs,) the pairs that are called the same."""
        called_same: Bools = self.cosines >= self.pair_thresholds
        return called_same

    @cached_property
    def verdict_columns(self) -> Arrays:
        """The verdict on each pair; "" if it has no cosine."""
        verdicts = np.where(self.called_same, LABEL_NAMES[SAME], LABEL_NAMES[DIFFERENT])
        return {"verdict": np.where(np.isnan(self.cosines), "", verdicts)}

    # --- One pair

    def pair_claims(self, pair: int) -> list[Claim]:
        """Return the verdict on one pair, beside its label if it has one."""
        called, gold = bool(self.called_same[pair]), int(self.pairs.gold[pair])
        case = "unlabelled" if gold == UNKNOWN else "right" if called == (gold == SAME) else "wrong"
        words, texts = f"pairs.verdict.words.{case}", f"pairs.verdict.texts.{case}"
        cosine, threshold = float(self.cosines[pair]), float(self.pair_thresholds[pair])
        numbers: dict[str, Any] = {"cosine": cosine, "threshold": threshold}
        if two(cosine) == two(threshold):  # four decimals tell which is greater
            numbers = {name: _four(value) for name, value in numbers.items()}
        names = {"called": _CALLED[called], "label": _CALLED[gold == SAME]}
        key = words if self.pairs.has_words else texts
        given = f"pairs.given.verdict.{case}"
        return [claim(key if self.pairs.vectors is None else given, **names, **numbers)]

    def to_read(self, which: str) -> IntArray:
        """Return the pairs of a list; of wrong ones, the furthest from the threshold first."""
        if which in PLAIN_LISTS:
            return super().to_read(which)
        wrong = self.judgement.wrong(self.row)
        gold = self.pairs.gold[wrong]
        if which == "called_same":
            wrong = wrong[gold == DIFFERENT]
        if which == "called_different":
            wrong = wrong[gold == SAME]
        beyond = np.abs(self.cosines[wrong] - self.judgement.thresholds[self.row])
        by_distance: IntArray = wrong[np.argsort(-beyond, kind="stable")]
        return by_distance

    # --- All pairs

    @property
    def title(self) -> str:
        """The finding over all layers."""
        judgement = self.judgement
        if not judgement.is_clear:
            return say("pairs.title.unclear")
        return say(
            f"pairs.title.{judgement.how}",
            layer=self.layers[judgement.best],
            accuracy=float(judgement.accuracy[judgement.best]),
            baseline=judgement.majority,
        )

    def claims(self) -> Sequence[Claim]:
        """Return the reading at the layer; numbers are compared as displayed, in whole per cent."""
        judgement, row = self.judgement, self.row
        low, high, baseline = (
            round(100 * float(share))
            for share in (judgement.low[row], judgement.high[row], judgement.majority)
        )
        case = "better" if low > baseline else "worse" if high < baseline else "unclear"
        case = "one" if judgement.n == 1 else case
        finding = claim(
            f"pairs.claim.{case}",
            n=judgement.n,
            accuracy=self.accuracy,
            baseline=judgement.majority,
        )
        return [finding, claim("pairs.claim.caution")] if self.pairs.has_words else [finding]

    def sure(self) -> Sequence[Claim]:
        """Return the interval, the method of judging and the mistakes."""
        judgement, row = self.judgement, self.row
        low, high = float(judgement.low[row]), float(judgement.high[row])
        how = {"threshold": self.threshold, "n_folds": judgement.n_folds}
        n_wrong = len(judgement.wrong(row))
        n_missed = int((self.pairs.gold[judgement.wrong(row)] == SAME).sum())
        case = "errors" if n_wrong else "no_errors"
        return [
            claim("pairs.sure.interval", n=judgement.n, low=low, high=high),
            claim("pairs.sure.guessing", commonest=judgement.commonest),
            claim(f"pairs.sure.{judgement.how}", n=judgement.n_train, **how),
            *self.repeated_texts(judgement.rows),
            claim(f"pairs.sure.{case}", n=n_wrong, called=n_wrong - n_missed, missed=n_missed),
        ]

    def share_figure(self) -> go.Figure:
        """Return the share of right verdicts on a line, beside that of guessing."""
        majority = self.judgement.majority
        guessing = Stretch(say("pairs.whole.guessing", share=majority), 0, majority)
        label = say("pairs.whole.right", share=self.accuracy)
        return line_ruler([guessing], self.accuracy, scale=(0, 1), label=label)

    def share_alt(self) -> str:
        """Return a description of the share's chart."""
        return say("pairs.whole.alt", share=self.accuracy, baseline=self.judgement.majority)

    def figure(self) -> go.Figure:
        """Return the accuracy at each layer, with its interval, and that of always guessing."""
        judgement, x = self.judgement, list(self.layers)
        majority = judgement.majority
        lowest = min(0.4, float(np.floor(min(judgement.low.min(), majority) * 10) / 10))
        accuracy = line(
            x,
            judgement.accuracy,
            [judgement.low, judgement.high, judgement.thresholds, judgement.auc],
            name="accuracy",
            template="accuracy %{y:.4f}<br>95 of 100: %{customdata[0]:.4f} to "
            "%{customdata[1]:.4f}<br>threshold %{customdata[2]:.4f}"
            "<br>AUC %{customdata[3]:.4f}",
        )
        layout = {
            "margin": {"l": 92},  # "100%" in any font, so that nothing is drawn twice
            "xaxis": layer_axis(x),
            "yaxis": {
                "title": {"text": "judged right"},
                "range": [lowest, 1.02],
                "tickformat": ".0%",
            },
            "shapes": [level(majority, x), upright(self.layer)],
            "annotations": [note(f"guessing {majority:.0%}", x[-1], majority)],
        }
        band = interval(x, judgement.low, judgement.high)
        return figure([band, accuracy], layout, title=self.title, height=HEIGHT)

    def alt(self) -> str:
        """Return a description of the chart."""
        return say("pairs.alt.accuracy", title=self.title)

    def rows(self) -> Rows:
        """Return the thresholds and accuracies at each layer."""
        judgement = self.judgement
        return [
            {
                "layer": layer,
                "threshold": float(judgement.thresholds[i]),
                "accuracy": float(judgement.accuracy[i]),
                "from (95%)": float(judgement.low[i]),
                "to (95%)": float(judgement.high[i]),
                "majority": judgement.majority,
                "AUC": float(judgement.auc[i]),
                "accuracy on the training pairs": float(judgement.train_accuracy[i]),
            }
            for i, layer in enumerate(self.layers)
        ]

    def arrays(self) -> Arrays:
        """Return the cosines and labels of the pairs, and how they are judged."""
        judgement = self.judgement
        return {
            **super().arrays(),
            "judged": judgement.rows,
            "says": judgement.called_same,
            "thresholds": judgement.thresholds,
            "accuracy": judgement.accuracy,
            "auc": judgement.auc,
        }

    def scripts(self) -> list[tuple[str, str]]:
        """Return a script for the accuracy at each layer, with its title, and one for a chart."""
        script = accuracy_snippet(self.judgement.how)
        return [(say("pairs.accuracy_snippet"), script), ("", ACCURACY_PICTURE)]

    def _used_pairs(self) -> list[str]:
        judgement = self.judgement
        numbers: dict[Literal["trained", "left_out", "copies_once", "taught"], int] = {
            "trained": judgement.n_train if judgement.how == "split" else 0,
            "left_out": judgement.n_left_out,
            "copies_once": judgement.n_copies,
            "taught": judgement.n_taught,
        }
        return [say(f"pairs.notes.{name}", n=n) for name, n in numbers.items() if n]


def _four(value: float) -> str:
    return number(value, ".4f")


# --- A script for the accuracy, from the page's NPZ

ACCURACY_PICTURE = """\
import plotly.express as px

px.line(y=accuracy, markers=True, labels={"x": "layer", "y": "accuracy"})
"""

_START = """\
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

with np.load("pairs.npz") as page:
    cosines, gold, split = page["cosines"], page["gold"], page["split"]
    contents = page["contents"]  # equal for pairs of the same two texts


def threshold(c, same):
    \"\"\"The cut that gets most right; of several that do equally well, the middle one.\"\"\"
    c = np.sort(c.astype(float)), np.argsort(c, kind="stable")
    values, kinds = c[0], same[c[1]]
    right = np.append(0, np.cumsum(~kinds)) + kinds.sum() - np.append(0, np.cumsum(kinds))
    between = (values[1:] + values[:-1]) / 2
    cuts = np.concatenate([values[:1], between, [np.nextafter(values[-1], 9)]])
    cuts[1:-1] = np.where(cuts[1:-1] > values[:-1], cuts[1:-1], values[1:])
    able = np.concatenate([[True], values[1:] > values[:-1], [True]])
    best = np.flatnonzero(able & (right == right[able].max()))
    return cuts[best[(len(best) - 1) // 2]]


def once(*kinds):
    \"\"\"The labelled pairs without copies.\"\"\"
    rows = np.flatnonzero((gold >= 0) & ~np.isnan(cosines[0]))
    first = np.unique(np.stack(kinds)[:, rows], axis=1, return_index=True)[1]
    return np.isin(np.arange(len(gold)), rows[first])


same = gold == 1
"""

_SPLIT = """\
known = once(contents, gold, split)
train, test = known & (split == 0), known & (split == 1)
accuracy, auc = [], []
for c in cosines:
    says = c[test] >= threshold(c[train], same[train])
"""

_FOLDS = """\
test = known = once(contents, gold)
k = min(5, same[known].sum(), (~same[known]).sum())
folds = list(StratifiedKFold(k, shuffle=True, random_state=0).split(same[known], same[known]))
accuracy, auc = [], []
for c in cosines:
    says = np.zeros(known.sum(), bool)
    for fit, judge in folds:
        says[judge] = c[known][judge] >= threshold(c[known][fit], same[known][fit])
"""

_END = """\
    accuracy.append((says == same[test]).mean())
    auc.append(roc_auc_score(same[test], c[test]) if len(set(same[test])) == 2 else np.nan)
    print(f"accuracy {accuracy[-1]:.4f}, AUC {auc[-1]:.4f}")
print(f"by chance {max(same[test].mean(), 1 - same[test].mean()):.4f}, {test.sum()} pairs")
"""


def accuracy_snippet(how: str) -> str:
    """Return a script that computes `accuracy` and `auc` for each layer from the page's NPZ.

    Args:
        how: "split" or "folds".
    """
    if how == "folds":
        return _START + _FOLDS + _END
    without_folds = _START.replace("from sklearn.model_selection import StratifiedKFold\n", "")
    return without_folds + _SPLIT + _END
