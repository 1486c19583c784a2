"""How far each word moves the chosen one: numbers of the bundled model, bounds, and odd texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Block
from contextlens.core.words import find_word
from contextlens.features.home import flows
from contextlens.features.home.controls import MAX_HIDDEN_TOKENS, MAX_HIDDEN_WORDS
from contextlens.features.home.flows import FlowWord, Row, rows_of
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from contextlens.ui.widgets.comparison.compute import meaning_of


def view_of(*sentences: tuple[str, str]) -> ViewState:
    own = [Sentence(text, None, find_word(text, word)) for text, word in sentences]
    return ViewState(BUNDLED_ID, tuple(own), (Sentence("snake"),))


def rows(service: EncoderService, view: ViewState) -> list[Row]:
    return rows_of(meaning_of(view, service, service.load(BUNDLED_ID), None))


def changes(service: EncoderService, view: ViewState) -> list[np.ndarray]:
    card = service.load(BUNDLED_ID)
    meaning = meaning_of(view, service, card, None)
    task = flows.task_of(meaning, rows_of(meaning), service, card)
    found: list[np.ndarray] = task.work(lambda *_: None)
    return found


def test_the_pet_moves_python_as_was_measured_and_layer_0_moves_nothing(
    service: EncoderService,
) -> None:
    first, second = changes(service, DEFAULT)
    pet = [0, 0.0138, 0.0238, 0.0333, 0.0521, 0.0615, 0.1323]
    coding = [0, 0.0051, 0.0051, 0.0081, 0.0108, 0.0155, 0.0314]
    assert first[:, 3] == pytest.approx(pet, abs=1e-4)
    assert second[:, 2] == pytest.approx(coding, abs=1e-4)
    assert not first[:, 4].any()  # python does not move itself


def test_every_change_is_that_of_the_word_hidden_alone(service: EncoderService) -> None:
    view = view_of(("The unbelievably tame snake, my python, sleeps", "python"))
    (row,), (found,) = rows(service, view), changes(service, view)
    encoding = service.encode(BUNDLED_ID, [view.sentences[0].text])[0]
    (chosen,) = (word for word in row.words if word.is_chosen)
    whole = encoding.hidden[:, list(chosen.positions)].mean(axis=1)
    for i in row.hidden:
        blocks = [Block(token=position) for position in row.words[i].positions]
        (without,) = service.intervene(BUNDLED_ID, [encoding.text], [blocks])
        moved = without.hidden[:, list(chosen.positions)].mean(axis=1)
        cosines = (whole * moved).sum(1) / np.linalg.norm(whole, axis=1)
        cosines /= np.linalg.norm(moved, axis=1)
        assert found[:, i] == pytest.approx(1 - cosines, abs=1e-5)
    assert [word.text for word in row.words if word.is_glued] == [",", ","]


@pytest.mark.parametrize("at", [0, 1, 100, 199])
def test_of_a_long_sentence_the_nearest_words_are_hidden(service: EncoderService, at: int) -> None:
    words = ["cat"] * 200
    words[at] = "python"
    (row,) = rows(service, view_of((" ".join(words), "python")))
    assert len(row.hidden) == MAX_HIDDEN_WORDS
    assert row.n_words == 200
    first = max(0, min(at - MAX_HIDDEN_WORDS // 2, 200 - MAX_HIDDEN_WORDS - 1))
    assert row.is_cut == (first > 0, first + MAX_HIDDEN_WORDS + 1 < 200)
    assert [word.is_chosen for word in row.words].index(True) == at - first
    assert str(flows.cut_note([row])[0]).startswith("Of the 200 words of A, the 24 nearest")


def test_many_long_sentences_are_bounded_in_tokens(service: EncoderService) -> None:
    view = view_of(*[("python " + f"cat {'dog ' * 300}", "python")] * 8)
    found = rows(service, view)
    assert sum(len(row.hidden) * 303 for row in found) <= MAX_HIDDEN_TOKENS
    assert all(row.hidden for row in found)


@pytest.mark.parametrize(
    ("text", "word", "n"),
    [("python", "python", 0), ("🐍 python", "python", 1), ("ذهب الولد", "الولد", 1)],
)
def test_short_and_foreign_sentences_have_their_words(
    service: EncoderService, text: str, word: str, n: int
) -> None:
    (row,), (found,) = rows(service, view_of((text, word))), changes(service, view_of((text, word)))
    assert len(row.hidden) == n
    assert found.shape == (7, len(row.words))
    assert np.isfinite(found).all()


def test_a_phrase_is_one_chosen_word(service: EncoderService) -> None:
    view = replace(DEFAULT, sentences=(Sentence("I love my pet python", None, (10, 20)),))
    (row,) = rows(service, view)
    assert [word.text for word in row.words if word.is_chosen] == ["pet", "python"]
    assert len(row.hidden) == 3


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1, 0.02, 0.05], "“a” moves “python” most"),
        ([0.1, 0.095, 0.05], "“a” and “b” move “python” most"),
        ([0.1, 0.099, 0.098], "no single word moves “python” most"),
        ([0.001, 0.0, 0.0], "nothing has moved “python” yet"),
        (None, "measuring what moves “python”"),
    ],
)
def test_the_word_that_moves_most_is_named(values: Any, expected: str) -> None:
    words = tuple(FlowWord(text, (i + 1,), text == "python", False)
                  for i, text in enumerate(["a", "b", "c", "python"]))  # fmt: skip
    row = Row("A", 0, "python", words, 4, (False, False))
    at_layer = None if values is None else np.array([*values, 0], np.float32)
    assert str(flows.movers(row, at_layer)) == expected
