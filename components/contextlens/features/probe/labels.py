"""Labels that are names: logistic regression on vectors, its accuracy on held-out texts.

All vectors and yardsticks are tested on the same texts, by the folds of `analysis.separation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import RISK, Trial, wilson
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import listed_names, quoted
from contextlens.core.schema import FloatArray, IntArray
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
from contextlens.ui.panel import Arrays, Rows

_UNBALANCED = 1.5  # times the share that each label would have if all were equally common


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelScore(Score):
    """The predicted labels of the tested texts; the value is the accuracy, its interval Wilson's.

    Attributes:
        predicted: (n_tested,) int64, the number of the predicted label.
        chances: (n_tested,) float32, the probability that the classifier gives its prediction.
        is_right: (n_tested,) bool.
        macro_f1: the mean F1 of all labels, each counting the same.
    """

    chances: FloatArray
    is_right: NDArray[np.bool_]
    macro_f1: float

    @property
    def right(self) -> int:
        """The number of texts that are predicted right."""
        return int(np.count_nonzero(self.is_right))

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return super().nbytes + self.chances.nbytes + self.is_right.nbytes


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelResult(LayerScores[LabelScore]):
    """The scores for labels that are names; guessing is always naming the commonest.

    Attributes:
        curve: the best vectors' scores after learning from fewer texts, with their numbers; the
            vectors are chosen anew for each number.
    """

    curve: tuple[tuple[int, LabelScore], ...]

    @property
    def wide_interval(self) -> tuple[float, float]:
        """The 95% interval of the best accuracy, which allows for its choice (Bonferroni)."""
        return wilson(self.best.right, self.best.n, risk=RISK / len(self.scores))

    def _beats_words(self) -> bool:
        return gets_more_right(self.best, self.words, risk=RISK / 2 / len(self.scores))

    def _is_beaten_by_words(self) -> bool:
        return gets_more_right(self.words, self.best, risk=RISK / 2)


def gets_more_right(first: LabelScore, second: LabelScore, *, risk: float) -> bool:
    """True if more of the same texts are predicted right, by McNemar's exact test (one-sided)."""
    from scipy.stats import binomtest

    only_first = int(np.count_nonzero(first.is_right & ~second.is_right))
    n = int(np.count_nonzero(first.is_right != second.is_right))
    return n > 0 and float(binomtest(only_first, n, alternative="greater").pvalue) <= risk


# --- Learning labels


def learned_from(vectors: FloatArray, trial: Trial) -> Learned:
    """Return the classifier that learned from all texts to learn from, tested or not."""
    rows = np.flatnonzero(trial.teaches)
    classifier = _classifier(len(trial.senses), len(rows))
    scaler, regression = classifier.fit(vectors[rows], trial.codes[rows])
    weights, biases = regression.coef_, regression.intercept_
    if len(weights) == 1:  # of two labels, scikit-learn keeps the difference
        weights, biases = np.vstack([0 * weights, weights]), np.append(0, biases)
    return Learned(
        codes=regression.classes_,
        shift=np.asarray(scaler.mean_, np.float64),
        scale=np.asarray(scaler.scale_, np.float64),
        weights=np.asarray(weights, np.float64),
        biases=np.asarray(biases, np.float64),
    )


def held_out(
    features: NDArray[Any] | Sequence[str], trial: Trial, *, seed: int | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the predicted label of each tested text, and the probability of that label.

    Args:
        features: (n_texts, n_dims) vectors, or the texts themselves, whose words are counted.
        trial: the texts to learn from and to test; its `problem` is empty.
        seed: shuffles the labels that are learned, for a baseline; None leaves them as they are.
    """
    predicted = np.full(len(trial.codes), -1, dtype=np.int64)
    chances = np.zeros(len(trial.codes), dtype=np.float32)
    for fold in range(trial.n_folds):
        learned = np.flatnonzero(trial.teaches & (trial.folds != fold))
        tested = np.flatnonzero(trial.folds == fold)
        codes = trial.codes[learned]
        if seed is not None:
            codes = np.random.default_rng(seed).permutation(codes)
        if isinstance(features, np.ndarray):
            classifier = _classifier(len(trial.senses), len(learned))
        else:
            classifier = _word_counter()
        classifier.fit(take_rows(features, learned), codes)
        probabilities = classifier.predict_proba(take_rows(features, tested))
        predicted[tested] = classifier.classes_[probabilities.argmax(axis=1)]
        chances[tested] = probabilities.max(axis=1)
    return predicted[trial.tested], chances[trial.tested]


def _classifier(n_labels: int, n_learned: int) -> Any:
    """An unfitted scikit-learn pipeline for vectors."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(max_iter=1000, solver=_solver_of(n_labels, n_learned))
    return make_pipeline(StandardScaler(), regression)


def _solver_of(n_labels: int, n_learned: int) -> str:
    """Return scikit-learn's name of the quicker solver for so many labels and texts.

    Newton's method also fails on a few texts whose vectors are all the same.
    """
    return "newton-cholesky" if n_labels == 2 and n_learned >= 1_000 else "lbfgs"


def _word_counter() -> Any:
    """An unfitted scikit-learn pipeline for texts."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(word_counts(), LogisticRegression(max_iter=1000))


def label_score(
    name: str,
    features: NDArray[Any] | Sequence[str],
    trial: Trial,
    *,
    layer: int = -1,
    seed: int | None = None,
) -> LabelScore:
    """Return the score of one classifier; the arguments are those of `held_out` and `Score`."""
    from sklearn.metrics import f1_score

    predicted, chances = held_out(features, trial, seed=seed)
    codes = trial.codes[trial.tested]
    f1 = f1_score(codes, predicted, labels=np.unique(codes), average="macro", zero_division=0)
    is_right = predicted == codes
    right, n = int(np.count_nonzero(is_right)), len(codes)
    return LabelScore(
        name=name,
        layer=layer,
        predicted=predicted,
        value=right / n,
        interval=wilson(right / widening(trial), n / widening(trial)),
        chances=chances,
        is_right=is_right,
        macro_f1=float(f1),
    )


# --- What the page shows


@dataclass(frozen=True, eq=False)
class LabelProbe(Probe):
    """Texts whose labels are names, and how well these are told apart."""

    measure: ClassVar[str] = "accuracy"
    value_format: ClassVar[str] = ".0%"

    result: LabelResult

    @property
    def title(self) -> str:
        """The finding in a few words."""
        verdict = self.result.verdict
        if self.labelled.own is not None and verdict in {"worse_than_words", "unclear"}:
            return say("probe.given.not_better", **self._numbers())
        return say(f"probe.title.{verdict}", **self._numbers())

    def _numbers(self) -> dict[str, Any]:
        result = self.result
        numbers = {"accuracy": result.best.value, "words": result.words.value}
        return {**self._best_names(), **numbers, "guessing": result.guessing}

    def claims(self) -> Sequence[Claim]:
        """Return how well the best vectors tell the labels apart, compared with simpler ways."""
        senses, column = self.labelled.trial.senses, quoted(self.labelled.column)
        labels = say("probe.all_labels", n=len(senses), column=column)
        if len(senses) == 2:
            labels = say("probe.two_labels", first=quoted(senses[0]), second=quoted(senses[1]))
        numbers = {"labels": labels, "n": self.result.best.n}
        if self.labelled.own is not None:
            return [claim(f"probe.given.claim.{self.result.verdict}", **numbers, **self._numbers())]
        return [claim(f"probe.claim.{self.result.verdict}", **numbers, **self._numbers())]

    def sure(self) -> Sequence[Claim]:
        """Return how the test was made, and what else belongs to its numbers."""
        result, (low, high) = self.result, self.result.wide_interval
        one: Literal["", "_one"] = "_one" if self.labelled.own is not None else ""
        return [
            claim("probe.sure.luck", n=round(1_000 * result.p_value)),
            claim(f"probe.sure.interval{one}", low=low, high=high, choices=len(result.scores)),
            self._how_claim(),
            claim("probe.sure.f1", f1=result.best.macro_f1),
            *(
                claim(f"probe.sure.{name}", right=score.value)
                for name in CONTEXTLESS
                for score in result.contextless
                if score.name == name
            ),
            claim("probe.sure.shuffled", shuffled=result.shuffled.value),
        ]

    def notes(self) -> Sequence[Claim]:
        """Return what makes the test less telling, a line each."""
        trial, notes = self.labelled.trial, [*super().notes()]
        never_taught = np.setdiff1d(trial.codes[trial.tested], trial.codes[trial.teaches])
        for case, labels in (
            ("never_taught", [trial.senses[code] for code in never_taught]),
            ("left_out_labels", trial.left_out),
        ):
            if labels:
                names = listed_names([quoted(label) for label in labels])
                notes.append(claim(f"probe.notes.{case}", n=len(labels), names=names))
        if trial.chance > max(0.5, _UNBALANCED / len(trial.senses)):
            commonest = quoted(trial.most_frequent)
            notes.append(claim("probe.notes.unbalanced", commonest=commonest, share=trial.chance))
        return notes

    def _axis(self) -> dict[str, Any]:
        return {"title": {"text": "judged right"}, "range": [0, 1.02], "tickformat": ".0%"}

    def rows(self) -> Rows:
        """Return a row for each score, and one for guessing."""
        scores = (*self.result.scores, *self.result.yardsticks)
        rows = [
            {**row, "macro-F1": score.macro_f1}
            for row, score in zip(super().rows(), scores, strict=True)
        ]
        guessing = {"vectors": "commonest label", "accuracy": self.result.guessing}
        return [*rows, {**dict.fromkeys(rows[0]), **guessing}]

    def arrays(self) -> Arrays:
        """Return the texts, their labels and folds, and the best predictions."""
        trial = self.labelled.trial
        labels = {"labels": np.array(trial.senses), "label_of_text": trial.codes}
        return {**super().arrays(), **labels, "chances": self.result.best.chances}

    def scripts(self) -> list[tuple[str, str]]:
        """Return a script for the best accuracy, with its title, and one for a chart."""
        script = label_snippet(self, self.result.best)
        return [(say("probe.snippet"), script), ("", LABELS_PICTURE)]


# --- A script for the accuracy, from the page's NPZ

LABELS_PICTURE = """\
import plotly.express as px
from sklearn.metrics import confusion_matrix

counts = confusion_matrix(codes[tested], predicted[tested], labels=range(len(labels)))
names = {"x": "predicted label", "y": "label"}
px.imshow(counts, x=labels, y=labels, text_auto=True, labels=names)
"""

_IMPORTS = """\
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
"""

_LOAD = """\
with np.load("probe.npz") as page:
    texts, labels = json.loads(str(page["texts"])), page["labels"].tolist()
    codes, folds, teaches = page["label_of_text"], page["fold"], page["teaches"]
"""

_LEARN = """\
predicted = np.full(len(codes), -1)
for number in range(folds.max() + 1):
    learned, tested = teaches & (folds != number), folds == number
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, solver="{solver}"))
    predicted[tested] = probe.fit(vectors[learned], codes[learned]).predict(vectors[tested])

tested = folds >= 0
accuracy = (predicted == codes)[tested].mean()
f1 = f1_score(codes[tested], predicted[tested], labels=np.unique(codes[tested]), average="macro",
              zero_division=0)
print(f"{{accuracy:.4f}} right of {{tested.sum()}}, macro-F1 {{f1:.4f}}")
"""


def label_snippet(probe: LabelProbe, score: LabelScore) -> str:
    """Return a script that prints the accuracy of one score's vectors."""
    labelled = probe.labelled
    solver = _solver_of(len(labelled.trial.senses), labelled.n_learned)
    learn = _LEARN.format(solver=solver)
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
