"""The address and the state file: a view that anybody can have written."""

from __future__ import annotations

import base64
import json
import zlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from components.content.examples import EXAMPLES
from components.core.words import split_words
from components.ui.state.address import MAX_ADDRESS, decode, encode, from_json, to_json
from components.ui.state.bounds import (
    MAX_BYTES,
    MAX_CHOICES,
    MAX_PAGES,
    MAX_TEXT,
    check_size,
    n_characters,
)
from components.ui.state.controls import Control
from components.ui.state.view import MAX_CHARACTERS, MAX_SENTENCES, ViewState, from_example
from tests.fuzz.structure import odd, rarely
from tests.fuzz.target import MEGABYTE, Target, hold, seeds_of

__all__ = ["TARGETS"]

_COMPONENTS = Path(__file__).parents[3] / "components"
_BOMB = 7 * MEGABYTE  # characters: more than any bound


def _address(content: bytes) -> None:
    view = decode(content.decode("utf-8", "replace"))
    _check(view)


def _state_file(content: bytes) -> None:
    """As `share._open_view` reads it."""
    check_size(len(content))
    _check(from_json(content.decode()))


def _check(view: ViewState) -> None:
    """What holds for any view that was taken: its bounds, and that it can be written and read."""
    hold(1 <= len(view.sentences) <= MAX_SENTENCES, "{} sentences", len(view.sentences))
    hold(len(view.references) <= MAX_SENTENCES, "{} references", len(view.references))
    texts = [*view.sentences, *view.references]
    for sentence in texts:
        for text in (sentence.text, sentence.pair or ""):
            hold(len(text) <= MAX_CHARACTERS, "a text of {} characters", len(text))
            text.encode()
        if sentence.word is not None:
            start, end = sentence.word
            hold(0 <= start < end <= len(sentence.text), "a word at {}", sentence.word)
    hold(n_characters(view) <= MAX_TEXT, "{} characters", n_characters(view))
    hold(len(view.controls) <= MAX_PAGES, "{} pages", len(view.controls))
    hold(all(len(own) <= MAX_CHOICES for own in view.controls.values()), "too many choices")
    hold(
        view.layer is None or (type(view.layer) is int and view.layer >= 0), "layer {}", view.layer
    )
    written = to_json(view)
    hold(len(written.encode()) <= MAX_BYTES, "a state file of {} bytes", len(written.encode()))
    hold(_same(from_json(written), view), "a state file that reads otherwise: {}", written[:300])
    parameter = encode(view)
    if len(parameter) <= MAX_ADDRESS:
        hold(_same(decode(parameter), view), "an address that reads otherwise: {}", written[:300])
    _use(view)


def _same(one: ViewState, other: ViewState) -> bool:
    """Equal, and of equal types: True is 1 to Python."""
    return one == other and repr(one) == repr(other)


def _use(view: ViewState) -> None:
    """What every page does with a view before it asks any model."""
    for control in _controls():
        value = control.of(view)
        hold(type(value) is type(control.default), "{} is {!r}", control.key, value)
    for sentence in (*view.sentences, *view.references):
        split_words(sentence.text)


@cache
def _controls() -> tuple[Control[Any], ...]:
    """Every control that is declared."""
    paths = sorted(_COMPONENTS.glob("*/**/controls.py"))
    names = [".".join(path.relative_to(_COMPONENTS.parent).with_suffix("").parts) for path in paths]
    found = (value for name in names for value in vars(import_module(name)).values())
    return tuple(value for value in found if isinstance(value, Control))


# How inputs are made


def _wrap(content: bytes) -> bytes:
    """The address that holds a state file's bytes."""
    packed = zlib.compress(content, 6)
    return b"1" + base64.urlsafe_b64encode(packed).rstrip(b"=")


def _unwrap(content: bytes) -> bytes:
    text = content[1:]
    return zlib.decompress(base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4)))


@cache
def _seeds() -> dict[str, bytes]:
    examples = {
        f"{example.key}.json": to_json(from_example(example)).encode() for example in EXAMPLES
    }
    return {**examples, **seeds_of("state")}


def _address_seeds() -> dict[str, bytes]:
    kept = {"empty": b"", "bare version": b"1", "token": b"file-0123456789abcdef"}
    return {**{name: _wrap(content) for name, content in _seeds().items()}, **kept}


_characters = st.characters() | st.sampled_from("\0\u200d\u202e\u2028🐍é\u0301 \t\n'\"\\")
_text = st.text(_characters, max_size=40) | st.builds(
    str.__mul__,
    st.sampled_from(["a", "a ", "🐍", "é́ ", "\0", "x.y-z "]),
    st.sampled_from([10, 30, 100, 100, 1_000, 1_000, 5_000, 20_000, 20_001]),
)


def _mostly(valid: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return rarely(odd, valid, one_in=80)


_word = st.none() | st.none() | st.tuples(st.integers(0, 4), st.integers(0, 9)).map(list)
_sentence = st.tuples(_mostly(_text), _mostly(st.none() | _text), _mostly(_word)).map(list)
_sentences = st.lists(_mostly(_sentence), max_size=4) | st.lists(_mostly(_sentence), max_size=9)
_names = st.sampled_from([control.page for control in _controls()]) | st.text(max_size=20)
_keys = st.sampled_from([control.name for control in _controls()]) | st.text(max_size=20)
_plain_values = st.booleans() | st.integers(-9, 99) | st.floats(-1e9, 1e9) | st.text(max_size=20)
_values = _mostly(_plain_values)
_own = st.dictionaries(_keys, _values, max_size=8)
_view = st.fixed_dictionaries(
    {
        "m": _mostly(st.text(max_size=30) | st.just("a" * 200)),
        "s": _mostly(_sentences),
        "r": _mostly(_sentences),
    },
    optional={
        "l": _mostly(st.integers(0, 1000)),
        "c": _mostly(st.dictionaries(_names, _mostly(_own), max_size=6)),
    },
)
_bombs = st.sampled_from(
    [
        b'{"m":"' + b"a" * _BOMB + b'","s":[],"r":[]}',
        b'{"m":"a","s":' + b"[" * 100_000,
        b'{"m":"a","s":[],"r":[],"c":{'
        + b",".join(b'"%d":{}' % page for page in range(200_000))
        + b"}}",
        b'{"m":"a","s":[],"r":[],"l":' + b"9" * 5_000 + b"}",
        json.dumps({"m": "a", "s": [["a " * 10_000, "b " * 10_000, None]] * 8, "r": []}).encode(),
        b" " * _BOMB,
        b"[" + b"[]," * 1_000_000 + b"[]]",
    ]
)


def _packed(value: Any, *, ascii_only: bool) -> bytes:
    return json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


_plain = st.builds(_packed, _view, ascii_only=st.booleans())
_files = rarely(_bombs, _plain, one_in=200)
_TOKENS = (
    *(b'"m"', b'"s"', b'"r"', b'"l"', b'"c"', b"[[", b"]]", b'["a",null,[0,1]]', b"1e5", b"-1"),
    *(control.name.encode() for control in _controls()[:12]),
)

TARGETS = {
    "address": Target(
        name="address",
        run=_address,
        structure=_files.map(_wrap),
        seeds=_address_seeds,
        tokens=_TOKENS,
        is_json=True,
        wrap=_wrap,
        unwrap=_unwrap,
        longest=8 * MEGABYTE,
    ),
    "state": Target(
        name="state",
        run=_state_file,
        structure=_files,
        seeds=_seeds,
        tokens=_TOKENS,
        is_json=True,
        also=(UnicodeDecodeError,),
        longest=8 * MEGABYTE,
    ),
}
