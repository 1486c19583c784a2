"""Labels against scikit-learn's own cross-validation on vectors from plain transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contextlens.analysis.separation import wilson
from contextlens.core import ModelCard
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.labelled_texts import labelled_texts
from contextlens.features.probe.labels import LABELS_PICTURE, LabelProbe, label_snippet
from contextlens.ui.widgets.export import to_npz
from tests.features.probe.examples import label_result, label_score, plain_vectors, unsplit
from tests.support.snippets import drawn, run


def test_every_layer_scores_as_scikit_learn_does_on_vectors_from_transformers(
    moods: LabelProbe,
) -> None:
    corpus, scores = unsplit(), moods.result.scores
    labels = np.array(corpus.labels["mood"])
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    expected = {
        (pooling, layer): cross_val_predict(pipeline, vectors, labels, cv=StratifiedKFold(5))
        for pooling, layers in zip(("mean", "cls"), plain_vectors(corpus.texts), strict=True)
        for layer, vectors in enumerate(layers)
    }
    assert [(s.name, s.layer) for s in scores] == [*expected, ("recipe", 6)]
    n = 60 / (1 + 5 / 4)  # answers of five folds
    assert scores[0].interval == pytest.approx(wilson(scores[0].value * n, n))
    for score in scores[:-1]:
        predicted = expected[score.name, score.layer]
        assert abs(score.right - (predicted == labels).sum()) <= 1  # a tie of float32 may turn
        assert score.macro_f1 == pytest.approx(
            f1_score(labels, predicted, average="macro"), abs=0.02
        )


@pytest.mark.parametrize(
    ("case", "split", "names"),
    [("never_taught", ["train"] * 40 + ["test"] * 20, "“rare” and “odd”"),
     ("left_out_labels", [], "“odd”")],
)  # fmt: skip
def test_labels_that_no_text_teaches_or_only_one_text_has_are_named(
    card: ModelCard, case: str, split: list[str], names: str
) -> None:
    corpus = unsplit()
    columns = {"mood": (*corpus.labels["mood"][:57], "odd", "rare", "rare")}
    if split:
        columns["split"] = tuple(split)
    labelled = labelled_texts(Corpus("mine", corpus.texts, columns), "mood", card)
    score = label_score(np.ones(len(labelled.trial.tested), np.bool_))
    notes = LabelProbe(labelled, label_result([score]), card).notes()
    named = {note.key: note.numbers.get("names") for note in notes}
    assert named[f"probe.notes.{case}"] == names


def test_shuffled_labels_teach_nothing_and_the_commonest_label_gets_its_share(
    moods: LabelProbe,
) -> None:
    result = moods.result
    assert result.guessing == pytest.approx(0.5, abs=0.05)
    low, high = result.shuffled.interval
    assert low <= 0.5 <= high
    assert result.best.value > result.shuffled.value


@pytest.mark.slow
def test_the_snippet_gives_the_accuracy_of_any_layer_and_pooling(
    moods: LabelProbe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = moods.result.scores
    monkeypatch.chdir(tmp_path)
    Path("probe.npz").write_bytes(to_npz(moods.arrays(), moods.result.passport))
    for score in (scores[3], scores[9]):
        names = run(label_snippet(moods, score))
        assert names["accuracy"] == pytest.approx(score.value, abs=1.5 / score.n)
        assert drawn(LABELS_PICTURE, names).data[0].z.sum() == score.n
        assert names["f1"] == pytest.approx(score.macro_f1, abs=0.05)
