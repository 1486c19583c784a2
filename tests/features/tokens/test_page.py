"""Tokens & IDs, headless: every measured fact is on the page, and no input breaks it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.analysis.tokens import token_rows
from components.core import BUNDLED_ID, EncoderService
from components.features.tokens import compute, page
from components.features.tokens.samples import TOKEN_EXAMPLES
from components.ui.models import runtime as app_runtime
from components.ui.models.background import jobs
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets import export
from tests.support.fields import field
from tests.support.hub_server import HubServer, Reply, error, hub_server
from tests.support.pages import (
    TYPED,
    app_settings,
    bundled_app,
    chart,
    everything_said,
    press,
    shown_view,
)
from tests.support.pages import alone as alone_on
from tests.support.pages import framed as framed_on
from tests.ui.widgets.test_token_strip import covered

SECTIONS = compute.SECTIONS
CASED = "google-bert/bert-base-cased"


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def framed(view: ViewState | str = DEFAULT) -> AppTest:
    return framed_on(view, "tokens")


def showing(text: str, pair: str | None = None, *, model: str = BUNDLED_ID, **controls: Any) -> Any:
    """The page on one text, with some of its controls set."""
    own = {"tokens": controls} if controls else {}
    return framed(ViewState(model, (Sentence(text, pair),), controls=own))


def strip(app: AppTest, key: str = "token_strip") -> dict[str, Any]:
    """What the strip of tokens was given."""
    protos = [element.proto for element in app.get("bidi_component")]
    return json.loads(next(p.json for p in protos if p.id.endswith(key)))


def pieces(app: AppTest, key: str = "token_strip") -> list[str]:
    return [token["mark"] + token["text"] for token in strip(app, key)["tokens"]]


def ids(app: AppTest, key: str = "token_strip") -> list[int]:
    return [token["id"] for token in strip(app, key)["tokens"]]


def text_of(app: AppTest, which: int = 0) -> str:
    return "".join(segment["text"] for segment in strip(app)["texts"][which]["segments"])


def frame_with(app: AppTest, column: str) -> pd.DataFrame:
    """The table that has this column."""
    return next(d.value for d in app.dataframe if column in d.value.columns)


def table(app: AppTest) -> pd.DataFrame:
    return frame_with(app, "position")


def said(app: AppTest, key: str = "reading") -> str:
    """A reading, without Markdown's signs."""
    blocks, waiting = [], [app._tree]
    while waiting:
        block = waiting.pop()
        waiting += [child for child in block.children.values() if hasattr(child, "children")]
        if block._block_id.endswith(f"-{key}"):
            blocks += [markdown.value for markdown in block.markdown]
    return re.sub(r"\\(.)", r"\1", " ".join(blocks)).replace("**", "")


def assert_fine(app: AppTest) -> None:
    assert not app.exception
    assert not app.error


def assert_whole(app: AppTest) -> None:
    """Every part of the page is there."""
    assert_fine(app)
    assert [title.value for title in app.title] == ["Tokens & IDs"]
    assert [tab.label for tab in app.tabs] == [
        "Numbers",
        "Under the hood",
        "What this does not show",
    ]
    assert strip(app)["texts"]
    assert said(app)
    assert table(app) is not None
    assert any("AutoTokenizer" in code.value for code in app.code)
    labels = [button.proto.label for button in app.get("download_button")]
    assert {"CSV", "NPZ"} <= set(labels)


# The facts


def each_fact(kind: str) -> list[Any]:
    path = Path(__file__).parents[2] / "data" / "bert_facts.json"
    return json.loads(path.read_text(encoding="utf-8"))[kind]


@pytest.mark.parametrize("fact", each_fact("tokenization"), ids=lambda fact: fact["text"][:20])
def test_every_measured_fact_is_on_the_page(fact: dict[str, Any]) -> None:
    app = field(framed().text_input, "page_sentences_0").set_value(fact["text"]).run()
    if "pad_to" in fact:
        app = field(app.number_input, "tokens_pad").set_value(fact["pad_to"]).run()
    assert_whole(app)
    assert ids(app) == table(app)["ID"].tolist() == fact["token_ids"]
    if "tokens" in fact:
        assert pieces(app) == table(app)["token"].tolist() == fact["tokens"]
    if "attention_mask" in fact:
        assert table(app)["mask"].tolist() == fact["attention_mask"]
        real = sum(fact["attention_mask"])
        kinds = [token["kind"] for token in strip(app)["tokens"]]
        assert [kind == "padding" for kind in kinds] == [
            i >= real for i in range(len(fact["token_ids"]))
        ]
        n_pad = len(kinds) - real
        assert (f"{n_pad} positions are padding" in said(app)) == (n_pad > 0)
    if "token_type_ids" in fact:
        assert table(app)["segment"].tolist() == fact["token_type_ids"]
    if "decoded" in fact:
        app = field(app.button_group, "tokens_section").set_value(SECTIONS[3]).run()
        assert fact["decoded"] in [code.value for code in app.code]


def test_the_vocabularys_facts_are_on_the_page(facts: dict[str, Any]) -> None:
    known = facts["vocabulary"]
    app = framed()
    size = f"{known['size']:,}"
    assert f"of {size} pieces" in said(app, "reading_vocabulary")
    for piece, token_id in known["ids"].items():
        app = field(app.text_input, "tokens_search").set_value(piece).run()
        assert f"“{piece}” is ID {token_id}" in said(app, "reading_vocabulary")
        rows = frame_with(app, "stands for").set_index("piece")
        assert rows.loc[piece, "ID"] == token_id
    app = field(app.text_input, "tokens_search").set_value("sinan").run()
    assert "“sinan” is not in the vocabulary" in said(app, "reading_vocabulary")
    assert "sin (8254), ##an (2319)" in said(app, "reading_vocabulary")
    app = field(app.text_input, "tokens_search").set_value("").run()
    assert len(frame_with(app, "stands for")) == known["size"]
    app = showing("I love Paris", pad=7)
    assert set(ids(app)[5:]) == {known["pad_id"]}


# On first sight


@pytest.mark.parametrize("opened", [framed_on, alone_on], ids=["framed", "alone"])
def test_the_page_opens_on_the_first_sentence(opened: Any) -> None:
    app = opened(DEFAULT, "tokens")
    assert_whole(app)
    assert text_of(app) == DEFAULT.sentences[0].text
    assert pieces(app) == ["[CLS]", "i", "love", "my", "pet", "python", "[SEP]"]
    assert [t["position"] for t in strip(app)["tokens"] if t["chosen"]] == [5]
    assert strip(app)["picked"] == 5
    assert said(app).startswith("This text becomes 7 tokens, 5 of its own")
    assert "“an” is ID 2019" in said(app, "reading_vocabulary")
    assert not app.warning


def test_characters_and_words_of_the_table_are_those_of_the_text(service: EncoderService) -> None:
    app = showing("Sinan's awesomesauce", "a pair")
    ours = service.tokenize(BUNDLED_ID, ["Sinan's awesomesauce"], pairs=["a pair"])[0]
    rows = token_rows(ours, service.vocabulary(BUNDLED_ID))
    pd.testing.assert_frame_equal(
        table(app), pd.DataFrame(rows), check_dtype=False, check_column_type=False
    )


def test_the_other_sentence_is_shown_when_it_is_chosen() -> None:
    app = field(framed().button_group, "tokens_sentence").set_value("B").run()
    assert_whole(app)
    assert text_of(app) == DEFAULT.sentences[1].text
    assert shown_view(app).control("tokens", "sentence", "A") == "B"


# Pairs, padding, cutting, hiding


def test_a_pair_has_two_texts_and_segments() -> None:
    app = field(framed().text_input, "page_pair").set_value("It sleeps.").run()
    assert_whole(app)
    assert shown_view(app).sentences[0].pair == "It sleeps."
    assert [text_of(app, i) for i in (0, 1)] == [DEFAULT.sentences[0].text, "It sleeps."]
    assert table(app)["segment"].tolist() == [0] * 7 + [1] * 4
    assert "This pair of texts becomes 11 tokens" in said(app)
    app = field(app.text_input, "page_pair").set_value("").run()
    assert shown_view(app) == DEFAULT


def test_an_empty_second_text_from_an_address_is_none() -> None:
    for section in SECTIONS:
        app = showing("a text", "", section=section)
        assert_whole(app)
        assert pieces(app) == ["[CLS]", "a", "text", "[SEP]"]


def test_what_was_cut_off_is_struck_through_and_counted() -> None:
    text = "Only the beginning of this sentence reaches the model"
    app = field(showing(text).number_input, "tokens_cut").set_value(8).run()
    assert_whole(app)
    segments = strip(app)["texts"][0]["segments"]
    assert "".join(s["text"] for s in segments if s["lost"]) == "reaches the model"
    assert "3 tokens do not fit and are left out" in said(app)
    app = field(app.button_group, "tokens_section").set_value(SECTIONS[3]).run()
    assert "17 characters did not fit" in said(app, "reading_back_0")
    app = field(app.number_input, "tokens_cut").set_value(512).run()
    assert not any(s["lost"] for s in strip(app)["texts"][0]["segments"])


def test_both_texts_of_a_pair_are_cut_the_longer_one_first(service: EncoderService) -> None:
    app = showing("one two three four five", "six seven", cut=8)
    assert pieces(app) == ["[CLS]", "one", "two", "three", "[SEP]", "six", "seven", "[SEP]"]
    lost = [
        "".join(s["text"] for s in text["segments"] if s["lost"]) for text in strip(app)["texts"]
    ]
    assert lost == ["four five", ""]


def test_added_tokens_are_hidden_and_shown_again() -> None:
    app = field(showing("I love Paris", pad=9).toggle, "tokens_hide").set_value(True).run()
    assert_whole(app)
    assert pieces(app) == table(app)["token"].tolist() == ["i", "love", "paris"]
    assert "3 of its own" in said(app)
    app = field(app.toggle, "tokens_hide").set_value(False).run()
    assert len(pieces(app)) == 9


def test_padding_below_the_length_is_said_not_done() -> None:
    app = showing("I love my pet python", pad=3)
    assert_whole(app)
    assert len(pieces(app)) == 7
    assert any("Padding to 3 was asked, but there are 7 tokens" in c.value for c in app.caption)


# From ID to row


def test_a_pick_shows_the_tokens_row_and_is_in_the_address(service: EncoderService) -> None:
    app = framed()
    proto = next(e.proto for e in app.get("bidi_component") if e.proto.id.endswith("token_strip"))
    states = app._tree.get_widget_states()
    states.widgets.add(
        id=f"$$STREAMLIT_INTERNAL_KEY_{proto.id}__events",
        json_trigger_value=json.dumps([{"event": "picked", "value": 2}]),
    )
    app = app._run(states)
    assert_whole(app)
    assert strip(app)["picked"] == 2
    view = shown_view(app)
    assert view.control("tokens", "token", -1) == 2
    assert view.control("tokens", "section", SECTIONS[0]) == SECTIONS[1]
    row = service.word_rows(BUNDLED_ID, [2293])[0]
    assert (
        "“love” has the ID 2293, so the model takes row 2293 of its table of 30,522 rows"
        in said(app, "reading_row")
    )
    heat = chart(app, "rows_heatmap")["data"][0]
    np.testing.assert_allclose(heat["z"][3], row, atol=1e-5)
    assert heat["zmin"] == -heat["zmax"]
    shown = frame_with(app, "dim 0").set_index("row")
    np.testing.assert_allclose(shown.loc["2293  love"], row[:8], atol=1e-6)
    assert any("one_hot" in code.value for code in app.code)


@pytest.mark.parametrize(("position", "token_id"), [(0, 101), (8, 0)])
def test_rows_at_the_tables_ends_have_fewer_neighbours(
    service: EncoderService, position: int, token_id: int
) -> None:
    app = showing("I love my pet python", pad=9, token=position, section=SECTIONS[1])
    assert_whole(app)
    heat = chart(app, "rows_heatmap")["data"][0]
    own = heat["z"][min(3, token_id)]
    np.testing.assert_allclose(own, service.word_rows(BUNDLED_ID, [token_id])[0], atol=1e-5)


# Back to text


def test_what_casing_and_accents_become_is_listed() -> None:
    app = showing("Zoë ordered a CRÈME", section=SECTIONS[3])
    assert_whole(app)
    changes = frame_with(app, "becomes").set_index("what is rewritten")
    assert changes["characters"].to_dict() == {"capitals": 5, "accents": 2}
    html = next(e.proto.body for e in app.get("html") if 'class="back"' in e.proto.body)
    assert "<p><mark>Zoë</mark>" in html.replace("</mark>o<mark>", "o")
    assert "<p>zoe ordered a creme</p>" in html
    assert "7 characters rewritten before cutting" in said(app, "reading_back_0")


def test_the_unknown_token_is_pointed_out_with_its_reason() -> None:
    app = showing("My 🐍 naps", section=SECTIONS[3])
    assert_whole(app)
    token = strip(app)["tokens"][2]
    assert (token["kind"], token["text"]) == ("unknown", "[UNK]")
    assert "🐍 (U+1F40D) is not in the vocabulary" in token["says"]
    captions = [re.sub(r"\\(.)", r"\1", c.value) for c in app.caption]
    assert any(c.startswith("Token 2 is unknown, “🐍”: 🐍 (U+1F40D) is not") for c in captions)
    assert "1 unknown token cannot be read back" in said(app, "reading_back_0")


# The vocabulary


@pytest.mark.parametrize(
    ("kind", "expected"), [("Words", "begins a word"), ("Continuations", "goes on")]
)
def test_the_vocabulary_is_browsed_by_kind(kind: str, expected: str) -> None:
    app = field(framed().button_group, "tokens_kind").set_value(kind).run()
    rows = frame_with(app, "stands for")
    assert set(rows["kind"]) == {expected}
    assert all(text.startswith("an") for text in rows["stands for"])
    app = field(app.text_input, "tokens_search").set_value("").run()
    n_continuations = 5828 if kind == "Continuations" else 30522 - 5828 - 5
    assert len(frame_with(app, "stands for")) == n_continuations


@pytest.mark.parametrize("query", ["", "  ", "zzyzx", "\x00", "🐍", "<b>", "[MASK]", "a" * 200])
def test_any_query_to_the_vocabulary_is_answered(query: str) -> None:
    app = field(framed().text_input, "tokens_search").set_value(query).run()
    assert_whole(app)
    assert said(app, "reading_vocabulary")


# Ready texts


@pytest.mark.parametrize("example", TOKEN_EXAMPLES, ids=lambda example: example.key)
def test_a_ready_text_opens_with_its_point_shown(example: Any) -> None:
    links = {link.proto.label: link.proto for link in framed().main.get("page_link")}
    app = framed(links[example.title].query_string.removeprefix("s="))
    assert_whole(app)
    assert text_of(app) == example.text
    assert shown_view(app).sentences[1] == DEFAULT.sentences[1]
    point = {
        "long": lambda: "##" in "".join(pieces(app)),
        "accents": lambda: "rewritten" in said(app, "reading_back_0"),
        "case": lambda: "“US” and “us”" in said(app, "reading_twins"),
        "unknown": lambda: pieces(app).count("[UNK]") == 2,
        "pair": lambda: len(strip(app)["texts"]) == 2,
        "padding": lambda: len(pieces(app)) == 16,
        "cut": lambda: "3 tokens do not fit" in said(app),
    }
    assert point[example.key]()


def test_a_ready_text_takes_the_place_of_the_sentence_that_is_shown() -> None:
    view = replace(DEFAULT, controls={"tokens": {"sentence": "B", "pad": 30}})
    links = [link.proto for link in framed(view).main.get("page_link")]
    query = next(p.query_string for p in links if p.label == TOKEN_EXAMPLES[0].title)
    app = framed(query.removeprefix("s="))
    assert text_of(app) == TOKEN_EXAMPLES[0].text
    assert shown_view(app).sentences[0] == DEFAULT.sentences[0]
    assert "padding" not in said(app)


# Bad input


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_works_in_every_section(text: str, section: str) -> None:
    app = showing(text, section=section)
    assert_whole(app)
    assert shown_view(app).sentences[0].text == text
    assert len(table(app)) == len(strip(app)["tokens"])
    svg = next(
        json.loads(e.proto.json)["svg"]
        for e in app.get("bidi_component")
        if "svg" in json.loads(e.proto.json)
    )
    assert len(svg) < 100_000


@pytest.mark.parametrize("text", ["<b>bold</b>", "**b** [a](http://example.org)", "$x$ :snake:"])
def test_nothing_typed_becomes_markup(text: str) -> None:
    for section in SECTIONS:
        app = showing(f"{text} nanorobot", f"{text}", section=section, search=text)
        assert_whole(app)
        markdown = "\n".join(
            line for line in everything_said(app).splitlines() if "nanorobot" in line
        )
        assert text not in markdown
        pages = [e.proto.body for e in app.get("html")]
        assert not any("<b>bold" in body for body in pages)


def test_600_tokens_are_cut_and_said(service: EncoderService) -> None:
    text = " ".join(["python"] * 600)
    app = showing(text)
    assert_whole(app)
    assert len(pieces(app)) == 512
    assert "90 tokens do not fit and are left out" in said(app)
    lost = "".join(s["text"] for s in strip(app)["texts"][0]["segments"] if s["lost"])
    assert lost == " ".join(["python"] * 90)


BROKEN: tuple[dict[str, Any], ...] = (
    {"pad": "16"},
    {"pad": True},
    {"pad": 10**9},
    {"pad": -5},
    {"pad": 7.5},
    {"cut": 0},
    {"cut": -1},
    {"cut": 10**12},
    {"cut": "8"},
    {"cut": False},
    {"token": 10**9},
    {"token": -7},
    {"token": "3"},
    {"sentence": "Z"},
    {"sentence": ""},
    {"sentence": "AB"},
    {"sentence": "\U0010ffff"},
    {"sentence": "@"},
    {"sentence": 3},
    {"section": "Nothing"},
    {"section": 1},
    {"kind": "Nouns"},
    {"kind": 5.5},
    {"search": 9},
    {"search": True},
    {"other": "nobody/has-this"},
    {"other": 1},
    {"hide": "yes"},
    {"hide": 1},
    {"unheard of": 1},
)


@pytest.mark.parametrize("controls", BROKEN, ids=repr)
def test_broken_settings_from_an_address_are_brought_in_order(controls: dict[str, Any]) -> None:
    for section in (None, *SECTIONS[1:3]):
        own = {"section": section, **controls} if section else controls
        app = framed(replace(DEFAULT, controls={"tokens": own}))
        assert_whole(app)
        assert text_of(app) == DEFAULT.sentences[0].text
    app = field(app.text_input, "page_sentences_0").set_value("It still works").run()
    assert_whole(app)
    assert text_of(app) == "It still works"


@pytest.mark.parametrize("text", ["", "   "])
def test_no_text_is_no_reason_to_stop(text: str) -> None:
    for section in SECTIONS:
        app = showing(text, section=section)
        assert_whole(app)
        assert pieces(app) == ["[CLS]", "[SEP]"]
        assert "no token of its own" in said(app)
    app = field(app.text_input, "page_sentences_0").set_value("A text").run()
    assert pieces(app) == ["[CLS]", "a", "text", "[SEP]"]


# Other families


@contextmanager
def tiny_app(root: Path, **variables: str) -> Iterator[None]:
    with app_settings(MODEL_FOLDERS=str(root), ALLOW_DOWNLOADS="0", **variables):
        yield


@pytest.fixture(scope="module")
def _tiny(tiny_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with tiny_app(tiny_root, DATA_DIR=str(tmp_path_factory.mktemp("tiny"))):
        yield


FAMILY_TEXT = "Café 🐍 ½ <mask> [UNK],\tisn't\x00 한"


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("family", ["roberta", "albert", "xlm-roberta", "mpnet", "electra"])
def test_every_family_is_shown(tiny_service: EncoderService, family: str, section: str) -> None:
    model = f"folder:{family}"
    app = showing(FAMILY_TEXT, "second", model=model, section=section, pad=60, other=BUNDLED_ID)
    assert_whole(app)
    ours = tiny_service.tokenize(model, [FAMILY_TEXT], pairs=["second"], pad_to=60)[0]
    assert ids(app) == ours.token_ids.tolist()
    by_character = [s for s in strip(app)["texts"][0]["segments"] for _ in s["text"]]
    assert [set(s["tokens"]) for s in by_character] == covered(ours, 0, FAMILY_TEXT)


@pytest.mark.usefixtures("_tiny")
def test_a_switch_of_models_brings_the_settings_in_order() -> None:
    app = showing("The python slept", pad=300, cut=400, search="the", token=2)
    assert len(pieces(app)) == 300
    app = field(app.selectbox, "model").set_value("folder:roberta").run()
    assert_whole(app)
    assert len(pieces(app)) == 64
    assert field(app.number_input, "tokens_cut").value == 64
    assert "of 401 pieces" in said(app, "reading_vocabulary")
    assert "Ġthe" in frame_with(app, "stands for")["piece"].tolist()
    app = field(app.selectbox, "model").set_value(BUNDLED_ID).run()
    assert_whole(app)
    assert len(pieces(app)) == 300
    assert "of 30,522 pieces" in said(app, "reading_vocabulary")


@pytest.mark.usefixtures("_tiny")
def test_a_tokenizer_on_this_machine_is_set_beside_without_asking(
    tiny_service: EncoderService,
) -> None:
    app = showing("The US told us", section=SECTIONS[2], other="folder:roberta")
    assert_whole(app)
    theirs = tiny_service.tokenize("folder:roberta", ["The US told us"])[0]
    assert ids(app, "token_strip_1") == theirs.token_ids.tolist()
    assert "roberta keeps them apart" in said(app, "reading_tokenizers")


def test_a_tokenizer_with_more_tokens_than_the_table_has_rows_is_said(
    tiny_root: Path, tmp_path: Path
) -> None:
    """A damaged model folder: one look says so, the rest of the page stays."""
    from tests.support.tiny_models import build

    build("bert", tmp_path / "models" / "short", vocab_size=20)
    with tiny_app(tmp_path / "models", DATA_DIR=str(tmp_path / "data")):
        app = showing("the python", model="folder:short", section=SECTIONS[1])
        assert_whole(app)
        assert "has no row: the table of this model ends at row 19" in app.info[0].value
        app = field(app.selectbox, "model").set_value(BUNDLED_ID).run()
        assert_whole(app)


# Two tokenizers


@contextmanager
def hub_app(
    folder: Path, tmp_path: Path, *, faults: Any = None, **variables: str
) -> Iterator[HubServer]:
    """The app with a hub of its own that has one other model, fetched into an empty cache."""
    from huggingface_hub import constants

    with (
        hub_server({CASED: folder}, faults=faults) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        settings = {
            "HUB_ENDPOINT": server.endpoint,
            "DATA_DIR": str(tmp_path / "data"),
            "MODELS": f"{BUNDLED_ID},{CASED}",
            **variables,
        }
        with app_settings(**settings):
            app_runtime.service().load(BUNDLED_ID)
            yield server


def asked(app: AppTest) -> AppTest:
    """After the button that gets the other tokenizer."""
    return press(app, "get_tokenizer")


TWO = {"section": SECTIONS[2]}


def test_another_tokenizer_is_fetched_and_set_beside(
    tiny_root: Path, tiny_service: EncoderService, tmp_path: Path
) -> None:
    text = "The US told us of a python"
    with hub_app(tiny_root / "roberta", tmp_path) as server:
        app = showing(text, **TWO)
        assert_whole(app)
        assert "“US” and “us” have the same token IDs" in said(app, "reading_twins")
        app = asked(app)
        assert_whole(app)
        theirs = tiny_service.tokenize("folder:roberta", [text])[0]
        assert ids(app, "token_strip_0") == ids(app)
        assert ids(app, "token_strip_1") == theirs.token_ids.tolist()
        reading = said(app, "reading_tokenizers")
        assert "all-MiniLM-L6-v2 makes 7 tokens of this text, bert-base-cased" in reading
        assert "“US” and “us” are the same to all-MiniLM-L6-v2" in reading
        other = showing("Another visitor", **TWO)
        assert_whole(other)
        assert ids(other, "token_strip_1")
        assert "model.safetensors" not in {request.file for request in server.requests}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda _request, _reply: error(404, "RepoNotFound", "Repository not found"), "hub has no"),
        (lambda _request, _reply: error(500), "."),
        (lambda _request, _reply: Reply(401), "."),
    ],
    ids=["404", "500", "401"],
)
def test_a_failed_fetch_is_one_sentence_and_try_again_works(
    tiny_root: Path, tmp_path: Path, fault: Any, words: str
) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, faults=fault) as server:
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert len(app.error) == 1
        assert CASED in app.error[0].value.replace("\\", "")
        assert "reference" not in app.error[0].value
        assert app.button(key="get_tokenizer").label == "Try again"
        assert pieces(app)
        assert said(app, "reading_twins")
        assert table(app) is not None
        server.faults = None
        app = asked(app)
        assert_whole(app)
        assert ids(app, "token_strip_1")


def test_a_damaged_tokenizer_is_one_sentence_and_the_page_goes_on(
    tiny_root: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_root / "roberta", tmp_path / "damaged")
    (tmp_path / "damaged" / "tokenizer.json").write_text("{not json")
    with hub_app(tmp_path / "damaged", tmp_path):
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert "cannot be read" in app.error[0].value
        assert app.button(key="get_tokenizer").label == "Try again"
        assert said(app, "reading_twins")


def test_without_a_network_the_page_says_so_and_goes_on(tiny_root: Path, tmp_path: Path) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, HUB_ENDPOINT="http://127.0.0.1:9"):
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert len(app.error) == 1
        assert app.button(key="get_tokenizer").label == "Try again"
        app = field(app.button_group, "tokens_section").set_value(SECTIONS[0]).run()
        assert_whole(app)


def test_where_downloads_are_forbidden_the_page_says_so(tiny_root: Path, tmp_path: Path) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, ALLOW_DOWNLOADS="0") as server:
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert "forbids" in app.error[0].value
        assert not server.requests
        app = asked(app)
        assert len(app.error) == 1


def test_where_only_one_model_is_allowed_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with app_settings(MODELS=BUNDLED_ID, DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        app = showing("The US told us", **TWO)
        assert_whole(app)
        assert "Only one model is allowed here" in app.info[0].value


def test_a_failed_fetch_does_not_outlive_its_server(tiny_root: Path, tmp_path: Path) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, ALLOW_DOWNLOADS="0"):
        asked(showing("a", **TWO))
        assert jobs().get(("tokenizer", CASED)).state == "failed"
    with hub_app(tiny_root / "roberta", tmp_path):
        app = showing("a", **TWO)
        assert_whole(app)
        assert app.button(key="get_tokenizer").label.startswith("Get the tokenizer")


# Downloads


def what_is_shown(view: ViewState, service: EncoderService) -> Any:
    return compute.compute(view, service, service.load_tokenizer(view.model))


@pytest.mark.parametrize("text", ["Sinan's =1+1 🐍, CRÈME", "", "a # b\n+c"])
def test_the_csv_is_the_table_with_its_passport(service: EncoderService, text: str) -> None:
    view = ViewState(BUNDLED_ID, (Sentence(text, "two"),), controls={"tokens": {"pad": 30}})
    what = what_is_shown(view, service)
    rows = token_rows(what.tokens, what.vocabulary)
    data = export.to_csv(rows, what.passport)
    frame = pd.read_csv(io.BytesIO(data), comment="#", keep_default_na=False)
    assert frame["ID"].tolist() == what.tokens.token_ids.tolist()
    for shown, token in zip(frame["token"], what.tokens.tokens, strict=True):
        assert shown in (token, f"'{token}")
    lines = data.decode("utf-8-sig").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    assert json.loads(head["checksum"]) == service.load_tokenizer(BUNDLED_ID).checksum
    assert json.loads(head["settings"]) == {
        "checksum_of": "tokenizer files",
        "max_length": 512,
        "pad_to": 30,
    }
    body = [line for line in lines if not line.startswith("# ")]
    assert not any(re.match(r"\"?[=+@]", cell) for row in csv.reader(body) for cell in row)


def test_the_npz_is_the_services_arrays(service: EncoderService) -> None:
    what = what_is_shown(DEFAULT, service)
    data = export.to_npz(page._arrays(what), what.passport)
    ours = service.tokenize(BUNDLED_ID, [DEFAULT.sentences[0].text])[0]
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        for name in ("token_ids", "attention_mask", "token_type_ids", "offsets"):
            np.testing.assert_array_equal(arrays[name], getattr(ours, name))
        assert arrays["tokens"].tolist() == list(ours.tokens)
        assert str(arrays["text"]) == ours.text
        assert json.loads(str(arrays["passport"]))["model"] == BUNDLED_ID


def test_the_picture_has_the_passport_as_its_caption() -> None:
    app = showing("Sinan naps", pad=8, hide=True)
    data = next(
        json.loads(e.proto.json)
        for e in app.get("bidi_component")
        if "svg" in json.loads(e.proto.json)
    )
    assert data["file"] == "tokens"
    checksum = app_runtime.service().load_tokenizer(BUNDLED_ID).checksum
    assert f"tokenizer {checksum[:12]}" in data["caption"]
    assert "weights" not in data["caption"]
    assert ">##an<" in data["svg"]
    assert "[PAD]" not in data["svg"]
    assert "[CLS]" not in data["svg"]
