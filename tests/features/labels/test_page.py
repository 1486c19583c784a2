"""The Labels page: it draws what was computed, and the menu has it for models of one's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID
from contextlens.features.labels.controls import (
    BASE,
    BEFORE,
    COMPARED,
    EDITS,
    GRADIENTS,
    LABEL,
    PAGE,
    SECTION,
    SENTENCE,
    WAY,
    WORD,
)
from contextlens.ui.page.navigation import pages_for
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.pages import (
    assert_only_own_markup,
    bundled_app,
    chart,
    choose_letter,
    framed,
    given,
    offered_files,
    plainly_said,
    said,
    send_pick,
    settled,
    shown_view,
)
from tests.support.tiny_models import build

TEXT, TOKENS = "folder:text", "folder:tokens"
CHART = "labels_chart"


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = tmp_path_factory.mktemp("models")
    names = {0: "bad", 1: "good", 2: "<i>so-so</i>"}
    build("bert", root / "text", head="SequenceClassification", id2label=names)
    tags = {0: "O", 1: "B-PER", 2: "I-PER"}
    build("roberta", root / "tokens", head="TokenClassification", id2label=tags)
    folder = build("bert", root / "untrained", head="SequenceClassification")
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"].zero_()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    build(
        "bert",
        root / "regression",
        head="SequenceClassification",
        num_labels=1,
        problem_type="regression",
    )
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(root)):
        yield


def opened(model: str, *sentences: Sentence) -> ViewState:
    view = replace(DEFAULT, model=model)
    return replace(view, sentences=sentences) if sentences else view


def shown(view: ViewState) -> AppTest:
    app = settled(framed(view, PAGE))
    assert not app.error
    return app


def test_sentences_have_bars_and_the_words_of_one_are_coloured() -> None:
    with offered_files() as files:
        app = shown(opened(TEXT))
        assert said(app).startswith("The model calls A")
        assert len(chart(app, CHART)["data"][0]["x"]) >= 6
        assert len(given(app, "labels_word_lines")["sides"][0]["words"]) == 5
        assert "the score of" in said(app, "reading_words")
        assert files["labels.csv"]()
        assert files["labels.npz"]()
    app = settled(choose_letter(app, 1))
    assert given(app, "labels_word_lines")["sides"][0]["letter"] == "B"


def test_another_label_and_gradients_are_other_numbers() -> None:
    first = given(shown(opened(TEXT)), "labels_word_lines")
    app = shown(WAY.put(LABEL.put(opened(TEXT), 2), GRADIENTS))
    assert given(app, "labels_word_lines") != first
    assert_only_own_markup(app)
    assert "By integrated gradients" in said(app, "reading_words")
    assert LABEL.of(shown_view(app)) == 2


def test_words_have_their_labels_under_them() -> None:
    app = shown(opened(TOKENS))
    assert said(app).startswith("In A, the model finds")
    words = given(app, "labels_word_lines")["sides"][0]["words"]
    assert [word["text"] for word in words] == ["I", "love", "my", "pet", "python"]
    assert {word["tag"] for word in words} <= {"", "B-PER", "I-PER"}


@pytest.mark.parametrize("model", [TEXT, TOKENS])
@pytest.mark.parametrize(
    "sentence",
    [
        Sentence(""),
        Sentence("مرحبا بالعالم"),
        Sentence("!"),
        Sentence("a " * 700),
        Sentence("x", ""),
    ],
)
def test_any_sentence_has_labels_or_is_asked_for(model: str, sentence: Sentence) -> None:
    app = shown(opened(model, sentence))
    if not sentence.text:
        assert "This sentence is empty" in plainly_said(app)
        return
    assert said(app)


def test_an_empty_sentence_beside_others_has_no_words() -> None:
    app = shown(opened(TEXT, Sentence(""), Sentence("A python slept")))
    assert said(app).startswith("The model calls B")


def test_a_model_without_a_head_says_why_and_how_to_get_one() -> None:
    app = shown(DEFAULT)
    text = plainly_said(app)
    assert "gives no labels. Its checkpoint has no trained part (head)" in text
    assert "CONTEXTLENS_MODEL_FOLDERS" in text
    assert not app.get("plotly_chart")


def test_an_untrained_head_is_named_and_gives_no_number() -> None:
    app = shown(opened("folder:untrained"))
    text = plainly_said(app)
    assert "every bias of it is exactly 0, as before any training" in text
    assert "The model calls" not in text
    assert not app.get("plotly_chart")


@pytest.mark.parametrize("model", [BUNDLED_ID, TEXT, "someone/own-model", BUNDLED_ID + "@main"])
def test_the_menu_has_the_page_for_a_model_of_ones_own(model: str) -> None:
    names = [page.name for page in pages_for(model)]
    assert ("labels" in names) == (BUNDLED_ID not in model)
    if "labels" in names:
        assert names.index("labels") == names.index("why") + 1
    assert "labels" in [page.name for page in pages_for(model, "labels")]


def test_links_lead_to_the_page_only_where_the_menu_has_it() -> None:
    for model, has_page in ((BUNDLED_ID, False), (TEXT, True)):
        app = framed(replace(DEFAULT, model=model), "tokens")
        links = [link.proto.label for link in app.sidebar.get("page_link")]
        assert ("Labels" in links) == has_page


def test_the_report_gets_the_bars_and_the_coloured_words() -> None:
    app = shown(opened(TEXT))
    data = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    report, closer = [one for one in data if one.get("formats") == ["report"]]
    assert {report["title"], closer["title"]} == {"Labels"}
    assert report["chart"].endswith(CHART)
    assert report["cells"]
    assert "python</text>" in closer["svg"]
    assert closer["reading"] == "st-key-closer"


# Closer looks


def test_a_clicked_word_is_explained_until_it_is_clicked_again() -> None:
    app = shown(opened(TOKENS))
    words = given(app, "labels_tagged_words")
    first = words["picked"]["index"]
    other = next(i for i in range(5) if i != first)
    position = words["sides"][0]["words"][other]["position"]
    app = settled(send_pick(app, "labels_tagged_words", side="first", position=position))
    assert WORD.of(shown_view(app)) == position
    assert given(app, "labels_tagged_words")["picked"]["index"] == other
    coloured = given(app, "labels_word_lines")["sides"][0]["words"]
    assert [word["value"] is None for word in coloured] == [i == other for i in range(5)]
    app = settled(send_pick(app, "labels_tagged_words", side="first", position=position))
    assert WORD.of(shown_view(app)) == WORD.default


@pytest.mark.parametrize("model", [TEXT, TOKENS])
def test_other_words_are_listed_with_what_they_make_of_the_label(model: str) -> None:
    app = shown(SECTION.put(opened(model), EDITS))
    assert "each of a single word" in said(app, "reading_edits")
    (edits,) = [one for one in app.dataframe if "turns the label" in one.value.columns]
    assert len(edits.value) > 10


def test_other_words_name_the_sentence_that_has_the_letter_now() -> None:
    """The job is the text's own, whichever letter it has."""
    text = Sentence("a bad movie")
    two = SENTENCE.put(opened(TEXT, Sentence("x"), text), "B")
    for view, name in ((two, "B"), (opened(TEXT, text), "A")):
        told = said(shown(SECTION.put(view, EDITS)), "reading_edits")
        assert re.findall(r"\b[AB]\b", told)[:1] == [name]


def test_the_model_before_is_chosen_and_compared() -> None:
    view = SECTION.put(opened(TEXT), BEFORE)
    assert "Which model was this one made from?" in plainly_said(shown(view))
    app = shown(COMPARED.put(BASE.put(view, "folder:untrained"), "sentences"))
    assert said(app, "reading_before").startswith("Fine-tuning changed nothing here")
    assert len(chart(app, "labels_before_chart")["data"]) == 2
    app = shown(BASE.put(view, TOKENS))
    assert "different vocabularies" in plainly_said(app)
    assert not app.get("plotly_chart")[1:]


def test_a_regression_has_no_words_that_turn_it() -> None:
    app = shown(opened("folder:regression"))
    (section,) = [one for one in app.button_group if one.label == "Look closer"]
    assert list(section.options) == ["The words", "Before fine-tuning"]
