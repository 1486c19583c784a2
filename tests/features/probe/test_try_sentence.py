"""A sentence of one's own, against scikit-learn on vectors from plain transformers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contextlens.core import EncoderService
from contextlens.features.probe.labels import LabelProbe
from contextlens.features.probe.try_sentence import try_sentence
from tests.features.probe.examples import plain_vectors


def test_a_sentence_gets_the_chances_that_scikit_learn_gives_it(
    service: EncoderService, moods: LabelProbe
) -> None:
    labelled, best = moods.labelled, moods.result.best
    sentence = "What a lovely evening that was."
    tried = try_sentence(sentence, moods, service)
    one = ("mean", "cls").index(best.name)
    vectors = plain_vectors((*labelled.texts, sentence))[one, best.layer]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    pipeline.fit(vectors[:-1], labelled.trial.codes)
    expected = pipeline.predict_proba(vectors[-1:])[0]
    names = dict(tried.chances)
    for code, chance in enumerate(expected):
        assert names[labelled.trial.senses[code]] == pytest.approx(chance, abs=1e-3)
    cosines = cosine_similarity(vectors[:-1], vectors[-1:])[:, 0]
    assert tried.nearest[0][0] == labelled.texts[int(cosines.argmax())]
    assert [cosine for _, _, cosine in tried.nearest] == pytest.approx(
        np.sort(cosines)[::-1][:3], abs=1e-4
    )
