"""The key by which a browser owns the corpora that it adds, on a shared server without sign-in.

The server sends it with each page as a cookie, which survives a reload and is in no address, state
file or report. The store has only its SHA-256, as the owner of a corpus. No streamlit.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

COOKIE = "contextlens_visitor"
_SECONDS = 400 * 24 * 60 * 60
"""How long a browser keeps the cookie after each page: browsers allow no more."""
_N_BYTES = 32
_KEY = re.compile(r"[A-Za-z0-9_-]{43}")  # `_N_BYTES` in base64


def owner_of(cookies: Mapping[str, str]) -> str:
    """Return the owner that a browser's cookies name, as the store has it; "" without a key."""
    key = _key_in(cookies)
    return hashlib.sha256(key.encode()).hexdigest() if key else ""


def send_with(response: Response, request: Request, path: str) -> None:
    """Send a browser's key with a page, a new one if it has none."""
    key = _key_in(request.cookies) or secrets.token_urlsafe(_N_BYTES)
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        COOKIE, key, _SECONDS, path=path, secure=is_secure, httponly=True, samesite="lax"
    )


def _key_in(cookies: Mapping[str, str]) -> str:
    key = cookies.get(COOKIE)
    return key if isinstance(key, str) and _KEY.fullmatch(key) else ""
