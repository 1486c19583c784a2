"""What the component of the page is given, and what it may send."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import EncoderService
from contextlens.features.blank import widgets
from contextlens.features.blank.bars_drawing import bars_drawing
from contextlens.features.blank.blanks import with_chosen_words
from contextlens.features.blank.predictions import predictions
from contextlens.ui.state.view import DEFAULT, Sentence

WORDS = {0: (True, False, True), 1: ()}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"sentence": 0, "word": 2}, (0, 2)),
        ({"sentence": 0, "word": 1}, None),
        ({"sentence": 0, "word": 3}, None),
        ({"sentence": 0, "word": -1}, None),
        ({"sentence": 0, "word": True}, None),
        ({"sentence": 1, "word": 0}, None),
        ({"sentence": 9, "word": 0}, None),
        ({"word": 0}, None),
        ([0, 2], None),
        (None, None),
    ],
)
def test_only_words_that_can_be_hidden_are_accepted(sent: object, expected: object) -> None:
    assert widgets._checked(sent, WORDS) == expected


@given(st.recursive(st.none() | st.integers() | st.text(), lambda own: st.lists(own), max_leaves=4))
def test_anything_else_is_ignored(sent: object) -> None:
    assert widgets._checked(sent, WORDS) is None


def test_segments_spell_the_text_and_know_their_blanks(masked_service: EncoderService) -> None:
    text = "The [MASK] — <b>bank</b> 🐍\tsat"
    view = replace(DEFAULT, model="folder:bert", sentences=(Sentence(text, "a [MASK]"),))
    view = with_chosen_words(view, 0, [0]) or view
    shown = predictions(view, masked_service, masked_service.load(view.model))
    sentence = widgets._sentence(shown.sentences[0], shown, list(shown.answers()))
    segments = sentence["segments"]
    assert isinstance(segments, list)
    assert "".join(part["text"] for part in segments) == text.replace("\t", " ")
    assert [part["text"] for part in segments if part["typed"]] == ["[MASK]"]
    assert [part["blanks"] for part in segments if part["hidden"]] == [[1], [2]]
    json.dumps(sentence)


def test_the_drawing_is_an_image_of_the_first_blanks(masked_service: EncoderService) -> None:
    view = replace(DEFAULT, model="folder:bert")
    shown = predictions(view, masked_service, masked_service.load(view.model))
    drawn = ET.fromstring(bars_drawing(shown))
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "I love my pet ____" in texts
    assert texts.count("python") == 2
    assert float(drawn.attrib["height"]) <= 440
    hostile = replace(view, sentences=(Sentence("<script> " + "[MASK] " * 8),))
    many = predictions(hostile, masked_service, masked_service.load(view.model))
    assert "<script>" not in bars_drawing(many)
    assert "4 of 8 blanks" in bars_drawing(many)
    empty = replace(view, sentences=(Sentence(""),))
    assert bars_drawing(predictions(empty, masked_service, masked_service.load(view.model))) == ""
