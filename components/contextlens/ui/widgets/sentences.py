"""Changes of the sentences and references of a view, and the ready examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from contextlens.content.examples import EXAMPLES
from contextlens.content.language import say
from contextlens.core.words import Span, find_words
from contextlens.ui.access import guard
from contextlens.ui.access.roles import UPLOAD
from contextlens.ui.files import chooser
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import of_example, without_left_tokens
from contextlens.ui.state.view import (
    MAX_SENTENCES,
    Sentence,
    ViewState,
    last_content_word,
    retyped,
    shared_word,
    without_left_references,
)
from contextlens.ui.widgets.chips import GROUPS, Group


def examples(view: ViewState, page: str) -> None:
    """Draw links that open the ready examples on this page."""
    for example in EXAMPLES:
        opened = of_example(example, view)
        navigation.link(navigation.row(page), opened, label=example.title, icon=example.icon)


def meaning_fields(view: ViewState, suggestions: Sequence[str], *, where: str) -> None:
    """Draw two text fields for references, one for each meaning of a word.

    Args:
        view: the current view.
        suggestions: a word for each meaning, shown in empty fields; none if nothing is known.
        where: the place on the page.
    """
    with st.container(horizontal=True, gap="small", key=f"{where}_meanings"):
        for i in range(2):
            text = view.references[i].text if i < len(view.references) else ""
            field = session.bind(f"{where}_meaning_{i}", text)
            st.text_input(
                say(f"frame.meanings.{('one', 'other')[i]}"),
                text,
                key=field,
                placeholder=suggestions[i] if i < len(suggestions) else "",
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


def retype_row(row: int, text: str, pair: str | None = None) -> None:
    """Store the text typed into a row of chips as its sentence or reference, and its second text.

    A `pair` of None leaves the second text as it is.
    """
    group, index = _place(session.current(), row)
    _retype(group, index, text)
    rows: tuple[Sentence, ...] = getattr(session.current(), group)
    if pair is not None and index < len(rows) and not is_offered_as_file(pair):
        _replace_row(session.current(), group, index, replace(rows[index], pair=pair))


def add_row(group: Group, text: str) -> None:
    """Add a typed text as the last sentence or reference."""
    view = session.current()
    rows: tuple[Sentence, ...] = getattr(view, group)
    if group in full_groups(view) or not text.strip() or is_offered_as_file(text):
        return
    if group == "references":
        _write_rows(view, group, [*rows, Sentence(text)])
    else:
        wider = replace(view, sentences=(*rows, Sentence("")))
        _write_rows(view, group, _with_words(wider, len(rows), text))


def remove_row(row: int) -> None:
    """Remove the sentence or reference of a row of chips; the last sentence stays."""
    view = session.current()
    group, index = _place(view, row)
    rows = [old for i, old in enumerate(getattr(view, group)) if i != index]
    if rows or group == "references":
        _write_rows(view, group, rows)


def full_groups(view: ViewState) -> frozenset[Group]:
    """Return the groups that take no more rows."""
    return frozenset(group for group in GROUPS if len(getattr(view, group)) >= MAX_SENTENCES)


def _place(view: ViewState, row: int) -> tuple[Group, int]:
    """Return the item of a row of chips: the sentences come first, the references after them."""
    n = len(view.sentences)
    return ("sentences", row) if row < n else ("references", row - n)


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
        case = "long_kept" if case == "long" else "lines_kept"
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


def _write_rows(view: ViewState, group: Group, rows: Sequence[Sentence]) -> None:
    if group == "sentences":
        changed = replace(view, sentences=tuple(rows))
        session.write(without_left_tokens(without_left_references(changed, view), view))
    else:
        session.write(replace(view, references=tuple(rows)))
