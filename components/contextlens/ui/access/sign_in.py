"""Sign-in as visitors see it: the one page before it, and their name in the sidebar after it."""

from __future__ import annotations

import logging
from typing import Literal

import streamlit as st
from streamlit.errors import Error as StreamlitError

from contextlens.content.wording import escape, shortened
from contextlens.ui.access import guard, oidc
from contextlens.ui.access.roles import LOOK, PERMISSIONS, Person
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState

_MAX_NAME = 28  # characters
_REASONS = {
    "away": "The service that signs people in does not answer. Nothing is lost: try again in a "
    "moment, and if that does not help, tell whoever runs this server.",
    "refused": "The service that signs people in refused, or you broke off. Try again, or ask "
    "whoever runs this server whether your account may use it.",
    "failed": "The sign-in did not come to its end. Nothing is lost: try again.",
}
_NOT_SET_UP = (
    "Nobody can sign in here yet: the server does not know which provider to ask. Whoever runs it "
    "finds in the log what is missing."
)
_log = logging.getLogger("contextlens")


def gate() -> None:
    """Let allowed visitors pass; all others see one page with one button, at every address."""
    if guard.is_allowed(LOOK):
        return
    visitor = guard.current_person()
    with st.container(key="sign_in_page", gap="small"):
        st.title("Contextlens", anchor=False)
        st.markdown("See what a language model does with your text.")
        if visitor.is_signed_in:
            reason = f"Hello, {_name(visitor)}. {escape(guard.refusal(LOOK))}"
            st.warning(reason, icon=":material/block:")
            _sign_out_button()
        else:
            notice()
            _sign_in_button("primary")
            st.caption("Then you come back to the page that you asked for.")
    st.stop()


def account(view: ViewState) -> None:
    """Draw the visitor's name with a link to sign in or out; nothing if sign-in is off."""
    if not guard.sign_in_is_on():
        return
    visitor = guard.current_person()
    with st.container(key="account", gap="xsmall"):
        if not visitor.is_signed_in:
            _sign_in_button("tertiary")
            if session.is_too_long(view):
                st.caption(
                    "Save your view as a file first (Share): it is too long to come back to."
                )
            return
        label = f"{_name(visitor)} · {visitor.role.name.lower()}"
        with st.popover(label, type="tertiary", icon=":material/person:"):
            allowed = [f"- {p.action}" for p in PERMISSIONS if guard.is_allowed(p, visitor)]
            st.markdown(f"Here you are {visitor.role.title}. You may:\n\n" + "\n".join(allowed))
            if visitor.note:
                st.caption(escape(visitor.note))
            _sign_out_button()


def notice() -> None:
    """Draw the reason why the last sign-in failed, until the visitor is signed in."""
    reason = _REASONS.get(st.query_params.get(oidc.PARAMETER, ""))
    if reason and guard.sign_in_is_on() and not guard.current_person().is_signed_in:
        st.warning(reason, icon=":material/person_off:")


def _sign_in_button(kind: Literal["primary", "tertiary"]) -> None:
    if oidc.is_set_up():
        st.button("Sign in", icon=":material/login:", type=kind, key="sign_in", on_click=_begin)
    else:
        st.error(_NOT_SET_UP, icon=":material/error:")


def _sign_out_button() -> None:
    st.button("Sign out", icon=":material/logout:", key="sign_out", on_click=st.logout)


def _begin() -> None:
    try:
        st.login()
    except StreamlitError:
        _log.exception("A visitor's sign-in could not begin")
        st.query_params[oidc.PARAMETER] = "failed"


def _name(visitor: Person) -> str:
    return escape(shortened(visitor.name, _MAX_NAME))
