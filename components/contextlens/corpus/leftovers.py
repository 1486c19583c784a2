"""What another format left in the texts of a table: HTML, Python's b'...', halves of escapes."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import ne

__all__ = ["cleaned", "leftovers_in"]

_BREAK = re.compile(r"</?(?:br|p|div|li)\b[^<>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:a|b|em|font|i|span|strong|u)\b[^<>]{0,200}>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{2,5}|#x[\dA-Fa-f]{2,5});")
_HALF = re.compile(r"(?<!&)#\d{2,4};")  # "#39;": the ampersand is gone, as in AG News
_SLASH = re.compile(r" ?\\(?=[A-Za-z])")  # where lines broke, as in AG News
_HTML = (_BREAK, _TAG, _ENTITY, _HALF)
_BYTES = re.compile(r"""b(['"]).*\1""", re.DOTALL)
_ROWS = 10_000  # that are looked at
_LONGEST = 30  # characters of an example


def leftovers_in(columns: Mapping[str, Sequence[str | None]]) -> tuple[str, ...]:
    """Return an example of each kind of left-over in the first rows, such as "<br />"."""
    return tuple(_examples(columns).values())


def _examples(
    columns: Mapping[str, Sequence[str | None]],
) -> dict[re.Pattern[str] | str, str]:
    found: dict[re.Pattern[str] | str, str] = {}
    for cells in columns.values():
        texts = [text for text in islice(cells, _ROWS) if text]
        if _are_bytes(texts):
            found["bytes"] = "b'…'"
        for pattern in (*_HTML, _SLASH):
            if pattern not in found:
                match = next(filter(None, map(pattern.search, texts)), None)
                if match is not None:
                    found[pattern] = match[0].strip()[:_LONGEST]
    if found.keys().isdisjoint(_HTML):
        found.pop(_SLASH, None)  # code, paths and formulas have it too
    return found


def cleaned(
    columns: Mapping[str, Sequence[str | None]],
) -> tuple[dict[str, tuple[str | None, ...]], int]:
    """Return columns without left-overs, and the number of cells that differ."""
    clean: dict[str, tuple[str | None, ...]] = {}
    n_changed = 0
    has_slashes = _SLASH in _examples(columns)
    for title, cells in columns.items():
        is_bytes = _are_bytes([text for text in cells if text])
        changed = {text: _clean(text, is_bytes=is_bytes) for text in set(cells) if text}
        if has_slashes:
            changed = {text: _SLASH.sub(" ", after) for text, after in changed.items()}
        clean[title] = tuple(changed.get(text) if text else text for text in cells)
        n_changed += sum(map(ne, cells, clean[title]))
    return clean, n_changed


def _are_bytes(texts: Sequence[str]) -> bool:
    """True if every text is written as Python writes bytes: b'...'."""
    return bool(texts) and all(map(_BYTES.fullmatch, texts))


def _clean(text: str, *, is_bytes: bool) -> str:
    if is_bytes:
        text = _decoded(text)
    text = _TAG.sub("", _BREAK.sub(" ", text))
    text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return _HALF.sub(lambda match: html.unescape(f"&{match[0]}"), text)


def _decoded(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if not isinstance(value, bytes):
        return text
    return value.decode("utf-8", "replace").replace("\0", "\ufffd")
