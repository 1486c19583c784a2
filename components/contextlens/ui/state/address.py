"""The form of a view in an address or a state file, parsed defensively. No streamlit in here."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from contextlens.core.byte_cache import remembered
from contextlens.core.errors import StateError
from contextlens.ui.state.bounds import (
    MAX_BYTES,
    check_choices,
    check_json,
    check_sentences,
    check_texts,
)
from contextlens.ui.state.old_controls import renamed_controls
from contextlens.ui.state.view import (
    DEFAULT,
    MAX_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    Sentence,
    Value,
    ViewState,
)

MAX_ADDRESS = 8_000  # characters of the parameter; longer addresses break in mail and chat
MAX_OPENED = 2 * MAX_ADDRESS  # characters of a parameter that is still read
_VERSION = "1"
_MAX_NUMBER = 2**53  # a browser rounds larger whole numbers
_DAMAGED = "The address is damaged: part of it is missing or changed."


def to_json(view: ViewState) -> str:
    """Return a view as the text of a state file."""
    return json.dumps(_pack(view), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str, page: str = "") -> ViewState:
    """Return a view from the text of a state file.

    Args:
        text: the file's text.
        page: the page that opens it, whose texts count if an old view names others on each page.

    Raises:
        StateError: it is not one, or exceeds the bounds of a view.
    """
    check_json(text)
    try:
        view = _unpack(json.loads(text), page)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as exc:
        raise StateError(
            "This is not a view that Contextlens wrote, or it was changed on the way. "
            "Ask for the address or the file again."
        ) from exc
    check_texts(view)
    return view


def encode(view: ViewState) -> str:
    """Return a view as an address parameter."""
    text = to_json(view)
    # Cached, as a page has some fifteen links to one view.
    return remembered("address", text, compute=lambda: _parameter(text))


def _parameter(text: str) -> str:
    """Return the JSON of a view as an address parameter."""
    packed = zlib.compress(text.encode("utf-8", "replace"), 9)
    return _VERSION + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def decode(parameter: str, page: str = "") -> ViewState:
    """Return the view of an address parameter.

    Args:
        parameter: the parameter.
        page: as in `from_json`.

    Raises:
        StateError: it is damaged, too large, or of another version.
    """
    if not parameter:
        return DEFAULT
    if len(parameter) > MAX_OPENED:
        raise StateError("The address is too long to be one of ours. Ask for it again.")
    if parameter[0] != _VERSION:
        raise StateError("The address was made by another version of Contextlens.")
    return from_json(_inflate(parameter[1:]), page)


def _inflate(text: str) -> str:
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        machine = zlib.decompressobj()
        plain = machine.decompress(packed, MAX_BYTES)  # 12 kB can inflate to 12 MB
        if machine.unconsumed_tail:
            raise StateError("The address holds more than a view can. Ask for it again.")
        if machine.eof:
            return plain.decode()
    except (binascii.Error, zlib.error, ValueError) as exc:
        raise StateError(_DAMAGED) from exc
    raise StateError(_DAMAGED)


def _pack(view: ViewState) -> dict[str, Any]:
    packed: dict[str, Any] = {
        "m": view.model,
        "s": [_pack_sentence(s) for s in view.sentences],
        "r": [_pack_sentence(s) for s in view.references],
    }
    if view.layer is not None:
        packed["l"] = view.layer
    if view.controls:
        packed["c"] = {page: dict(choices) for page, choices in view.controls.items()}
    return packed


def _pack_sentence(sentence: Sentence) -> list[Any]:
    return [sentence.text, sentence.pair, list(sentence.word) if sentence.word else None]


def _unpack(data: Any, page: str) -> ViewState:
    layer = data.get("l")
    pages = data.get("c", {})
    check_choices(pages)
    return ViewState(
        model=_text(data["m"], 200),
        sentences=_unpack_sentences(data["s"]) or (Sentence(""),),  # pages show at least one
        references=_unpack_sentences(data["r"]),
        layer=None if layer is None else _whole(layer, 1000),
        controls=renamed_controls(
            {
                _text(name, 40): {_text(key, 40): _control(v) for key, v in choices.items()}
                for name, choices in pages.items()
            },
            page,
        ),
    )


def _unpack_sentences(rows: Any) -> tuple[Sentence, ...]:
    if not isinstance(rows, list):
        raise ValueError("not a list")  # noqa: TRY004
    check_sentences(rows)
    return tuple(_unpack_sentence(*row) for row in rows)


def _unpack_sentence(text: Any, pair: Any, word: Any) -> Sentence:
    text = _text(text, MAX_CHARACTERS)
    pair = None if pair is None else _text(pair, MAX_CHARACTERS)
    if word is None:
        return Sentence(text, pair)
    start, end = (_whole(edge, len(text)) for edge in word)
    return Sentence(text, pair, (start, end) if start < end else None)


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError("not a text of that length")
    # Lone surrogates cannot be sent to a browser or read by a tokenizer.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _whole(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError("not a whole number in range")
    return value


def _control(value: Any) -> Value:
    if isinstance(value, str):
        return _text(value, MAX_VALUE_CHARACTERS)
    if not isinstance(value, bool | int | float) or not abs(value) <= _MAX_NUMBER:
        raise ValueError("not a plain value")
    return value
