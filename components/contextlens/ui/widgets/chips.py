"""Sentences whose words are chosen by click or keyboard, and whose text can be edited in place.

Python splits the text and counts code points, so JavaScript never converts an offset. User text
travels as JSON and is shown as text, never as HTML. Must not import torch or transformers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypedDict, TypeGuard

import streamlit as st

from contextlens.content.language import table
from contextlens.core.words import Span, split_words
from contextlens.ui.state.view import MAX_SENTENCES
from contextlens.ui.widgets.component import component

_TWO_ABREAST = 5
"""The number of sentences from which two share a line, as in `chips.css`."""
_LINE, _BESIDE, _TOOLS = 105, 11, 28
"""The characters on a line, those of a badge and a pencil beside a text, and those of the tools."""
Group = Literal["sentences", "references"]
GROUPS: tuple[Group, ...] = ("sentences", "references")
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
        role: The kind of its text.
        pair: The sentence's second text; may be empty.
        shown: True if its letter has a ring, as the page shows this sentence.
        note: A short remark at the row's end.
        warning: True if the note is a problem.
    """

    label: str
    text: str
    color: str
    chosen: Span | None
    role: Literal["sentence", "reference"] = "sentence"
    pair: str = ""
    shown: bool = False
    note: str = ""
    warning: bool = False


@dataclass(frozen=True, kw_only=True)
class ChipActions:
    """What a visitor can do with rows of words. All are called before the rerun that they cause.

    They are callbacks in Streamlit's sense, and may write state. A row is named by its index.

    Attributes:
        on_pick: takes a row and the span of its clicked word, in code points of the shown text.
        on_edit: takes a row, its new text, and its new second text or None.
        on_add: takes "sentences" or "references" and the text of the new row.
        on_remove: takes a row.
        on_letter: takes the row of a clicked letter; None if letters cannot be clicked.
    """

    on_pick: Callable[[int, Span], None]
    on_edit: Callable[[int, str, str | None], None]
    on_add: Callable[[Group, str], None]
    on_remove: Callable[[int], None]
    on_letter: Callable[[int], None] | None = None


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
    pair: str
    shown: bool
    chosen: Span | None
    note: str
    warning: bool
    segments: list[_Segment]


def word_chips(
    rows: Sequence[ChipRow],
    *,
    key: str,
    actions: ChipActions,
    full: Collection[Group] = (),
    pairs: bool = False,
    live: bool = False,
    plain: bool = False,
) -> None:
    """Show rows of words, to choose from and to edit; several on a line if they fit.

    Only the first words of a very long text are drawn, and its note says so. Everything else,
    including its field, uses the whole text. A message that fits no row, word or field is ignored.

    Args:
        rows: the sentences, then the references.
        key: the component's own key.
        actions: what is called for what a visitor does.
        full: the groups that take no more rows.
        pairs: True if a sentence has a field for its second text.
        live: True if a text is sent while it is typed.
        plain: True without buttons to edit and add.
    """
    visible_rows = tuple(rows)
    data = {
        "rows": _payload(visible_rows),
        "lines": MAX_SENTENCES,
        "letters": actions.on_letter is not None,
        "words": table("frame.sentences"),
        "adds": [] if plain else [group for group in GROUPS if group not in full],
        "pairs": pairs,
        "live": live,
        "plain": plain,
    }
    wide = _wide_lines(visible_rows)
    narrow = _narrow_lines(visible_rows) + bool(data["adds"])
    with st.container(key=f"flow_{wide}_narrow_{narrow}"):
        component(
            "contextlens.ui.widgets",
            "chips",
            data,
            key=key,
            on_pick=lambda message: _receive(message, visible_rows, actions),
        )


def _receive(message: object, rows: tuple[ChipRow, ...], actions: ChipActions) -> None:
    """Call the action for what the browser reported; none if it fits nothing here."""
    if not isinstance(message, Mapping):
        return
    group, text, pair = (message.get(name) for name in ("add", "text", "pair"))
    if group in GROUPS and _is_typed(text):
        actions.on_add(group, text)
    row = message.get("row")
    if type(row) is not int or not 0 <= row < len(rows):  # `type`, because True is an int too
        return
    start, end = message.get("start"), message.get("end")
    if message.get("remove") is True:
        actions.on_remove(row)
    elif message.get("show") is True:
        if actions.on_letter is not None and rows[row].role == "sentence":
            actions.on_letter(row)
    elif _is_typed(text):
        actions.on_edit(row, text, pair if _is_typed(pair) else None)
    elif type(start) is int and type(end) is int and (start, end) in split_words(rows[row].text):
        actions.on_pick(row, (start, end))


def _is_typed(text: object) -> TypeGuard[str]:
    """Return True for a text that a field can send."""
    return isinstance(text, str) and text == text.translate(_HALVES)


def _narrow_lines(rows: Sequence[ChipRow]) -> int:
    """Return the number of lines that rows of usual length take on a phone."""
    n = sum(row.role == "sentence" for row in rows)
    return n + (n < len(rows))


def _wide_lines(rows: Sequence[ChipRow]) -> int:
    """Return the number of lines that rows of usual words take on a wide screen."""
    n = sum(row.role == "sentence" for row in rows)
    if n >= _TWO_ABREAST:
        return (n + 1) // 2 + (n < len(rows))
    lines, left = 1, _LINE
    for needed in [*(len(row.text) + len(row.pair) + _BESIDE for row in rows), _TOOLS]:
        if needed > left:
            lines, left = lines + 1, _LINE
        left -= needed
    return lines


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
                "pair": visible(row.pair),
                "shown": row.shown,
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
