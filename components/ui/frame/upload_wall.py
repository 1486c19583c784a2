"""What one visit may send to the server as files, counted where they arrive.

Streamlit bounds each file, but keeps whatever a visit sends, shown on a page or not, in memory for
as long as the visit lasts. A page says first that there were too many: see `corpus.uploads`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime

from components.core import Settings
from components.core.errors import AccessError, SettingsError
from components.ui.access import guard
from components.ui.access.roles import UPLOAD

__all__ = ["UploadWall", "middleware"]

_UPLOAD = re.compile(r"(?:^|/)_stcore/upload_file/([^/]+)/[^/]+/?$")
_N_FILES = 200  # of one visit: twice what a page reads, state files too
_TIMES_UPLOAD = 11  # largest files that they may add up to: one more than a page reads
_N_VISITS = 10_000  # that are counted


def middleware() -> list[Middleware]:
    """What stands before Streamlit's own uploads."""
    return [Middleware(UploadWall, is_visit=_is_visit)]


class UploadWall:
    """Lets pass what a visit uploads up to a number of files and of bytes."""

    def __init__(self, app: ASGIApp, *, is_visit: Callable[[str], bool]) -> None:
        self._app, self._is_visit = app, is_visit
        self._counts: OrderedDict[str, tuple[int, int]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on, or answers with 413 and a sentence."""
        visit = _visit(scope)
        why_not = _why_not(scope) if visit else ""
        if why_not:
            await PlainTextResponse(f"{why_not}\n", status_code=403)(scope, receive, send)
            return
        if not visit or not self._is_visit(visit):  # Streamlit reads nothing of a stranger's
            await self._app(scope, receive, send)
            return
        max_bytes = _TIMES_UPLOAD * _largest()
        n_files, n_bytes = self._counts.get(visit, (0, 0))
        if n_files >= _N_FILES or n_bytes >= max_bytes:
            said = (
                f"This visit has sent {n_files:,} files, {n_bytes / 1e6:,.1f} MB in all; at most "
                f"{_N_FILES:,} files and {max_bytes / 1e6:,.0f} MB are taken. Reload the page.\n"
            )
            await PlainTextResponse(said, status_code=413)(scope, receive, send)
            return
        self._add(visit, n_files=1)

        async def counted() -> Message:
            message = await receive()
            total = self._add(visit, n_bytes=len(message.get("body", b"")))
            # Others of this visit may arrive at the same time: what is too much is cut off.
            return message if total <= max_bytes else {"type": "http.disconnect"}

        await self._app(scope, counted, send)

    def _add(self, visit: str, *, n_files: int = 0, n_bytes: int = 0) -> int:
        """Count what has arrived; gives the visit's bytes so far."""
        files, total = self._counts.pop(visit, (0, 0))
        self._counts[visit] = files + n_files, total + n_bytes
        if len(self._counts) > _N_VISITS:
            self._counts.popitem(last=False)
        return total + n_bytes


def _visit(scope: Scope) -> str:
    """The visit that a request uploads a file for; "" for any other request."""
    if scope["type"] != "http" or scope["method"] != "PUT":
        return ""
    found = _UPLOAD.search(scope["path"])
    return found[1] if found else ""


def _why_not(scope: Scope) -> str:
    """Why who sends this may upload nothing, or "": whatever a page has drawn for them."""
    try:
        guard.require(UPLOAD, guard.person_of_request(Request(scope).cookies))
    except (AccessError, SettingsError) as exc:  # the second: who may is not known then
        return exc.for_visitors
    return ""


def _is_visit(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def _largest() -> int:
    try:
        return Settings.from_env().max_upload_bytes
    except SettingsError:  # every page says it
        return Settings().max_upload_bytes
