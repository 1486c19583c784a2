"""Labels that are grades: ridge regression on vectors, and the order of held-out texts.

All vectors and yardsticks are tested on the same texts, by folds with as many texts of each fifth
of the grades. Predictions of all folds are ranked together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.correlation import Float64Array, spearman_interval, spearman_of
from contextlens.analysis.separation import RISK, Trial
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted
from contextlens.core.schema import FloatArray
from contextlens.features.probe.layer_scores import (
    CONTEXTLESS,
    LayerScores,
    Learned,
    Probe,
    Score,
    take_rows,
    widening,
    word_counts,
)
from contextlens.features.probe.text_vectors import vectors_script
from contextlens.ui.panel import Arrays

ALPHAS = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
"""The strengths of regularisation, of which scikit-learn's `RidgeCV` chooses one in each fold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GradeResult(LayerScores[Score]):
    """The scores for labels that are grades: Spearman's correlation, which is 0 by guessing.

    The correlation is that of the predictions with the grades, 0 if the predictions are all equal;
    its interval is Bonett and Wright's.
    """

    @property
    def wide_interval(self) -> tuple[float, float]:
        """The 95% interval of the best correlation, which allows for its choice (Bonferroni)."""
        return spearman_interval(self.best.value, self.best.n, risk=RISK / len(self.scores))

    def _beats_words(self) -> bool:
        return self.wide_interval[0] > self.words.value

    def _is_beaten_by_words(self) -> bool:
        return self.wide_interval[1] < self.words.value


# --- Learning grades


def grade_score(
    name: str,
    features: NDArray[Any] | Sequence[str],
    trial: Trial,
    grades: Float64Array,
    *,
    layer: int = -1,
    seed: int | None = None,
) -> Score:
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
        taught = grades[learned]
        if seed is not None:
            taught = np.random.default_rng(seed).permutation(taught)
        regression = _regression(of_texts=not isinstance(features, np.ndarray))
        regression.fit(take_rows(features, learned), taught)
        predicted[tested] = regression.predict(take_rows(features, tested))
    predicted = predicted[trial.tested]
    value, *_ = spearman_of(predicted, grades[trial.tested])
    value = 0.0 if math.isnan(value) else value
    interval = spearman_interval(value, max(4.0, len(predicted) / widening(trial)))
    return Score(name=name, layer=layer, predicted=predicted, value=value, interval=interval)


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


# --- What the page shows


@dataclass(frozen=True, eq=False)
class GradeProbe(Probe):
    """Texts whose labels are grades, and how well these are predicted."""

    measure: ClassVar[str] = "Spearman"
    value_format: ClassVar[str] = ".2f"

    result: GradeResult

    @property
    def grades(self) -> Float64Array:
        """(n_texts,) the grades."""
        return np.asarray(self.labelled.grades, np.float64)

    @property
    def title(self) -> str:
        """The finding in a few words."""
        verdict = self.result.verdict
        if self.labelled.own is not None and verdict in {"worse_than_words", "unclear"}:
            return say("probe.given.not_better_grades", **self._numbers())
        return say(f"probe.grades.title.{verdict}", **self._numbers())

    def _numbers(self) -> dict[str, Any]:
        numbers = {"spearman": self.result.best.value, "words": self.result.words.value}
        return {**self._best_names(), **numbers}

    def claims(self) -> Sequence[Claim]:
        """Return how well the best vectors predict the grades, compared with simpler ways."""
        column, n = quoted(self.labelled.column), self.result.best.n
        numbers = {"column": column, "n": n, **self._numbers()}
        if self.labelled.own is not None:
            return [claim(f"probe.given.grades.{self.result.verdict}", **numbers)]
        return [claim(f"probe.grades.claim.{self.result.verdict}", **numbers)]

    def sure(self) -> Sequence[Claim]:
        """Return how the test was made, and what else belongs to its numbers."""
        result, (low, high) = self.result, self.result.wide_interval
        one: Literal["", "_one"] = "_one" if self.labelled.own is not None else ""
        return [
            claim("probe.grades.sure.luck", n=round(1_000 * result.p_value)),
            claim(
                f"probe.grades.sure.interval{one}", low=low, high=high, choices=len(result.scores)
            ),
            self._how_claim(),
            *(
                claim(f"probe.grades.sure.{name}", spearman=score.value)
                for name in CONTEXTLESS
                for score in result.contextless
                if score.name == name
            ),
            claim("probe.grades.sure.shuffled", shuffled=result.shuffled.value),
        ]

    def _axis(self) -> dict[str, Any]:
        scores = self.result.scores
        lowest = min(0.0, *(score.interval[0] for score in scores), self.result.words.value)
        return {"title": {"text": "Spearman"}, "range": [lowest - 0.03, 1.02]}

    def arrays(self) -> Arrays:
        """Return the texts, their grades and folds, and the best predictions."""
        return {**super().arrays(), "grades": self.grades}

    def scripts(self) -> list[tuple[str, str]]:
        """Return a script for the best correlation, with its title, and one for a chart."""
        script = grade_snippet(self, self.result.best)
        return [(say("probe.snippet"), script), ("", GRADES_PICTURE)]


# --- A script for the correlation, from the page's NPZ

GRADES_PICTURE = """\
import plotly.express as px

px.scatter(x=grades[tested], y=predicted[tested], labels={"x": "grade", "y": "predicted grade"})
"""

_IMPORTS = """\
from scipy.stats import spearmanr
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
"""

_LOAD = """\
with np.load("probe.npz") as page:
    texts = json.loads(str(page["texts"]))
    grades, folds, teaches = page["grades"], page["fold"], page["teaches"]
"""

_LEARN = """\
predicted = np.full(len(grades), np.nan)
for number in range(folds.max() + 1):
    learned, tested = teaches & (folds != number), folds == number
    probe = make_pipeline(StandardScaler(), RidgeCV(alphas={alphas}))
    predicted[tested] = probe.fit(vectors[learned], grades[learned]).predict(vectors[tested])

tested = folds >= 0
spearman = spearmanr(predicted[tested], grades[tested]).statistic
print(f"Spearman {{spearman:.4f}} of {{tested.sum()}} texts")
"""


def grade_snippet(probe: GradeProbe, score: Score) -> str:
    """Return a script that prints the correlation of one score's vectors."""
    learn = _LEARN.format(alphas=ALPHAS)
    return vectors_script(
        probe.card,
        score.name,
        score.layer,
        precision=probe.result.passport.precision,
        imports=_IMPORTS,
        load=_LOAD,
        learn=learn,
        own=probe.labelled.own,
    )
