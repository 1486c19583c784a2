"""The test against luck: against scikit-learn, and on labels with and without a meaning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge

from contextlens.analysis.separation import Trial, trial_of
from contextlens.analysis.shuffles import MAX_SHUFFLES
from contextlens.features.probe import shuffling
from contextlens.features.probe.labelled_texts import grade_trial

N, N_DIMS = 60, 8


def vectors(seed: int, n_dims: int = N_DIMS) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, n_dims)).astype(np.float32)


def split_trial() -> Trial:
    return trial_of(["a", "b", "c"] * (N // 3), ["train"] * 40 + ["test"] * 20)


@pytest.mark.parametrize("n_dims", [N_DIMS, 2 * N])
@pytest.mark.parametrize("trial", [trial_of(["a", "b", "c"] * (N // 3)), split_trial()])
def test_true_and_shuffled_labels_are_learned_as_scikit_learn_s_ridge_does(
    trial: Trial, n_dims: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffling, "_MAX_NUMBERS", 3 * N * 3)  # three columns at a time
    random = np.random.default_rng(1)
    codes = np.stack([trial.codes, *(random.permutation(trial.codes) for _ in range(4))], axis=1)
    rows, states = np.arange(N), vectors(0, n_dims)
    units = (states - states.mean(axis=0)) / states.std(axis=0)
    predicted = shuffling._predictions(states, codes, trial, rows, 3)
    for fold in range(trial.n_folds):
        learned, tested = trial.teaches & (trial.folds != fold), trial.folds == fold
        # the intercept of a mean over all texts, not of these: vectors are centred once
        for column in range(5):
            targets = np.eye(3)[codes[learned, column]]
            means = targets.mean(axis=0)
            ridge = Ridge(alpha=shuffling._ALPHA, fit_intercept=False)
            scores = ridge.fit(units[learned], targets - means).predict(units[tested]) + means
            agree = predicted[tested, column] == scores.argmax(axis=1)
            assert agree.mean() > 0.95  # float32 may turn a tie


def test_labels_and_grades_with_a_meaning_pass_and_others_do_so_rarely() -> None:
    p_values: dict[str, list[float]] = {"labels": [], "grades": []}
    for seed in range(30):
        random, states = np.random.default_rng(100 + seed), [vectors(seed), vectors(1000 + seed)]
        labels, grades = random.permutation(["a", "b"] * (N // 2)), random.normal(size=N)
        p_values["labels"].append(shuffling.p_value(states, trial_of(labels.tolist())))
        p_values["grades"].append(shuffling.p_value(states, grade_trial(grades, ()), grades))
    for values in p_values.values():
        assert np.mean(np.array(values) <= 0.025) <= 0.1
        assert 0.35 < np.mean(values) < 0.7
    grades = vectors(0)[:, 0].astype(float)
    labels = np.where(grades > np.median(grades), "a", "b").tolist()
    states = [vectors(1), vectors(0)]  # the best of them counts
    assert shuffling.p_value(states, trial_of(labels)) == 1 / (MAX_SHUFFLES + 1)
    assert shuffling.p_value(states, grade_trial(grades, ()), grades) <= 0.01


def test_correlations_are_scipy_s() -> None:
    predicted, grades = vectors(2)[:, :3].round(1), vectors(3)[:, :3].round(1)
    predicted[:, 2] = 1.0
    values = shuffling._correlations(predicted, grades)
    for i in range(2):
        assert values[i] == pytest.approx(spearmanr(predicted[:, i], grades[:, i]).statistic)
    assert values[2] == 0
