"""Questions to a service over HTTP: pooled, tried again where that can help, given up in words.

All that a service is asked may be asked twice. What never reached it is asked again a few times,
and once more what was lost after it was sent: it may be what ended the process that had it.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from typing import Any

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    EmptyPoolError,
    HTTPError,
    NewConnectionError,
    ReadTimeoutError,
)

from components.core.caller import current
from components.core.errors import BusyError, JobError, ServiceAwayError, SettingsError, WorkerError
from components.core.remote.faults import Fault
from components.core.remote.frames import ERROR, HEAD_BYTES, PROGRESS, RESULT, read_head
from components.core.remote.names import (
    BULK_HEADER,
    CALLER_HEADER,
    MODEL_HEADER,
    PREFIX,
    STREAM_TYPE,
)
from components.core.remote.tensors import Take
from components.core.remote.wire import MEDIA_TYPE, pack, unpack, unpack_from

__all__ = ["Connection", "Told"]

Told = Callable[[Any], None]
"""Told how far the work is; what it raises ends the work."""

_PAUSES = (0.0, 0.2, 0.5, 1.0, 1.5)
"""Seconds before each try; they vary by half, so that not all who lost it come at once."""
_AWAY_SECONDS = 2.0
"""Who did not answer is not asked again for so long: a page asks many times a run."""
_CONNECT_SECONDS = 3.0
_SILENT_SECONDS = 30.0
"""The longest silence: a service that works says so every second."""
_QUICK_SECONDS = 5.0  # for what is known again without any work
_N_CONNECTIONS = 64
_N_QUICK = 8
_POOL_SECONDS = 10.0
"""The longest wait for a connection; quick questions have theirs, and wait `_QUICK_SECONDS`."""
_LOOK_SECONDS = 0.1  # between looks whether the caller is still there
_PART_BYTES = 1 << 26
_log = logging.getLogger("contextlens")
_ON_THE_WAY = {404, 502, 503, 504}
"""Of whoever stands before a service that starts, is replaced or is gone; not the service's own."""
_AFTER_SENDING = {502, 504}
"""Of those, what says that the service had the question."""


class _LostError(Exception):
    """What was asked was lost on the way; asked again it may get there.

    Args:
        why: it was lost.
        was_sent: True if the service may have had it.
    """

    def __init__(self, why: str, *, was_sent: bool = True) -> None:
        super().__init__(why)
        self.was_sent = was_sent


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
        # Asked directly, and with no other password than its own: urllib3 reads no environment.
        self._clients = {
            quick: urllib3.PoolManager(
                headers={} if token is None else {"authorization": f"Bearer {token}"},
                maxsize=n_connections,
                block=True,
                retries=False,
            )
            for quick, n_connections in ((False, _N_CONNECTIONS), (True, _N_QUICK))
        }

    @property
    def away(self) -> str | None:
        """What to say as long as the service does not answer, or None."""
        with self._lock:
            return _AWAY if self._is_away else None

    def close(self) -> None:
        """Let go of all connections."""
        for client in self._clients.values():
            client.clear()

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
            quick: whether no work is needed for the answer, and no second try is worth the time.

        Raises:
            ContextlensError: whatever the service raised.
            BusyError: all connections are taken, or the service has too much to do.
            ServiceAwayError: it does not answer.
        """
        body = pack(dict(arguments))
        n_sent = 0
        with self._lock:
            if time.monotonic() < self._away_until:
                raise ServiceAwayError(_AWAY)
        for pause in _PAUSES[: 2 if quick else None]:
            _rest(pause * random.uniform(0.5, 1.5))
            try:
                answer = self._once(method, arguments.get("model"), body, told, quick=quick)
            except _LostError as exc:
                lost = exc
                n_sent += exc.was_sent
                if n_sent > 1:
                    break
            except ReadTimeoutError as exc:
                lost = _LostError(str(exc))
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

    def _once(self, method: str, model: Any, body: bytes, told: Told | None, *, quick: bool) -> Any:
        silence = _QUICK_SECONDS if quick else _SILENT_SECONDS
        client = self._clients[quick]
        send = partial(
            client.request,
            "POST",
            f"{self._url}{PREFIX}/{method}",
            body=body,
            headers={**client.headers, **self._headers(model)},
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=silence),
            redirect=False,
            preload_content=False,
            decode_content=False,
            pool_timeout=_LOOK_SECONDS,
        )
        try:
            answer = _when_free(send, _QUICK_SECONDS if quick else _POOL_SECONDS)
            try:
                return self._read(answer, told)
            finally:
                answer.close()  # one that was read to its end has given its connection back
                answer.release_conn()
        except ReadTimeoutError:
            raise
        except (NewConnectionError, ConnectTimeoutError) as exc:
            raise _LostError(str(exc), was_sent=False) from exc
        except HTTPError as exc:
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

    def _read(self, answer: urllib3.BaseHTTPResponse, told: Told | None) -> Any:
        if answer.status != 200:
            raise self._refusal(answer)
        kind = answer.headers.get("content-type", "")
        if kind not in {MEDIA_TYPE, STREAM_TYPE}:
            # Another server stands there.
            raise _LostError(f"an answer of the kind {kind!r}", was_sent=False)
        take = _taking(answer)
        if kind == STREAM_TYPE:
            found = _outcome(take, told)
        elif answer.length_remaining is None:
            found = unpack(answer.read())
        else:
            found = unpack_from(take, answer.length_remaining)
        answer.read()  # its end: only then can the connection be used again
        return found

    def _refusal(self, answer: urllib3.BaseHTTPResponse) -> Exception:
        """The error that an answer without a result stands for."""
        body = answer.read()
        fault = Fault.read(body)
        if answer.status in {401, 403}:
            return SettingsError(
                "The service that runs the models does not take this app's token. "
                "Set CONTEXTLENS_SERVICE_TOKEN to the same value on both sides."
            )
        if fault is not None:
            return fault.error()
        if b"backpressure" in body:  # too many wait at the cluster's door
            return Fault(BusyError.__name__, _BUSY, 1.0).error()
        if answer.status in _ON_THE_WAY:
            was_sent = answer.status in _AFTER_SENDING
            return _LostError(f"the status {answer.status}", was_sent=was_sent)
        return WorkerError(
            f"The service that runs the models answered with the status {answer.status}. "
            "Try again; whoever runs it finds the reason in its log."
        )


_AWAY = (
    "The service that runs the models does not answer. What was computed before can still be seen; "
    "try again in a moment for anything new. If it stays away, tell whoever runs this app."
)
_BUSY = "The service that runs the models has more to do than it can. Try again in a moment."


def _when_free(
    send: Callable[[], urllib3.BaseHTTPResponse], seconds: float
) -> urllib3.BaseHTTPResponse:
    """What comes of sending as soon as there is a connection for it.

    Raises:
        BusyError: none was free for so long.
    """
    end = time.monotonic() + seconds
    while True:
        _heed()
        try:
            return send()
        except EmptyPoolError:
            if time.monotonic() >= end:
                raise Fault(BusyError.__name__, _BUSY, 1.0).error() from None


def _outcome(take: Take, told: Told | None) -> Any:
    """What came of long work; who asked is told how far it is meanwhile."""
    while True:
        kind, length = read_head(take(HEAD_BYTES))
        if kind == RESULT:
            return unpack_from(take, length)
        body = take(length)
        if kind == ERROR:
            fault = Fault.read(body)
            raise _LostError("an error that cannot be read") if fault is None else fault.error()
        if kind == PROGRESS and told is not None:
            told(unpack(body))


def _taking(answer: urllib3.BaseHTTPResponse) -> Take:
    """The answer's next so many bytes, as long as anybody wants them.

    Many come in parts, so that no more memory is taken than for what is there.
    """

    def part(n: int) -> bytes:
        _heed()
        data = answer.read(n) if n else b""
        if len(data) < n:
            raise _LostError("the answer ended before its end")
        return data

    def take(n: int) -> bytes:
        if n <= _PART_BYTES:
            return part(n)
        starts = range(0, n, _PART_BYTES)
        return b"".join(part(min(_PART_BYTES, n - start)) for start in starts)

    return take


def _heed() -> None:
    is_cancelled = current().is_cancelled
    if is_cancelled is not None and is_cancelled():
        raise JobError("This was stopped, because nobody waits for it any more.")


def _rest(seconds: float) -> None:
    _heed()
    time.sleep(seconds)
