"""Words, texts and options that are chosen on the page are those whose numbers it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID, EncoderService
from components.ui.models import runtime
from components.ui.state.view import DEFAULT, MAX_SENTENCES, Sentence
from components.ui.widgets.comparison.controls import POOLING
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.pages import (
    assert_shows,
    chart,
    framed,
    layer_of,
    lines,
    messages,
    pick,
    press,
    reading,
    send_pick,
    sentence,
    shown_view,
    table,
    to_layer,
    type_in,
    view_of,
)

# Choosing words


def test_a_click_chooses_another_word(
    opened: Callable[..., AppTest], service: EncoderService
) -> None:
    app = pick(opened(), "pet")
    view = view_of(
        sentence("I love my pet python", "pet"),
        DEFAULT.sentences[1],
        references=DEFAULT.references,
    )
    assert shown_view(app) == view
    assert_shows(app, expected(service, view))
    assert "A pet ~ snake" in lines(app)


def test_any_occurrence_of_a_word_can_be_chosen(service: EncoderService) -> None:
    text = "A bank by the bank is a bank"
    view = view_of(sentence(text, "bank"), sentence(text, "bank", 1))
    app = pick(framed(view), "bank", row=1, occurrence=2)
    view = view_of(sentence(text, "bank"), sentence(text, "bank", 2))
    assert shown_view(app) == view
    assert_shows(app, expected(service, view))


@pytest.mark.parametrize("pooling", ["mean", "first", "last"])
def test_a_word_of_several_sub_tokens_is_pooled_as_asked(
    service: EncoderService, pooling: str
) -> None:
    view = view_of(
        sentence("What an unbelievability it was", "unbelievability"),
        sentence("MachineLearning is unbelievable", "MachineLearning"),
        references=(sentence("not to be believed"),),
    )
    app = framed(view)
    if pooling != "mean":
        app = field(app.button_group, "meaning_pooling").set_value(pooling).run()
    assert POOLING.of(shown_view(app)) == pooling
    assert_shows(app, expected(service, view, pooling))


def test_a_reference_s_word_is_chosen_by_a_click_and_its_whole_text_by_another() -> None:
    view = replace(DEFAULT, references=(sentence("a long green snake"),))
    app = framed(view)
    assert "A python ~ a long green snake" in lines(app)
    app = pick(app, "snake", row=2)
    assert shown_view(app).references == (sentence("a long green snake", "snake"),)
    assert "A python ~ snake" in lines(app)
    app = pick(app, "snake", row=2)
    assert shown_view(app).references == (sentence("a long green snake"),)


def test_a_click_on_a_row_that_is_gone_does_nothing() -> None:
    app = send_pick(framed(), "chips", row=9, start=0, end=1)
    assert not app.exception
    assert shown_view(app) == DEFAULT


# Editing


@pytest.mark.parametrize("where", ["page_sentences", "side_sentences"])
def test_an_edited_sentence_keeps_its_word(service: EncoderService, where: str) -> None:
    app = type_in(framed(), "My python is a good pet", where=where)
    view = view_of(
        sentence("My python is a good pet", "python"),
        DEFAULT.sentences[1],
        references=DEFAULT.references,
    )
    assert shown_view(app) == view
    assert_shows(app, expected(service, view))
    for key in ("page_sentences_0", "side_sentences_0"):
        assert field(app.text_input, key).value == "My python is a good pet"


def test_a_word_that_is_no_longer_in_its_sentence_is_asked_for() -> None:
    app = type_in(framed(), "My pet is a snake")
    assert not app.exception
    assert messages(app) == ["Choose a word of this sentence."]
    assert shown_view(app).sentences[0] == Sentence("My pet is a snake")
    assert set(lines(app)) == {"B python ~ snake", "B python ~ programming"}
    app = pick(app, "snake")
    assert not messages(app)
    assert "A snake ~ B python" in lines(app)


def test_an_edited_reference_counts_as_a_whole() -> None:
    app = type_in(framed(), "a long reptile", where="page_references")
    assert shown_view(app).references[0] == Sentence("a long reptile")
    assert "A python ~ a long reptile" in lines(app)


@pytest.mark.slow
def test_sentences_can_be_added_up_to_eight_and_taken_away_down_to_one() -> None:
    app = framed()
    for n in range(3, MAX_SENTENCES + 1):
        add = ("page_sentences_add", "side_sentences_add")[n % 2]
        app = press(app, add)
        assert not app.exception
        assert messages(app) == ["This sentence is empty. Type something, or take it away."]
        app = type_in(app, f"python number {n} is here", row=n - 1)
        assert not messages(app)
        assert shown_view(app).sentences[-1].word == (0, 6)
    assert len(lines(app)) == 8 * 7 / 2 + 8 * 2
    assert app.button(key="page_sentences_add").disabled
    assert app.button(key="side_sentences_add").disabled
    for n in range(MAX_SENTENCES, 1, -1):
        assert not app.button(key="page_sentences_0_remove").disabled
        rest = shown_view(app).sentences[1:]
        app = press(app, ("page_sentences_0_remove", "side_sentences_0_remove")[n % 2])
        assert not app.exception
        assert shown_view(app).sentences == rest
    assert app.button(key="page_sentences_0_remove").disabled
    assert app.button(key="side_sentences_0_remove").disabled
    assert field(app.text_input, "page_sentences_0").value == "python number 8 is here"
    assert set(lines(app)) == {"A python ~ snake", "A python ~ programming"}


def test_taking_a_sentence_away_leaves_the_others_in_their_fields() -> None:
    view = view_of(*(sentence(f"python {n}", "python") for n in "abcd"))
    app = press(framed(view), "page_sentences_1_remove")
    for where in ("page", "side"):
        fields = [field(app.text_input, f"{where}_sentences_{i}").value for i in range(3)]
        assert fields == ["python a", "python c", "python d"]


@pytest.mark.slow
def test_references_can_be_added_up_to_eight_and_all_taken_away() -> None:
    app = framed()
    for n in range(3, MAX_SENTENCES + 1):
        app = press(app, "page_references_add")
        app = type_in(app, f"thing {n}", row=n - 1, where="page_references")
        assert not app.exception
    assert app.button(key="page_references_add").disabled
    assert len(lines(app)) == 1 + 2 * 8
    for _ in range(MAX_SENTENCES):
        app = press(app, "page_references_0_remove")
        assert not app.exception
    assert shown_view(app).references == ()
    assert set(lines(app)) == {"A python ~ B python"}


def test_one_sentence_without_references_says_what_is_needed() -> None:
    app = framed(view_of(sentence("my python", "python")))
    assert not app.exception
    assert len(messages(app)) == 1
    assert messages(app)[0].startswith("To compare, choose a word")


# Options


def test_centred_cosines_take_the_sample_s_mean_away(service: EncoderService) -> None:
    app = field(framed().toggle, "meaning_centred").set_value(True).run()
    baseline = runtime.baseline(runtime.service().load(BUNDLED_ID))
    assert_shows(app, expected(service, DEFAULT, means=baseline.centre("mean")))
    assert chart(app)["layout"]["yaxis"]["title"]["text"] == "centred cosine"
    app = field(app.toggle, "meaning_centred").set_value(False).run()
    assert shown_view(app) == DEFAULT


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("Sentences", {"A python ~ B python"}),
        (
            "References",
            {f"{a} python ~ {b}" for a in "AB" for b in ("snake", "programming")},
        ),
    ],
)
def test_only_the_chosen_lines_are_drawn_and_the_table_stays_whole(
    choice: str, names: set[str]
) -> None:
    app = field(framed().button_group, "meaning_lines").set_value(choice).run()
    assert set(lines(app)) == names
    assert len(table(app)) == 5 + 3
    app = field(app.button_group, "meaning_lines").set_value("All").run()
    assert len(lines(app)) == 5


def test_lines_of_a_kind_that_there_is_none_of_are_not_an_empty_picture() -> None:
    view = replace(DEFAULT, references=(), controls={"meaning": {"lines": "References"}})
    assert set(lines(framed(view))) == {"A python ~ B python"}


@pytest.mark.parametrize("layer", [0, 3, 5])
def test_the_bar_chooses_the_layer_of_matrix_mark_and_reading(layer: int) -> None:
    app = to_layer(framed(), layer)
    assert shown_view(app).layer == layer
    assert f"layer {layer}" in reading(app)
    mark = chart(app)["layout"]["shapes"][0]
    assert (mark["x0"], mark["x1"]) == (layer, layer)
    expected_cell = table(app).set_index(["first", "second"])[f"layer {layer}"]
    cell = chart(app, "meaning_matrix_here")["data"][0]["z"][0][2]
    assert cell == pytest.approx(expected_cell["A python", "snake"], abs=1e-5)


def test_the_last_layer_is_the_default_and_needs_no_address() -> None:
    app = to_layer(framed(), 3)
    app = to_layer(app, 6)
    assert shown_view(app) == DEFAULT
    assert "s" not in app.query_params


def test_reset_gives_the_opening_view_back() -> None:
    view = replace(
        view_of(sentence("a cat", "cat"), layer=1),
        controls={"meaning": {"pooling": "last", "centred": True, "lines": "Sentences"}},
    )
    app = press(framed(view), "reset")
    assert not app.exception
    assert "s" not in app.query_params
    assert field(app.text_input, "page_sentences_1").value == DEFAULT.sentences[1].text
    assert layer_of(app) == 6
    assert field(app.button_group, "meaning_pooling").value == "mean"
    assert field(app.toggle, "meaning_centred").value is False
    assert len(lines(app)) == 5
