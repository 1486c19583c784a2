"""Sentences beside a picture, each with its word marked and a line on what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st


@dataclass(frozen=True)
class Passage:
    """A sentence of a visitor's texts.

    Attributes:
        parts: the text before the word, the word ("" for none), and the text after it.
        note: what the sentence is, in plain text; "" for nothing.
        color: the colour of its dot on the picture; "" for no dot.
    """

    parts: tuple[str, str, str]
    note: str = ""
    color: str = ""


def passages(title: str, shown: Sequence[Passage], *, more: str = "") -> None:
    """Draw sentences under a title.

    Args:
        title: what they are, plain text.
        shown: the sentences.
        more: a line below them, on those that are not shown; "" for none.
    """
    items = "".join(f"<li>{_html(passage)}</li>" for passage in shown)
    foot = f"<p>{escape(more)}</p>" if more else ""
    st.html(f'<div class="passages"><h3>{escape(title)}</h3><ul>{items}</ul>{foot}</div>')


def _html(passage: Passage) -> str:
    before, word, after = map(escape, passage.parts)
    marked = f"<mark>{word}</mark>" if word else ""
    dot = f'<span style="color:{escape(passage.color)}">\u25cf</span> ' if passage.color else ""
    note = f"<small>{dot}<bdi>{escape(passage.note)}</bdi></small>" if passage.note else ""
    return f'<div dir="auto">{before}{marked}{after}</div>{note}'
