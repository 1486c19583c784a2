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
from contextlens.features.probe.exports import classifier_json, vectors_parquet
from contextlens.features.probe.grades import (
    ALPHAS,
    GRADES_PICTURE,
    GradeProbe,
    GradeResult,
    grade_score,
    grade_snippet,
)
from contextlens.features.probe.labelled_texts import grade_trial, label_columns, labelled_texts
from contextlens.features.probe.mistakes import LargestErrors
from contextlens.features.probe.probing import run_probe
from contextlens.features.probe.try_sentence import try_sentence
from contextlens.ui.widgets.export import to_npz
from tests.support.snippets import drawn, run

N = 60


def test_predictions_are_scikit_learn_s() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(50, 8)).astype(np.float32)
    grades = vectors @ random.normal(size=8) + random.normal(size=50)
    folds = KFold(5)
    numbers = np.zeros(50, dtype=np.int64)
    for fold, (_, tested) in enumerate(folds.split(vectors)):
        numbers[tested] = fold
    trial = Trial(("0",), np.zeros(50, np.int64), numbers, np.ones(50, bool), "folds", 5, (), "")
    score = grade_score("mean", vectors, trial, grades)
    model = make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS))
    expected = cross_val_predict(model, vectors, grades, cv=folds)
    np.testing.assert_allclose(score.predicted, expected, rtol=1e-5)
    assert score.value == pytest.approx(spearmanr(expected, grades).statistic)
    assert score.interval[0] < score.value < score.interval[1]


def test_folds_have_as_many_of_each_fifth_and_a_split_is_kept() -> None:
    grades = np.arange(100.0)
    trial = grade_trial(grades, ())
    for fold in range(trial.n_folds):
        assert np.ptp(np.bincount(trial.codes[trial.folds == fold], minlength=5)) <= 1
    for most in (0.0, 1000.0):  # the lowest, or the highest, is that of nine in ten
        trial = grade_trial(np.where(np.arange(100) % 10, most, grades + 1), ())
        assert np.bincount(trial.codes).tolist() == [90, 10]
        assert not trial.problem
    split = ["train"] * 70 + ["test"] * 30
    assert grade_trial(grades[::-1].copy(), split).how in {"split", "folds"}
    is_tested = np.arange(100) % 5 == 0
    one_fold = replace(trial, folds=np.where(is_tested, 0, -1), teaches=~is_tested, n_folds=1)
    flat = grade_score("mean", np.ones((100, 2), np.float32), one_fold, grades)
    assert flat.value == 0.0
    assert not math.isnan(flat.interval[0])


def _assert_learned(graded: GradeProbe, service: EncoderService) -> None:
    """What leaves the page, and a sentence that is tried, are scikit-learn's fit to all texts."""
    labelled, result = graded.labelled, graded.result
    saved = json.loads(classifier_json(graded))
    model = make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS))
    model.fit(result.vectors, graded.grades)
    vector = (result.vectors - saved["shift"]) / np.array(saved["scale"])
    grades = vector @ np.array(saved["weights"][0]) + saved["biases"]
    np.testing.assert_allclose(grades, model.predict(result.vectors), rtol=1e-3)
    tried = try_sentence(labelled.texts[7], graded, service)
    assert tried.grade == pytest.approx(grades[7], rel=1e-3)
    assert tried.nearest[0][:2] == (labelled.texts[7], f"{graded.grades[7]:g}")
    table = parquet.read_table(io.BytesIO(vectors_parquet(graded)))
    assert [float(grade) for grade in table["label"].to_pylist()] == list(graded.grades)


@pytest.mark.slow
def test_a_column_of_numbers_is_graded_and_its_snippet_gives_the_correlation(
    service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card, texts = service.load(BUNDLED_ID), sentiment_corpus().texts[:N]
    corpus = Corpus("mine", texts, {"length": (*(str(len(text)) for text in texts[:-1]), "n/a")})
    assert label_columns(corpus) == ["length"]
    labelled = labelled_texts(corpus, "length", card)
    assert labelled.grades is not None
    assert len(labelled.texts) == N - 1
    result = run_probe(labelled, card, service, lambda *_: None)
    assert isinstance(result, GradeResult)
    graded = GradeProbe(labelled, result, card)
    assert len(result.scores) == 15
    assert result.best.value > 0.5  # longer texts have other vectors
    assert abs(result.shuffled.value) < 0.5
    assert result.verdict in {"better", "like_words"}
    assert [score.name for score in result.contextless] == ["static", "word2vec"]
    errors = [abs(row["grade"] - row["predicted"]) for row in LargestErrors(graded).rows()]
    distance = np.abs(result.best.predicted - graded.grades[labelled.trial.tested])
    assert errors == sorted(distance.tolist(), reverse=True)
    _assert_learned(graded, service)
    monkeypatch.chdir(tmp_path)
    Path("probe.npz").write_bytes(to_npz(graded.arrays(), result.passport))
    score = result.scores[3]
    names = run(grade_snippet(graded, score))
    assert len(drawn(GRADES_PICTURE, names).data[0].x) == names["tested"].sum()
    assert names["spearman"] == pytest.approx(score.value, abs=0.01)
