"""Widgets for a page's controls: each shows the view's value and writes it back.

They write in callbacks only. A feature's `controls.py` declares its controls.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, TypeVar

import streamlit as st

from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice, Control, Number, Switch, Text, sentence_index
from contextlens.ui.state.view import ViewState, letter

V = TypeVar("V", bound=Hashable)
ViewChange = Callable[[ViewState], ViewState]
"""Adjusts other controls of a view after one has changed."""


def choice(view: ViewState, control: Choice) -> str:
    """Draw a control as a row of buttons; return the choice."""
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


def select(view: ViewState, control: Choice, then: ViewChange = lambda view: view) -> str:
    """Draw a control as a menu; return the choice.

    Args:
        view: the current view.
        control: the choice.
        then: what else changes in the view with the choice.
    """
    chosen = control.of(view)
    menu(
        control.label,
        control.options,
        chosen,
        lambda value: session.write(then(control.put(session.current(), value))),
        key=control.key,
        help=control.help,
    )
    return chosen


def menu(
    label: str,
    options: Mapping[V, str],
    chosen: V,
    on_choose: Callable[[V], None],
    *,
    key: str,
    help: str = "",  # noqa: A002
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """Draw a menu that writes the view.

    Streamlit knows the chosen option by its title. If a title changes (a file is named at last),
    the browser still shows and sends the former one, and Streamlit calls that a choice; nobody
    chose it.

    Args:
        label: the title of the menu.
        options: the title of each value.
        chosen: the value that the view has.
        on_choose: called with the value that the visitor chose, to write the view.
        key: the widget's key, as `session.bind` takes it.
        help: what the menu is for; "" for none.
        width: in pixels.
    """
    values, bound = list(options), session.bind(key, chosen, options[chosen])

    def choose() -> None:
        value = session.value(bound)
        if session.is_shown(bound) and value in options:
            on_choose(value)

    st.selectbox(
        label,
        values,
        values.index(chosen),
        key=bound,
        format_func=options.__getitem__,
        help=help or None,
        width=width,
        on_change=choose,
    )


def switch(view: ViewState, control: Switch) -> bool:
    """Draw a control that is on or off; return its state."""
    on = control.of(view)
    key = session.bind(control.key, on)
    st.toggle(control.label, on, key=key, help=control.help or None, on_change=_write(control, key))
    return on


def two_buttons(view: ViewState, control: Switch, on: str, off: str) -> bool:
    """Draw a control that is on or off as two buttons with titles; return its state."""
    chosen = control.of(view)
    key = session.bind(control.key, chosen)
    st.segmented_control(
        control.label,
        [True, False],
        default=chosen,
        format_func={True: on, False: off}.__getitem__,
        key=key,
        required=True,
        help=control.help or None,
        on_change=_write(control, key),
    )
    return chosen


def number(view: ViewState, control: Number) -> int:
    """Draw a control for a whole number; return the number."""
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
    """Draw a control for typed text; return the text."""
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
    """Return the index of a page's sentence; draw a choice only if there are several."""
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
    """Draw the shown range of n things, with Back and Next, in a row that does not wrap.

    Args:
        name: the prefix of the keys of the two buttons, `NAME_back` and `NAME_next`.
        start: the first thing in view, from 0.
        n: the number of things, more than fit at once.
        at_once: the number of things in view.
        on_step: called with the new first thing.
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
