"""Above the picture: the two sentences, what of them is compared, and how it is taken apart."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.content.examples import EXAMPLES
from components.core.words import Span
from components.features.why import controls
from components.figures.theme import color_of
from components.ui.frame import navigation
from components.ui.state import session
from components.ui.state.controls import Choice
from components.ui.state.view import ViewState, from_example, letter
from components.ui.widgets import inputs, kit, sentences
from components.ui.widgets.chips import ChipRow, word_chips
from components.ui.widgets.comparison.compute import chosen_span

__all__ = ["compared", "toolbar"]

_OPTIONS: dict[str, tuple[Choice, ...]] = {
    controls.SHARES: (controls.UNIT,),
    controls.LEAVE_OUT: (controls.OUT_OF,),
    controls.SWITCH_OFF: (controls.OFF_TO,),
}
_LONG, _HEIGHT = 400, 150  # characters of both, from which on they scroll within so many pixels
_READY = ("python", "bank", "negation", "order")
"""The examples that are offered here, by their keys."""


def compared(view: ViewState) -> tuple[int, int]:
    """The two sentences that are compared; the same twice where there is no other."""
    letters = [letter(i) for i in range(max(1, len(view.sentences)))]
    first, second = (
        letters.index(control.among(letters).of(view))
        for control in (controls.FIRST, controls.SECOND)
    )
    return first, second


def toolbar(view: ViewState) -> None:
    """The sentences as chips, and the controls."""
    _chips(view)
    look = controls.LOOK.of(view)
    with kit.controls("why"):
        inputs.choice(view, controls.LOOK)
        for control in _of_look(view, look):
            inputs.choice(view, control)
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view, look)


def _of_look(view: ViewState, look: str) -> tuple[Choice, ...]:
    """What else decides on what is shown."""
    if look == controls.SHARES:
        return (controls.DEPTH,)
    if look == controls.LEAVE_OUT:
        return (controls.HOW_OUT,)
    if look == controls.SWITCH_OFF:
        return (controls.OVER,) if len(view.sentences) > 2 else ()
    first, second = map(letter, compared(view))
    return (
        controls.INTO.among(
            {
                controls.INTO_FIRST: f"{second} into {first}",
                controls.INTO_SECOND: f"{first} into {second}",
            }
        ),
    )


def _menus(view: ViewState, look: str) -> None:
    what = controls.WHAT.options[controls.WHAT.of(view)]
    if len(view.sentences) > 2:
        what += ": {} and {}".format(*map(letter, compared(view)))
    with st.popover(what, icon=":material/compare_arrows:", type="tertiary", key="why_compared"):
        inputs.choice(view, controls.WHAT)
        if len(view.sentences) > 2:
            letters = [letter(i) for i in range(len(view.sentences))]
            inputs.choice(view, controls.FIRST.among(letters))
            inputs.choice(view, controls.SECOND.among(letters))
        sentences.sentence_editor(view, "sentences", where="page", least=1)
    with (
        st.popover("Examples", icon=":material/lightbulb:", type="tertiary"),
        st.container(key="why_examples", gap="small"),
    ):
        _examples(view)
    if look in _OPTIONS:
        with st.popover("Options", icon=":material/tune:", type="tertiary"):
            for control in _OPTIONS[look]:
                inputs.choice(view, control)


def _examples(view: ViewState) -> None:
    """Ready pairs, opened on this page with the look that is chosen."""
    for example in EXAMPLES:
        if example.key in _READY:
            ready = from_example(example, view.model)
            opened = _first_two(
                replace(view, sentences=ready.sentences, references=ready.references)
            )
            navigation.link(
                navigation.row(controls.PAGE), opened, label=example.title, icon=example.icon
            )


def _first_two(view: ViewState) -> ViewState:
    for control in (controls.FIRST, controls.SECOND):
        view = control.put(view, control.default)
    return controls.PICKED.put(view, controls.PICKED.default)


def _chips(view: ViewState) -> None:
    """The two sentences; a word that is clicked is one that is compared."""
    own = tuple(dict.fromkeys(compared(view))) if view.sentences else ()
    words = controls.WHAT.of(view) == controls.WORD
    texts = [view.sentences[i] for i in own]
    is_long = sum(len(each.text) for each in texts) > _LONG
    with st.container(height=_HEIGHT if is_long else "content", border=False, key="why_sentences"):
        word_chips(
            [
                ChipRow(letter(i), each.text, color_of(i), chosen_span(each) if words else None)
                for i, each in zip(own, texts, strict=True)
            ],
            key="chips",
            on_pick=lambda row, span: _pick(own[row], span),
            on_edit=lambda row, text: sentences.retype_row(own[row], text),
        )


def _pick(index: int, span: Span) -> None:
    sentences.pick_word(index, span)
    session.write(controls.WHAT.put(session.current(), controls.WORD))
