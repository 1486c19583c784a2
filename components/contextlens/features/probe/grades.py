"""Ridge regression on vectors, for graded labels: predictions for held-out texts, and their order.

All vectors and yardsticks are tested on the same texts, by folds with as many texts of each fifth
of the grades. Predictions of all folds are ranked together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.correlation import Float64Array, spearman_interval, spearman_of
from contextlens.analysis.separation import RISK, Trial, trial_of
from contextlens.core.schema import FloatArray
from contextlens.features.probe.measures import Found, Learned, Verdict, take_rows, word_counts

ALPHAS = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
"""The strengths of regularisation, of which scikit-learn's `RidgeCV` chooses one in each fold."""
_N_STRATA = 5


@dataclass(frozen=True, eq=False)
class GradeScore:
    """The predictions of one regression for the tested texts.

    Attributes:
        name: the pooling, or the name of a yardstick.
        layer: the layer of the vectors; -1 for a yardstick.
        predicted: (n_tested,) the predicted grades.
        value: Spearman's correlation of the predictions with the grades; 0 if they are all equal.
        interval: its 95% interval (Bonett and Wright).
    """

    name: str
    layer: int
    predicted: Float64Array
    value: float
    interval: tuple[float, float]

    @property
    def n(self) -> int:
        """The number of tested texts."""
        return len(self.predicted)

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.predicted.nbytes


@dataclass(frozen=True, eq=False, kw_only=True)
class GradeResult(Found[GradeScore]):
    """The scores for labels that are grades."""

    @property
    def best(self) -> GradeScore:
        """The score with the highest correlation."""
        return max(self.scores, key=lambda score: score.value)

    @property
    def verdict(self) -> Verdict:
        """How the best compares with counting words and with no relation.

        The interval allows for the choice of the best (Bonferroni).
        """
        low, high = self.wide_interval
        if low <= 0:
            return "unclear"
        if low > self.words.value:
            return "better"
        return "worse_than_words" if high < self.words.value else "like_words"

    @property
    def wide_interval(self) -> tuple[float, float]:
        """The 95% interval of the best score, which allows for its choice."""
        best = self.best
        return spearman_interval(best.value, best.n, risk=RISK / len(self.scores))


def grade_trial(grades: Float64Array, split: Sequence[str]) -> Trial:
    """Return the split or the folds that test grades, with as many of each fifth of them.

    Args:
        grades: (n,) the grade of each text.
        split: the value in the split column for each text; empty if there is no such column.
    """
    ends = np.quantile(grades, np.linspace(0, 1, _N_STRATA + 1)[1:-1])
    fifths = np.searchsorted(ends, grades, side="right").tolist()
    return trial_of([str(fifth) for fifth in fifths], split)


def grade_score(
    name: str,
    features: NDArray[Any] | Sequence[str],
    trial: Trial,
    grades: Float64Array,
    *,
    layer: int = -1,
    seed: int | None = None,
) -> GradeScore:
    """Return the score of one regression.

    Args:
        name: that of the vectors or yardstick.
        features: (n_texts, n_dims) vectors, or the texts themselves, whose words are counted.
        trial: the texts to learn from and to test; its `problem` is empty.
        grades: (n_texts,) the grades.
        layer: the layer of the vectors.
        seed: shuffles the grades that are learned, for a yardstick; None leaves them as they are.
    """
    predicted = np.full(len(grades), math.nan)
    for fold in range(trial.n_folds):
        learned = np.flatnonzero(trial.teaches & (trial.folds != fold))
        tested = np.flatnonzero(trial.folds == fold)
        told = grades[learned]
        if seed is not None:
            told = np.random.default_rng(seed).permutation(told)
        regression = _regression(of_texts=not isinstance(features, np.ndarray))
        regression.fit(take_rows(features, learned), told)
        predicted[tested] = regression.predict(take_rows(features, tested))
    found = predicted[trial.tested]
    value, low, high = spearman_of(found, grades[trial.tested])
    if math.isnan(value):
        value, low, high = 0.0, *spearman_interval(0.0, max(4, len(found)))
    return GradeScore(name, layer, found, value, (low, high))


def _regression(*, of_texts: bool) -> Any:
    """An unfitted scikit-learn pipeline for vectors, or for texts."""
    from sklearn.linear_model import Ridge, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if of_texts:
        return make_pipeline(word_counts(), Ridge())
    return make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS))


def learned_grades(vectors: FloatArray, trial: Trial, grades: Float64Array) -> Learned:
    """Return the regression that learned from all texts to learn from, tested or not."""
    rows = np.flatnonzero(trial.teaches)
    scaler, ridge = _regression(of_texts=False).fit(vectors[rows], grades[rows])
    return Learned(
        codes=np.zeros(1, np.int64),
        shift=np.asarray(scaler.mean_, np.float64),
        scale=np.asarray(scaler.scale_, np.float64),
        weights=np.asarray(ridge.coef_, np.float64)[None],
        biases=np.array([ridge.intercept_], np.float64),
    )


def largest_errors(
    texts: Sequence[str], grades: Float64Array, trial: Trial, score: GradeScore, most: int
) -> list[dict[str, Any]]:
    """A row for each tested text whose predicted grade is furthest from its own, that one first."""
    own = grades[trial.tested]
    order = np.argsort(-np.abs(score.predicted - own), kind="stable")[:most]
    return [
        {
            "text": texts[trial.tested[i]],
            "grade": float(own[i]),
            "predicted": float(score.predicted[i]),
        }
        for i in order.tolist()
    ]
