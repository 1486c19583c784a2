"""The subject bar of the sentence pages: what a page shows, and where one changes it.

It is the same on every page: each sentence with its letter and its chosen word, the references,
fields to add both, and the examples. It needs no model, so it is there at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import streamlit as st

from contextlens.content.language import say
from contextlens.core.words import Span
from contextlens.figures.theme import color_of
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice, sentence_index, without_left_tokens
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import sentences
from contextlens.ui.widgets.chips import ChipActions, ChipRow, word_chips
from contextlens.ui.widgets.comparison.compute import chosen_span, counted_span, missing

KEY = "chips"
"""The key of the bar's component."""


def subject_bar(
    view: ViewState,
    page: str,
    *,
    control: Choice | None = None,
    shown: Collection[int] = (),
    on_letter: Callable[[int], None] | None = None,
    words: bool = False,
    pairs: bool = False,
    live: bool = False,
    examples: Callable[[], None] | None = None,
) -> None:
    """Draw the bar.

    Args:
        view: the current view.
        page: the page that examples open on.
        control: the page's choice of one sentence; its letter has a ring, others can be clicked.
        shown: instead of that, the indices of the sentences that a page of several compares.
        on_letter: called with the index of a clicked letter of such a page.
        words: True if the page needs a chosen word in each sentence, and is to say so.
        pairs: True if the page reads a sentence's second text.
        live: True if the page follows while one types.
        examples: draws the content of the menu Examples; else it has those of all pages.
    """
    if control is not None:
        shown = {sentence_index(view, control)} if len(view.sentences) > 1 else ()
        on_letter = _choose_with(control)
    choosable = on_letter is not None and len(view.sentences) > 1
    with st.container(horizontal=True, gap="small", border=True, key="subject"):
        word_chips(
            _rows(view, set(shown), needs_words=words, has_pairs=pairs),
            key=KEY,
            actions=ChipActions(
                on_pick=sentences.pick_word,
                on_edit=sentences.retype_row,
                on_add=sentences.add_row,
                on_remove=sentences.remove_row,
                on_letter=on_letter if choosable else None,
            ),
            full=sentences.full_groups(view),
            pairs=pairs,
            live=live,
            plain=session.is_presented(),
        )
        with (
            st.popover(say("frame.sentences.examples"), type="tertiary", key="subject_examples"),
            st.container(key="examples", gap="small"),
        ):
            if examples is None:
                sentences.examples(view, page)
            else:
                examples()


def _choose_with(control: Choice) -> Callable[[int], None]:
    def choose(index: int) -> None:
        view = session.current()
        session.write(without_left_tokens(control.put(view, letter(index)), view))

    return choose


def _rows(
    view: ViewState, shown: Collection[int], *, needs_words: bool, has_pairs: bool
) -> list[ChipRow]:
    rows = [
        ChipRow(
            letter(i),
            sentence.text,
            color_of(i),
            chosen_span(sentence),
            pair=(sentence.pair or "") if has_pairs else "",
            shown=i in shown,
            note=missing(sentence, "sentence", needs_word=needs_words),
            warning=True,
        )
        for i, sentence in enumerate(view.sentences)
    ]
    for i, reference in enumerate(view.references, start=len(rows)):
        span: Span | None = counted_span(reference)
        note = missing(reference, "reference")
        rows.append(
            ChipRow("", reference.text, color_of(i), span, "reference", note=note, warning=True)
        )
    return rows
