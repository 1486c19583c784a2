"""What the words with their lines send to the browser, and what they believe of what comes back."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.features.attention import controls as attention
from components.features.why import widgets
from components.features.why.looks import _on_head
from components.features.why.widgets import Captions, LinkedSentence, LinkedWord, word_lines
from components.ui.state.view import DEFAULT

FIRST = LinkedSentence(
    "A", "#0072B2", [LinkedWord("[CLS]", 0, "special"), LinkedWord("pet", 1, value=-0.5)]
)
SECOND = LinkedSentence(
    "B", "#E69F00", [LinkedWord("py", 3, value=0.1), LinkedWord("##thon", 4, joined=True)]
)
KNOWN = {"first": frozenset({0, 1}), "second": frozenset({3, 4})}
CAPTIONS = Captions("share", "with", "takes away", "adds", "Point at a word.")


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        ({"side": "first", "position": 1}, ("first", 1)),
        ({"side": "second", "position": 4}, ("second", 4)),
        ({"side": "first", "position": 4}, None),
        ({"side": "second", "position": -1}, None),
        ({"side": "first", "position": True}, None),
        ({"side": "third", "position": 0}, None),
        ({"side": ["first"], "position": 0}, None),
        ({"side": "first"}, None),
        ("first", None),
        (None, None),
    ],
)
def test_only_words_that_are_there_can_be_picked(pick: object, expected: object) -> None:
    assert widgets._checked(pick, KNOWN) == expected


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the component was given, and how it hands on what it hears."""
    found: dict[str, Any] = {}

    def note(package: str, name: str, data: object, **more: Any) -> None:
        found.update(data=data, package=package, name=name, **more)

    monkeypatch.setattr(widgets, "component", note)
    return found


def test_words_values_and_pairs_travel(drawn: dict[str, Any]) -> None:
    cells = np.array([[0.25, 0.5], [-1.0, 0.0]])
    word_lines(FIRST, SECOND, key="k", end=1.0, captions=CAPTIONS, cells=cells, picked=("first", 1))
    data = json.loads(json.dumps(drawn["data"]))
    assert [word["text"] for side in data["sides"] for word in side["words"]] == [
        *("[CLS]", "pet", "py", "##thon")
    ]
    assert data["sides"][0]["words"][0]["value"] is None
    assert data["sides"][0]["words"][1]["value"] == -0.5
    sent = np.frombuffer(base64.b64decode(data["cells"]), "<f4").reshape(2, 2)
    np.testing.assert_array_equal(sent, cells)
    assert data["picked"] == {"side": "first", "index": 1}
    assert not data["pickable"]


def test_a_second_click_lets_a_word_go(drawn: dict[str, Any]) -> None:
    picks: list[tuple[str, int]] = []
    word_lines(
        FIRST, SECOND, key="k", end=1.0, captions=CAPTIONS, picked=("first", 1), links=[(0, 0)],
        on_pick=lambda side, position: picks.append((side, position)),
    )  # fmt: skip
    for side, position in (("first", 1), ("second", 4), ("second", 9)):
        drawn["on_pick"]({"side": side, "position": position})
    assert picks == [("first", -1), ("second", 4)]
    assert drawn["data"]["links"] == [[0, 0]]
    assert drawn["data"]["cells"] == ""


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_label_survives_json(text: str) -> None:
    item = widgets._word_data(replace(FIRST.words[1], label=text))
    assert item["text"]
    assert json.loads(json.dumps(item)) == item
    json.dumps(item, ensure_ascii=False).encode("utf-8")


def test_a_head_is_linked_as_attention_names_it() -> None:
    view = attention.SHOW.put(DEFAULT, "All")
    opened = _on_head(view, "B", 3, 7)
    assert attention.HEAD.among(["3.7"], default="").of(opened) == "3.7"
    assert attention.SHOW.of(opened) == "One head"
    assert attention.SENTENCE.of(opened) == "B"
    assert attention.SENTENCE.of(_on_head(opened, "A", 1, 0)) == "A"
