"""Logistic regression on vectors: predictions for held-out texts, and their scores.

All vectors and baselines are tested on the same texts, by the folds of `analysis.separation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import RISK, Trial, wilson
from contextlens.core.schema import FloatArray, IntArray, Passport

Verdict = Literal["better", "like_words", "worse_than_words", "unclear"]
WORDS = "words"
"""The name of the baseline that counts words and pairs of words (TF-IDF)."""


@dataclass(frozen=True, eq=False)
class Score:
    """The predictions of one classifier for the tested texts.

    Attributes:
        name: the pooling, or the name of a baseline.
        layer: the layer of the vectors; -1 for a baseline.
        predicted: (n_tested,) the number of the predicted label.
        chances: (n_tested,) float32, the probability that the classifier gives its prediction.
        right: the number of texts that are predicted right.
        macro_f1: the mean F1 of all labels, each counting the same.
    """

    name: str
    layer: int
    predicted: IntArray
    chances: FloatArray
    right: int
    macro_f1: float

    @property
    def n(self) -> int:
        """The number of tested texts."""
        return len(self.predicted)

    @property
    def accuracy(self) -> float:
        """The share of the tested texts that are predicted right."""
        return self.right / self.n

    @property
    def value(self) -> float:
        """The accuracy, as the picture shows it."""
        return self.accuracy

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the accuracy."""
        return wilson(self.right, self.n)

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.predicted.nbytes + self.chances.nbytes


@dataclass(frozen=True, eq=False)
class Learned:
    """A classifier or a regression that has learned from all texts to learn from.

    Attributes:
        codes: (n_labels,) the number of each label that it knows; a regression has one row.
        shift: (n_dims,) what is taken from a vector, and
        scale: (n_dims,) what it is then divided by.
        weights: (n_labels, n_dims) float64.
        biases: (n_labels,) float64.
    """

    codes: IntArray
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    biases: NDArray[np.float64]

    def values(self, vector: NDArray[Any]) -> NDArray[np.float64]:
        """(n_labels,) the logits of the labels for a vector, or its grade."""
        found: NDArray[np.float64] = (
            self.weights @ ((vector - self.shift) / self.scale) + self.biases
        )
        return found

    def chances(self, vector: NDArray[Any]) -> NDArray[np.float64]:
        """(n_labels,) the probability of each label for a vector."""
        scores = self.values(vector)
        powers = np.exp(scores - scores.max())
        chances: NDArray[np.float64] = powers / powers.sum()
        return chances

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.weights.nbytes + 2 * self.shift.nbytes


S = TypeVar("S")


@dataclass(frozen=True, eq=False, kw_only=True)
class Found(Generic[S]):
    """The scores of every layer and pooling, and of yardsticks, without the texts.

    Attributes:
        scores: those of "mean" and "cls" at each layer, and of the recipe.
        words: that of counting words (TF-IDF).
        contextless: those of the mean of a text's word vectors: the model's own rows ("static"),
            and with gensim "word2vec" and "word2vec_file".
        shuffled: that of the best vectors with shuffled labels.
        learned: the classifier or regression of the best vectors.
        vectors: (n_texts, n) float32, the best vectors.
        n_cut: the number of texts whose end did not fit the model.
        n_copies: the number of tested texts that have a copy to learn from, and of those with a
            near copy.
        passport: the passport of the vectors.
    """

    scores: tuple[S, ...]
    words: S
    contextless: tuple[S, ...]
    shuffled: S
    learned: Learned
    vectors: FloatArray
    n_cut: int
    n_copies: tuple[int, int]
    passport: Passport

    @property
    def yardsticks(self) -> tuple[S, ...]:
        """The scores beside those of the model's layers."""
        return (self.words, *self.contextless, self.shuffled)

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        every: tuple[Any, ...] = (*self.scores, *self.yardsticks, self.learned, self.vectors)
        return sum(each.nbytes for each in every)


@dataclass(frozen=True, eq=False, kw_only=True)
class ProbeResult(Found[Score]):
    """The scores for labels that are names.

    Attributes:
        guessing: the accuracy of always naming the commonest label of the tested texts.
        curve: the best vectors' scores after learning from fewer texts, with their numbers.
    """

    guessing: float
    curve: tuple[tuple[int, Score], ...]

    @property
    def best(self) -> Score:
        """The score with the most right."""
        return best_of(self.scores)

    @property
    def verdict(self) -> Verdict:
        """How the best compares with the baselines."""
        return verdict_of(self.scores, self.words, self.guessing)


def learned_from(vectors: FloatArray, trial: Trial) -> Learned:
    """Return the classifier that learned from all texts to learn from, tested or not."""
    rows = np.flatnonzero(trial.teaches)
    scaler, regression = _classifier(len(trial.senses)).fit(vectors[rows], trial.codes[rows])
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


_SHARES = (1 / 8, 1 / 4, 1 / 2)


def learning_curve(vectors: FloatArray, trial: Trial) -> tuple[tuple[int, Score], ...]:
    """Return the scores after learning from an eighth, a quarter and half of the texts.

    Each number of texts is the mean over the folds. A share that has fewer than two labels is left
    out.
    """
    curve = []
    for share in _SHARES:
        part = replace(trial, teaches=trial.teaches & (_places(trial) < share))
        folds = [part.teaches & (part.folds != fold) for fold in range(part.n_folds)]
        if min(len(np.unique(part.codes[rows])) for rows in folds) > 1:
            n = round(float(np.mean([np.count_nonzero(rows) for rows in folds])))
            curve.append((n, score_of("part", vectors, part)))
    return tuple(curve)


def _places(trial: Trial) -> NDArray[np.float64]:
    """(n,) each text's place among those of its label and fold in random order, from 0 to 1."""
    order = np.random.default_rng(0).permutation(len(trial.codes))
    places = np.ones(len(order))
    for code, fold in set(zip(trial.codes.tolist(), trial.folds.tolist(), strict=True)):
        own = order[(trial.codes[order] == code) & (trial.folds[order] == fold)]
        places[own] = (np.arange(len(own)) + 0.5) / len(own)
    return places


def confusion_of(score: Score, trial: Trial) -> IntArray:
    """(n_labels, n_labels) how often a label (row) is predicted as another (column)."""
    counts = np.zeros((len(trial.senses),) * 2, dtype=np.int64)
    np.add.at(counts, (trial.codes[trial.tested], score.predicted), 1)
    return counts


def calibration_of(score: Score, trial: Trial) -> list[tuple[float, float, int]]:
    """Return up to five groups of tested texts by the probability of their prediction.

    Each has the mean probability, the share predicted right, and the number of texts; the groups
    are equally large.
    """
    order = np.argsort(score.chances, kind="stable")
    is_right = score.predicted == trial.codes[trial.tested]
    return [
        (float(score.chances[rows].mean()), float(is_right[rows].mean()), len(rows))
        for rows in np.array_split(order, 5)
        if len(rows)
    ]


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
            classifier = _classifier(len(trial.senses))
        else:
            classifier = _word_counter()
        classifier.fit(take_rows(features, learned), codes)
        probabilities = classifier.predict_proba(take_rows(features, tested))
        predicted[tested] = classifier.classes_[probabilities.argmax(axis=1)]
        chances[tested] = probabilities.max(axis=1)
    return predicted[trial.tested], chances[trial.tested]


def take_rows(features: NDArray[Any] | Sequence[str], rows: IntArray) -> Any:
    """Return some rows of vectors, or some texts."""
    if isinstance(features, np.ndarray):
        return features[rows]
    return [features[i] for i in rows.tolist()]


def _classifier(n_labels: int) -> Any:
    """An unfitted scikit-learn pipeline for vectors."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(max_iter=1000, solver=solver_of(n_labels))
    return make_pipeline(StandardScaler(), regression)


def solver_of(n_labels: int) -> str:
    """Return scikit-learn's name of the quicker solver for a number of labels."""
    return "newton-cholesky" if n_labels == 2 else "lbfgs"


def _word_counter() -> Any:
    """An unfitted scikit-learn pipeline for texts."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(word_counts(), LogisticRegression(max_iter=1000))


def word_counts() -> Any:
    """Return scikit-learn's TF-IDF of words and pairs of words, in any script."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    # A token is a run of letters and digits, even a single one.
    return TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\w+|[^\w\s]")


def score_of(
    name: str,
    features: NDArray[Any] | Sequence[str],
    trial: Trial,
    *,
    layer: int = -1,
    seed: int | None = None,
) -> Score:
    """Return the score of one classifier; the arguments are those of `held_out` and `Score`."""
    from sklearn.metrics import f1_score

    predicted, chances = held_out(features, trial, seed=seed)
    codes = trial.codes[trial.tested]
    f1 = f1_score(codes, predicted, labels=np.unique(codes), average="macro", zero_division=0)
    return Score(name, layer, predicted, chances, int((predicted == codes).sum()), float(f1))


def best_of(scores: Sequence[Score]) -> Score:
    """Return the score with the most right; of several, the first."""
    return max(scores, key=lambda score: score.right)


def verdict_of(scores: Sequence[Score], words: Score, guessing: float) -> Verdict:
    """Return how the best of several scores compares with counting words and with guessing.

    The interval of the best allows for its choice: its risk is shared among all scores
    (Bonferroni).

    Args:
        scores: those of all layers and poolings.
        words: that of counting words.
        guessing: the accuracy of always naming the commonest label.
    """
    best = best_of(scores)
    low, high = wilson(best.right, best.n, risk=RISK / len(scores))
    if low <= guessing:
        return "unclear"
    if low > words.accuracy:
        return "better"
    return "worse_than_words" if high < words.accuracy else "like_words"
