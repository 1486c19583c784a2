"""The way to the provider of identities and back, to where the visitor wanted to be.

Streamlit sends everybody who comes back to the first page. The view is in the address, which is
longer than a cookie or a Referer may be: so the browser notes for its tab where it was when it left
(`LEAVING`, part of the document), and comes back there by a page of one line. Where sign-in failed
the address says so in a parameter, and the page of that address says it in words.
"""

from __future__ import annotations

import json
import logging
from string import Template
from urllib.parse import parse_qs

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.url_util import make_url_path
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from components.ui.access import identity

__all__ = ["LEAVING", "PARAMETER", "Returning", "middleware"]

PARAMETER = "sign_in"
"""In which an address says why sign-in failed: "away", "refused" or "failed"."""

_KEY = "contextlens-place"
LEAVING = (
    'addEventListener("pagehide",()=>{try{sessionStorage.setItem('
    f'"{_KEY}",location.pathname+location.search)}}catch{{}}}});'
)
"""JavaScript of every page: notes for this tab where it was left."""

_BACK = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Contextlens</title></head>
<body><noscript>Contextlens needs JavaScript.</noscript><script>
const base = $base, why = $why;
let place = null;
try { place = sessionStorage.getItem($key); } catch {}
let to = new URL(base, location.origin);
if (place !== null) {
  const known = new URL(place, location.origin);
  if (known.origin === location.origin && known.pathname.startsWith(base)) to = known;
}
to.searchParams.delete($parameter);
if (why) to.searchParams.set($parameter, why);
location.replace(to);
</script></body></html>
""")
_LOGIN, _CALLBACK = "auth/login", "oauth2callback"

_log = logging.getLogger("contextlens")


def middleware() -> list[Middleware]:
    """What stands before Streamlit's own sign-in."""
    return [Middleware(Returning)]


class Returning:
    """Has Streamlit's own routes of sign-in end where the visitor was."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on; the answer to who comes back from the provider is a page of one line."""
        base = make_url_path(st.get_option("server.baseUrlPath"), "/")
        path = scope["path"] if scope["type"] == "http" else ""
        say = {f"{base}{_CALLBACK}": _why_back, f"{base}{_LOGIN}": _why_not_gone}.get(path)
        if say is None:
            await self._app(scope, receive, send)
            return
        answer = _Answer()
        try:
            await self._app(scope, receive, answer.take)
        except Exception:  # noqa: BLE001 - whatever it is, the visitor gets a page
            _log.exception("A visitor's sign-in failed")
        why = say(scope, answer)
        if why is None:
            await answer.send(send)
        else:
            await _back_page(base, why, answer.cookies)(scope, receive, send)


class _Answer:
    """What Streamlit answers, held until it is known what becomes of it."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    async def take(self, message: Message) -> None:
        """One more message of it."""
        self._messages.append(message)

    async def send(self, send: Send) -> None:
        """As it came."""
        for message in self._messages:
            await send(message)

    @property
    def status(self) -> int:
        """500 where none came."""
        return int(self._messages[0]["status"]) if self._messages else 500

    @property
    def cookies(self) -> list[str]:
        """What the browser is to keep."""
        return (
            Headers(raw=self._messages[0]["headers"]).getlist("set-cookie")
            if self._messages
            else []
        )

    @property
    def signs_in(self) -> bool:
        """Whether one of them says who the visitor is."""
        own = f"{USER_COOKIE_NAME}="
        return any(one.startswith(own) and "Max-Age=0" not in one for one in self.cookies)


def _why_not_gone(_: Scope, answer: _Answer) -> str | None:
    """Why the way to the provider ends here; None where it does not."""
    return None if answer.status < 400 else "away"


def _why_back(scope: Scope, answer: _Answer) -> str | None:
    """What to say to who comes back, "" for nothing; None for who comes from signing out."""
    asked = parse_qs(scope["query_string"].decode("latin-1"))
    if "code" not in asked and "error" not in asked:
        return None if answer.status < 400 else "failed"
    cookies = Request(scope).cookies
    if answer.signs_in or ("error" not in asked and identity.of_cookies(cookies)):
        return ""  # the second: by the browser's Back
    return "refused" if "error" in asked else "failed"


def _back_page(base: str, why: str, cookies: list[str]) -> HTMLResponse:
    values = {"base": base, "why": why, "key": _KEY, "parameter": PARAMETER}
    text = _BACK.substitute({name: json.dumps(value) for name, value in values.items()})
    page = HTMLResponse(text, headers={"Cache-Control": "no-store"})
    for cookie in cookies:
        page.headers.append("set-cookie", cookie)
    return page
