"""A service whose models are on other machines: the same interface, over HTTP.

Answers that the app requests on every run of a page (which models there are, whether one is loaded,
its card) are reused for 3 to 60 seconds. The `CachedService` in front caches all others.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from hashlib import blake2b
from queue import Empty, SimpleQueue
from typing import Any

import httpx2
import msgspec
import numpy as np

from contextlens.core import registry
from contextlens.core.caller import current
from contextlens.core.calls import CARDS, Call
from contextlens.core.errors import (
    BusyError,
    JobError,
    RevisionError,
    ServiceAwayError,
    SettingsError,
    WorkerError,
)
from contextlens.core.protocol import METHODS, EncoderService
from contextlens.core.remote import wire
from contextlens.core.remote.wire import Event, Fault, parts_of
from contextlens.core.schema import ModelSpec

__all__ = ["Connection", "RemoteService"]


# --- Requests to a service over HTTP

OnProgress = Callable[[Any], None]
"""Called with the progress of the work; an exception that it raises ends the work."""

_PAUSES = (0.0, 0.2, 0.5, 1.0, 1.5)
"""Seconds before each try, varied by half so that clients do not all return at once."""
_MAX_LOST = 2
"""The most times that a request is sent without getting an answer. It is resent only once,
because it may be what killed the process that handled it."""
_AWAY_SECONDS = 2.0
"""The time after a failure in which nothing is sent: each run of a page makes many requests."""
_CONNECT_SECONDS = 3.0
_SILENT_SECONDS = 30.0
"""The longest silence: a working service reports every second."""
_QUICK_SECONDS = 5.0
"""The time limit for requests that need no work, from sending to the end of the answer."""
_CONNECTIONS = {False: 64, True: 8}
"""The most connections, by `quick`. Quick ones have their own, so long ones cannot block them."""
_WAIT_SECONDS = {False: 5.0, True: 2.0}
"""The longest wait for a free connection before the service counts as busy."""
_IDLE_SECONDS = 4.0  # before an unused connection is closed: servers close theirs after five
_CANCEL_SECONDS = 0.1
_log = logging.getLogger("contextlens")


class _UnsentError(Exception):
    """The request did not reach the service."""


class _LostError(Exception):
    """The request was sent, but no answer came.

    Args:
        message: the reason.
        final: the error to raise if that happens again; None if the service counts as away then.
    """

    def __init__(self, message: str, final: Exception | None = None) -> None:
        super().__init__(message)
        self.final = final


class Connection:
    """A connection pool to one service. Thread-safe.

    Args:
        url: the service's address, without a path of the API.
        token: sent as a bearer token; None if the service needs none.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url.rstrip("/")
        self._salt = secrets.token_bytes(16)
        self._away_until = 0.0
        self._is_away = False
        headers = {
            "content-type": wire.REQUEST_TYPE,
            "accept": f"{wire.ANSWER_TYPE}, {wire.STREAM_TYPE}",
            "accept-encoding": "identity",
            **({} if token is None else {"authorization": f"Bearer {token}"}),
        }
        self._clients = {quick: _client(headers, quick=quick) for quick in _CONNECTIONS}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=_run, args=[self._loop, [*self._clients.values()]], name="service", daemon=True
        )
        self._thread.start()
        self._end = weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    @property
    def away(self) -> str | None:
        """The message to show while the service does not answer, or None."""
        return _AWAY if self._is_away else None

    def close(self) -> None:
        """Close all connections; also done when this object is garbage-collected."""
        self._end()
        self._thread.join()

    def request(
        self, method: str, arguments: Mapping[str, Any], *, on_progress: OnProgress | None = None
    ) -> Any:
        """Return the service's answer.

        Args:
            method: a method of `EncoderService`.
            arguments: its arguments by name.
            on_progress: called with the progress of the work.

        Raises:
            ContextlensError: the error that the service raised.
            BusyError: all connections to the service are in use.
            JobError: the caller gave up.
            ServiceAwayError: the service does not answer.
        """
        body = wire.pack_request(arguments)
        if time.monotonic() < self._away_until:
            raise ServiceAwayError(_AWAY)
        headers = self._headers(arguments.get("model"))
        events: SimpleQueue[Any] = SimpleQueue()
        answer = asyncio.run_coroutine_threadsafe(
            self._answer(method, body, headers, events.put), self._loop
        )
        answer.add_done_callback(lambda _: events.put(None))
        try:
            while (event := _next(events)) is not None:
                if on_progress is not None:
                    on_progress(event)
        except BaseException:
            answer.cancel()
            raise
        return wire.unpack_answer(method, answer.result())

    async def _answer(
        self, method: str, body: bytes, headers: dict[str, str], on_progress: OnProgress
    ) -> bytes:
        """The body of the answer, after one or more tries."""
        quick, n_lost = METHODS[method].quick, 0
        client, url = self._clients[quick], f"{self._url}{wire.PREFIX}/{method}"
        for pause in _PAUSES[: 2 if quick else None]:
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            try:
                async with asyncio.timeout(_QUICK_SECONDS if quick else None):
                    answer = await _once(client, url, body, headers, on_progress)
            except _UnsentError as exc:
                failure: Exception = exc
            except _LostError as exc:
                failure, n_lost = exc, n_lost + 1
                if n_lost == _MAX_LOST and exc.final is not None:
                    raise exc.final from None
                if n_lost == _MAX_LOST:
                    break
            except TimeoutError as exc:
                failure = exc
                break  # its time is up
            else:
                self._is_away, self._away_until = False, 0.0
                return answer
        if not self._is_away:
            _log.warning("The service at %s does not answer: %s", self._url, failure)
        self._is_away, self._away_until = True, time.monotonic() + _AWAY_SECONDS
        raise ServiceAwayError(_AWAY) from failure

    def _headers(self, model: Any) -> dict[str, str]:
        """The headers of a request: its model, and an anonymous number for its caller."""
        headers = {}
        if isinstance(model, str) and model.isascii() and model.isprintable():
            headers[wire.MODEL_HEADER] = model
        caller = current()
        if caller.name is not None:
            name = repr(caller.name).encode(errors="replace")
            headers[wire.CALLER_HEADER] = blake2b(name, key=self._salt, digest_size=12).hexdigest()
        if caller.bulk:
            headers[wire.BULK_HEADER] = "1"
        return headers


_AWAY = (
    "The service that runs the models does not answer. What was computed before can still be seen; "
    "try again in a moment for anything new. If it stays away, tell whoever runs this app."
)
_BUSY = "The service that runs the models has more to do than it can. Try again in a moment."
_ALL_IN_USE = (
    "The service that runs the models is busy: as many requests as can be sent at once wait for "
    "their answers. Try again in a moment."
)


def _client(headers: dict[str, str], *, quick: bool) -> httpx2.AsyncClient:
    """A connection pool. It reads nothing from the environment and follows no redirects."""
    n = _CONNECTIONS[quick]
    return httpx2.AsyncClient(
        headers=headers,
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


def _run(loop: asyncio.AbstractEventLoop, clients: list[httpx2.AsyncClient]) -> None:
    loop.run_forever()
    for client in clients:
        loop.run_until_complete(client.aclose())
    loop.close()


def _next(events: SimpleQueue[Any]) -> Any:
    """Wait for the next event and return it, or None after the last one.

    Raises:
        JobError: the caller gave up.
    """
    is_cancelled = current().is_cancelled
    if is_cancelled is None:
        return events.get()
    while not is_cancelled():
        try:
            return events.get(timeout=_CANCEL_SECONDS)
        except Empty:
            continue
    raise JobError("This was stopped, because nobody waits for it any more.")


async def _once(
    client: httpx2.AsyncClient,
    url: str,
    body: bytes,
    headers: dict[str, str],
    on_progress: OnProgress,
) -> bytes:
    """The body of the answer to a single try."""
    try:
        async with client.stream("POST", url, content=body, headers=headers) as answer:
            kind = answer.headers.get("content-type", "")
            if answer.status_code != 200:
                raise _refusal(answer.status_code, await answer.aread())
            if kind == wire.STREAM_TYPE:
                return await _last(answer, on_progress)
            if kind != wire.ANSWER_TYPE:  # a different server answered
                raise _UnsentError(f"an answer of the kind {kind!r}")
            return await answer.aread()
    except httpx2.PoolTimeout:
        raise BusyError(_ALL_IN_USE, 1.0) from None
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as exc:
        raise _UnsentError(str(exc) or type(exc).__name__) from exc
    except httpx2.ReadTimeout as exc:
        raise TimeoutError("nothing was heard of it for too long") from exc
    except httpx2.TransportError as exc:
        raise _LostError(str(exc) or type(exc).__name__) from exc


async def _last(answer: httpx2.Response, on_progress: OnProgress) -> bytes:
    """The answer at the end of a stream; reports progress until then."""
    chunks, held = answer.aiter_raw(), b""
    async for chunk in chunks:
        held += chunk
        while b"\n" in held:
            line, _, held = held.partition(b"\n")
            try:
                event = msgspec.json.decode(line, type=Event)
            except (msgspec.DecodeError, RecursionError) as exc:
                raise _LostError("an answer that cannot be read") from exc
            if event.fault is not None:
                raise event.fault.exception()
            if event.n_bytes is not None:
                return b"".join([held, *[rest async for rest in chunks]])
            if event.progress is not None:
                on_progress(event.progress)
    raise _LostError("the answer ended before its end")


def _refusal(status: int, body: bytes) -> Exception:
    """The error for a response that has no result."""
    fault = Fault.read(body)
    if status in {401, 403}:
        return SettingsError(
            "The service that runs the models does not take this app's token. "
            "Set CONTEXTLENS_SERVICE_TOKEN to the same value on both sides."
        )
    if fault is not None:
        return fault.exception()
    if b"backpressure" in body:  # the cluster's queue is full
        return BusyError(_BUSY, 1.0)
    if status in {404, 503}:  # from a proxy, while the service starts or is gone
        return _UnsentError(f"the status {status}")
    if status in {502, 504}:  # from a proxy that forwarded the request and got no answer
        return _LostError(f"the status {status}")
    error = WorkerError(
        f"The service that runs the models answered with the status {status}. "
        "Try again; whoever runs it finds the reason in its log."
    )
    if status == 500:  # Ray's HAProxy also sends it for 502 and 504, so a replica may have died
        return _LostError(f"the status {status}", error)
    return error


_N_BELIEVED = 512


class RemoteService(EncoderService):
    """Models behind an address. Thread-safe.

    Args:
        url: the service's address.
        token: the token that the service requires, if any.
        offered_only: request only models that the service offers or an admin has allowed, because
            others can reach this process.
    """

    _is_far = True

    def __init__(self, url: str, *, token: str | None = None, offered_only: bool = False) -> None:
        self._offered_only = offered_only
        self._connection = Connection(url, token)
        self._believed: dict[Hashable, tuple[float, Any]] = {}
        self._lock = threading.Lock()

    @property
    def away(self) -> str | None:
        """The message to show while the service does not answer, or None."""
        return self._connection.away

    def close(self) -> None:
        """Close all connections."""
        self._connection.close()

    def _answer(self, call: Call) -> Any:
        method = call.method
        if self._offered_only and method.name not in {"models", "spec"}:
            registry.check_offered(call.model, self.models())
        if method.believed_seconds:
            return self._recent(call)
        call = call.repeatable()
        if call.checksum is None and method.name != "architecture":  # a preset's needs no card
            call = call.having(checksum=self._card(call).checksum)
        try:
            return self._in_parts(call)
        except RevisionError:
            self._believed.pop((CARDS[method.of], call.model), None)
            raise

    def _in_parts(self, call: Call) -> Any:
        """Return the answer, requested in parts if the whole would be too large."""
        name, columns = call.method.name, call.columns()
        if name == "word_rows":
            ids = np.asarray(call.arguments["token_ids"]).reshape(-1)
            slices = parts_of(name, {"token_ids": ids}, self._card(call))
            rows = np.concatenate([self._request(call.having(token_ids=ids[s])) for s in slices])
            rows.flags.writeable = False
            return rows
        if columns is None:
            return self._request(call)
        n, answers = len(columns["texts"]), list[Any]()
        try:
            parts = list(parts_of(name, call.arguments, self._card(call)))
        except TypeError:  # for example a non-numeric layer: the service's error is better
            return self._request(call)
        for part in parts:
            answers += self._request(call.at(range(n)[part]), n_before=len(answers), n=n)
        return answers

    def _request(self, call: Call, *, n_before: int = 0, n: int | None = None) -> Any:
        """Return the service's answer; report a part's progress as a share of all n texts."""
        arguments = dict(call.arguments)
        progress = arguments.pop("progress", None)

        def report(event: Any) -> None:
            if isinstance(event, tuple):
                progress(n_before + event[0], n or event[1])
            else:
                progress(event)

        return self._connection.request(
            call.method.name, arguments, on_progress=None if progress is None else report
        )

    def _recent(self, call: Call) -> Any:
        """Return an answer up to some seconds old, or a new one.

        While the service is away, the last answer is used however old it is.
        """
        name, model = key = call.method.name, call.arguments.get("model")
        if name == "load" and self._last(key) is not None and not self.spec(str(model)).loaded:
            self._believed.pop(key, None)
        then, answer = self._believed.get(key, (0.0, None))
        if answer is None or time.monotonic() >= then + call.method.believed_seconds:
            try:
                answer = self._request(call)
            except ServiceAwayError:
                if answer is None:
                    raise
            else:
                self._believe(key, answer)
                if name == "load":
                    self._believe(
                        ("spec", model), self._connection.request("spec", {"model": model})
                    )
        return tuple(map(self._as_last_seen, answer)) if name == "models" else answer

    def _as_last_seen(self, spec: ModelSpec) -> ModelSpec:
        """Take a spec's loaded state from the machine that last answered for the model."""
        last: ModelSpec | None = self._last(("spec", spec.id))
        return spec if last is None else replace(spec, loaded=last.loaded)

    def _card(self, call: Call) -> Any:
        """The card, as last received, of the files that the answer depends on."""
        method = CARDS[call.method.of]
        return self._last((method, call.model)) or getattr(self, method)(call.model)

    def _last(self, key: Hashable) -> Any | None:
        """Return the last answer, however old, or None."""
        return self._believed.get(key, (0.0, None))[1]

    def _believe(self, key: Hashable, answer: Any) -> None:
        with self._lock:
            self._believed.pop(key, None)  # the latest goes last
            self._believed[key] = (time.monotonic(), answer)
            if len(self._believed) > _N_BELIEVED:
                del self._believed[next(iter(self._believed))]
