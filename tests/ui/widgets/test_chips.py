"""The data sent to the browser, and what is accepted from it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from contextlens.core.words import split_words
from contextlens.ui.state.view import MAX_CHARACTERS
from contextlens.ui.widgets import chips
from contextlens.ui.widgets.chips import ChipActions, ChipRow
from contextlens.ui.widgets.component import css_class
from tests.support.pages import send_pick

# Everything a text field, an address or a file can bring: surrogates and control characters too.
texts = st.text(st.characters(exclude_categories=()), max_size=60)


def row(text: str, **changes: object) -> ChipRow:
    return ChipRow(**{"label": "A", "text": text, "color": "#0072B2", "chosen": None, **changes})


# What is shown


@given(texts)
def test_segments_together_are_the_whole_text(text: str) -> None:
    segments = chips._segments(text)
    assert "".join(segment["text"] for segment in segments) == chips.visible(text)
    assert [segment["start"] for segment in segments] == [
        0,
        *[segment["end"] for segment in segments[:-1]],
    ][: len(segments)]
    assert all(len(part["text"]) == part["end"] - part["start"] for part in segments)


@given(texts)
def test_words_are_those_of_the_text_and_gaps_are_white_space(text: str) -> None:
    segments = chips._segments(text)
    spans = tuple((part["start"], part["end"]) for part in segments if part["word"])
    assert spans == split_words(text)
    assert all(text[part["start"] : part["end"]].isspace() for part in segments if not part["word"])


@given(texts)
def test_shown_text_has_no_control_characters_and_no_surrogates(text: str) -> None:
    shown = chips.visible(text)
    assert len(shown) == len(text)
    assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in shown)
    shown.encode("utf-8")


def test_control_characters_are_shown_as_their_pictures() -> None:
    assert chips.visible("nul\x00 esc\x1b del\x7f") == "nul␀ esc␛ del␡"
    assert chips.visible("a\tb\nc\x85d\ud83de") == "a b c d\ufffde"


@given(st.lists(texts, max_size=4))
def test_the_payload_survives_json(contents: list[str]) -> None:
    payload = chips._payload([row(text, label=text[:1], note=text) for text in contents])
    assert json.loads(json.dumps(payload)) == payload
    json.dumps(payload, ensure_ascii=False).encode("utf-8")


def test_rows_are_named_for_those_who_cannot_see_the_badge() -> None:
    rows = [row("x"), row("x", label=""), row("x", label="", role="reference")]
    names = [each["name"] for each in chips._payload(rows)]
    assert names == ["sentence A", "sentence 2", "reference 1"]


@pytest.mark.parametrize(
    ("text", "directions"),
    [
        ("pet python", ["", ""]),
        ("say مرحبا 12 !", ["ltr", "rtl", "", ""]),
        ("שלום world", ["rtl", "ltr"]),
    ],
)
def test_directions_are_told_only_where_a_text_has_both(text: str, directions: list[str]) -> None:
    assert [part["dir"] for part in chips._segments(text) if part["word"]] == directions


@pytest.mark.parametrize(
    ("color", "ink"), [("#0072B2", "#ffffff"), ("#777777", "#ffffff"), ("#7a7a7a", "#111111"),
                       ("#D55E00", "#111111"), ("#F0E442", "#111111")],
)  # fmt: skip
def test_the_badge_letter_is_the_one_of_more_contrast(color: str, ink: str) -> None:
    assert chips.badge_ink(color) == ink


# Of a long text


def drawn(*texts: str, **changes: object) -> list[dict]:
    return chips._payload([row(text, **changes) for text in texts])


def n_words(payload: dict) -> int:
    return sum(part["word"] for part in payload["segments"])


def test_of_a_very_long_text_the_first_words_are_drawn_and_the_rest_is_said() -> None:
    text = "ab " * 6_000
    (one,) = drawn(text)
    assert n_words(one) == 1_000
    assert one["note"] == "The first 1,000 of its 6,000 words are drawn here."
    assert not one["warning"]
    assert one["text"] == text, "it is typed on as a whole"
    assert "".join(part["text"] for part in one["segments"]) == text[: 3 * 1_000 - 1]
    assert received({"row": 0, "start": 9_000, "end": 9_002}, row(text))
    (chosen,) = drawn(text, chosen=(9_000, 9_002))
    assert chosen["chosen"] == (9_000, 9_002), "it need not be drawn"
    (noted,) = drawn(text, note="Too long.", warning=True)
    assert noted["note"].startswith("Too long. The first 1,000")
    assert noted["warning"]


def test_all_rows_together_draw_no_more_words_than_a_page_can_have() -> None:
    many = drawn(*["a " * 10_000] * 16)
    assert sum(map(n_words, many)) == 16 * 250
    assert len(json.dumps(many)) < 1_000_000
    few = drawn("two words", "a " * 900, "b " * 900)
    assert [n_words(each) for each in few] == [2, 900, 900]
    assert [each["note"] for each in few] == ["", "", ""]


# What comes back


def received(message: object, *rows: ChipRow) -> list[tuple]:
    """The calls that a message causes."""
    calls: list[tuple] = []
    actions = ChipActions(
        on_pick=lambda *given: calls.append(("pick", *given)),
        on_edit=lambda *given: calls.append(("edit", *given)),
        on_add=lambda *given: calls.append(("add", *given)),
        on_remove=lambda *given: calls.append(("remove", *given)),
        on_letter=lambda *given: calls.append(("letter", *given)),
    )
    chips._receive(json.loads(json.dumps(message)), rows, actions)
    return calls


@given(texts, st.data())
def test_every_word_can_be_picked(text: str, data: st.DataObject) -> None:
    for start, end in split_words(text):
        pick = {"row": 1, "start": start, "end": end}
        assert received(pick, row("before"), row(text)) == [("pick", 1, (start, end))]


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ({"row": 1, "text": " new"}, ("edit", 1, " new", None)),
        ({"row": 0, "text": "a", "pair": ""}, ("edit", 0, "a", "")),
        ({"row": 0, "remove": True}, ("remove", 0)),
        ({"row": 0, "show": True}, ("letter", 0)),
        ({"add": "references", "text": "x"}, ("add", "references", "x")),
    ],
)
def test_what_a_visitor_does_reaches_its_action(message: object, call: tuple) -> None:
    assert received(message, row("a"), row("snake", label="", role="reference")) == [call]


@pytest.mark.parametrize(
    "pick",
    [
        None,
        [],
        "picked",
        {"row": 0},
        {"row": True, "start": 0, "end": 4},
        {"row": 0.0, "start": 0, "end": 4},
        {"row": -1, "start": 0, "end": 4},
        {"row": 2, "start": 0, "end": 4},
        {"row": 0, "start": 0, "end": 3},
        {"row": 0, "start": 0, "end": 10},
        {"row": 0, "start": "0", "end": 4},
        {"row": 1, "show": True},  # a reference
        {"row": 0, "remove": 1},
        {"add": "models", "text": "x"},
        {"add": "sentences", "text": 7},
        {"add": "sentences"},
    ],
)
def test_other_messages_are_ignored(pick: object) -> None:
    assert received(pick, row("pets python"), row("pets python", role="reference")) == []


# In a script


def script() -> None:
    import streamlit as st

    from contextlens.ui.widgets.chips import ChipActions, ChipRow, word_chips
    from contextlens.ui.widgets.kit import picture_buttons

    def keep(row: int, span: tuple[int, int]) -> None:
        st.session_state["picked"] = (row, span)

    def retype(row: int, text: str, pair: str | None) -> None:
        st.session_state["picked"] = (row, text)

    def nothing(*given: object) -> None:
        pass

    rows = [ChipRow("A", "👩‍👧 loves python", "#0072B2", None)]
    actions = ChipActions(on_pick=keep, on_edit=retype, on_add=nothing, on_remove=nothing)
    word_chips(rows, key="chips", actions=actions)
    picture_buttons(chart_key="my chart!", file_name="senses", key="save", caption="passport")
    st.text(st.session_state.get("picked"))


def test_a_pick_reaches_the_callback_in_code_points() -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    send_pick(app, "chips", row=0, start=4, end=9)
    assert not app.exception
    assert app.text[0].value == "(0, (4, 9))"
    app.run()
    assert app.text[0].value == "(0, (4, 9))"


@pytest.mark.parametrize("text", ["", "New text", "  spaces ", "👩‍👧", "x" * MAX_CHARACTERS])
def test_a_typed_text_reaches_the_callback_as_it_is(text: str) -> None:
    app = send_pick(AppTest.from_function(script).run(), "chips", row=0, text=text)
    assert not app.exception
    assert app.session_state["picked"] == (0, text)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        *((1, "a"), (-1, "a"), (True, "a"), ("0", "a"), (0, 7), (0, None), (0, ["a"])),
        (0, "\ud800"),
    ],
)
def test_a_made_up_text_does_nothing(row: object, text: object) -> None:
    app = send_pick(AppTest.from_function(script).run(), "chips", row=row, text=text)
    assert not app.exception
    assert "picked" not in app.session_state


def test_the_components_get_their_data_as_json() -> None:
    app = AppTest.from_function(script).run()
    drawn = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    words = [part["text"] for part in drawn[0]["rows"][0]["segments"] if part["word"]]
    assert words == ["👩‍👧", "loves", "python"]
    assert drawn[1] == {
        "formats": ["png", "svg", "html", "ipynb"],
        "chart": "st-key-my-chart-",
        "svg": "",
        "file": "senses",
        "caption": "passport",
        "reading": "",
        "svg_title": "",
        "title": "",
        "link": None,
        "settings": [],
        "cells": [],
    }


def test_a_chart_key_becomes_the_class_that_streamlit_makes_of_it() -> None:
    assert css_class(" senses of “bank” 2 ") == "st-key-senses-of--bank--2"
