"""Words that turn a label: each score is that of the edited text; the smallest edit is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.features.labels.controls import MAX_TRIED_EDITS, TRIED_FOR_EACH_WORD
from contextlens.features.labels.explained import Explained
from contextlens.features.labels.other_words import OtherWords, task
from contextlens.features.labels.text_labels import LabelledText, TextLabels
from contextlens.features.labels.token_labels import token_labels
from tests.support.snippets import run_alone
from tests.support.tiny_models import build

TEXT = "The teacher talked, and a cat slept in the green evening"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edited")
    names = {0: "bad", 1: "good", 2: "fair"}
    build("bert", folder / "texts", head="SequenceClassification", id2label=names)
    build("bert", folder / "words", head="TokenClassification", id2label=names)
    return folder


@pytest.fixture(scope="module")
def service(root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    return open_with(model_folder=root)


def tried(
    service: EncoderService, text: str = TEXT, label: int = -1, *, pair: str | None = None
) -> OtherWords:
    card = service.load("folder:texts")
    (found,) = service.classify(card.id, [text], pairs=[pair])
    own = int(found.scores.argmax()) if label < 0 else label
    return worked(Explained(card, LabelledText(0, found), own), service)


def worked(of: Explained, service: EncoderService) -> OtherWords:
    result: OtherWords = task(of, service, token_seconds=1e-3).work(lambda *_: None)
    return result


def test_every_score_is_that_of_the_edited_text(service: EncoderService, root: Path) -> None:
    result = tried(service)
    assert len(result.tried) == MAX_TRIED_EDITS
    labels = TextLabels(result.of.card, (result.of.text,), result.of.label)
    found = run_alone(labels.snippet() + result.snippet(), root)
    rows = result.rows()
    for row, text, answers in zip(rows, found["edits"], found["edited"], strict=False):
        assert f"{row['replaced by']}" in text.split() or row["replaced by"] in text
        scores = {answer["label"]: answer["score"] for answer in answers}
        name = result.of.labels.names[result.of.label]
        assert row["score"] == pytest.approx(scores[name], abs=1e-5)
        assert row["turns the label"] == (max(scores, key=scores.__getitem__) != name)
    is_turned = [row["turns the label"] for row in rows]
    assert is_turned == sorted(is_turned, reverse=True)
    turned = [row["similarity"] for row in rows if row["turns the label"]]
    assert turned == sorted(turned, reverse=True)


def test_words_are_tried_toward_a_label_that_is_not_given_too(service: EncoderService) -> None:
    given = tried(service)
    label = next(i for i in range(3) if i != given.of.label)
    toward = tried(service, label=label)
    assert not toward.is_given
    assert all(toward.of.answer(edit.scores) == (label,) for edit in toward.turned)
    gain = np.mean([edit.scores[label] for edit in toward.tried]) - toward.of.score
    loss = given.of.score - np.mean([edit.scores[given.of.label] for edit in given.tried])
    assert gain > 0
    assert loss > 0


def test_a_pair_is_edited_in_its_own_text(service: EncoderService) -> None:
    result = tried(service, "She talked", pair="The cat slept")
    own = next(edit for edit in result.tried if edit.unit.text_id == 1)
    edited = result.of.replaced(own.unit, own.word)
    assert edited.text == "She talked"
    assert own.word in (edited.pair or "").split()
    (plain,) = service.classify("folder:texts", [edited.text], pairs=[edited.pair])
    np.testing.assert_allclose(own.scores, plain.scores, atol=1e-6)


def test_a_labelled_word_stays_while_others_are_replaced(
    service: EncoderService, root: Path
) -> None:
    card = service.load("folder:words")
    (found,) = service.classify(card.id, ["A cat slept in London"])
    labels = token_labels(card, 0, found, service.vocabulary(card.id), has_pair=False)
    word = labels.visible_words[1]
    own = int(found.scores[word.positions[0]].argmax())
    result = worked(Explained(card, LabelledText(0, found), own, word), service)
    assert {edit.unit.label for edit in result.tried} == {"A", "slept", "in", "London"}
    script = run_alone(labels.snippet() + result.snippet(), root)
    for row, token in zip(result.rows(), script["edited"], strict=False):
        assert row["turns the label"] == (token["entity"] != labels.result.labels[own])
        if not row["turns the label"]:
            assert row["score"] == pytest.approx(float(token["score"]), abs=1e-5)
        assert token["word"] == "cat"


def test_the_most_similar_word_that_turns_the_label_is_named(service: EncoderService) -> None:
    result = tried(service)
    of, edits = result.of, result.tried[:3]
    own = replace(of.result, scores=np.array([0.1, 0.7, 0.2]))
    of = replace(of, text=replace(of.text, result=own), label=1)
    scores = ([0.1, 0.6, 0.3], [0.5, 0.4, 0.1], [0.1, 0.3, 0.6])
    made = tuple(
        replace(edit, scores=np.array(row), similarity=similarity, word=name)
        for edit, row, similarity, name in zip(
            edits, scores, (0.9, 0.4, 0.8), ("one", "two", "three"), strict=True
        )
    )
    old = edits[2].unit.label
    first, second = map(str, OtherWords(of, made).claims())
    assert first.startswith("With “three” in place of “" + old)
    assert first.endswith("the model calls A **fair** (60%).")
    assert second.startswith("Of 3 edits, each of a single word, 2 turn the label")
    first, second = map(str, OtherWords(of, made[:1]).claims())
    assert first == "A keeps the label good in the only edit that was tried."
    assert second.endswith("comes nearest: **60%** instead of 70%.")
    first, _ = map(str, OtherWords(replace(of, label=0), made[::2]).claims())
    assert first == (
        "A does not get the label bad in any of the 2 edits that were tried, each of a single word."
    )


@pytest.mark.parametrize("text", ["x", "!", "مرحبا بالعالم", "a " * 700])
def test_any_text_has_a_reading_and_files(service: EncoderService, text: str) -> None:
    result = tried(service, text)
    assert all(map(str, (*result.claims(), *result.sure())))
    assert len(result.rows()) == len(result.arrays()["edit_scores"]) <= MAX_TRIED_EDITS
    assert bool(result.tried) == (text != "!")
    assert len(result.tried) <= TRIED_FOR_EACH_WORD * max(1, len(result.of.words()))
