"""Graded labels against scikit-learn and SciPy; and what the page says of them."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from scipy.stats import spearmanr
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contextlens.analysis.separation import Trial
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.bundled import sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.compute import (
    LabelledTexts,
    label_of,
    labelled_texts,
    probe,
    probe_arrays,
    probe_json,
    tried,
    vectors_parquet,
)
from contextlens.features.probe.grades import (
    ALPHAS,
    GradeResult,
    grade_score,
    grade_trial,
    largest_errors,
)
from contextlens.features.probe.reading import grade_claims, grade_sure, grade_title, tried_claims
from contextlens.features.probe.snippet import GRADES_PICTURE, probe_snippet
from contextlens.ui.widgets.export import to_npz
from tests.support.snippets import drawn, run

N = 60


def graded(values: list[str]) -> Corpus:
    return Corpus("mine", sentiment_corpus().texts[: len(values)], {"length": tuple(values)})


def lengths(n: int = N) -> list[str]:
    return [str(len(text)) for text in sentiment_corpus().texts[:n]]


def test_predictions_are_scikit_learn_s() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(50, 8)).astype(np.float32)
    grades = vectors @ random.normal(size=8) + random.normal(size=50)
    folds = KFold(5)
    numbers = np.zeros(50, dtype=np.int64)
    for fold, (_, tested) in enumerate(folds.split(vectors)):
        numbers[tested] = fold
    trial = Trial(("0",), np.zeros(50, np.int64), numbers, np.ones(50, bool), "folds", 5, (), "")
    found = grade_score("mean", vectors, trial, grades)
    model = make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS))
    expected = cross_val_predict(model, vectors, grades, cv=folds)
    np.testing.assert_allclose(found.predicted, expected, rtol=1e-5)
    assert found.value == pytest.approx(spearmanr(expected, grades).statistic)
    assert found.interval[0] < found.value < found.interval[1]
    rows = largest_errors([str(i) for i in range(50)], grades, trial, found, 3)
    assert [int(row["text"]) for row in rows] == np.argsort(-np.abs(expected - grades))[:3].tolist()


def test_folds_have_as_many_of_each_fifth_and_a_split_is_kept() -> None:
    grades = np.arange(100.0)
    trial = grade_trial(grades, ())
    for fold in range(trial.n_folds):
        assert np.ptp(np.bincount(trial.codes[trial.folds == fold], minlength=5)) <= 1
    split = ["train"] * 70 + ["test"] * 30
    assert grade_trial(grades[::-1].copy(), split).how in {"split", "folds"}
    is_tested = np.arange(100) % 5 == 0
    one_fold = replace(trial, folds=np.where(is_tested, 0, -1), teaches=~is_tested, n_folds=1)
    flat = grade_score("mean", np.ones((100, 2), np.float32), one_fold, grades)
    assert flat.value == 0.0
    assert not math.isnan(flat.interval[0])


def _assert_learned(labelled: LabelledTexts, result: GradeResult, service: EncoderService) -> None:
    """What leaves the page, and a sentence that is tried, are scikit-learn's fit to all texts."""
    card, saved = service.load(BUNDLED_ID), json.loads(probe_json(labelled, result))
    model = make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS))
    model.fit(result.vectors, labelled.grades)
    vector = (result.vectors - saved["shift"]) / np.array(saved["scale"])
    grades = vector @ np.array(saved["weights"][0]) + saved["biases"]
    np.testing.assert_allclose(grades, model.predict(result.vectors), rtol=1e-3)
    attempt = tried(labelled.texts[7], labelled, result, card, service)
    assert attempt.grade == pytest.approx(grades[7], rel=1e-3)
    assert attempt.nearest[0][:2] == (labelled.texts[7], f"{labelled.grades[7]:g}")
    assert f"**{attempt.grade:.2f}**" in str(tried_claims(attempt, result)[0])
    table = parquet.read_table(io.BytesIO(vectors_parquet(labelled, result)))
    assert [float(grade) for grade in table["label"].to_pylist()] == list(labelled.grades)


@pytest.mark.slow
def test_a_column_of_numbers_is_graded_and_its_snippet_gives_the_correlation(
    service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card, corpus = service.load(BUNDLED_ID), graded([*lengths(N - 1), "n/a"])
    assert list(label_of(corpus).options) == ["length"]
    labelled = labelled_texts(corpus, "length", card)
    assert labelled.grades is not None
    assert len(labelled.texts) == N - 1
    result = probe(labelled, card, service, lambda *_: None)
    assert isinstance(result, GradeResult)
    assert len(result.scores) == 15
    assert result.best.value > 0.5  # longer texts have other vectors
    assert abs(result.shuffled.value) < 0.5
    assert result.verdict in {"better", "like_words"}
    assert f"{result.best.value:.2f}" in grade_title(result)
    assert f"**{result.best.value:.2f}**" in str(grade_claims(labelled, result)[0])
    assert [score.name for score in result.contextless] == ["static", "word2vec"]
    assert len(grade_sure(labelled, result)) == 5
    _assert_learned(labelled, result, service)
    monkeypatch.chdir(tmp_path)
    Path("probe.npz").write_bytes(to_npz(probe_arrays(labelled, result), result.passport))
    score = result.scores[3]
    names = run(probe_snippet(card, score, n_labels=0, file="probe.npz"))
    assert len(drawn(GRADES_PICTURE, names).data[0].x) == names["tested"].sum()
    assert names["spearman"] == pytest.approx(score.value, abs=0.01)
