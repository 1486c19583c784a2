"""Edits of the first sentence: each changed in one way, the least alike first, one click away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

import streamlit as st

from components.analysis.baseline import Band
from components.content.language import say
from components.content.wording import bold, escape
from components.core.words import split_words
from components.features.why.compute.edits import EditsShown, RankedEdit
from components.features.why.controls import FIRST, PICKED, SECOND
from components.features.why.reading import edits_reading
from components.ui.state import session
from components.ui.state.view import MAX_SENTENCES, letter, retyped
from components.ui.widgets import kit

__all__ = ["draw_edits"]

_MOST = 12
_AROUND, _CHANGED = 80, 160  # characters on either side of what changed, and of that itself


def draw_edits(shown: EditsShown, band: Band | None) -> None:
    """What the edits do, in words, and each with a button that compares it."""
    said = edits_reading(shown, band)
    kit.reading(said.sentences, sure=said.sure, key="reading_edits")
    for i, ranked in enumerate(shown.edits[:_MOST]):
        _edit(shown, ranked, i)
    if len(shown.edits) > _MOST:
        st.caption(say("why.edits.more", most=_MOST, n=len(shown.edits)))


def _edit(shown: EditsShown, ranked: RankedEdit, place: int) -> None:
    second = shown.score.second
    own = shown.side.sentence
    with st.container(horizontal=True, vertical_alignment="center", gap="small",
                      key=f"why_edit_{place}"):  # fmt: skip
        st.markdown(bold(ranked.cosine), width=48)
        with st.container(gap=None):
            st.markdown(_marked(own.text, ranked.edit.text))
            st.caption(escape(ranked.edit.what))
        st.button(
            say("why.work.compare_as", letter=second.letter)
            if second.index != shown.side.index
            else say("why.work.compare"),
            key=f"why_edit_use_{place}",
            disabled=(ranked.edit.text, own.pair) == (second.sentence.text, second.sentence.pair),
            on_click=_use,
            args=(shown.side.index, second.index, ranked.edit.text),
        )


def _use(first: int, second: int, text: str) -> None:
    """Put an edit in the second sentence's place; where both are one, behind all others."""
    view = session.current()
    if not 0 <= first < len(view.sentences):
        return
    own, rows = view.sentences[first], list(view.sentences)
    if second == first:
        second = len(rows) if len(rows) < MAX_SENTENCES else int(first == 0)
    rows[second : second + 1] = [replace(retyped(own, text, None), pair=own.pair)]
    view = replace(view, sentences=tuple(rows))
    for control, index in ((FIRST, first), (SECOND, second)):
        view = control.put(view, letter(index))
    session.write(PICKED.put(view, PICKED.default))


def _marked(before: str, after: str) -> str:
    """The edited text as Markdown, its new words marked; of a long one what stands around them."""
    ours, theirs = _pieces(before), _pieces(after)
    start = _n_alike(ours, theirs)
    end = _n_alike(ours[start:][::-1], theirs[start:][::-1])
    old, new = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    head, tail = "".join(theirs[:start]), "".join(theirs[len(theirs) - end :])
    return "".join(
        [
            escape(head if len(head) <= _AROUND else f"…{head[-_AROUND:]}"),
            *_changed(old, new),
            escape(tail if len(tail) <= _AROUND else f"{tail[:_AROUND]}…"),
        ]
    )


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """What stands between two parts that did not change; of much, the first."""
    n_characters = 0
    for i, piece in enumerate(new):
        is_new = len(old) != len(new) or old[i] != piece
        yield f":blue-background[{escape(piece)}]" if is_new and piece.strip() else escape(piece)
        n_characters += len(piece)
        if n_characters > _CHANGED:
            yield "…"
            return


def _n_alike(first: Sequence[str], second: Sequence[str]) -> int:
    """How many pieces both have in common from their beginning on."""
    both = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))


def _pieces(text: str) -> list[str]:
    """Words, and what stands between them, on one line."""
    cuts = sorted({0, len(text), *(cut for span in split_words(text) for cut in span)})
    return [text[a:b] if text[a:b].strip() else " " for a, b in pairwise(cuts)]
