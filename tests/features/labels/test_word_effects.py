"""The words behind a label: each number is that of a text without the word, or of a gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import pipeline

from contextlens.analysis.leaving_out import MAX_LEFT_OUT_WORDS
from contextlens.core import EncoderService
from contextlens.features.labels.controls import GRADIENTS, LEAVE_OUT
from contextlens.features.labels.explained import Explained
from contextlens.features.labels.text_labels import LabelledText, TextLabels
from contextlens.features.labels.token_labels import token_labels
from contextlens.features.labels.word_effects import LeftOut, WordEffects, task, word_effects
from tests.support.snippets import run, run_alone
from tests.support.tiny_models import build

TEXT = "I love my pet python"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    names = {0: "bad", 1: "good", 2: "so-so"}
    build("bert", folder / "three", head="SequenceClassification", id2label=names)
    for family in ("bert", "roberta"):
        tags = {0: "O", 1: "B-LOC", 2: "I-LOC"}
        build(family, folder / family, head="TokenClassification", id2label=tags)
    return folder


@pytest.fixture(scope="module")
def service(root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    return open_with(model_folder=root)


def effects(
    service: EncoderService, text: str, way: str = LEAVE_OUT, pair: str | None = None
) -> WordEffects:
    card = service.load("folder:three")
    (found,) = service.classify(card.id, [text], pairs=[pair])
    return worked(Explained(card, LabelledText(0, found), 1), service, way)


def of_word(
    service: EncoderService, text: str, word: int, way: str = LEAVE_OUT, model: str = "bert"
) -> WordEffects:
    """The words behind the label B-LOC of a word, given by its number."""
    card = service.load(f"folder:{model}")
    (found,) = service.classify(card.id, [text])
    words = token_labels(card, 0, found, service.vocabulary(card.id), has_pair=False)
    return worked(
        Explained(card, LabelledText(0, found), 1, words.visible_words[word]), service, way
    )


def worked(of: Explained, service: EncoderService, way: str) -> WordEffects:
    reports: list[float] = []
    work = task(of, way, service, token_seconds=1e-3)
    result = work.work(lambda _, share=0.0: reports.append(share))
    assert reports[0] == 0
    assert reports == sorted(reports)
    return word_effects(of, way, result)


def answering(result: WordEffects, own: list[float], without: list[list[float]]) -> WordEffects:
    """The same words with other scores: of the whole text, and without each word."""
    first = replace(result.of.result, scores=np.array(own))
    words = result.words[: len(without)]
    found = LeftOut(np.array(without))
    of = replace(result.of, text=LabelledText(0, first))
    return replace(result, of=of, words=words, n_words=5, found=found)


def test_an_effect_is_the_score_less_that_of_the_text_without_the_word(
    service: EncoderService, root: Path
) -> None:
    result, folder = effects(service, TEXT), str(root / "three")
    answer: Any = pipeline("text-classification", model=folder, tokenizer=folder)

    def good(text: str) -> float:
        return next(r["score"] for r in answer([text], top_k=None)[0] if r["label"] == "good")

    words = TEXT.split()
    rest = [" ".join(w for j, w in enumerate(words) if j != i) for i in range(len(words))]
    expected = [good(TEXT) - good(text) for text in rest]
    np.testing.assert_allclose(result.effects, expected, atol=1e-5)
    assert [word.value for word in result.word_rows().first.words] == result.effects.tolist()
    labels = TextLabels(result.of.card, (result.of.text,), 1)
    code = (labels.snippet() + result.snippet()).replace('"path/to/three"', repr(folder))
    np.testing.assert_allclose(list(run(code)["effects"].values()), expected, atol=1e-5)


def test_words_of_the_second_text_are_left_out_too(service: EncoderService) -> None:
    result = effects(service, "I love it", pair="It sleeps")
    assert [unit.label for unit in result.words] == ["I", "love", "it", "It", "sleeps"]
    (plain,) = service.classify("folder:three", ["I love it"], pairs=["sleeps"])
    assert result.effects[3] == pytest.approx(result.of.score - plain.scores[1], abs=1e-6)


def test_gradients_add_up_to_the_score_or_say_that_they_do_not(service: EncoderService) -> None:
    result = effects(service, TEXT, GRADIENTS)
    found: Any = result.found
    assert result.effects.sum() == pytest.approx(found.end - found.start, abs=found.missed + 1e-6)
    assert found.end == pytest.approx(result.of.score, abs=1e-6)
    rough = replace(result, found=replace(found, missed=0.02))
    assert "missed 0.020 of the score" in str(rough.claims()[-1])
    assert len(rough.claims()) == len(result.claims()) + 1


@pytest.mark.parametrize("pair", [None, "It sleeps"])
def test_the_script_of_gradients_needs_transformers_alone(
    service: EncoderService, root: Path, pair: str | None
) -> None:
    result = effects(service, TEXT, GRADIENTS, pair)
    labels = TextLabels(result.of.card, (result.of.text,), 1)
    found = run_alone(labels.snippet() + result.snippet(), root)
    np.testing.assert_allclose(found["shares"], result.arrays()["token_effects"], atol=1e-5)


# What made a word's label


@pytest.mark.filterwarnings("ignore:Tokenizer does not support real words")
@pytest.mark.parametrize("model", ["bert", "roberta"])
def test_a_word_keeps_its_place_while_others_are_left_out(
    service: EncoderService, root: Path, model: str
) -> None:
    result = of_word(service, "Ada walked in London", 3, model=model)
    assert [unit.label for unit in result.words] == ["Ada", "walked", "in"]
    (rest,) = service.classify(f"folder:{model}", ["Ada in London"])
    first = int(np.flatnonzero(rest.tokens.offsets[:, 1] > len("Ada in "))[0])
    expected = result.of.score - rest.scores[first, 1]
    assert result.effects[1] == pytest.approx(expected, abs=1e-6)
    labels = token_labels(
        result.of.card, 0, result.of.result, service.vocabulary(f"folder:{model}"), has_pair=False
    )
    found = run_alone(labels.snippet() + result.snippet(), root)["effects"]
    np.testing.assert_allclose(list(found.values()), result.effects, atol=1e-5)
    named = replace(result, found=LeftOut(np.zeros_like(result.found.scores)))  # type: ignore[union-attr]
    assert "“London” gets **0%**" in str(named.claims()[0])


@pytest.mark.filterwarnings("ignore:Tokenizer does not support real words")
def test_gradients_of_a_words_label_are_those_of_its_first_token(
    service: EncoderService, root: Path
) -> None:
    result = of_word(service, "Ada walked in London", 3, GRADIENTS)
    assert [unit.label for unit in result.words] == ["Ada", "walked", "in", "London"]
    position = result.of.result.tokens.offsets[:, 0].tolist().index(len("Ada walked in "))
    plain = service.label_gradients("folder:bert", "Ada walked in London", 1, token=position)
    np.testing.assert_array_equal(result.arrays()["token_effects"], plain.shares)
    labels = token_labels(
        result.of.card, 0, result.of.result, service.vocabulary("folder:bert"), has_pair=False
    )
    found = run_alone(labels.snippet() + result.snippet(), root)
    np.testing.assert_allclose(found["shares"], plain.shares, atol=1e-5)


def test_a_word_alone_has_no_other_to_leave_out(service: EncoderService) -> None:
    result = of_word(service, "London", 0)
    assert [str(one) for one in result.claims()] == [
        "A has no word besides “London” that the model reads."
    ]


def test_the_word_that_turns_the_answer_is_named(service: EncoderService) -> None:
    result = effects(service, TEXT)
    turned = answering(result, [0.2, 0.7, 0.1], [[0.3, 0.6, 0.1], [0.8, 0.15, 0.05]])
    assert list(map(str, turned.claims())) == [
        "“love” raises the score of good most: without it, A gets **15%** instead of 70%.",
        "Without “love”, the model calls A **bad** (80%).",
    ]
    same = answering(result, [0.2, 0.7, 0.1], [[0.3, 0.6, 0.1], [0.1, 0.85, 0.05]])
    assert str(same.claims()[0]).startswith("“love” lowers the score of good most")
    assert "does not change the answer" in str(same.claims()[1])
    still = answering(result, [0.2, 0.7, 0.1], [[0.2, 0.7, 0.1]])
    assert "hardly changes" in str(still.claims()[0])


def test_a_long_text_has_its_first_words_left_out_and_says_so(
    service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextlens.features.labels.word_effects.MAX_LEFT_OUT_WORDS", 3)
    result = effects(service, TEXT)
    assert len(result.words) == 3
    assert [str(note) for note in result.notes()] == [
        "Sentence A has 5 words; only the first 3 are left out, one at a time."
    ]
    assert MAX_LEFT_OUT_WORDS == 100
    assert [word.value is None for word in result.word_rows().first.words] == 3 * [False] + 2 * [
        True
    ]


def test_a_repeated_word_has_its_place_and_a_cut_text_says_what_is_read(
    service: EncoderService,
) -> None:
    result = effects(service, "a python " * 200)
    best = 1 + int(np.abs(result.effects).argmax())
    assert f"at position {best} " in str(result.claims()[0])
    assert "part of the cut-off end is read instead" in str(result.notes()[-1])


@pytest.mark.parametrize("way", [LEAVE_OUT, GRADIENTS])
@pytest.mark.parametrize("text", ["x", "!", "مرحبا بالعالم", "a " * 700])
def test_any_text_has_effects_a_reading_and_files(
    service: EncoderService, text: str, way: str
) -> None:
    result = effects(service, text, way)
    assert np.isfinite(result.effects).all()
    assert all(str(claim) for claim in (*result.claims(), *result.sure(), *result.notes()))
    assert len(result.rows()) == len(result.words) == len(result.arrays()["effects"])
