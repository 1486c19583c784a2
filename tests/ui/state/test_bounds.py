"""Bounds of an address or a state file: each passes at its edge and is reported beyond it."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core.errors import StateError
from contextlens.ui.state import address, session
from contextlens.ui.state.address import decode, encode, from_json, to_json
from contextlens.ui.state.bounds import (
    MAX_BYTES,
    MAX_CHOICES,
    MAX_PAGES,
    MAX_TEXT,
    check_json,
    n_characters,
)
from contextlens.ui.state.controls import Control
from contextlens.ui.state.view import DEFAULT, MAX_CHARACTERS, Sentence, ViewState

ROOT = Path(__file__).parents[3]
FULL = Sentence("a b " * (MAX_CHARACTERS // 4))
ONE = Sentence("e")


def packed(**changes: Any) -> str:
    return json.dumps({"m": "a model", "s": [["pet python", None, [4, 10]]], "r": [], **changes})


def as_address(text: str) -> str:
    data = zlib.compress(text.encode(), 9)
    return "1" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def refused(text: str) -> str:
    """The one sentence with which a state file's text is refused."""
    with pytest.raises(StateError) as caught:
        from_json(text)
    said = str(caught.value)
    assert len(said) < 250
    return said


@pytest.fixture
def unparsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails a test that parses anything."""

    def parse(_: str) -> None:
        raise AssertionError("this was parsed")

    monkeypatch.setattr(address.json, "loads", parse)


# Before it is parsed


@pytest.mark.usefixtures("unparsed")
def test_a_file_of_many_pages_is_refused_before_it_is_parsed() -> None:
    pages = packed(c={f"page {i}": {"n": 1} for i in range(200_000)})
    assert len(pages) > 3_500_000
    assert f"takes {len(pages):,} bytes" in refused(pages)
    assert f"at most {MAX_BYTES:,}" in refused(pages)
    n = MAX_BYTES // 2  # bytes are counted, not characters
    assert f"takes {2 * n + 2:,} bytes" in refused('"' + "é" * n + '"')
    assert "10,000 parts" in refused(packed(c={f"page {i}": {"n": 1} for i in range(20_000)}))


@pytest.mark.usefixtures("unparsed")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 9,
        '{"a":' * 9,
        '["a", "]]]]]]]]]]"' + ", [" * 9,
        r'["\"]]]]]]]]]]"' + ", [" * 9,
        "[" + "[]," * 10_000,
        "[" + "1," * 10_000,
        '"a" ' * 10_001,
    ],
    ids=["lists", "objects", "signs in texts", "escapes", "many", "commas", "texts"],
)
def test_what_is_deep_or_has_many_parts_is_refused_before_it_is_parsed(text: str) -> None:
    assert "8 levels or 10,000 parts" in refused(text)


@pytest.mark.parametrize("text", ['"' + r"\"" * 900_000, '"' + "\\" * 900_001, '"a' * 4_000])
def test_texts_that_do_not_end_are_looked_through_once(text: str) -> None:
    check_json(text)
    refused(text)


def test_brackets_in_texts_are_no_levels() -> None:
    text = '["{[' * 500 + "\\" * 500
    view = ViewState("m", (Sentence(text), Sentence(text[::-1], text)))
    assert from_json(to_json(view)) == view


# After it is parsed


def test_an_address_of_a_thousand_characters_holds_no_megabyte_of_text() -> None:
    row = [FULL.text, FULL.text, None]
    parameter = as_address(packed(s=[row] * 8, r=[row] * 8))
    assert len(parameter) < 2_000
    with pytest.raises(StateError, match=r"640,000 characters together.+at most 160,000"):
        decode(parameter)


def test_eight_full_sentences_are_a_view_and_one_character_more_is_none() -> None:
    view = ViewState("m", (FULL,) * 8)
    assert n_characters(view) == MAX_TEXT
    assert decode(encode(view)) == view
    assert f"{MAX_TEXT + 1:,} characters" in refused(to_json(replace(view, references=(ONE,))))


def test_all_control_characters_escaped_fit_in_the_bytes() -> None:
    view = ViewState("m", (Sentence("\x01" * MAX_CHARACTERS),) * 8)
    assert len(to_json(view).encode()) < MAX_BYTES
    assert from_json(to_json(view)) == view


def test_pages_and_choices_are_bounded_and_unknown_ones_are_kept() -> None:
    choices = {f"a choice {i}": "x" * 200 for i in range(MAX_CHOICES)}
    pages = {f"a page {i}": choices for i in range(MAX_PAGES)}
    assert from_json(packed(c=pages)).controls == pages
    assert f"choices for {MAX_PAGES + 1} pages" in refused(packed(c={**pages, "one more": {}}))
    crowded = {"one more": 1, **choices}
    assert f"up to {MAX_CHOICES + 1} on one" in refused(packed(c={"a page 0": crowded}))


def test_every_choice_that_there_is_fits() -> None:
    declared: Counter[str] = Counter()
    for path in sorted((ROOT / "components" / "contextlens" / "features").rglob("controls.py")):
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        declared.update(each.page for each in vars(module).values() if isinstance(each, Control))
    assert len(declared) <= MAX_PAGES // 2
    assert max(declared.values()) <= MAX_CHOICES


# In a session


def visited() -> None:
    from contextlens.ui.state import session
    from contextlens.ui.state.view import MAX_CHARACTERS, Sentence, ViewState

    full = Sentence("".join(chr(0x4E00 + 37 * i % 20_000) for i in range(MAX_CHARACTERS)))
    for i in range(12):
        session.write(ViewState("m", (Sentence(str(i)), *(full,) * 5)))


@pytest.fixture
def visit() -> AppTest:
    return AppTest.from_function(visited, default_timeout=300).run()


def test_a_session_keeps_few_long_views_and_goes_back_to_the_last(visit: AppTest) -> None:
    assert not visit.exception
    kept = visit.session_state["_long_views"]
    assert sum(map(n_characters, kept.values())) <= session._LONG_CHARACTERS
    assert [view.sentences[0].text for view in kept.values()] == ["8", "9", "10", "11"]
    assert visit.query_params["s"] in (list(kept)[-1], [list(kept)[-1]])


def test_more_than_a_view_from_outside_may_hold_needs_no_address() -> None:
    typed = ViewState("m", (FULL,) * 8, (ONE,))
    assert session.is_too_long(typed)
    assert not session.is_too_long(ViewState("m", (FULL,) * 8))


# Packing


def test_a_view_is_packed_once_whatever_links_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    n = Counter[bytes]()
    compress = zlib.compress

    def count(data: bytes, level: int) -> bytes:
        n[data] += 1
        return compress(data, level)

    monkeypatch.setattr(address.zlib, "compress", count)
    view = replace(DEFAULT, sentences=(Sentence("never packed before"),))
    links = [encode(replace(view, layer=2)) for _ in range(15)]
    assert len(n) == 1
    assert set(n.values()) == {1}
    assert set(links) == {as_address(to_json(replace(view, layer=2)))}


def test_what_is_equal_and_written_otherwise_is_told_apart() -> None:
    views = [replace(DEFAULT, controls={"p": {"n": value}}) for value in (1, 1.0, True, 0.0, -0.0)]
    assert [repr(decode(encode(view))) for view in views] == list(map(repr, views))
