"""Rows of words: what is sent to the browser and accepted from it, and the drawing."""

from __future__ import annotations

import base64
import json
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import EncoderService
from contextlens.features.why.word_rows import linked_words, word_row
from contextlens.figures.word_rows import (
    Captions,
    LinkedSentence,
    LinkedWord,
    WordRows,
    words_svg,
)
from contextlens.ui.widgets import word_lines as widgets
from contextlens.ui.widgets.word_lines import word_lines
from tests.features.why.scores import score_on, sentence

FIRST = LinkedSentence(
    "A", "#0072B2", [LinkedWord("[CLS]", 0, "special"), LinkedWord("pet", 1, value=-0.5)]
)
SECOND = LinkedSentence(
    "B", "#E69F00", [LinkedWord("py", 3, value=0.1), LinkedWord("##thon", 4, joined=True)]
)
RUDE = "<b>x</b>"
CAPTIONS = Captions("share", "with", "takes away", "adds", "Point at a word.")

# Words with lines


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments that the component was called with."""
    given: dict[str, Any] = {}

    def note(package: str, name: str, data: object, **more: Any) -> None:
        given.update(package=package, name=name, data=data, **more)

    monkeypatch.setattr(widgets, "component", note)
    return given


def test_words_values_and_pairs_travel(drawn: dict[str, Any]) -> None:
    cells = np.array([[0.25, 0.5], [-1.0, 0.0]])
    rows = WordRows(FIRST, SECOND, CAPTIONS, end=1.0, cells=cells, picked=("first", 1))
    word_lines(rows, key="k")
    data = json.loads(json.dumps(drawn["data"]))
    words = [(w["text"], w["value"], w["joined"]) for s in data["sides"] for w in s["words"]]
    assert words == [
        ("[CLS]", None, False), ("pet", -0.5, False), ("py", 0.1, False), ("##thon", None, True)
    ]  # fmt: skip
    sent = np.frombuffer(base64.b64decode(data["cells"]), "<f4").reshape(2, 2)
    np.testing.assert_array_equal(sent, cells)
    assert data["picked"] == {"side": "first", "index": 1}
    assert data["says"] == {
        "quantity": "share", "between": "with", "low": "takes away", "high": "adds",
        "hint": "Point at a word.",
    }  # fmt: skip
    assert not data["pickable"]


def test_only_words_that_are_there_are_picked_and_a_second_click_lets_one_go(
    drawn: dict[str, Any],
) -> None:
    picks: list[tuple[str, int]] = []
    rows = WordRows(
        FIRST, SECOND, CAPTIONS, end=1.0, links=[(0, 0)], is_pickable=True, picked=("first", 1)
    )
    word_lines(rows, key="k", on_pick=lambda side, position: picks.append((side, position)))
    for sent in (
        *({"side": "first", "position": position} for position in (4, -1, True)),
        *({"side": side, "position": 0} for side in ("third", ["first"])),
        *({"side": "first"}, "first", None),
    ):
        drawn["on_pick"](sent)
    assert picks == []
    for side, position in (("first", 1), ("first", 0), ("second", 4), ("second", 9)):
        drawn["on_pick"]({"side": side, "position": position})
    assert picks == [("first", -1), ("first", 0), ("second", 4)]
    assert (drawn["data"]["links"], drawn["data"]["cells"]) == ([[0, 0]], "")


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_label_survives_json(text: str) -> None:
    data = widgets._word_data(LinkedWord(text, 1))
    assert data["text"]
    assert json.loads(json.dumps(data)) == data
    json.dumps(data, ensure_ascii=False).encode("utf-8")


# Rows of a sentence


def test_a_row_has_each_word_or_token_once_with_its_value(service: EncoderService) -> None:
    side = score_on(service, sentence("Its 🐍 is unbelievability"), sentence("A cat")).first
    words, tokens = linked_words(side, "words"), linked_words(side, "tokens")
    assert [word.label for word in words][:4] == ["[CLS]", "Its", "🐍 [UNK]", "is"]
    assert [word.kind for word in words] == ["special", *["word"] * 4, "special"]
    assert len(tokens) == side.encoding.n_tokens
    starts = [token.position for token in tokens if not token.joined]
    assert starts == [word.position for word in words]
    values = np.array([np.nan, 0.5, *[0.0] * (len(words) - 2)])
    row = word_row(side, "words", values)
    assert [word.value for word in row.words][:2] == [None, 0.5]
    assert {word.value for word in word_row(side, "tokens").words} == {None}


@pytest.mark.parametrize("n", [3, 600])
def test_the_drawing_has_each_word_with_its_colour_and_stays_in_its_frame(n: int) -> None:
    words = [("up", 0.2), ("down", -0.1), (RUDE, None)] * (n // 3)
    svg = "{http://www.w3.org/2000/svg}"
    sentence = LinkedSentence(
        "A",
        "#111111",
        [LinkedWord(label, i, value=value) for i, (label, value) in enumerate(words)],
    )
    root = ET.fromstring(words_svg(WordRows(sentence, sentence, CAPTIONS, end=0.2)))
    assert {element.tag for element in root.iter()} == {
        svg + tag for tag in ("svg", "rect", "text")
    }
    texts = [text.text for text in root.iter(f"{svg}text")]
    assert texts[:6] == ["A", "up", "+0.20", "down", "−0.10", RUDE]
    boxes = [box for box in root.iter(f"{svg}rect") if box.get("rx")]
    assert [box.get("fill-opacity") for box in boxes[:3]] == ["0.72", "0.36", "0.00"]
    assert len({box.get("fill") for box in boxes[:2]}) == 2
    assert (len(boxes) == 2 * n) == (n == 3)
    assert ("…" in texts) == (n > 3)
    for box in boxes:
        x, y, width = (float(box.get(name) or "nan") for name in ("x", "y", "width"))
        assert 0 < x <= x + width <= 928
        assert y + 49 <= float(root.get("height") or "nan") <= 440
