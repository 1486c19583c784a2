"""One visitor without a browser: Streamlit's own WebSocket protocol, as its frontend speaks it.

Asks for runs of a page's script on an address, and reads what comes back until the run is over.
Only to this machine.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Navigation_pb2 import Navigation
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

__all__ = ["PATIENCE", "Answer", "Visitor", "check_is_here", "visit"]

PATIENCE = 60.0
"""Seconds after which a question counts as one without an answer."""

_HERE = {"localhost", "127.0.0.1", "::1"}
_KEPT_RUNS = 2  # how long the frontend keeps a large message that may come again
_EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN


@dataclass(frozen=True)
class Answer:
    """A question's answer.

    Attributes:
        asked: when, in seconds of `time.perf_counter`.
        seconds: until the run was over, or until it was given up.
        error: why it does not count as answered; empty where it does.
        n_bytes: of all that came.
        is_settled: nothing on the page still waits for something.
        shown: all that came, where it was asked for.
    """

    asked: float
    seconds: float
    error: str
    n_bytes: int
    is_settled: bool
    shown: bytes = b""


def check_is_here(address: str) -> None:
    """Refuse any address but this machine's.

    Raises:
        ValueError: it is another machine's.
    """
    host = urlsplit(address).hostname
    if host not in _HERE:
        raise ValueError(f"Visitors go to this machine only (localhost), not to {host}.")


@asynccontextmanager
async def visit(
    address: str,
    page: str,
    *,
    keeps: bool = False,
    cookie: str = "",
    line: socket.socket | None = None,
) -> AsyncIterator[Visitor]:
    """A visitor of one page of an app.

    Args:
        address: the app's, such as http://localhost:8501.
        page: the page's own address below it.
        keeps: answers carry all that came.
        cookie: the browser's, for a proxy in front of several processes.
        line: a connection to that address, where a usual one will not do.
    """
    check_is_here(address)
    place = urlsplit(address)
    connection = await connect(
        f"ws://{place.netloc}/_stcore/stream",
        origin=address,
        additional_headers={"Cookie": cookie} if cookie else None,
        subprotocols=["streamlit", "PLACEHOLDER_AUTH_TOKEN"],
        max_size=None,
        max_queue=16 if line is None else 1,
        proxy=None,
        sock=line,
        open_timeout=PATIENCE,
    )
    try:
        yield Visitor(connection, address, page, keeps=keeps)
    finally:
        with suppress(WebSocketException, OSError):
            await connection.close()


class Visitor:
    """One browser tab on one page."""

    def __init__(self, socket: ClientConnection, address: str, page: str, *, keeps: bool) -> None:
        self._socket = socket
        self._address = address
        self._page = page
        self._keeps = keeps
        self.session = ""  # its name, once told
        self.script = ""  # the page script's hash, once told
        self._large: dict[str, int] = {}  # hash of a message that may come again, run of it
        self._run = 0

    async def ask(self, query: str, texts: Sequence[str] = ()) -> Answer:
        """The answer to a new address; it is an error if one of the texts is missing."""
        asked = time.perf_counter()
        reading = _Reading([text.encode() for text in texts], keeps=self._keeps)
        try:
            async with asyncio.timeout(PATIENCE):
                await self.begin(query)
                await self._read(reading)
        except TimeoutError:
            reading.error = f"no answer within {PATIENCE:.0f} s"
        except (WebSocketException, OSError) as exc:
            reading.error = f"the connection ended: {exc}"
        return reading.answer(asked)

    async def begin(self, query: str) -> None:
        """Ask without waiting for the answer."""
        question = BackMsg()
        state = question.rerun_script
        state.query_string = query
        state.page_script_hash = self.script
        state.page_name = "" if self.script else self._page
        state.widget_states.SetInParent()
        state.cached_message_hashes.extend(self._large)
        state.context_info.url = f"{self._address}/{self._page}?{query}"
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en-US"
        state.context_info.color_scheme = "light"
        await self._socket.send(question.SerializeToString())

    def leave(self) -> None:
        """Disconnect at once, like a closed tab or a sleeping phone."""
        self._socket.transport.abort()

    async def _read(self, reading: _Reading) -> None:
        while not reading.is_over:
            frame = await self._socket.recv(decode=False)
            message = ForwardMsg.FromString(frame)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
            elif kind == "navigation":
                self.script = message.navigation.page_script_hash
                reading.error = reading.error or _other_page(message.navigation, self._page)
            if kind == "ref_hash":
                self._large[message.ref_hash] = self._run
            elif message.metadata.cacheable:
                self._large[message.hash] = self._run
            reading.take(message, kind, frame)
        self._run += 1
        self._large = {k: run for k, run in self._large.items() if self._run - run <= _KEPT_RUNS}


class _Reading:
    """An answer while it comes in."""

    def __init__(self, wanted: list[bytes], *, keeps: bool) -> None:
        self.error = ""
        self.is_over = False
        self._wanted = wanted
        self._has_begun = False
        self._is_settled = True
        self._n_bytes = 0
        self._keeps = keeps
        self._frames: list[bytes] = []

    def take(self, message: ForwardMsg, kind: str | None, frame: bytes) -> None:
        """Take one message; the end of an earlier run does not end this one."""
        self._n_bytes += len(frame)
        if self._keeps:
            self._frames.append(frame)
        if self._wanted:
            self._wanted = [text for text in self._wanted if text not in frame]
        if kind == "new_session":
            self._has_begun, self._is_settled = True, True
        elif kind == "auto_rerun":
            self._is_settled = False
        elif kind == "delta" and not self.error:
            self.error = _complaint(message)
        elif kind == "script_finished" and self._has_begun:
            self.is_over = message.script_finished != _EARLY
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.error = "the script did not compile"

    def answer(self, asked: float) -> Answer:
        """The complete answer."""
        took = time.perf_counter() - asked
        error = self.error
        if not error and self._wanted:
            error = f"the page does not show {self._wanted[0].decode()!r}"
        shown = b"".join(self._frames)
        return Answer(asked, took, error, self._n_bytes, self._is_settled, shown)


def _other_page(navigation: Navigation, wanted: str) -> str:
    """That another page came than the one at the address; empty if it is that one."""
    came = next(
        p for p in navigation.app_pages if p.page_script_hash == navigation.page_script_hash
    )
    is_wanted = came.is_default if not wanted else came.url_pathname == wanted
    return "" if is_wanted else f"the page {came.page_name!r} came, not {wanted!r}"


def _complaint(message: ForwardMsg) -> str:
    """The error that an element shows; empty for other elements."""
    element = message.delta.new_element
    match element.WhichOneof("type"):
        case "exception":
            return f"{element.exception.type}: {element.exception.message}"
        case "alert" if element.alert.format == Alert.ERROR:
            return element.alert.body
    return ""
