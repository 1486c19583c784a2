"""Tokens & IDs as a page: it draws what was computed, and its widgets write the view."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contextlens.analysis.tokens import token_rows
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.tokens.controls import (
    BACK_TO_TEXT,
    CUT,
    HIDE,
    ID_TO_ROW,
    KIND,
    PAD,
    PAGE,
    PICKED,
    SEARCH,
    SECTION,
    SECTIONS,
    SENTENCE,
    TWO_TOKENIZERS,
    VOCABULARY,
)
from contextlens.features.tokens.examples import TOKEN_EXAMPLES, from_example
from contextlens.ui.models import runtime
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.support import pages
from tests.support.fields import field
from tests.support.pages import app_settings, bundled_app, chart, choose, send, shown_view, type_in
from tests.support.tiny_models import build
from tests.support.tokens import (
    assert_whole,
    frame_with,
    ids,
    pieces,
    said,
    showing,
    strip,
    table,
    text_of,
)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


# What is drawn


@pytest.mark.parametrize("opened", [pages.framed, pages.alone], ids=["framed", "alone"])
def test_the_page_opens_on_the_first_sentence(opened: Any, service: EncoderService) -> None:
    app = opened(DEFAULT, PAGE)
    assert_whole(app)
    assert text_of(app) == DEFAULT.sentences[0].text
    assert pieces(app) == ["[CLS]", "i", "love", "my", "pet", "python", "[SEP]"]
    assert [t["position"] for t in strip(app)["tokens"] if t["chosen"]] == [5]
    assert strip(app)["picked"] == 5
    assert said(app).startswith("The text becomes 7 tokens: 5 from the text")
    assert not app.warning
    ours = service.tokenize(BUNDLED_ID, [DEFAULT.sentences[0].text])[0]
    rows = pd.DataFrame(token_rows(ours, service.vocabulary(BUNDLED_ID)))
    pd.testing.assert_frame_equal(table(app), rows, check_dtype=False, check_column_type=False)


def test_ready_texts_are_links_to_their_views() -> None:
    links = {
        link.proto.label: link.proto for link in pages.framed(DEFAULT, PAGE).main.get("page_link")
    }
    for example in TOKEN_EXAMPLES:
        query = links[example.title].query_string
        assert query.removeprefix("s=") == encode(from_example(example, DEFAULT))


def test_a_text_that_is_padded_unknown_and_rewritten_is_told_so() -> None:
    app = showing("My 🐍 ordered a CRÈME", pad=3, section=BACK_TO_TEXT)
    assert_whole(app)
    captions = "\n".join(c.value for c in app.caption).replace("\\", "")
    assert "The text already has 8 tokens, so it is not padded to 3." in captions
    token = strip(app)["tokens"][2]
    assert (token["kind"], token["text"]) == ("unknown", "[UNK]")
    assert "🐍 (U+1F40D) is not in the vocabulary" in token["says"]
    changes = frame_with(app, "becomes").set_index("what changes")
    assert changes["characters"].to_dict() == {"capitals": 5, "accents": 1}
    html = next(e.proto.body for e in app.get("html") if 'class="back"' in e.proto.body)
    assert "<mark>M</mark>y <mark>🐍</mark> ordered a <mark>CRÈME</mark>" in html
    assert "6 characters were changed or dropped" in said(app, "reading_back_0")
    assert "[CLS] my [UNK] ordered a creme [SEP]" in [code.value for code in app.code]


def test_the_picture_has_the_passport_as_its_caption() -> None:
    app = showing("Sinan naps", pad=8, hide=True)
    assert pieces(app) == table(app)["token"].tolist() == ["sin", "##an", "nap", "##s"]
    components = (json.loads(e.proto.json) for e in app.get("bidi_component"))
    data = next(data for data in components if "svg" in data)
    assert data["file"] == "tokens"
    checksum = runtime.service().load_tokenizer(BUNDLED_ID).checksum
    assert f"tokenizer {checksum[:12]}" in data["caption"]
    assert "weights" not in data["caption"]
    assert ">##an<" in data["svg"]
    assert not any(added in data["svg"] for added in ("[PAD]", "[CLS]"))


# What the widgets write


def test_lengths_and_texts_are_written_to_the_view() -> None:
    app = pages.framed(SENTENCE.put(DEFAULT, "B"), PAGE)
    app = type_in(app, "I love Paris in spring", row=1, pair="So do I")
    field(app.number_input, PAD.key).set_value(12)
    field(app.number_input, CUT.key).set_value(8)
    app = field(app.toggle, HIDE.key).set_value(True).run()
    assert_whole(app)
    view = shown_view(app)
    sentence = view.sentences[1]
    assert (sentence.text, sentence.pair) == ("I love Paris in spring", "So do I")
    assert (
        PAD.of(view),
        CUT.of(view),
        HIDE.of(view),
        SENTENCE.of(view),
    ) == (12, 8, True, "B")
    assert pieces(app) == table(app)["token"].tolist() == ["i", "love", "paris", "so", "do"]
    lost = [s["text"] for s in strip(app)["texts"][0]["segments"] if s["lost"]]
    assert "".join(lost) == "in spring"


def test_the_vocabulary_is_browsed_and_a_pick_shows_why_its_word_is_cut_so() -> None:
    app = showing("Sinan naps")
    field(app.text_input, SEARCH.key).set_value("an")
    app = field(app.button_group, KIND.key).set_value("Words").run()
    assert "“an” becomes one token: an (ID 2019)." in said(app, "reading_vocabulary")
    assert (SEARCH.of(shown_view(app)), KIND.of(shown_view(app))) == ("an", "Words")
    rows = frame_with(app, "stands for")
    assert set(rows["kind"]) == {"begins a word"}
    assert rows.set_index("piece").loc["an", "ID"] == 2019
    app = send(app, "token_strip", 2)
    view = shown_view(app)
    assert (PICKED.of(view), SECTION.of(view), SEARCH.of(view)) == (2, VOCABULARY, "")
    assert "sin (8254), ##an (2319)" in said(app, "reading_vocabulary")
    assert any("nothing of “sinan” is left" in m.value for m in app.markdown)
    steps = frame_with(app, "rest of the word")
    assert steps.iloc[:, :3].to_numpy().tolist() == [["sinan", "sin", 2], ["an", "##an", 0]]


def test_a_pick_shows_the_tokens_row_and_is_in_the_address(service: EncoderService) -> None:
    app = pages.framed(SECTION.put(DEFAULT, ID_TO_ROW), PAGE)
    app = send(app, "token_strip", 2)
    assert_whole(app)
    assert strip(app)["picked"] == 2
    view = shown_view(app)
    assert (PICKED.of(view), SECTION.of(view)) == (2, ID_TO_ROW)
    row = service.word_rows(BUNDLED_ID, [2293])[0]
    assert "“love” has the ID 2293. The ID picks row 2293" in said(app, "reading_row")
    heat = chart(app, "rows_heatmap")["data"][0]
    np.testing.assert_allclose(pages.matrix(heat["z"])[3], row, atol=1e-5)
    values = frame_with(app, "dim 0").set_index("row")
    np.testing.assert_allclose(values.loc["2293  love"], row[:8], atol=1e-6)
    assert any("one_hot" in code.value for code in app.code)


# Bad input


@pytest.mark.parametrize("section", SECTIONS)
def test_nothing_typed_becomes_markup(section: str) -> None:
    hostile = "<b>bold</b> **b** [a](http://example.org) $x$ :snake:"
    app = showing(f"{hostile} nanorobot", hostile, section=section, search=hostile)
    assert_whole(app)
    for typed in ("<b>", "**b**", "](http", "$x$"):
        assert typed not in "".join(element.value for element in [*app.markdown, *app.caption])
    assert not any("<b>bold" in e.proto.body for e in app.get("html"))


# Other models


def test_a_switch_of_models_brings_the_settings_in_order(tiny_root: Path, tmp_path: Path) -> None:
    with app_settings(MODEL_FOLDERS=str(tiny_root), ALLOW_DOWNLOADS="0", DATA_DIR=str(tmp_path)):
        app = showing("The python slept", pad=300, cut=400, search="the", token=2)
        assert len(pieces(app)) == 300
        app = choose(app, "folder:roberta")
        assert_whole(app)
        assert len(pieces(app)) == 64
        assert field(app.number_input, CUT.key).value == 64
        assert "1 piece in the list matches it." in said(app, "reading_vocabulary")
        assert "Ġthe" in frame_with(app, "stands for")["piece"].tolist()


def test_a_tokenizer_on_this_machine_is_set_beside_without_asking(
    tiny_service: EncoderService, tiny_root: Path, tmp_path: Path
) -> None:
    with app_settings(MODEL_FOLDERS=str(tiny_root), ALLOW_DOWNLOADS="0", DATA_DIR=str(tmp_path)):
        app = showing("The US told us", section=TWO_TOKENIZERS, other="folder:roberta")
        assert_whole(app)
        theirs = tiny_service.tokenize("folder:roberta", ["The US told us"])[0]
        assert ids(app, "token_strip_1") == theirs.token_ids.tolist()
        assert "roberta gives them different ones" in said(app, "reading_tokenizers")


def test_a_damaged_model_folder_is_said_in_one_look_and_the_page_stays(tmp_path: Path) -> None:
    build("bert", tmp_path / "models" / "short", vocab_size=20)
    settings = {"MODEL_FOLDERS": str(tmp_path / "models"), "DATA_DIR": str(tmp_path / "data")}
    with app_settings(ALLOW_DOWNLOADS="0", **settings):
        app = showing("the python", model="folder:short", section=ID_TO_ROW)
        assert_whole(app)
        assert "has no row: this model's table ends at row 19" in app.info[0].value
        app = field(app.button_group, SECTION.key).set_value(VOCABULARY).run()
        assert_whole(app)
        assert not app.info
