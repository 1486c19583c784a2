"""Permissions, checked by the function that acts, not by the code that draws its button.

A browser can send anything: the state of a button that was never drawn, a file for a field that is
not there, the address of somebody else's corpus. So every function that acts asks this module.

Pages and other requests (uploads, exports) tell who the visitor is from the same cookie, which the
server signs at sign-in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.auth_util import get_cookie_with_chunks, get_origin_from_redirect_uri
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from contextlens.core.errors import AccessError
from contextlens.ui.access import roles
from contextlens.ui.access.roles import MANAGE, Permission, Person
from contextlens.ui.state.services import settings


def current_person() -> Person:
    """Return the visitor whose page runs in this thread; a guest if no page does."""
    has_page = sign_in_is_on() and get_script_run_ctx(suppress_warning=True) is not None
    return roles.person_of(st.user.to_dict() if has_page else {}, settings())


def person_of_request(cookies: Mapping[str, str]) -> Person:
    """Return the visitor who sends a request with these cookies."""
    return roles.person_of(claims_in(cookies) if sign_in_is_on() else {}, settings())


def current_owner() -> str:
    """Return the visitor's owner key, which is the same at every visit; "" before sign-in."""
    return current_person().owner


def is_allowed(permission: Permission, person: Person | None = None) -> bool:
    """Return True if a person, or the visitor of this page, has a permission."""
    return not refusal(permission, person)


def refusal(permission: Permission, person: Person | None = None) -> str:
    """Return the reason why a person lacks a permission, as sentences; "" if they have it."""
    return roles.refusal(person or current_person(), permission, settings())


def require(permission: Permission, person: Person | None = None) -> None:
    """Check that a person, or the visitor of this page, has a permission.

    Raises:
        AccessError: they lack it; the message says why.
    """
    reason = refusal(permission, person)
    if reason:
        raise AccessError(reason)


def is_theirs(owner: str, person: Person | None = None) -> bool:
    """Return True if a person may export and delete what an owner has stored."""
    person = person or current_person()
    return bool(owner and owner == person.owner) or is_allowed(MANAGE, person)


def sign_in_is_on() -> bool:
    """Return True if visitors can or must sign in."""
    return settings().sign_in != "off"


def claims_in(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the identity provider's claims from a signed cookie; empty if there are none."""
    try:
        claims = json.loads(signed_value(cookies, USER_COOKIE_NAME) or b"{}")
    except ValueError:
        return {}
    if not isinstance(claims, dict) or claims.get("origin") != get_origin_from_redirect_uri():
        return {}
    return claims


def signed_value(cookies: Mapping[str, str], name: str) -> bytes | None:
    """Return the value of a cookie signed by this server, which may come in chunks, or None."""

    def chunk(name: str) -> bytes | None:
        signed = cookies.get(name, "")
        return decode_signed_value(get_cookie_secret(), name, signed) if signed.isascii() else None

    return get_cookie_with_chunks(chunk, name)
