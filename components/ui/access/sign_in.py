"""What visitors see of signing in: the one page of who has not, and who they are in the sidebar."""

from __future__ import annotations

import logging
from typing import Literal

import streamlit as st
from streamlit.errors import Error as StreamlitError

from components.content.wording import escape, shortened
from components.ui.access import guard, provider
from components.ui.access.returning import PARAMETER
from components.ui.access.roles import LOOK, RIGHTS, Person
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["account", "gate", "notice"]

_LONGEST = 28  # characters of a name
_WHY = {
    "away": "The service that signs people in does not answer. Nothing is lost: try again in a "
    "moment, and if that does not help, tell whoever runs this server.",
    "refused": "The service that signs people in refused, or you broke off. Try again, or ask "
    "whoever runs this server whether your account may use it.",
    "failed": "The sign-in did not come to its end. Nothing is lost: try again.",
}
_NOT_SET_UP = (
    "Nobody can sign in here yet: the server lacks what it is to ask a provider with. Whoever runs "
    "it finds in the log what is missing."
)
_log = logging.getLogger("contextlens")


def gate() -> None:
    """Pass who may look; anybody else sees one page with one button, at every address."""
    if guard.may(LOOK):
        return
    who = guard.person()
    with st.container(key="sign_in_page", gap="small"):
        st.title("Contextlens", anchor=False)
        st.markdown("See what a language model does with your text.")
        if who.is_signed_in:
            why = f"Hello, {_named(who)}. {escape(guard.refusal(LOOK))}"
            st.warning(why, icon=":material/block:")
            _sign_out()
        else:
            notice()
            _sign_in(kind="primary")
            st.caption("Then you come back to the page that you asked for.")
    st.stop()


def account(view: ViewState) -> None:
    """Who the visitor is here, with a way in or out; nothing where nobody signs in."""
    if not guard.sign_in_is_on():
        return
    who = guard.person()
    with st.container(key="account", gap="xsmall"):
        if who.is_signed_in:
            _signed_in(who)
        else:
            _sign_in(kind="tertiary")
            if session.is_too_long(view):
                st.caption(
                    "Save your view as a file first (Share): it is too long to come back to."
                )


def _signed_in(who: Person) -> None:
    role = who.role.name.lower()
    with st.popover(f"{_named(who)} · {role}", type="tertiary", icon=":material/person:"):
        st.markdown(f"Here you are {who.role.title}. You may:\n\n" + "\n".join(_may(who)))
        if who.why:
            st.caption(escape(who.why))
        _sign_out()


def _may(who: Person) -> list[str]:
    return [f"- {right.what}" for right in RIGHTS if guard.may(right, who)]


def notice() -> None:
    """Why the last sign-in failed, where it did and nobody is signed in."""
    why = _WHY.get(st.query_params.get(PARAMETER, ""))
    if why and guard.sign_in_is_on() and not guard.person().is_signed_in:
        st.warning(why, icon=":material/person_off:")


def _sign_in(*, kind: Literal["primary", "tertiary"]) -> None:
    if not provider.is_set_up():
        st.error(_NOT_SET_UP, icon=":material/error:")
        return
    st.button(
        "Sign in",
        icon=":material/login:",
        type=kind,
        key="sign_in",
        on_click=_begin,
    )


def _sign_out() -> None:
    st.button("Sign out", icon=":material/logout:", key="sign_out", on_click=st.logout)


def _begin() -> None:
    try:
        st.login()
    except StreamlitError:
        _log.exception("A visitor's sign-in could not begin")
        st.query_params[PARAMETER] = "failed"


def _named(who: Person) -> str:
    return escape(shortened(who.name, _LONGEST))
