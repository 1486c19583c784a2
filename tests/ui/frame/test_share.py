"""Copy link and Share, headless: what the browser gets to copy, to draw and to save."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import segno
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.frame.share import MOST, fits, qr_code
from contextlens.ui.state.address import MAX_ADDRESS, encode, from_json, to_json
from contextlens.ui.state.bounds import MAX_BYTES, MAX_TEXT
from contextlens.ui.state.sharing import shareable
from contextlens.ui.state.view import DEFAULT, MAX_CHARACTERS, Sentence, ViewState
from contextlens.ui.widgets import kit
from tests.support.pages import bundled_app, framed, shown_view

LONG = "".join(chr(0x4E00 + 37 * i % 20_000) for i in range(5_000))
EIGHT = tuple(
    Sentence(f"This is sentence number {i} about a python", word=(0, 4)) for i in range(8)
)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def home(view: ViewState, *, is_open: bool = False) -> AppTest:
    app = framed(view, page="home")
    if is_open:
        app.session_state["share"] = True
        app = app.run()
    assert not app.exception
    return app


def sent(app: AppTest, key: str) -> dict[str, Any]:
    protos = (each.proto for each in app.get("bidi_component"))
    return json.loads(next(proto for proto in protos if proto.id.endswith(key)).json)


def captions(app: AppTest) -> str:
    return " ".join(caption.value for caption in app.caption)


@pytest.mark.parametrize("sentences", [DEFAULT.sentences, EIGHT], ids=["two", "eight"])
def test_what_is_copied_drawn_and_shown_is_the_address_of_the_view(sentences: Any) -> None:
    view = replace(DEFAULT, sentences=sentences, layer=3)
    app = home(view, is_open=True)
    address = sent(app, "copy_link")["address"]
    assert address.endswith(f"?s={encode(view)}")
    shared = sent(app, "share_address")
    assert shared["address"] == address
    assert shared["qr"] == qr_code(address)
    assert "Anyone with this link sees your sentences" in captions(app)


def test_an_address_of_this_computer_comes_with_the_view_as_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = replace(DEFAULT, layer=3)
    for url, is_local in (
        ("http://localhost:8501/", True),
        ("http://127.0.0.1/", True),
        ("http://[::1]:8501/", True),
        ("https://lens.example.org/", False),
    ):
        monkeypatch.setattr(ContextProxy, "url", url)
        local = sent(home(view), "copy_link")["local"]
        assert (local is not None) == is_local
        if local is not None:
            assert from_json(local["file"]) == replace(DEFAULT, layer=3)
            assert "this computer only" in local["copied"]


def test_a_link_has_no_corpus_or_file_that_another_page_shows() -> None:
    name = "a" * 16
    shown = {"collection": name, "word": "bank", "file": name, "file_name": "a", "pairs": name}
    others = {"map": {"seed": 3}, "senses": {"sort": "left"}}
    compared = {"senses": {"sort": "left", "other_corpus": name}}
    view = replace(DEFAULT, controls={**others, **compared, "texts": shown})
    titles = {**others, "map": {"seed": 3, "color": "diagnosis"}}
    titled = replace(view, controls={**titles, "texts": {**shown, "label": "diagnosis"}})
    assert shareable(view, "tokens").controls == shareable(titled, "tokens").controls == others
    assert shareable(titled, "map") == titled
    assert shareable(view, "map").controls == {**others, "texts": shown}
    assert shareable(view, "senses") == view
    ready = replace(DEFAULT, controls={"texts": {"collection": "sentiment"}})
    assert shareable(ready, "tokens") == ready


def test_a_code_is_made_only_when_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "is_open", lambda menu: bool(menu.open))  # as it is in the app
    with pytest.raises(StopIteration):
        sent(home(DEFAULT), "share_address")
    assert sent(home(DEFAULT, is_open=True), "share_address")["qr"]


def test_an_address_too_long_for_a_code_says_so_and_points_to_the_file() -> None:
    view = replace(DEFAULT, sentences=(Sentence(LONG[:600]),))
    app = home(view, is_open=True)
    shared = sent(app, "share_address")
    assert not shared["drawn"]
    assert not shared["qr"]
    assert f"This link has {len(shared['address']):,} characters" in captions(app)
    assert "the file below" in captions(app)


def test_a_view_too_long_for_an_address_has_the_file_alone() -> None:
    view = replace(DEFAULT, sentences=(Sentence(LONG),))
    assert len(encode(view)) > MAX_ADDRESS
    app = home(DEFAULT)
    app.session_state["_view"] = ("", view)
    app = app.run()
    assert sent(app, "copy_link")["address"] is None
    assert not [each for each in app.get("bidi_component") if "share_address" in each.proto.id]
    assert any("too long for a link" in each.value for each in app.markdown)
    assert any(b.proto.label == "Save the view as a file" for b in app.get("download_button"))


def test_a_file_of_0_1_0_opens_with_the_texts_of_its_page() -> None:
    old = {"map": {"source": "sentences"}, "corpora": {"corpus": "sentiment"}}
    view = replace(DEFAULT, controls=old)
    app = opened(to_json(view).encode(), "corpora")
    assert COLLECTION.of(shown_view(app)) == "sentiment"


def opened(content: bytes, page: str = "home") -> AppTest:
    file = ("view.json", content, "application/json")
    app = framed(page=page).file_uploader(key="open_view").set_value(file).run()
    assert not app.exception
    return app


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b" " * (MAX_BYTES + 1), f"takes {MAX_BYTES + 1:,} bytes"),
        (b"[" * 100, "more than 8 levels"),
    ],
    ids=["large", "deep"],
)
def test_a_file_beyond_the_bounds_is_one_sentence_and_the_view_stays(
    content: bytes, said: str
) -> None:
    app = opened(content)
    (warning,) = app.warning
    assert said in warning.value.replace("\\", "")
    assert "s" not in app.query_params


def test_more_than_a_file_holds_can_be_typed_and_is_said_under_share() -> None:
    full = Sentence("a b " * (MAX_CHARACTERS // 4))
    app = home(DEFAULT)
    app.session_state["_view"] = ("", replace(DEFAULT, sentences=(full,) * 8))
    app = app.run()
    assert sent(app, "copy_link")["address"] is None
    assert f"a file holds at most {MAX_TEXT:,}. Shorten one" in captions(app)
    assert not [b for b in app.get("download_button") if "Save the view" in b.proto.label]


# The QR code: what is drawn is what the standard says, and only what can be read


EDGE = 4
START = "http://localhost:8501/meaning?s="


def dark_modules(uri: str) -> set[tuple[int, int]]:
    """The dark modules of a drawn code as (row, column), read off its lines."""
    svg = urllib.parse.unquote(uri.partition(",")[2])
    path = re.search(r"d=['\"](M[\d. hm-]+)['\"]", svg.split("qrline")[1])
    assert path is not None
    found, x, y = set(), 0.0, 0.0
    for command, numbers in re.findall(r"([Mmh])([\d. -]+)", path[1]):
        first, *rest = map(float, re.findall(r"-?[\d.]+", numbers))
        if command == "h":
            found |= {(int(y), int(x) + i) for i in range(int(first))}
            x += first
        else:
            x, y = (first, rest[0]) if command == "M" else (x + first, y + rest[0])
    return {(row - EDGE, column - EDGE) for row, column in found}


@pytest.mark.parametrize("length", [len(START), 120, 300, MOST])
def test_the_picture_is_the_code_of_the_address(length: int) -> None:
    address = START + "aB3-_xyz" * 200
    address = address[:length]
    assert fits(address)
    code = segno.make_qr(address, error="l")
    assert int(code.version) <= 20
    expected = {(i, j) for i, row in enumerate(code.matrix) for j, dark in enumerate(row) if dark}
    assert dark_modules(qr_code(address)) == expected


def test_it_is_black_on_white_and_as_large_as_its_place() -> None:
    svg = urllib.parse.unquote(qr_code(START))
    assert "#fff" in svg
    assert "#000" in svg
    assert "viewBox" in svg
    assert " width=" not in svg


def test_what_would_be_too_fine_does_not_fit() -> None:
    assert not fits(START + "a" * (MOST - len(START) + 1))
    assert not fits("ü" * (MOST // 2 + 1))
