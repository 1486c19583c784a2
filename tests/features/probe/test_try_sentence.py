"""A sentence of one's own, against scikit-learn on vectors from plain transformers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contextlens.core import EncoderService
from contextlens.features.probe.labels import LabelProbe
from contextlens.features.probe.try_sentence import try_sentence
from tests.features.probe.examples import label_result, label_score, plain_vectors


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
    centred = vectors - vectors[:-1].mean(axis=0)
    cosines = cosine_similarity(centred[:-1], centred[-1:])[:, 0]
    assert tried.nearest[0][0] == labelled.texts[int(cosines.argmax())]
    assert [cosine for _, _, cosine in tried.nearest] == pytest.approx(
        np.sort(cosines)[::-1][:3], abs=1e-4
    )


@pytest.mark.parametrize(
    ("sentence", "key"), [("💩💩💩", "unread.only"), ("\u200b", "unread.nothing")]
)
def test_an_unreadable_sentence_gets_no_label_and_no_similar_texts(
    service: EncoderService, moods: LabelProbe, sentence: str, key: str
) -> None:
    tried = try_sentence(sentence, moods, service)
    assert [claim.key for claim in tried.claims()] == [key]
    assert [*tried.rows(), *tried.similar_texts(), *tried.notes()] == []


def test_what_cannot_be_read_of_a_sentence_is_a_note(
    service: EncoderService, moods: LabelProbe
) -> None:
    tried = try_sentence("I am happy 😊 today", moods, service)
    assert [claim.key for claim in tried.notes()] == ["unread.unknown"]
    assert tried.rows()


@pytest.mark.parametrize(
    ("n", "right", "p_value", "key"),
    [(600, 480, 0.005, "probable"), (600, 400, 0.005, "label"), (60, 48, 0.005, "label"),
     (600, 480, 0.1, "unclear")],
)  # fmt: skip
def test_a_percentage_is_called_a_probability_only_if_tested_texts_bear_it_out(
    service: EncoderService, moods: LabelProbe, n: int, right: int, p_value: float, key: str
) -> None:
    best = label_score(np.arange(n) < right, chances=np.full(n, 0.8, np.float32))
    scores = [replace(best, name="mean", layer=6)]
    learned, vectors = moods.result.learned, moods.result.vectors
    result = replace(label_result(scores, p_value=p_value), learned=learned, vectors=vectors)
    tried = try_sentence("What a lovely evening.", replace(moods, result=result), service)
    (claim,) = tried.claims()
    assert claim.key == f"probe.try.{key}"
    assert bool(tried.rows()) == (key != "unclear")


def test_no_text_is_nearest_where_all_have_the_same_vector(
    service: EncoderService, moods: LabelProbe
) -> None:
    noise = np.random.default_rng(0).normal(scale=1e-6, size=moods.result.vectors.shape)
    vectors = (moods.result.vectors[0] + noise).astype(np.float32)
    same = replace(moods, result=replace(moods.result, vectors=vectors))
    assert try_sentence("Any sentence.", same, service).nearest == ()
