"""A view comes back from a link and a file, and downloads have the page's numbers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from streamlit.testing.v1 import AppTest

from components.content.examples import EXAMPLES
from components.core import BUNDLED_ID, EncoderService
from components.core.words import split_words
from components.ui.state.address import decode, encode, to_json
from components.ui.state.view import DEFAULT, Sentence, ViewState, from_example
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.pages import (
    assert_shows,
    everything_said,
    framed,
    given,
    layer_of,
    lines,
    messages,
    offered_files,
    pick,
    sentence,
    shown_view,
    table,
    type_in,
    view_of,
)


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if e.model is None], ids=lambda example: example.key
)
def test_an_example_s_link_opens_it(example: Any, service: EncoderService) -> None:
    links = {link.proto.label: link.proto for link in framed().sidebar.get("page_link")}
    query = links[example.title].query_string
    app = framed(query.removeprefix("s="))
    view = from_example(example, BUNDLED_ID)
    assert shown_view(app) == view
    assert not messages(app)
    assert_shows(app, expected(service, view))


def test_an_example_whose_model_is_not_loaded_cannot_be_opened_yet() -> None:
    app = framed()
    button = app.button(key="side_example_case")
    assert button.disabled
    assert "google-bert/bert-base-cased" in button.help


# Addresses


HOSTILE = {
    "nonsense": "<script>alert(1)</script>",
    "cut off": encode(replace(DEFAULT, layer=1))[:-4],
    "a file of another session": "file-0123456789abcdef",
}


@pytest.mark.parametrize("parameter", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_broken_address_gives_the_opening_view_and_a_notice(parameter: str) -> None:
    app = framed(parameter)
    assert not app.exception
    assert not app.error
    assert len(app.warning) == 1
    assert "opening example" in app.warning[0].value
    assert field(app.text_input, "page_sentences_0").value == DEFAULT.sentences[0].text
    assert len(lines(app)) == 5
    app = app.run()
    assert not app.warning


def test_a_broken_address_is_mended_by_the_next_choice() -> None:
    app = pick(framed("nonsense"), "pet")
    assert not app.warning
    assert shown_view(app).sentences[0] == sentence("I love my pet python", "pet")


def test_a_view_survives_a_reload() -> None:
    app = pick(type_in(framed(), "a 🐍 & a <b> % + python?"), "🐍")
    again = framed(app.query_params["s"])
    assert shown_view(again) == shown_view(app)
    assert lines(again) == lines(app)


def test_odd_views_in_good_form_are_shown_as_far_as_they_go() -> None:
    odd = replace(
        DEFAULT,
        layer=999,
        controls={
            "meaning": {"pooling": "median", "lines": 7, "centred": "yes", "x": 1.5},
            "no such page": {"a": "b"},
        },
    )
    app = framed(odd)
    assert not app.exception
    assert not messages(app)
    assert layer_of(app) == 6
    assert field(app.button_group, "meaning_pooling").value == "mean"
    assert len(lines(app)) == 5


def test_a_view_without_sentences_has_an_empty_one_to_fill() -> None:
    app = framed(view_of())
    assert not app.exception
    assert not app.error
    app = type_in(app, "a python")
    assert not app.exception
    assert shown_view(app).sentences == (Sentence("a python"),)


@pytest.mark.parametrize("parameter", ["", encode(replace(DEFAULT, layer=1)), "nonsense"])
def test_the_link_to_copy_opens_what_is_on_the_page(parameter: str) -> None:
    app = framed(parameter)
    app.context["url"] = "https://example.org/meaning?s=old"
    link = given(app.run(), "copy_link")["address"]
    assert link.startswith("https://example.org/meaning")
    assert decode(link.partition("?s=")[2]) == (
        replace(DEFAULT, layer=1) if parameter.startswith("1") else DEFAULT
    )


def long_view() -> ViewState:
    signs = np.random.default_rng(0).integers(0x4E00, 0x9FA5, size=(8, 500))
    texts = ["".join(map(chr, row)) for row in signs]
    return view_of(*(Sentence(text, None, split_words(text)[0]) for text in texts))


@pytest.mark.slow
def test_a_view_too_long_for_an_address_works_and_says_how_to_send_it() -> None:
    view = long_view()
    app = open_file(framed(), to_json(view).encode())
    assert not app.exception
    assert "too long for a link" in everything_said(app)
    assert len(app.query_params["s"]) < 100
    assert field(app.text_input, "page_sentences_7").value == view.sentences[7].text
    app = type_in(app, "a short python", row=7)
    assert not app.exception
    assert field(app.text_input, "page_sentences_0").value == view.sentences[0].text
    elsewhere = framed(app.query_params["s"])
    assert len(elsewhere.warning) == 1
    assert "state file" in elsewhere.warning[0].value


def open_file(app: AppTest, content: bytes) -> AppTest:
    upload = ("contextlens-view.json", content, "application/json")
    return app.file_uploader(key="open_view").set_value(upload).run()


def test_a_state_file_opens_its_view() -> None:
    view = view_of(sentence("a 🐍 here", "🐍"), sentence("b", "b"), layer=2)
    app = open_file(framed(), to_json(view).encode())
    assert shown_view(app) == view
    assert field(app.text_input, "page_sentences_0").value == "a 🐍 here"
    app = type_in(app, "another 🐍")
    assert shown_view(app).sentences[0].text == "another 🐍"


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b'{"m":1,"s":[],"r":[]}'],
)
def test_a_file_that_is_no_view_is_refused_and_nothing_is_lost(content: bytes) -> None:
    app = type_in(framed(), "my own python")
    app = open_file(app, content)
    assert not app.exception
    assert len(app.warning) == 1
    assert shown_view(app).sentences[0].text == "my own python"


# Downloads


@pytest.fixture
def files() -> Iterator[dict[str, Callable[[], bytes]]]:
    """What each download button of the page gives, by the name of its file."""
    with offered_files() as offered:
        yield offered


def test_the_csv_has_the_table_s_numbers(files: dict[str, Callable[[], bytes]]) -> None:
    shown = table(framed())
    file = io.BytesIO(files["meaning-in-context.csv"]())
    read = pd.read_csv(file, comment="#", encoding="utf-8-sig")
    pd.testing.assert_frame_equal(read, shown, check_exact=False, atol=1e-6, check_dtype=False)


def test_the_npz_has_vectors_that_give_the_same_numbers(
    files: dict[str, Callable[[], bytes]],
) -> None:
    app = framed()
    with np.load(io.BytesIO(files["meaning-in-context.npz"]()), allow_pickle=False) as data:
        names = [item["name"] for item in json.loads(str(data["items"]))]
        assert names == ["A python", "B python", "snake", "programming"]
        assert json.loads(str(data["passport"]))["model"] == BUNDLED_ID
        last = cosine_similarity(data["vectors"][:, -1])
        np.testing.assert_allclose(data["cosines"][-1], last, atol=1e-5)
    assert lines(app)["A python ~ snake"][-1] == pytest.approx(last[0, 2], abs=1e-5)


def test_the_state_file_opens_the_same_view(files: dict[str, Callable[[], bytes]]) -> None:
    view = view_of(sentence("a 🐍", "🐍"), sentence("b \x00", "b"), layer=2)
    framed(view)
    content = files["contextlens-view.json"]()
    assert shown_view(open_file(framed(), content)) == view


def test_the_picture_carries_model_and_checksum() -> None:
    data = [json.loads(element.proto.json) for element in framed().get("bidi_component")]
    picture = next(d for d in data if d.get("chart"))
    assert picture["chart"] == "st-key-meaning_chart"
    assert BUNDLED_ID in picture["caption"]
    assert "53aa51172d14" in picture["caption"]
