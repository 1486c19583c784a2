"""Widgets for a page's controls: each shows the view and writes it back.

Writing happens in callbacks only, and what a control is, its feature's `controls.py` declares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from components.ui.state import session
from components.ui.state.controls import Choice, Control, Number, Switch, Text, sentence_index
from components.ui.state.view import ViewState, letter

__all__ = ["choice", "number", "select", "sentence", "steps", "switch", "text"]


def choice(view: ViewState, control: Choice) -> str:
    """A control as a row of buttons; gives what is chosen."""
    chosen = control.of(view)
    key = session.bind(control.key, chosen)
    st.segmented_control(
        control.label,
        list(control.options),
        default=chosen,
        format_func=control.options.__getitem__,
        key=key,
        required=True,
        help=control.help or None,
        on_change=_write(control, key),
    )
    return chosen


def select(view: ViewState, control: Choice) -> str:
    """A control as a menu; gives what is chosen."""
    values, chosen = list(control.options), control.of(view)
    key = session.bind(control.key, chosen)
    st.selectbox(
        control.label,
        values,
        index=values.index(chosen),
        key=key,
        format_func=control.options.__getitem__,
        help=control.help or None,
        on_change=_write(control, key),
    )
    return chosen


def switch(view: ViewState, control: Switch) -> bool:
    """A control that is on or off."""
    on = control.of(view)
    key = session.bind(control.key, on)
    st.toggle(control.label, on, key=key, help=control.help or None, on_change=_write(control, key))
    return on


def number(view: ViewState, control: Number) -> int:
    """A control for a whole number."""
    chosen = control.of(view)
    key = session.bind(control.key, chosen)
    st.number_input(
        control.label,
        control.low,
        control.high,
        chosen,
        step=1,
        key=key,
        help=control.help or None,
        on_change=_write(control, key),
    )
    return chosen


def text(view: ViewState, control: Text) -> str:
    """A control that is typed into."""
    chosen = control.of(view)
    key = session.bind(control.key, chosen)
    st.text_input(
        control.label,
        chosen,
        key=key,
        max_chars=200,
        placeholder=control.placeholder or None,
        help=control.help or None,
        on_change=_write(control, key),
    )
    return chosen


def sentence(view: ViewState, control: Choice) -> int:
    """Which sentence a page of one sentence shows, by its index; nothing to choose among one."""
    letters = [letter(i) for i in range(len(view.sentences))]
    if len(letters) > 1:
        choice(view, control.among(letters))
    return sentence_index(view, control)


def _write(control: Control[Any], key: str) -> Callable[[], None]:
    def write() -> None:
        if session.is_shown(key):
            session.write(control.put(session.current(), session.value(key)))

    return write


def steps(name: str, start: int, n: int, *, at_once: int, on_step: Callable[[int], None]) -> None:
    """Which of n things are shown, with a step back and on: one piece that does not come apart.

    Args:
        name: before the keys of the two buttons, `NAME_back` and `NAME_next`.
        start: the first that is shown, from 0.
        n: how many there are, more than are shown at once.
        at_once: how many are shown.
        on_step: called with the first that is to be shown.
    """
    end = min(start + at_once, n)
    with st.container(
        horizontal=True, width="content", vertical_alignment="center", gap="small", wrap=False
    ):
        st.markdown(f"{start + 1:,} to {end:,} of {n:,}", width="content")
        back = max(0, start - at_once)
        st.button("Back", icon=":material/chevron_left:", key=f"{name}_back", type="tertiary",
                  disabled=not start, on_click=on_step, args=(back,))  # fmt: skip
        st.button("Next", icon=":material/chevron_right:", key=f"{name}_next", type="tertiary",
                  disabled=end >= n, on_click=on_step, args=(end,))  # fmt: skip
