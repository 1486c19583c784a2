"""The HTTP client that huggingface_hub asks with, which takes nothing that a hub says for granted.

huggingface_hub's own reads answers of any length, waits as long as it is told to, and names files
on the disk after a header. httpx2 is slow to import: import this where a hub is asked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
from huggingface_hub import constants, set_client_factory
from huggingface_hub.errors import OfflineModeIsEnabled

from components.core.hub.faults import UntrueError
from components.core.hub.listing import COMMIT

__all__ = ["CarefulClient", "answers_bounded", "use_client"]

_SECONDS = 10.0  # without a byte, where huggingface_hub would wait for ever
_ANSWER_BYTES = 8_000_000  # of one answer that is read as a whole: some 25,000 files
_MOST_ANSWERS = 100  # to one fetch; a page of a list names 1,000 files
_ANSWERS_BYTES = 4 * _ANSWER_BYTES  # of all of them
_LONGEST_PAUSE = 60  # seconds that a hub may ask for before the next try
_ETAG = re.compile(r"[\w+=-]{1,64}(?:\.[\w+=-]{1,64})?", re.ASCII)  # it names a file of the cache

_installing = threading.Lock()


@dataclass
class _Read:
    """Answers that were read for one fetch."""

    n_answers: int = 0
    n_bytes: int = 0


_read: ContextVar[_Read | None] = ContextVar("_read", default=None)


def use_client() -> None:
    """Make huggingface_hub ask with this client from now on; once, for that ends what is open."""
    with _installing:
        _install()


@cache
def _install() -> None:
    set_client_factory(CarefulClient)


@contextmanager
def answers_bounded() -> Iterator[None]:
    """Bound the sum of what is answered to this thread: a listing may have any number of pages."""
    before = _read.set(_Read())
    try:
        yield
    finally:
        _read.reset(before)


class CarefulClient(httpx2.Client):
    """Follows redirects and the environment's proxies, as huggingface_hub's own client does."""

    def __init__(self, transport: httpx2.BaseTransport | None = None) -> None:
        super().__init__(
            headers={"Accept-Encoding": "identity"},  # what is packed small may unpack to anything
            follow_redirects=True,
            timeout=_SECONDS,
            event_hooks={"request": [_check_request], "response": [_check_response]},
            transport=transport,
        )

    def send(self, request: httpx2.Request, *, stream: bool = False, **how: Any) -> httpx2.Response:
        """The response; one that is not streamed is bounded and read."""
        response = super().send(request, stream=True, **how)
        if not stream:
            with closing(response):
                _bound(response)
                response.read()
            _count(response)
        return response


class _Bounded(httpx2.SyncByteStream):
    """A body that ends in an error where it is longer than an answer may be."""

    def __init__(self, body: httpx2.SyncByteStream) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        n_bytes = 0
        for chunk in self._body:
            n_bytes += len(chunk)
            if n_bytes > _ANSWER_BYTES:
                raise UntrueError(f"{{hub}} answered with more than {_ANSWER_BYTES:,} bytes")
            yield chunk

    def close(self) -> None:
        self._body.close()


class _Dropped(_Bounded):
    """A body that nobody reads."""

    def __iter__(self) -> Iterator[bytes]:
        return iter(())


def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.SyncByteStream):
        kind = _Dropped if _is_packed(response) else _Bounded
        response.stream = kind(response.stream)


def _is_packed(response: httpx2.Response) -> bool:
    return response.headers.get("Content-Encoding", "identity").lower() != "identity"


def _count(response: httpx2.Response) -> None:
    read = _read.get()
    if read is None or response.request.method == "HEAD":
        return
    read.n_answers += 1
    read.n_bytes += len(response.content)
    if read.n_answers > _MOST_ANSWERS or read.n_bytes > _ANSWERS_BYTES:
        raise UntrueError("{hub} answered with a list of files that has no end")


def _check_request(request: httpx2.Request) -> None:
    if constants.is_offline_mode():
        raise OfflineModeIsEnabled("HF_HUB_OFFLINE is set")
    token = request.headers.get("Authorization", "").lower().startswith("bearer")
    if token and request.url.scheme != "https":
        raise UntrueError("{hub} leads to an http:// address, where no token is sent")
    waits = request.extensions.get("timeout", {})
    request.extensions["timeout"] = {key: wait or _SECONDS for key, wait in waits.items()}


def _check_response(response: httpx2.Response) -> None:
    _check_target(response)
    if response.status_code not in {200, 206}:  # read as a whole by whoever handles it
        _bound(response)
    elif _is_packed(response):
        raise UntrueError("{hub} sent packed data, which was not asked for")
    _check_names(response)
    _shorten_pause(response)


def _check_target(response: httpx2.Response) -> None:
    """Pass where a redirect does not lead from https to another protocol."""
    target = response.url.join(response.headers.get("Location", ""))
    if response.url.scheme == "https" and target.scheme != "https":
        raise UntrueError("{hub} leads from https to an unprotected address")


def _check_names(response: httpx2.Response) -> None:
    """Pass where the headers that become names of files lead nowhere else."""
    headers = response.headers
    commit = headers.get("X-Repo-Commit")
    etag = headers.get("X-Linked-Etag") or headers.get("ETag")
    named = response.request.method == "HEAD" and etag is not None
    if (commit is not None and not COMMIT.fullmatch(commit)) or (
        named and not _ETAG.fullmatch(str(etag).removeprefix("W/").strip('"'))
    ):
        raise UntrueError("{hub} gave a file an impossible name")


def _shorten_pause(response: httpx2.Response) -> None:
    """Drop a wish for a longer pause than anyone waits for; huggingface_hub would sleep that."""
    response.headers.pop("RateLimit", None)
    pause = response.headers.get("Retry-After", "")
    if not re.fullmatch(r"\d{1,9}", pause, re.ASCII) or int(pause) > _LONGEST_PAUSE:
        response.headers.pop("Retry-After", None)
