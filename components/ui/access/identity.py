"""What a provider has said of a visitor: asked of the run of a page, or of a request's cookies.

Both are the same cookie, which Streamlit signs when somebody signs in. A request that comes past
the pages (an upload, an export) is judged by the cookie that it brings.
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

__all__ = ["of_cookies", "of_run"]


def of_run() -> Mapping[str, Any]:
    """Of the visitor whose page runs in this thread; nothing where no page does."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return {}
    claims: Mapping[str, Any] = st.user.to_dict()
    return claims


def of_cookies(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Of whoever sends these cookies; nothing where none of them is signed by this server."""

    def one(name: str) -> bytes | None:
        signed = cookies.get(name, "")
        return decode_signed_value(get_cookie_secret(), name, signed) if signed.isascii() else None

    written = get_cookie_with_chunks(one, USER_COOKIE_NAME)
    try:
        claims = json.loads(written or b"{}")
    except ValueError:
        return {}
    if not isinstance(claims, dict) or claims.get("origin") != get_origin_from_redirect_uri():
        return {}
    return claims
