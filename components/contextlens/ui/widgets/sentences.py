"""The sentences and references of a view, as text fields and as words to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from contextlens.content.examples import EXAMPLES
from contextlens.content.language import say
from contextlens.core.words import Span, find_words
from contextlens.ui.access import guard
from contextlens.ui.access.roles import UPLOAD
from contextlens.ui.files import chooser
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.view import (
    MAX_SENTENCES,
    Sentence,
    ViewState,
    from_example,
    last_content_word,
    letter,
    retyped,
    shared_word,
    without_left_references,
)

# --- The ready examples, as links

_WITH_SENTENCES = {"home", "tokens", "masks", "embedding_layer", "layers", "attention", "why"}


def menu(view: ViewState, page: str) -> None:
    """Draw links that open the examples on this page, or in Meaning in context.

    Anatomy and pages about corpora show no sentences of the view.
    """
    target = navigation.row(page if page in _WITH_SENTENCES else "meaning")
    with (
        st.popover("Examples", icon=":material/lightbulb:"),
        st.container(key="examples", gap="small"),
    ):
        for example in EXAMPLES:
            opened = from_example(example, view.model)
            navigation.link(target, opened, label=example.title, icon=example.icon)


Group = Literal["sentences", "references"]


def sentence_editor(view: ViewState, group: Group, *, where: str, least: int = 0) -> None:
    """Draw text fields for the sentences or references, each with a button to remove it."""
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
                placeholder="Type a sentence" if group == "sentences" else "A word or a phrase",
                on_change=_retype_field,
                args=(group, i, field),
            )
            removal = say("frame.sentences.remove", label=f"{label[0].lower()}{label[1:]}")
            st.button(
                removal,  # for screen readers: the style shows only the icon
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


def meaning_fields(view: ViewState, *, where: str) -> None:
    """Draw two text fields for references, one for each meaning of a word."""
    with st.container(horizontal=True, gap="small", key=f"{where}_meanings"):
        for i, name in enumerate(("one", "other")):
            text = view.references[i].text if i < len(view.references) else ""
            field = session.bind(f"{where}_meaning_{i}", text)
            st.text_input(
                say(f"frame.meanings.{name}"),
                text,
                key=field,
                placeholder=say(f"frame.example.{name}"),
                on_change=_type_meaning,
                args=(i, field),
            )


def _type_meaning(index: int, key: str) -> None:
    view = session.current()
    if index < len(view.references):
        _retype_field("references", index, key)
    elif session.is_shown(key):
        text = str(session.value(key) or "")
        if text.strip() and not is_offered_as_file(text):
            _write_rows(view, "references", [*view.references, Sentence(text)])


def pick_word(row: int, span: Span) -> None:
    """Choose a word by its row of chips; choosing a reference's word again unmarks it."""
    view = session.current()
    group, index = _place(view, row)
    old = getattr(view, group)[index]
    again = group == "references" and old.word == span
    _replace_row(view, group, index, replace(old, word=None if again else span))


def retype_row(row: int, text: str) -> None:
    """Store the text typed into a row of chips as its sentence or reference."""
    _retype(*_place(session.current(), row), text)


def _place(view: ViewState, row: int) -> tuple[Group, int]:
    """Return the item of a row of chips: the sentences come first, the references after them."""
    n = len(view.sentences)
    return ("sentences", row) if row < n else ("references", row - n)


def pair_field(view: ViewState, index: int, *, key: str) -> None:
    """Draw a text field for a sentence's second text; empty for a single sentence."""
    pair = view.sentences[index].pair or ""
    field = session.bind(key, pair)
    st.text_input(
        f"Second text of {letter(index)}",
        pair,
        key=field,
        placeholder="Leave empty for one text alone",
        on_change=_write_pair,
        args=(index, field),
    )


def _write_pair(index: int, key: str) -> None:
    view = session.current()
    if index < len(view.sentences) and session.is_shown(key):
        pair = str(session.value(key) or "")
        if is_offered_as_file(pair):
            return
        _replace_row(view, "sentences", index, replace(view.sentences[index], pair=pair))


def _retype_field(group: Group, index: int, key: str) -> None:
    if session.is_shown(key):
        _retype(group, index, str(session.value(key) or ""))


def _retype(group: Group, index: int, text: str) -> None:
    view = session.current()
    rows: tuple[Sentence, ...] = getattr(view, group)
    if index >= len(rows) or is_offered_as_file(text):
        return
    old = rows[index]
    if group == "sentences":
        _write_rows(view, group, _with_words(view, index, text))
    elif old.word == (0, len(old.text)):  # the whole reference was compared, and still is
        _replace_row(view, group, index, Sentence(text, old.pair))
    else:
        _replace_row(view, group, index, retyped(old, text, None))


def is_offered_as_file(text: str) -> bool:
    """Return True if a typed text is no sentence: too long, or many lines; Map is offered for it.

    The sentence stays as it was. The next run says so, and the text is kept as a file.
    """
    n, lines = len(text), [line for line in text.splitlines() if line.strip()]
    if n <= session.max_characters() and len(lines) <= MAX_SENTENCES:
        return False
    case = "long" if n > session.max_characters() else "lines"
    if guard.is_allowed(UPLOAD) and chooser.offer_on_map(text):
        case += "_kept"
    numbers = {"n": n if n > session.max_characters() else len(lines)}
    most = {"most": session.max_characters(), "rows": MAX_SENTENCES}
    session.remember(say(f"files.pasted.{case}", **numbers, **most))
    return True


def _with_words(view: ViewState, index: int, text: str) -> list[Sentence]:
    """Return the sentences after one was edited, each with a word to compare if one is found.

    A chosen word is kept if the new text has it, else replaced by another sentence's word if the
    new text has that. Failing both, the new text and all sentences that share its longest shared
    word get that word, unless two other sentences have the same word chosen. A text that shares no
    word gets its last content word.
    """
    rows = list(view.sentences)
    rows[index] = retyped(rows[index], text, _word_of_others(view, index))
    others = [row for i, row in enumerate(rows) if i != index]
    chosen = [row.text[slice(*row.word)].casefold() for row in others if row.word]
    shared = shared_word(text, [row.text for row in others])
    if rows[index].word:
        return rows
    if shared is None or len(set(chosen)) < len(chosen):
        rows[index] = replace(rows[index], word=last_content_word(text))
        return rows
    return [
        row
        if i != index and not find_words(row.text, shared)
        else retyped(Sentence(row.text, row.pair), row.text, shared)
        for i, row in enumerate(rows)
    ]


def _word_of_others(view: ViewState, index: int) -> str | None:
    """Return the first word chosen in another sentence: a new text is probably about it too."""
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
        changed = replace(view, sentences=tuple(rows))
        session.write(without_left_references(changed, view))
    else:
        session.write(replace(view, references=tuple(rows)))
