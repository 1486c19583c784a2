"""The classifier and the vectors as files."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from pyarrow import parquet
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contextlens.features.probe.exports import classifier_json, vectors_parquet, vectors_tsv
from contextlens.features.probe.labels import LabelProbe


def test_vectors_leave_as_parquet_and_for_the_projector(
    moods: LabelProbe,
) -> None:
    labelled, result = moods.labelled, moods.result
    table = parquet.read_table(io.BytesIO(vectors_parquet(moods)))
    assert table["text"].to_pylist() == list(labelled.texts)
    np.testing.assert_array_equal(np.array(table["vector"].to_pylist()), result.vectors)
    vectors, names = vectors_tsv(moods)
    np.testing.assert_allclose(np.loadtxt(io.BytesIO(vectors)), result.vectors, rtol=1e-5)
    lines = names.decode().splitlines()
    assert lines[0] == "label\ttext"
    assert [line.split("\t")[0] for line in lines[1:]] == table["label"].to_pylist()


def test_the_saved_classifier_gives_the_chances_that_scikit_learn_gives(moods: LabelProbe) -> None:
    vectors, trial, saved = (
        moods.result.vectors,
        moods.labelled.trial,
        json.loads(classifier_json(moods)),
    )
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    pipeline.fit(vectors, trial.codes)
    standardised = (vectors[0] - saved["shift"]) / np.array(saved["scale"])
    scores = np.array(saved["weights"]) @ standardised + saved["biases"]
    assert softmax(scores) == pytest.approx(pipeline.predict_proba(vectors[:1])[0], abs=1e-3)
    assert saved["labels"] == list(trial.senses)
