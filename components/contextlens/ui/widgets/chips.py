"""Sentences whose words are chosen by click or keyboard, and whose text can be edited in place.

Python splits the text and counts code points, so JavaScript never converts an offset. User text
travels as JSON and is shown as text, never as HTML. Must not import torch or transformers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypedDict

import streamlit as st

from contextlens.core.words import Span, split_words
from contextlens.ui.state.view import MAX_SENTENCES
from contextlens.ui.widgets.component import component

_TWO_ABREAST = 5
"""The number of sentences from which two share a line, as in `chips.css`."""
_LINE, _BESIDE = 85, 11
"""The characters on a line of flowing rows, and the room of a badge and a pencil beside a text."""
_MAX_ROW_WORDS = 1_000
"""The most words drawn of one row: more than any model here reads."""
_MAX_WORDS = 4_000
"""The most words drawn of all rows: each word is a button."""


@dataclass(frozen=True)
class ChipRow:
    """One line of words.

    Attributes:
        label: The letter in the badge, "A"; may be empty.
        text: The text as typed, which is split into words.
        color: The row's palette colour, "#0072B2".
        chosen: The marked span in code points; several words make a phrase. None marks nothing.
        role: A sentence has a line of its own; references share one where they fit.
        note: A short remark at the row's end.
        warning: True if the note is a problem.
    """

    label: str
    text: str
    color: str
    chosen: Span | None
    role: Literal["sentence", "reference"] = "sentence"
    note: str = ""
    warning: bool = False


class _Segment(TypedDict):
    text: str
    start: int
    end: int
    word: bool
    dir: Literal["ltr", "rtl", ""]


class _RowData(TypedDict):
    text: str
    label: str
    name: str
    role: str
    color: str
    ink: str
    chosen: Span | None
    note: str
    warning: bool
    segments: list[_Segment]


def word_chips(
    rows: Sequence[ChipRow],
    *,
    key: str,
    on_pick: Callable[[int, Span], None],
    on_edit: Callable[[int, str], None],
    flows: bool = False,
) -> None:
    """Show rows of words, to choose from and to edit; if it flows, several on a line if they fit.

    `on_pick(row, span)` and `on_edit(row, text)` are called before the rerun that they cause: they
    are callbacks in Streamlit's sense, and may write state. The span is one word's, in code points
    of that row's text as it was shown. Anything that fits no row, word or field is ignored.

    Only the first words of a very long text are drawn, and its note says so. Everything else,
    including its field, uses the whole text.
    """
    visible_rows = tuple(rows)

    def receive(message: object) -> None:
        pick, edit = _checked_pick(message, visible_rows), _checked_edit(message, visible_rows)
        if pick is not None:
            on_pick(*pick)
        elif edit is not None:
            on_edit(*edit)

    data = {
        "rows": _payload(visible_rows),
        "lines": MAX_SENTENCES,
        "flows": flows,
    }
    narrow = _lines(visible_rows)
    wide = _flowing_lines(visible_rows) if flows else narrow
    with st.container(key=f"{'flow' if flows else 'room'}_{wide}_narrow_{narrow}"):
        component("contextlens.ui.widgets", "chips", data, key=key, on_pick=receive)


def _lines(rows: Sequence[ChipRow]) -> int:
    """Return the number of lines that rows of usual length take on a wide screen."""
    n = sum(row.role == "sentence" for row in rows)
    return (n if n < _TWO_ABREAST else (n + 1) // 2) + (n < len(rows))


def _flowing_lines(rows: Sequence[ChipRow]) -> int:
    """Return the number of lines that flowing rows of usual words take on a wide screen."""
    if sum(row.role == "sentence" for row in rows) >= _TWO_ABREAST:
        return _lines(rows)
    lines, left = 1, _LINE
    for row in rows:
        needed = len(row.text) + _BESIDE
        if needed > left:
            lines, left = lines + 1, _LINE
        left -= needed
    return lines


def _checked_pick(pick: object, rows: Sequence[ChipRow]) -> tuple[int, Span] | None:
    """Return the row and span that the browser reported; None if they are no word of these rows."""
    if not isinstance(pick, Mapping):
        return None
    row, start, end = (pick.get(name) for name in ("row", "start", "end"))
    # `type`, because True is an int too.
    if type(row) is not int or type(start) is not int or type(end) is not int:
        return None
    if not 0 <= row < len(rows) or (start, end) not in split_words(rows[row].text):
        return None
    return row, (start, end)


def _checked_edit(edit: object, rows: Sequence[ChipRow]) -> tuple[int, str] | None:
    """Return the row and its new text that the browser reported; None if no field can send it."""
    if not isinstance(edit, Mapping):
        return None
    row, text = edit.get("row"), edit.get("text")
    if type(row) is not int or not isinstance(text, str):
        return None
    if not 0 <= row < len(rows) or text != text.translate(_HALVES):
        return None
    return row, text


def _payload(rows: Sequence[ChipRow]) -> list[_RowData]:
    counts = {"sentence": 0, "reference": 0}
    payload: list[_RowData] = []
    max_words = _max_words([len(split_words(row.text)) for row in rows])
    for row in rows:
        counts[row.role] += 1
        note = " ".join(filter(None, [row.note, _omission_note(row.text, max_words)]))
        payload.append(
            {
                "text": row.text.translate(_HALVES),
                "label": visible(row.label),
                "name": f"{row.role} {visible(row.label) or counts[row.role]}",
                "role": row.role,
                "color": row.color,
                "ink": badge_ink(row.color),
                "chosen": row.chosen,
                "note": visible(note),
                "warning": row.warning and bool(row.note),
                "segments": _segments(row.text, max_words),
            }
        )
    return payload


def _max_words(n_words: Sequence[int]) -> int:
    """Return the most words to draw of each row, so that all rows have at most `_MAX_WORDS`."""
    max_words = _MAX_ROW_WORDS
    while max_words > 1 and sum(min(n, max_words) for n in n_words) > _MAX_WORDS:
        max_words -= 1
    return max_words


def _omission_note(text: str, max_words: int) -> str:
    """Return a note on the part of a text that is not drawn; empty if all of it is."""
    n = len(split_words(text))
    return f"The first {max_words:,} of its {n:,} words are drawn here." if n > max_words else ""


def _segments(text: str, max_words: int = _MAX_ROW_WORDS) -> list[_Segment]:
    """Return the pieces of a text, words and gaps, up to the end of the last drawn word."""
    words = split_words(text)
    end = len(text) if len(words) <= max_words else words[max_words - 1][1]
    words = words[:max_words]
    cuts = sorted({0, end, *(cut for span in words for cut in span)})
    mixed = any(direction_of(character) == "rtl" for character in text)
    word_spans = set(words)
    return [
        {
            "text": visible(text[a:b]),
            "start": a,
            "end": b,
            "word": (a, b) in word_spans,
            "dir": direction_of(text[a:b]) if mixed and (a, b) in word_spans else "",
        }
        for a, b in pairwise(cuts)
    ]


def direction_of(text: str) -> Literal["ltr", "rtl", ""]:
    """Return the direction of the first letter that has one; empty for digits, signs and emoji."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("R", "AL"):
            return "rtl"
        if kind == "L":
            return "ltr"
    return ""


_HALVES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
"""Replaces each lone surrogate by U+FFFD."""
_VISIBLE = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\v\f\r"},
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **_HALVES,
    **dict.fromkeys(map(ord, "\t\n\v\f\r\x85\u2028\u2029"), 0x20),
    0x7F: 0x2421,
}
"""Control characters as their pictures, line ends as spaces; always one code point for each."""


def visible(text: str) -> str:
    """Return the text with its control characters made visible, one code point for each."""
    return text.translate(_VISIBLE)


def badge_ink(color: str) -> Literal["#ffffff", "#111111"]:
    """Return white or black, whichever reads better on a colour, by WCAG 2 relative luminance."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.0561 else "#111111"
