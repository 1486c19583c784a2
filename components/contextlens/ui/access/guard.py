"""Permissions, checked by the function that acts, not by the code that draws its button.

A browser can send anything: the state of a button that was never drawn, a file for a field that is
not there, the address of somebody else's corpus. So every function that acts asks this module.

Pages and other requests (uploads, exports) tell who the visitor is from the same cookie, which the
server signs at sign-in.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.auth_util import get_cookie_with_chunks, get_origin_from_redirect_uri
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from contextlens.core.errors import AccessError
from contextlens.ui.access import roles, visitor_key
from contextlens.ui.access.roles import EVERYBODY, MANAGE, Permission, Person
from contextlens.ui.state.services import has_visitor_keys, is_for_one, settings


def current_person() -> Person:
    """Return the visitor whose page runs in this thread; a guest if no page does."""
    if not sign_in_is_on():
        return _visitor(page_cookies())
    return roles.person_of(st.user.to_dict() if _has_page() else {}, settings())


def person_of_request(cookies: Mapping[str, str]) -> Person:
    """Return the visitor who sends a request with these cookies."""
    if not sign_in_is_on():
        return _visitor(cookies)
    return roles.person_of(claims_in(cookies), settings())


def page_cookies() -> Mapping[str, str]:
    """Return the cookies with which the visitor's browser opened this page; none without a page."""
    return st.context.cookies if _has_page() else {}


def _has_page() -> bool:
    return get_script_run_ctx(suppress_warning=True) is not None


def counted_as(person: Person, host: str | None) -> str:
    """Return the visitor for whom a request's files count: who signed in, else a network address.

    A browser's key does not count, as a browser can send any.
    """
    return person.owner if person.is_signed_in else host or ""


def _visitor(cookies: Mapping[str, str]) -> Person:
    owner = visitor_key.owner_of(cookies) if has_visitor_keys() else ""
    return replace(EVERYBODY, owner=owner)


def current_owner() -> str:
    """Return the owner of what the visitor stores, the same at every visit; "" for nobody."""
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
    """Return True if a person may export, change and delete what an owner has stored."""
    person = person or current_person()
    is_owner = bool(owner) and hmac.compare_digest(owner, person.owner)
    return is_owner or manages_all(person)


def manages_all(person: Person | None = None) -> bool:
    """Return True if a person may change what anybody has stored: an admin, or the only visitor."""
    return is_for_one() or (sign_in_is_on() and is_allowed(MANAGE, person))


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
