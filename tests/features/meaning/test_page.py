"""Meaning in context, headless: what it shows, what is chosen and typed, links, files, failures."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from streamlit.testing.v1 import AppTest

from contextlens.analysis import baseline as baselines
from contextlens.content.examples import EXAMPLES
from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import split_words
from contextlens.ui.models import runtime, tasks
from contextlens.ui.page.navigation import SECTIONS, pages_for
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.view import DEFAULT, MAX_SENTENCES, Sentence
from contextlens.ui.widgets.comparison.controls import LINES, POOLING
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.pages import (
    SECONDS,
    alone,
    app_settings,
    assert_only_own_markup,
    assert_shows,
    bundled_app,
    chart,
    chips,
    choose,
    everything_said,
    finish_background_work,
    framed,
    given,
    layer_of,
    lines,
    messages,
    offered_files,
    pick,
    plainly_said,
    press,
    reading,
    said,
    send_pick,
    sentence,
    shown_view,
    table,
    to_layer,
    type_in,
    type_new,
    typed,
    view_of,
)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


@pytest.mark.parametrize("opened", [alone, framed], ids=["alone", "framed"])
def test_the_page_shows_the_opening_example_and_its_numbers(
    opened: Callable[..., AppTest], service: EncoderService
) -> None:
    app = opened()
    assert_shows(app, expected(service, DEFAULT))
    assert not messages(app)
    assert [title.value for title in app.title] == ["Meaning in context"]
    texts = ["".join(part["text"] for part in row["segments"]) for row in chips(app)]
    assert texts == ["I love my pet python", "I love coding in python", "snake", "programming"]
    assert [row["chosen"] for row in chips(app)] == [[14, 20], [17, 23], [0, 5], [0, 11]]


def test_the_opening_numbers_are_those_measured_elsewhere(facts: dict[str, Any]) -> None:
    app = framed(LINES.put(DEFAULT, "All"))
    measured = facts["bundled_model_cosines"]
    for letter, name in {"A": "pet", "B": "language"}.items():
        for reference in ("snake", "programming"):
            drawn = lines(app)[f"{letter} python ~ {reference}"]
            assert drawn == pytest.approx(measured[f"{name}~{reference}"], abs=6e-4)


def test_the_reading_says_the_numbers_that_are_shown() -> None:
    app = framed()
    said, folded = reading(app), everything_said(app)
    assert said.startswith("“snake” is closer to ")
    shown = table(app).set_index(["first", "second"])["layer 6"]
    for pair in product(("A python", "B python"), ("snake", "programming")):
        assert f"**{shown[pair]:.2f}**" in folded
    assert f"**{shown['A python', 'B python']:.2f}**" in folded
    low, high = (
        shown["random pairs of whole English words", end]
        for end in ("5th percentile", "95th percentile")
    )
    assert f"{low:.2f} to {high:.2f}".replace("-", "−") in folded
    assert "9 in 10 random pairs of whole English words" in folded
    assert "“snake” is closer to “python” in A" in folded


def test_the_matrices_are_those_of_the_chosen_layer_and_without_context(
    service: EncoderService,
) -> None:
    view = replace(DEFAULT, layer=2)
    numbers = expected(service, view)
    app = framed(view)
    pairs = [(i, j) for i, j in combinations(range(4), 2) if i < 2]
    for key, column in (("meaning_matrix_here", 2), ("meaning_matrix_static", -1)):
        heat = chart(app, key)["data"][0]
        values = [heat["z"][i][j] for i, j in pairs]
        np.testing.assert_allclose(values, [row[column] for row in numbers], atol=1.5e-5)
        assert [heat["z"][i][i] for i in range(4)] == [1, 1, 1, 1]
        assert f"cosine {heat['z'][0][1]:.4f}" in heat["text"][0][1]
    assert "In context, at this layer" in [tab.label for tab in app.tabs]


def test_the_band_and_the_table_s_last_rows_are_the_baseline() -> None:
    app = framed()
    card = runtime.service().load(BUNDLED_ID)
    band = runtime.baseline(card).band("mean", centred=False, kind="whole")
    shown = table(app)
    rows = (
        shown[shown["first"] == "random pairs of whole English words"]
        .set_index("second")
        .iloc[:, 1:-1]
    )
    for name, values in {
        "mean": band.mean,
        "5th percentile": band.low,
        "95th percentile": band.high,
    }.items():
        np.testing.assert_allclose(rows.loc[name].to_numpy(float), values, atol=1e-6)
    area, mean = chart(app)["data"][:2]
    np.testing.assert_allclose(area["y"], [*band.high, *band.low[::-1]], atol=1e-5)
    np.testing.assert_allclose(mean["y"], band.mean, atol=1e-5)


def test_the_frame_has_menu_model_card_and_sentences_around_the_page() -> None:
    app = framed(replace(DEFAULT, layer=2))
    pages = pages_for(BUNDLED_ID)
    links = [link.proto for link in app.sidebar.get("page_link")][: len(pages)]
    here = "Meaning in context"  # bold, so that no pointer on another link looks like it
    assert [link.label for link in links] == [
        f"**{here}**" if page.title == here else page.title for page in pages
    ]
    views = [decode(link.query_string.removeprefix("s=")) for link in links]
    assert views == [replace(DEFAULT, layer=2)] * len(pages)
    captions = [caption.value for caption in app.sidebar.caption]
    sections = [say(f"frame.menu.{section}") for section in SECTIONS if section]
    assert [caption for caption in captions if caption in sections] == sections
    assert field(app.sidebar.selectbox, "model").value == BUNDLED_ID
    assert "6 layers · 12 heads · 384 numbers a word" in [c.value for c in app.sidebar.caption]
    parts = [markdown.value for markdown in app.sidebar.markdown]
    assert any(part.startswith("**Pooler: untrained.**") for part in parts)
    assert [row["text"] for row in chips(app)] == [
        s.text for s in (*DEFAULT.sentences, *DEFAULT.references)
    ]


@pytest.mark.slow
def test_the_page_works_before_the_baseline_is_there_and_says_that_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    measure = tasks.measure

    def wait_and_measure(*given: Any) -> baselines.Baseline:
        assert go_on.wait(SECONDS)
        return measure(*given)

    monkeypatch.setattr(tasks, "measure", wait_and_measure)
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        try:
            app = framed()
            assert not messages(app)
            assert len(table(app)) == 5
            assert "9 in 10 random pairs" not in everything_said(app)
            assert any("Measuring" in caption.value for caption in app.main.caption)
        finally:
            go_on.set()
        finish_background_work()
        app = app.run()
        assert len(table(app)) == 5 + 3
        assert "9 in 10 random pairs" in everything_said(app)
        assert not any("Measuring" in caption.value for caption in app.main.caption)


def test_a_click_chooses_another_word(service: EncoderService) -> None:
    app = pick(framed(), "pet")
    view = view_of(
        sentence("I love my pet python", "pet"),
        DEFAULT.sentences[1],
        references=DEFAULT.references,
    )
    assert shown_view(app) == view
    assert_shows(app, expected(service, view))
    assert "A pet ~ B python" in lines(app)


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


def test_an_edited_sentence_keeps_its_word(service: EncoderService) -> None:
    app = type_in(framed(), "My python is a good pet")
    view = view_of(
        sentence("My python is a good pet", "python"),
        DEFAULT.sentences[1],
        references=DEFAULT.references,
    )
    assert shown_view(app) == view
    assert_shows(app, expected(service, view))
    assert typed(app) == "My python is a good pet"


def test_for_a_word_that_is_no_longer_in_its_sentence_the_last_content_word_is_chosen() -> None:
    app = type_in(framed(), "My pet is a snake")
    assert not app.exception
    assert not messages(app)
    assert shown_view(app).sentences[0] == sentence("My pet is a snake", "snake")
    assert "A snake ~ B python" in lines(app)


@pytest.mark.slow
def test_rows_can_be_added_up_to_eight_and_taken_away_down_to_one_sentence() -> None:
    app = framed()
    for n in range(3, MAX_SENTENCES + 1):
        app = type_new(app, f"python number {n} is here")
        assert not app.exception
        assert not messages(app)
        assert shown_view(app).sentences[-1].word == (0, 6)
    assert len(lines(app)) == 3
    assert given(app, "chips")["adds"] == ["references"]
    full = shown_view(app)
    assert shown_view(type_new(app, "python number 9")) == full
    for _ in range(MAX_SENTENCES, 1, -1):
        rest = shown_view(app).sentences[1:]
        app = send_pick(app, "chips", row=0, remove=True)
        assert not app.exception
        assert shown_view(app).sentences == rest
    app = send_pick(app, "chips", row=0, remove=True)  # the last one stays
    assert typed(app) == "python number 8 is here"
    assert set(lines(app)) == {"A python ~ snake", "A python ~ programming"}
    assert said(app, "headline").startswith("To the model, “python” and “snake” are ")
    for _ in range(2):
        app = send_pick(app, "chips", row=1, remove=True)
    for n in range(MAX_SENTENCES):
        app = type_new(app, f"thing {n}", "references")
        assert not app.exception
    assert given(app, "chips")["adds"] == ["sentences"]
    assert len(lines(app)) == 3
    app = field(app.button_group, "meaning_lines").set_value("All").run()
    assert len(lines(app)) == 8


def test_centred_cosines_take_the_sample_s_mean_away(service: EncoderService) -> None:
    app = field(framed().toggle, "meaning_centred").set_value(True).run()
    baseline = runtime.baseline(runtime.service().load(BUNDLED_ID))
    assert_shows(app, expected(service, DEFAULT, means=baseline.centre("mean")))
    assert chart(app)["layout"]["yaxis"]["title"]["text"] == "how alike (centred cosine)"
    app = field(app.toggle, "meaning_centred").set_value(False).run()
    assert shown_view(app) == DEFAULT


def test_the_bar_chooses_the_layer_of_matrix_mark_and_reading() -> None:
    layer = 3
    app = to_layer(framed(), layer)
    assert shown_view(app).layer == layer
    assert f"At layer {layer}, " in everything_said(app)
    mark = chart(app)["layout"]["shapes"][0]
    assert (mark["x0"], mark["x1"]) == (layer, layer)
    expected_cell = table(app).set_index(["first", "second"])[f"layer {layer}"]
    cell = chart(app, "meaning_matrix_here")["data"][0]["z"][0][2]
    assert cell == pytest.approx(expected_cell["A python", "snake"], abs=1e-5)
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
    assert typed(app, 1) == DEFAULT.sentences[1].text
    assert layer_of(app) == 6
    assert field(app.button_group, "meaning_pooling").value == "mean"
    assert field(app.toggle, "meaning_centred").value is False
    assert len(lines(app)) == 3


LONG = " ".join(["python"] * 600)
TYPED = {
    "600 words": LONG,
    "emoji and both directions": "I 💛 my 🐍, say مرحبا to 👩‍👧",
    "HTML and Markdown": "<b>bold</b> <script>alert('python')</script> [a](http://example.org)",
}


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_works_or_meets_one_clear_sentence(text: str) -> None:
    app = type_in(framed(), text)
    assert_nothing_lost(app, text)
    words = split_words(text) if text.strip() else ()
    for span in {*words[:2], *words[-1:]}:
        app = send_pick(app, "chips", row=0, start=span[0], end=span[1])
        assert_nothing_lost(app, text)
        assert shown_view(app).sentences[0].word == span
        assert_works_or_says_why(app)
    assert_works_or_says_why(app)


MANY = "\n".join(f"A pasted line about things, number {i}" for i in range(300))
TABLE = "\n".join(f"A text of a row, number {i}\tlabel {i % 2}" for i in range(20))


@pytest.mark.parametrize(
    ("text", "expected", "name"),
    [
        ("word " * 4_400, "That text has 22,000 characters, and a sentence takes", "texts.txt"),
        (MANY, "You pasted 300 lines, and there are at most 8 sentences.", "texts.txt"),
        (TABLE, "You pasted 20 lines", "texts.txt** · TSV"),
    ],
    ids=["long", "lines", "table"],
)
def test_a_text_that_is_no_sentence_is_offered_as_a_file(
    text: str, expected: str, name: str
) -> None:
    app = send_pick(framed(), "chips", row=0, text=text)
    assert_nothing_lost(app, DEFAULT.sentences[0].text)
    assert expected in plainly_said(app)
    (link,) = [w.proto for w in app.get("page_link") if "pasted text" in w.proto.label]
    view = decode(parse_qs(link.query_string)["s"][0])
    assert view.controls["texts"]["collection"] == "file"
    app.query_params["s"] = encode(view)
    app = app.switch_page("pages/map.py").run()
    assert f"**Pasted {name}" in plainly_said(app)
    assert "Open the pasted text on Map" not in [w.proto.label for w in app.get("page_link")]


@pytest.mark.parametrize("text", ["", LONG], ids=["an empty text", "600 words"])
def test_any_text_works_as_a_reference(text: str) -> None:
    app = type_in(framed(), text, row=2)
    assert_nothing_lost(app, text, "references")
    assert_works_or_says_why(app)


def assert_nothing_lost(app: AppTest, text: str, group: str = "sentences") -> None:
    assert not app.exception
    assert typed(app, 0 if group == "sentences" else len(shown_view(app).sentences)) == text
    assert getattr(shown_view(app), group)[0].text == text


def assert_works_or_says_why(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    said = messages(app)
    names = table(app).iloc[:, 0:2].to_numpy().tolist()
    if said:
        assert len(said) == 1
        assert re.search(r"(Choose|Type) ", said[0])
    else:
        assert len(names) == 5 + 3
        assert np.isfinite(table(app).iloc[:5, 2:].to_numpy(float)).all()


def test_a_cut_text_is_said_to_be_cut_as_text_and_not_at_full_length(
    service: EncoderService,
) -> None:
    rude = sentence("![x](http://example.org/x.png) **bold** " + LONG)
    view = view_of(Sentence(LONG, None, (0, 6)), *DEFAULT.sentences, references=(rude,))
    app = framed(view)
    cut = [caption.value for caption in app.main.caption if "left out" in caption.value]
    assert "the last 90 tokens were left out" in cut[0]
    assert not any(markup in " ".join(cut) for markup in ("![x](", "**bold**"))
    assert max(map(len, cut)) < 300
    numbers = expected(service, view)
    rows = table(app).iloc[: len(numbers), 2:].to_numpy(float)
    np.testing.assert_allclose(rows, numbers, atol=1e-5)


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "<b>bold</b>", "[a](http://example.org) **b**"]
)
def test_nothing_typed_becomes_markup(text: str) -> None:
    app = framed(replace(DEFAULT, references=(sentence(text),), layer=2))
    specs = [element.proto.spec for element in app.get("plotly_chart")]
    if "<" in text:
        assert not any(text[:4] in spec for spec in specs)
    assert f"“{text[:20]}" in everything_said(app).replace("\u2060", "")
    assert_only_own_markup(app)
    assert text not in "".join(element.value for element in [*app.markdown, *app.caption])


def test_all_sentences_empty_says_what_to_do() -> None:
    app = framed(view_of(Sentence(""), Sentence(" ")))
    assert not app.exception
    assert len(set(messages(app))) == 2  # at the rows, and what a comparison needs


def test_a_second_text_is_said_to_be_left_out() -> None:
    first = replace(DEFAULT.sentences[0], pair="And another text.")
    app = framed(replace(DEFAULT, sentences=(first, DEFAULT.sentences[1])))
    assert say("meaning.second_text") in [caption.value for caption in app.caption]
    assert reading(app) == reading(framed())


@pytest.mark.parametrize("page", ["meaning", "layers"])
def test_an_example_opens_on_its_page(page: str) -> None:
    links = {link.proto.label: link.proto for link in framed(page=page).get("page_link")}
    assert links[EXAMPLES[0].title].page == page


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
    assert typed(app) == DEFAULT.sentences[0].text
    assert len(lines(app)) == 3
    app = pick(app, "pet")
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
    assert len(lines(app)) == 3


def test_a_view_without_sentences_has_an_empty_one_to_fill() -> None:
    app = framed(view_of())
    assert not app.exception
    assert not app.error
    app = type_in(app, "a python")
    assert not app.exception
    assert shown_view(app).sentences == (sentence("a python", "python"),)


def open_file(app: AppTest, content: bytes) -> AppTest:
    upload = ("contextlens-view.json", content, "application/json")
    return app.file_uploader(key="open_view").set_value(upload).run()


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


@pytest.fixture
def files() -> Iterator[dict[str, Callable[[], bytes]]]:
    """The content that each download button of the page gives, by the name of its file."""
    with offered_files() as offered:
        yield offered


def test_the_files_have_the_table_s_numbers(files: dict[str, Callable[[], bytes]]) -> None:
    app = framed()
    shown = table(app)
    file = io.BytesIO(files["meaning-in-context.csv"]())
    read = pd.read_csv(file, comment="#", encoding="utf-8-sig")
    pd.testing.assert_frame_equal(read, shown, check_exact=False, atol=1e-6, check_dtype=False)
    with np.load(io.BytesIO(files["meaning-in-context.npz"]()), allow_pickle=False) as data:
        names = [item["name"] for item in json.loads(str(data["items"]))]
        assert names == ["A python", "B python", "snake", "programming"]
        assert json.loads(str(data["passport"]))["model"] == BUNDLED_ID
        last = cosine_similarity(data["vectors"][:, -1])
        np.testing.assert_allclose(data["cosines"][-1], last, atol=1e-5)
    assert shown["layer 6"][1] == pytest.approx(last[0, 2], abs=1e-5)
    menus = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    picture = next(menu for menu in menus if menu.get("chart"))
    assert picture["chart"] == "st-key-meaning_chart"
    assert {BUNDLED_ID, "53aa51172d14"} <= set(re.findall(r"[\w./-]+", picture["caption"]))


def test_the_state_file_opens_the_same_view(files: dict[str, Callable[[], bytes]]) -> None:
    view = view_of(sentence("a 🐍", "🐍"), sentence("b \x00", "b"), layer=2)
    framed(view)
    content = files["contextlens-view.json"]()
    app = open_file(framed(), content)
    assert shown_view(app) == view
    assert typed(app) == "a 🐍"
    assert shown_view(type_in(app, "another 🐍")).sentences[0].text == "another 🐍"


def test_a_model_that_is_not_allowed_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    with bundled_app(tmp_path_factory, MODELS=BUNDLED_ID):
        app = framed(replace(DEFAULT, model="google-bert/bert-base-uncased"))
        assert not app.exception
        assert len(app.error) == 1
        assert "not among those allowed here" in app.error[0].value
        app = field(app.selectbox, "model").set_value(BUNDLED_ID).run()
        assert not app.error
        assert len(lines(app)) == 3


@pytest.mark.slow
def test_a_model_of_another_size_gets_its_own_layers(
    tiny_root: Path, tiny_service: EncoderService, tmp_path: Path
) -> None:
    with app_settings(DATA_DIR=str(tmp_path), MODEL_FOLDERS=str(tiny_root)):
        app = framed(replace(DEFAULT, layer=5))
        app = choose(app, "folder:roberta")
        view = replace(DEFAULT, model="folder:roberta")
        assert shown_view(app) == view
        assert (layer_of(app), given(app, "layer")["layers"]) == (3, [0, 1, 2, 3])
        assert_shows(app, expected(tiny_service, view))
        assert "pieces, case-sensitive" in everything_said(app)
        app = field(app.selectbox, "model").set_value(BUNDLED_ID).run()
        assert layer_of(app) == 6


def test_an_unexpected_error_of_a_page_by_itself_shows_no_details(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("contextlens.ui.widgets.comparison.drawing.portrait_lines", fail)
    app = alone()
    assert len(app.exception) == 1
    assert "secret" not in str(app.exception[0].message)
    assert not list(app.exception[0].stack_trace)
