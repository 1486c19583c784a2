"""The data that looks send to the browser and accept from it; edits as they are shown."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.features.attention import controls as attention
from contextlens.features.why import widgets
from contextlens.features.why.looks import _marked, _on_head
from contextlens.features.why.widgets import Captions, LinkedSentence, LinkedWord, word_lines
from contextlens.ui.state.view import DEFAULT

FIRST = LinkedSentence(
    "A", "#0072B2", [LinkedWord("[CLS]", 0, "special"), LinkedWord("pet", 1, value=-0.5)]
)
SECOND = LinkedSentence(
    "B", "#E69F00", [LinkedWord("py", 3, value=0.1), LinkedWord("##thon", 4, joined=True)]
)
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
    word_lines(FIRST, SECOND, key="k", end=1.0, captions=CAPTIONS, cells=cells, picked=("first", 1))
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
    word_lines(
        FIRST, SECOND, key="k", end=1.0, captions=CAPTIONS, picked=("first", 1), links=[(0, 0)],
        on_pick=lambda side, position: picks.append((side, position)),
    )  # fmt: skip
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


# Edits and heads


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("I love it", "I do not love it", "I [do] [not] love it"),
        ("the dog bit the man", "the man bit the dog", "the [man] bit the [dog]"),
        ("I love", "I LOVE", "I [LOVE]"),
        ("a *b*", "a *c*", "a *[c]*"),
        ("same", "same", "same"),
        ("", "new", "[new]"),
        ("gone", "", ""),
    ],
)
def test_new_words_are_marked(before: str, after: str, expected: str) -> None:
    marked = _marked(before, after).replace(":blue-background", "")
    assert re.sub(r"\\(.)", r"\1", marked) == expected


def test_of_a_long_text_only_what_stands_around_the_change_is_shown() -> None:
    marked = _marked("yes " * 2_000 + "is", "yes " * 2_000 + "is not")
    assert marked.startswith("…")
    assert marked.endswith(":blue-background[not]")
    assert len(marked) < 300
    assert len(_marked("yes " * 2_000, "YES " * 2_000)) < 1_500


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_shown(before: str, after: str) -> None:
    _marked(before, after)


def test_a_head_is_linked_as_attention_names_it() -> None:
    opened = _on_head(attention.SHOW.put(DEFAULT, "All"), "B", 3, 7)
    assert attention.HEAD.among(["3.7"], default="").of(opened) == "3.7"
    assert attention.SHOW.of(opened) == "One head"
    assert attention.SENTENCE.of(opened) == "B"
    assert attention.SENTENCE.of(_on_head(opened, "A", 1, 0)) == "A"
