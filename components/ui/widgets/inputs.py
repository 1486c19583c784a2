"""Widgets that show the view and write it back, each in its callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from components.core.words import Span
from components.ui.state import session
from components.ui.state.view import (
    MAX_CHARACTERS,
    MAX_SENTENCES,
    Control,
    Sentence,
    ViewState,
    letter,
    retyped,
)

__all__ = [
    "choice",
    "layer_slider",
    "number",
    "pair_field",
    "pick_word",
    "select",
    "sentence_choice",
    "sentence_editor",
    "switch",
    "text",
]

Group = Literal["sentences", "references"]


def sentence_editor(view: ViewState, group: Group, *, where: str, least: int = 0) -> None:
    """Text fields for the sentences or references, each with a button to take it away."""
    rows: tuple[Sentence, ...] = getattr(view, group)
    noun = "Sentence" if group == "sentences" else "Reference"
    for i, sentence in enumerate(rows):
        key = f"{where}_{group}_{i}"
        label = f"{noun} {letter(i) if group == 'sentences' else i + 1}"
        with st.container(
            horizontal=True, gap="small", vertical_alignment="bottom", key=f"{key}_row"
        ):
            field = session.bind(key, sentence.text)
            st.text_input(
                label,
                sentence.text,
                key=field,
                max_chars=MAX_CHARACTERS,
                placeholder="Type a sentence" if group == "sentences" else "A word or a phrase",
                on_change=_retype,
                args=(group, i, field),
            )
            removal = f"Take {label[0].lower()}{label[1:]} away"
            st.button(
                removal,  # for screen readers: the style shows the icon alone
                icon=":material/close:",
                help=removal,
                key=f"{key}_remove",
                type="tertiary",
                disabled=len(rows) <= least,
                on_click=_remove,
                args=(group, i),
            )
    st.button(
        f"Add a {noun.lower()}",
        icon=":material/add:",
        key=f"{where}_{group}_add",
        type="tertiary",
        disabled=len(rows) >= MAX_SENTENCES,
        help=f"At most {MAX_SENTENCES}" if len(rows) >= MAX_SENTENCES else None,
        on_click=_add,
        args=(group,),
    )


def pick_word(row: int, span: Span) -> None:
    """Choose a word by its row of chips; a reference's chosen word again means its whole text."""
    view = session.current()
    n = len(view.sentences)
    group: Group = "sentences" if row < n else "references"
    index = row if row < n else row - n
    old = getattr(view, group)[index]
    again = group == "references" and old.word == span
    _replace_row(view, group, index, replace(old, word=None if again else span))


def layer_slider(view: ViewState, layers: Sequence[int], *, key: str) -> int:
    """A slider over the layers; gives the chosen one, the last where the view names none."""
    last = layers[-1]
    chosen = view.layer if view.layer in layers else last
    key = session.bind(key, chosen)
    st.slider(
        "Layer",
        layers[0],
        last,
        chosen,
        key=key,
        on_change=_write_layer,
        args=(key, last),
        help="Layer 0 is the embedding layer's output; each later layer mixes in more context.",
    )
    return int(chosen if chosen is not None else last)


def _write_layer(key: str, last: int) -> None:
    if session.is_shown(key):
        layer = int(session.value(key))
        session.write(replace(session.current(), layer=None if layer == last else layer))


def choice(
    view: ViewState,
    page: str,
    name: str,
    options: Sequence[str],
    label: str,
    *,
    default: str = "",
    help: str = "",  # noqa: A002
) -> str:
    """A choice of a few words; the first option is the default unless another is named."""
    key = session.control_key(page, name)
    default = default or options[0]
    chosen = str(view.control(page, name, default))
    chosen = chosen if chosen in options else default
    key = session.bind(key, chosen)
    st.segmented_control(
        label,
        options,
        default=chosen,
        key=key,
        required=True,
        help=help or None,
        on_change=_write_control(page, name, key, default),
    )
    return chosen


def switch(view: ViewState, page: str, name: str, label: str, *, help: str = "") -> bool:  # noqa: A002
    """An option that is off by default."""
    key = session.control_key(page, name)
    on = bool(view.control(page, name, default=False))
    key = session.bind(key, on)
    st.toggle(
        label, on, key=key, help=help or None, on_change=_write_control(page, name, key, False)
    )
    return on


def number(
    view: ViewState,
    page: str,
    name: str,
    label: str,
    *,
    between: tuple[int, int],
    default: int,
    help: str = "",  # noqa: A002
) -> int:
    """A whole number between two bounds, both allowed; what the view holds is brought between."""
    low, high = between
    chosen = min(max(int(view.control(page, name, default)), low), high)
    key = session.bind(session.control_key(page, name), chosen)
    st.number_input(
        label,
        low,
        high,
        chosen,
        step=1,
        key=key,
        help=help or None,
        on_change=_write_control(page, name, key, default),
    )
    return chosen


def text(
    view: ViewState, page: str, name: str, label: str, *, default: str = "", placeholder: str = ""
) -> str:
    """A short text."""
    chosen = str(view.control(page, name, default))
    key = session.bind(session.control_key(page, name), chosen)
    st.text_input(
        label,
        chosen,
        key=key,
        max_chars=200,
        placeholder=placeholder or None,
        on_change=_write_control(page, name, key, default),
    )
    return chosen


def select(view: ViewState, page: str, name: str, options: Mapping[str, str], label: str) -> str:
    """A choice from a menu of titles by their values; the first is the default."""
    values = list(options)
    chosen = str(view.control(page, name, values[0]))
    chosen = chosen if chosen in options else values[0]
    key = session.bind(session.control_key(page, name), chosen)
    st.selectbox(
        label,
        values,
        index=values.index(chosen),
        key=key,
        format_func=options.__getitem__,
        on_change=_write_control(page, name, key, values[0]),
    )
    return chosen


def sentence_choice(view: ViewState, page: str, *, label: str = "Sentence") -> int:
    """Which sentence a page of one sentence shows, by its index; nothing to choose among one."""
    letters = [letter(i) for i in range(len(view.sentences))]
    if len(letters) < 2:
        return 0
    return letters.index(choice(view, page, "sentence", letters, label))


def pair_field(view: ViewState, index: int, *, key: str) -> None:
    """A text field for a sentence's second text; empty, the sentence stands alone."""
    pair = view.sentences[index].pair or ""
    field = session.bind(key, pair)
    st.text_input(
        f"Second text of {letter(index)}",
        pair,
        key=field,
        max_chars=MAX_CHARACTERS,
        placeholder="Leave empty for one text alone",
        on_change=_write_pair,
        args=(index, field),
    )


def _write_pair(index: int, key: str) -> None:
    view = session.current()
    if index < len(view.sentences) and session.is_shown(key):
        pair = str(session.value(key) or "") or None
        _replace_row(view, "sentences", index, replace(view.sentences[index], pair=pair))


def _write_control(page: str, name: str, key: str, default: Control) -> Callable[[], None]:
    def write() -> None:
        if session.is_shown(key):
            session.write(session.current().with_control(page, name, session.value(key), default))

    return write


def _retype(group: Group, index: int, key: str) -> None:
    view = session.current()
    rows: tuple[Sentence, ...] = getattr(view, group)
    if index >= len(rows) or not session.is_shown(key):
        return
    text = str(session.value(key) or "")
    old = rows[index]
    if group == "sentences":
        _replace_row(view, group, index, retyped(old, text, _word_of_others(view, index)))
    elif old.word == (0, len(old.text)):  # the whole reference was compared, so it stays so
        _replace_row(view, group, index, Sentence(text, old.pair))
    else:
        _replace_row(view, group, index, retyped(old, text, None))


def _word_of_others(view: ViewState, index: int) -> str | None:
    """The word that another sentence has chosen: a new sentence most likely is about it too."""
    others = (s for i, s in enumerate(view.sentences) if i != index and s.word is not None)
    first = next(others, None)
    return first.text[slice(*first.word)] if first is not None and first.word else None


def _replace_row(view: ViewState, group: Group, index: int, new: Sentence) -> None:
    rows = list(getattr(view, group))
    rows[index] = new
    _write_rows(view, group, rows)


def _remove(group: Group, index: int) -> None:
    view = session.current()
    rows = [row for i, row in enumerate(getattr(view, group)) if i != index]
    _write_rows(view, group, rows)


def _add(group: Group) -> None:
    view = session.current()
    if len(getattr(view, group)) < MAX_SENTENCES:
        _write_rows(view, group, [*getattr(view, group), Sentence("")])


def _write_rows(view: ViewState, group: Group, rows: Sequence[Sentence]) -> None:
    if group == "sentences":
        session.write(replace(view, sentences=tuple(rows)))
    else:
        session.write(replace(view, references=tuple(rows)))
