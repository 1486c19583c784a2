"""The bounds of a view from outside, before and after it is parsed. No streamlit in here.

An address of a thousand characters, or a file that anyone wrote, could ask for a hundred thousand
pages or sentences of a megabyte. Beyond a bound, the visitor gets a sentence that says so. Unknown
pages and choices stay, within the bounds, because another version may know them.
"""

from __future__ import annotations

import re
from typing import Any

from contextlens.core.errors import StateError
from contextlens.core.settings import DEMO_CHARACTERS
from contextlens.ui.state.view import MAX_CHARACTERS, MAX_SENTENCES, ViewState

MAX_BYTES = 2_000_000  # of a state file; `MAX_TEXT` control characters, escaped, are half of it
MAX_TEXT = MAX_SENTENCES * MAX_CHARACTERS  # of all texts together
MAX_PAGES = 40
MAX_CHOICES = 60  # of one page; the map has 34
_MAX_DEPTH = 8  # a view has 4
_MAX_PARTS = 10_000  # texts, brackets and commas of the JSON

# Possessive, with an optional closing quote, so that every character is read only once.
_PARTS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)
_ASK = "Ask for the address or the file again."


def check_size(n_bytes: int) -> None:
    """Check that a state file is not too large to be read.

    Raises:
        StateError: it is.
    """
    if n_bytes > MAX_BYTES:
        raise StateError(
            f"This view takes {n_bytes:,} bytes, and one that Contextlens wrote takes at most "
            f"{MAX_BYTES:,}. {_ASK}"
        )


def check_json(text: str) -> None:
    """Check that a state file's text is small, flat and short enough to be parsed.

    Raises:
        StateError: it is not.
    """
    check_size(len(text.encode("utf-8", "replace")))
    depth = 0
    for n, part in enumerate(_PARTS.finditer(text)):
        sign = part[0][0]
        depth += (sign in "[{") - (sign in "]}")
        if depth > _MAX_DEPTH or n >= _MAX_PARTS:
            raise StateError(
                f"This is not a view that Contextlens wrote: it has more than {_MAX_DEPTH} levels "
                f"or {_MAX_PARTS:,} parts. {_ASK}"
            )


def check_choices(pages: Any) -> None:
    """Check that a view does not have too many pages, or too many choices for one page.

    Raises:
        StateError: it does.
    """
    n_choices = max(map(len, pages.values()), default=0)
    if len(pages) > MAX_PAGES or n_choices > MAX_CHOICES:
        raise StateError(
            f"This view has choices for {len(pages):,} pages, up to {n_choices:,} on one; at most "
            f"{MAX_PAGES} pages of {MAX_CHOICES} choices are read. {_ASK}"
        )


def check_sentences(rows: Any) -> None:
    """Check that packed sentences are not too many, and none of them too long.

    Raises:
        StateError: they are.
    """
    if len(rows) > MAX_SENTENCES:
        raise StateError(
            f"This view has {len(rows):,} sentences, and at most {MAX_SENTENCES} are compared. "
            "Ask for one with fewer sentences."
        )
    n = max((len(text) for row in rows for text in row[:2] if isinstance(text, str)), default=0)
    if n > MAX_CHARACTERS:
        raise StateError(
            f"A sentence of this view has {n:,} characters, and at most {MAX_CHARACTERS:,} are "
            "read. Ask for one with shorter sentences, or open the text as a file on Map."
        )


def n_characters(view: ViewState) -> int:
    """Return the number of characters of all texts of a view together."""
    rows = (*view.sentences, *view.references)
    return sum(len(row.text) + len(row.pair or "") for row in rows)


def check_demo(view: ViewState) -> None:
    """Check that each text of a view is short enough for a demo.

    Raises:
        StateError: one is not.
    """
    rows = (*view.sentences, *view.references)
    n = max((len(text) for row in rows for text in (row.text, row.pair or "")), default=0)
    if n > DEMO_CHARACTERS:
        raise StateError(
            f"This text has {n:,} characters, and in this demo one has at most "
            f"{DEMO_CHARACTERS:,}. Shorten it, or run Contextlens on a machine of your own."
        )


def check_texts(view: ViewState) -> None:
    """Check that the texts of a view are not too long together.

    Raises:
        StateError: they are.
    """
    n = n_characters(view)
    if n > MAX_TEXT:
        raise StateError(
            f"The texts of this view have {n:,} characters together, and a view holds at most "
            f"{MAX_TEXT:,}. Ask for one with shorter texts."
        )
