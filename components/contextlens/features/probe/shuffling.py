"""A permutation test: are labels predicted better than the same labels shuffled among the texts?

`contextlens.analysis.shuffles` says why. So much learning must be quick. True and shuffled labels
alike are therefore learned by ridge regression, where one decomposition serves all of them. Means
and standard deviations, which know no labels, are those of all texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.correlation import Float64Array
from contextlens.analysis.separation import Trial
from contextlens.analysis.shuffles import n_shuffles, shuffled
from contextlens.core.schema import FloatArray, IntArray

_MAX_PRODUCTS = 5e10  # multiplications for all shuffles, above which there are fewer
_ALPHA = 100.0  # the strength of regularisation; of 3 to 1,500, it found most in film reviews
_MAX_NUMBERS = 2e7  # in memory at a time


def p_value(
    vectors: Sequence[FloatArray],
    trial: Trial,
    grades: Float64Array | None = None,
    *,
    on_progress: Callable[[float], None] = lambda _: None,
) -> float:
    """Return how often labels without any relation to the texts are predicted as well as these.

    Args:
        vectors: (n_texts, n_dims) each kind of vectors; the best of them counts.
        trial: the texts to learn from and to test; its `problem` is empty.
        grades: (n_texts,) the grades, compared by Spearman's correlation; None for labels,
            compared by accuracy.
        on_progress: told the share done; an exception from it ends the work.

    Returns:
        The share of the shuffles whose best vectors do as well or better, in (0, 1]. The true
        labels count as one of the shuffles, which makes the test exact.
    """
    rows = np.flatnonzero(trial.codes >= 0)
    n_labels = len(trial.senses) if grades is None else 0
    n_dims = max(array.shape[1] for array in vectors)
    products = 2.0 * len(vectors) * len(rows) * n_dims * max(1, n_labels - 1)
    n = n_shuffles(products, _MAX_PRODUCTS)
    targets: NDArray[Any] = trial.codes if grades is None else grades
    columns = shuffled(targets[rows], trial.folds[rows], n)
    is_tested = trial.folds[rows] >= 0
    best = np.full(n + 1, -np.inf)
    for i, array in enumerate(vectors):
        on_progress(i / len(vectors))
        predicted = _predictions(array[rows], columns, trial, rows, n_labels)
        value_of = _accuracies if grades is None else _correlations
        best = np.maximum(best, value_of(predicted[is_tested], columns[is_tested]))
    return float(np.mean(best >= best[0]))


def _predictions(
    vectors: FloatArray, targets: NDArray[Any], trial: Trial, rows: IntArray, n_labels: int
) -> NDArray[Any]:
    """(n_texts, n) the label or the grade of each tested text after learning each column."""
    states = _standardised(vectors)
    folds, teaches = trial.folds[rows], trial.teaches[rows]
    predicted = np.zeros(targets.shape, np.int64 if n_labels else np.float32)
    n_columns = max(1, int(_MAX_NUMBERS / (len(rows) * max(1, n_labels))))
    for fold in range(trial.n_folds):
        learned = np.flatnonzero(teaches & (folds != fold))
        tested = np.flatnonzero(folds == fold)
        taught = states[learned]
        gram = taught.T @ taught
        gram[np.diag_indices_from(gram)] += _ALPHA
        inverse = np.linalg.inv(gram)
        for start in range(0, targets.shape[1], n_columns):
            columns = slice(start, start + n_columns)
            numbers = targets[learned, columns, None].astype(np.float32)
            if n_labels:  # an output for each label but the first, which gets the rest
                numbers = (numbers == np.arange(1, n_labels)).astype(np.float32)
            means = numbers.mean(axis=0)
            products = taught.T @ (numbers - means).reshape(len(learned), -1)
            scores = (states[tested] @ (inverse @ products)).reshape(-1, *means.shape) + means
            if n_labels:
                rest = 1 - scores.sum(axis=-1, keepdims=True)
                predicted[tested, columns] = np.concatenate([rest, scores], axis=-1).argmax(-1)
            else:
                predicted[tested, columns] = scores[..., 0]
    return predicted


def _standardised(vectors: FloatArray) -> FloatArray:
    """(n_texts, n) the vectors in standard units; at most as many dimensions as texts."""
    states = vectors - vectors.mean(axis=0)
    scale = states.std(axis=0)
    states /= np.where(scale > 0, scale, 1)
    n_texts, n_dims = states.shape
    if n_texts < n_dims:  # the same products between texts, in fewer dimensions
        values, axes = np.linalg.eigh(states @ states.T)
        states = axes * np.sqrt(np.maximum(values, 0))
    units: FloatArray = states.astype(np.float32)
    return units


def _accuracies(predicted: NDArray[Any], codes: NDArray[Any]) -> Float64Array:
    """(n,) the share of each column that is predicted right."""
    accuracies: Float64Array = (predicted == codes).mean(axis=0)
    return accuracies


def _correlations(predicted: NDArray[Any], grades: NDArray[Any]) -> Float64Array:
    """(n,) Spearman's correlation of each column with its grades; 0 without any order."""
    from scipy.stats import rankdata

    ranks = [rankdata(values, axis=0) for values in (predicted, grades)]
    first, second = (rank - rank.mean(axis=0) for rank in ranks)
    lengths = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    products = (first * second).sum(axis=0)
    values: Float64Array = np.zeros(len(products))
    np.divide(products, lengths, out=values, where=lengths > 0)
    return values
