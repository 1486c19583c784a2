"""Questions to a service over HTTP: pooled, tried again where that can help, given up in words.

All of it happens in an event loop of the connection's own, in a thread beside: so whoever asks can
be told how far the work is, and can give up at any time, also while nothing is heard.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Mapping
from hashlib import blake2b
from queue import Empty, SimpleQueue
from typing import Any

import httpx2
import msgspec

from components.core.caller import current
from components.core.errors import BusyError, JobError, ServiceAwayError, SettingsError, WorkerError
from components.core.remote.wire import (
    BULK_HEADER,
    CALLER_HEADER,
    MEDIA_TYPE,
    MODEL_HEADER,
    PREFIX,
    STREAM_TYPE,
    Event,
    Fault,
    pack_request,
    unpack_answer,
)

__all__ = ["Connection", "Told"]

Told = Callable[[Any], None]
"""Told how far the work is; what it raises ends the work."""

_PAUSES = (0.0, 0.2, 0.5, 1.0, 1.5)
"""Seconds before each try; they vary by half, so that not all who lost it come at once."""
_MOST_LOST = 2
"""A question that was sent and got no answer is asked once more only: it may be what ended the
process that had it."""
_AWAY_SECONDS = 2.0
"""Who did not answer is not asked again for so long: a page asks many times a run."""
_CONNECT_SECONDS = 3.0
_SILENT_SECONDS = 30.0
"""The longest silence: a service that works says so every second."""
_QUICK_SECONDS = 5.0
"""For what is known without any work, from the question to the end of the answer."""
_CONNECTIONS = {False: 64, True: 8}
"""At once; quick questions have their own, so that long ones do not stand in their way."""
_WAIT_SECONDS = {False: 5.0, True: 2.0}
"""For a free connection, before the service is said to be busy."""
_IDLE_SECONDS = 4.0  # that a connection is kept: servers close theirs after five
_HEED_SECONDS = 0.1
_NOT_ASKED = {404, 503}
"""Of whoever stands before a service that starts or is gone; the question was not handed on."""
_LOST = {502, 504}
"""Of whoever handed the question on and got no answer."""
_log = logging.getLogger("contextlens")


class _NotAskedError(Exception):
    """The question reached nobody."""


class _LostError(Exception):
    """The question was sent, and its answer did not come."""


class Connection:
    """The way to one service. Thread-safe.

    Args:
        url: of the service, without a path of the API.
        token: sent as a bearer token; None where the service wants none.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url.rstrip("/")
        self._salt = secrets.token_bytes(16)
        self._lock = threading.Lock()
        self._away_until = 0.0
        self._is_away = False
        # Asked directly, and with no other password than its own: nothing is read from the
        # environment, and no redirect is followed.
        own = {} if token is None else {"authorization": f"Bearer {token}"}
        self._clients = {
            quick: httpx2.AsyncClient(
                headers={**own, "accept-encoding": "identity"},
                trust_env=False,
                limits=httpx2.Limits(
                    max_connections=n, max_keepalive_connections=n, keepalive_expiry=_IDLE_SECONDS
                ),
                timeout=httpx2.Timeout(
                    _QUICK_SECONDS if quick else _SILENT_SECONDS,
                    connect=_CONNECT_SECONDS,
                    pool=_WAIT_SECONDS[quick],
                ),
            )
            for quick, n in _CONNECTIONS.items()
        }
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run, args=[self._loop], name="service", daemon=True)
        self._thread.start()
        self._end = weakref.finalize(self, _end, self._loop, [*self._clients.values()])

    @property
    def away(self) -> str | None:
        """What to say as long as the service does not answer, or None."""
        with self._lock:
            return _AWAY if self._is_away else None

    def close(self) -> None:
        """Let go of all connections; also done once nobody holds this object any more."""
        self._end()
        self._thread.join()

    def ask(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        told: Told | None = None,
        quick: bool = False,
    ) -> Any:
        """What the service says to one question.

        Args:
            method: of `EncoderService`.
            arguments: by name.
            told: told how far it is.
            quick: True where no work is needed for the answer, and no more than one second try is
                worth the time.

        Raises:
            ContextlensError: whatever the service raised.
            BusyError: all connections to it are in use.
            JobError: the caller gave up.
            ServiceAwayError: it does not answer.
        """
        body = pack_request(method, arguments)
        with self._lock:
            if time.monotonic() < self._away_until:
                raise ServiceAwayError(_AWAY)
        headers = self._headers(arguments.get("model"))
        news: SimpleQueue[Any] = SimpleQueue()
        asking = asyncio.run_coroutine_threadsafe(
            self._answer(f"{PREFIX}/{method}", body, headers, news.put, quick=quick), self._loop
        )
        asking.add_done_callback(lambda _: news.put(None))
        try:
            while (progress := _next(news)) is not None:
                if told is not None:
                    told(progress)
        except BaseException:
            asking.cancel()
            raise
        return unpack_answer(method, asking.result())

    async def _answer(
        self, path: str, body: bytes, headers: dict[str, str], told: Told, *, quick: bool
    ) -> bytes:
        """The body of the answer, after as many tries as make sense."""
        n_lost = 0
        for pause in _PAUSES[: 2 if quick else None]:
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            try:
                async with asyncio.timeout(_QUICK_SECONDS if quick else None):
                    answer = await self._once(path, body, headers, told, quick=quick)
            except (_NotAskedError, _LostError) as exc:
                lost: Exception = exc
                n_lost += isinstance(exc, _LostError)
                if n_lost == _MOST_LOST:
                    break
            except TimeoutError as exc:
                lost = exc
                break  # it had its time
            else:
                self._note(is_away=False)
                return answer
        if not self._is_away:
            _log.warning("The service at %s does not answer: %s", self._url, lost)
        self._note(is_away=True)
        raise ServiceAwayError(_AWAY) from lost

    def _note(self, *, is_away: bool) -> None:
        with self._lock:
            self._is_away = is_away
            self._away_until = time.monotonic() + _AWAY_SECONDS if is_away else 0.0

    async def _once(
        self, path: str, body: bytes, headers: dict[str, str], told: Told, *, quick: bool
    ) -> bytes:
        asked = self._clients[quick].stream("POST", self._url + path, content=body, headers=headers)
        try:
            async with asked as answer:
                return await _read(answer, told)
        except httpx2.PoolTimeout:
            raise Fault(BusyError.__name__, _ALL_IN_USE, 1.0).exception() from None
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as exc:
            raise _NotAskedError(str(exc) or type(exc).__name__) from exc
        except httpx2.ReadTimeout as exc:
            raise TimeoutError("nothing was heard of it for too long") from exc
        except httpx2.TransportError as exc:
            raise _LostError(str(exc) or type(exc).__name__) from exc

    def _headers(self, model: Any) -> dict[str, str]:
        """What goes with a question: its kind, its model, and who asks as nobody can tell."""
        headers = {"content-type": MEDIA_TYPE, "accept": f"{MEDIA_TYPE}, {STREAM_TYPE}"}
        if isinstance(model, str) and model.isascii() and model.isprintable():
            headers[MODEL_HEADER] = model
        caller = current()
        if caller.name is not None:
            name = repr(caller.name).encode(errors="replace")
            headers[CALLER_HEADER] = blake2b(name, key=self._salt, digest_size=12).hexdigest()
        if caller.bulk:
            headers[BULK_HEADER] = "1"
        return headers


_AWAY = (
    "The service that runs the models does not answer. What was computed before can still be seen; "
    "try again in a moment for anything new. If it stays away, tell whoever runs this app."
)
_BUSY = "The service that runs the models has more to do than it can. Try again in a moment."
_ALL_IN_USE = (
    "The service that runs the models is busy: as many questions as can be asked at once wait for "
    "their answers. Try again in a moment."
)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _end(loop: asyncio.AbstractEventLoop, clients: list[httpx2.AsyncClient]) -> None:
    async def end() -> None:
        for client in clients:
            await client.aclose()
        loop.stop()

    asyncio.run_coroutine_threadsafe(end(), loop)


def _next(news: SimpleQueue[Any]) -> Any:
    """The next thing that is told, or None at the end, as long as anybody waits for it.

    Raises:
        JobError: the caller gave up.
    """
    is_cancelled = current().is_cancelled
    if is_cancelled is None:
        return news.get()
    while not is_cancelled():
        try:
            return news.get(timeout=_HEED_SECONDS)
        except Empty:
            continue
    raise JobError("This was stopped, because nobody waits for it any more.")


async def _read(answer: httpx2.Response, told: Told) -> bytes:
    """The body of an answer, whole or at the end of a stream."""
    if answer.status_code != 200:
        raise _refusal(answer.status_code, await answer.aread())
    kind = answer.headers.get("content-type", "")
    if kind not in {MEDIA_TYPE, STREAM_TYPE}:
        raise _NotAskedError(f"an answer of the kind {kind!r}")  # another server stands there
    chunks = answer.aiter_raw()
    return await _last(chunks, told) if kind == STREAM_TYPE else b"".join([c async for c in chunks])


async def _last(chunks: AsyncIterator[bytes], told: Told) -> bytes:
    """What came of long work; who asked is told how far it is meanwhile."""
    held = b""
    async for chunk in chunks:
        held += chunk
        while b"\n" in held:
            line, _, held = held.partition(b"\n")
            event = _event(line)
            if event.fault is not None:
                raise event.fault.exception()
            if event.n_bytes is not None:
                return b"".join([held, *[c async for c in chunks]])
            if event.progress is not None:
                told(event.progress)
    raise _LostError("the answer ended before its end")


def _event(line: bytes) -> Event:
    try:
        return msgspec.json.decode(line, type=Event)
    except (msgspec.DecodeError, RecursionError) as exc:
        raise _LostError("an answer that cannot be read") from exc


def _refusal(status: int, body: bytes) -> Exception:
    """The error that an answer without a result stands for."""
    fault = Fault.read(body)
    if status in {401, 403}:
        return SettingsError(
            "The service that runs the models does not take this app's token. "
            "Set CONTEXTLENS_SERVICE_TOKEN to the same value on both sides."
        )
    if fault is not None:
        return fault.exception()
    if b"backpressure" in body:  # too many wait at the cluster's door
        return Fault(BusyError.__name__, _BUSY, 1.0).exception()
    if status in _NOT_ASKED:
        return _NotAskedError(f"the status {status}")
    if status in _LOST:
        return _LostError(f"the status {status}")
    return WorkerError(
        f"The service that runs the models answered with the status {status}. "
        "Try again; whoever runs it finds the reason in its log."
    )
