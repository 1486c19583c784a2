"""The HTTP client for huggingface_hub, with its progress, its token and its errors.

huggingface_hub's own client reads responses of any length, waits as long as the server says, and
names files on disk after a header. This client trusts nothing that a hub sends. httpx2 and
huggingface_hub are slow to import: import this module where a hub is used.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import constants, errors, get_token, set_client_factory
from huggingface_hub.utils.tqdm import tqdm

from contextlens.core.errors import FetchError, ModelError, UnknownModelError
from contextlens.core.hub.local import COMMIT
from contextlens.core.schema import Progress, ProgressEvent

__all__ = [
    "BoundedClient",
    "ByteCounter",
    "HubAnswerError",
    "answers_bounded",
    "bar_class",
    "diagnose",
    "token_for",
    "use_client",
]

_SECONDS = 10.0  # without a byte, where huggingface_hub would wait for ever
_ANSWER_BYTES = 8_000_000  # of a response that is read as a whole: some 25,000 files
_MOST_ANSWERS = 100  # responses in one fetch; a page of a list names 1,000 files
_STEP_BYTES = 1 << 18  # read, written and reported at once
_LONGEST_PAUSE = 60  # seconds that a hub may ask for before the next try
_ETAG = re.compile(r"[\w+=-]{1,64}(?:\.[\w+=-]{1,64})?", re.ASCII)  # names a file in the cache

_installing = threading.Lock()
_read: ContextVar[list[int] | None] = ContextVar("_read", default=None)  # bytes of each response


class HubAnswerError(Exception):
    """A hub's response is implausible or must not be followed; "{hub}" stands for its name."""


# Requests and answers


def use_client() -> None:
    """Make huggingface_hub use this client from now on, and fetch by plain HTTP."""
    # Xet transfers go to another service than the configured endpoint, and no test here can check
    # how they report and stop. The usual chunks of 10 MiB make a slow fetch look stuck, and a cut
    # connection loses its unfinished chunk. huggingface_hub reads the environment only at import,
    # but these constants at each use.
    constants.HF_HUB_DISABLE_XET = True
    constants.HF_HUB_DISABLE_IMPLICIT_TOKEN = True  # in case a call ever omits `token`
    constants.DOWNLOAD_CHUNK_SIZE = _STEP_BYTES
    with _installing:
        _install()


@cache
def _install() -> None:
    set_client_factory(BoundedClient)  # once, as it closes open clients


@contextmanager
def answers_bounded() -> Iterator[None]:
    """Limit the total size of this thread's responses: a listing may have any number of pages."""
    before = _read.set([])
    try:
        yield
    finally:
        _read.reset(before)


class BoundedClient(httpx2.Client):
    """An HTTP client with limits; redirects and proxies work as in huggingface_hub's own client."""

    def __init__(self, transport: httpx2.BaseTransport | None = None) -> None:
        super().__init__(
            headers={"Accept-Encoding": "identity"},  # a compressed body may expand to any size
            follow_redirects=True,
            timeout=_SECONDS,
            event_hooks={"request": [_check_request], "response": [_check_response]},
            transport=transport,
        )

    def send(self, request: httpx2.Request, *, stream: bool = False, **how: Any) -> httpx2.Response:
        """The response; if it is not streamed, it is size-limited and read."""
        response = super().send(request, stream=True, **how)
        if not stream:
            with closing(response):
                _bound(response)
                response.read()
            answers = _read.get()
            if answers is not None and request.method != "HEAD":
                answers.append(len(response.content))
                if len(answers) > _MOST_ANSWERS or sum(answers) > 4 * _ANSWER_BYTES:
                    raise HubAnswerError("{hub} answered with a list of files that has no end")
        return response


class _BoundedBody(httpx2.SyncByteStream):
    """A body that raises an error when it exceeds the size limit."""

    def __init__(self, body: httpx2.SyncByteStream) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        n_bytes = 0
        for chunk in self._body:
            n_bytes += len(chunk)
            if n_bytes > _ANSWER_BYTES:
                raise HubAnswerError(f"{{hub}} answered with more than {_ANSWER_BYTES:,} bytes")
            yield chunk

    def close(self) -> None:
        self._body.close()


def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _BoundedBody(response.stream)


def _check_request(request: httpx2.Request) -> None:
    if constants.is_offline_mode():
        raise errors.OfflineModeIsEnabled("HF_HUB_OFFLINE is set")
    token = request.headers.get("Authorization", "").lower().startswith("bearer")
    if token and request.url.scheme != "https":
        raise HubAnswerError("{hub} leads to an http:// address, where no token is sent")
    waits = request.extensions.get("timeout", {})
    request.extensions["timeout"] = {key: wait or _SECONDS for key, wait in waits.items()}


def _check_response(response: httpx2.Response) -> None:
    headers = response.headers
    target = response.url.join(headers.get("Location", ""))
    if response.url.scheme == "https" and target.scheme != "https":
        raise HubAnswerError("{hub} leads from https to an unprotected address")
    if headers.get("Content-Encoding", "identity").lower() != "identity":
        raise HubAnswerError("{hub} sent packed data, which was not asked for")
    if response.status_code not in {200, 206}:  # read as a whole by the code that handles the error
        _bound(response)
    # These headers become file names.
    commit = headers.get("X-Repo-Commit", "0" * 40)
    etag = headers.get("X-Linked-Etag") or headers.get("ETag")
    is_named = response.request.method == "HEAD" and etag is not None
    if not COMMIT.fullmatch(commit) or (
        is_named and not _ETAG.fullmatch(str(etag).removeprefix("W/").strip('"'))
    ):
        raise HubAnswerError("{hub} gave a file an impossible name")
    # huggingface_hub would sleep for as long as these headers say.
    headers.pop("RateLimit", None)
    pause = headers.get("Retry-After", "")
    if not re.fullmatch(r"\d{1,9}", pause, re.ASCII) or int(pause) > _LONGEST_PAUSE:
        headers.pop("Retry-After", None)


# The token


def token_for(model_id: str, endpoint: str | None, *, named: bool) -> str | Literal[False]:
    """The token to fetch a model with; False, not None, stops huggingface_hub from sending one.

    Args:
        model_id: for messages.
        endpoint: address of the hub; None means huggingface_hub's own.
        named: True if the operator's token (HF_TOKEN, or a stored login) may be used for the model.

    Raises:
        FetchError: the token may be used, but the hub's address is not encrypted.
    """
    if not named:
        return False
    if urlsplit(endpoint or constants.ENDPOINT).scheme != "https":
        raise FetchError(
            f"{model_id} was not fetched: CONTEXTLENS_TOKEN_MODELS names it, and a token is never "
            "sent to an http:// address. Ask whoever runs this app to give the hub an https:// "
            "address, or choose another model."
        )
    return get_token() or False


# Progress


class ByteCounter:
    """Bytes fetched so far: the number never decreases and never exceeds the total."""

    def __init__(self, stage: str, progress: Progress | None) -> None:
        self.stopped_by: BaseException | None = None
        self._stage = stage
        self._progress = progress
        self._lock = threading.Lock()
        self._already = self._done = self._total = self._coming = 0

    def start(self, total: int, *, already: int, coming: int) -> None:
        """Set and report the scale; `coming` is the most that a progress bar may count."""
        with self._lock:
            self._total, self._already, self._done = total, already, max(self._done, already)
            self._coming = coming
            self._tell()

    def add(self, bar: Any, n: float) -> None:
        """Advance a bar; the bar that is furthest ahead determines the progress.

        Two bars count the same bytes, as received and as written, and a server that sends a file
        again from the start moves a bar back.
        """
        with self._lock:
            bar.n += n
            if bar.counts_bytes:
                if bar.n > self._coming and self.stopped_by is None:
                    self.stopped_by = HubAnswerError("{hub} sent more than it listed")
                self._reach(self._already + int(bar.n))

    def finish(self) -> None:
        """Report completion (files linked from another commit were never counted)."""
        with self._lock:
            self._reach(self._total)

    def _reach(self, done: int) -> None:
        if self.stopped_by is not None:
            raise self.stopped_by
        if (done := min(done, self._total)) > self._done:
            self._done = done
            self._tell()

    def _tell(self) -> None:
        try:
            if self._progress is not None:
                self._progress(ProgressEvent(self._stage, self._done, self._total))
        except BaseException as exc:
            self.stopped_by = exc
            raise


def bar_class(counter: ByteCounter) -> Any:
    """A progress bar class for huggingface_hub that draws nothing and reports to the counter."""

    class SilentProgressBar(tqdm):
        monitor_interval = 0  # no thread to monitor bars that are never drawn

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.counts_bytes = kwargs.get("unit") == "B"
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            counter.add(self, n or 0)

    return SilentProgressBar


# Errors

_LATER = "Try again in a few minutes, or choose a model that is on this machine."
_AGAIN = "Try again: it starts afresh."
_SPELLING = "Check the spelling (organisation/name), or choose another model."
_ACCESS = (
    "Choose another model, or ask whoever runs this app to name this one in "
    "CONTEXTLENS_TOKEN_MODELS, with an HF_TOKEN that has access to it."
)


def diagnose(exc: BaseException) -> tuple[type[ModelError], str, str]:
    """Return our error class for a failed fetch, what happened, and what to do next."""
    match exc:
        case HubAnswerError():
            return FetchError, str(exc), _LATER
        case errors.LocalEntryNotFoundError() if exc.__cause__ is not None:
            return diagnose(exc.__cause__)  # "not in the cache": the cause says why not
        case errors.GatedRepoError():  # huggingface_hub makes it a RepositoryNotFoundError
            return FetchError, "it is gated, {hub} gives it to chosen accounts only", _ACCESS
        case errors.RepositoryNotFoundError() | errors.HFValidationError():
            return UnknownModelError, "{hub} has no such model, or it is private", _SPELLING
        case errors.RemoteEntryNotFoundError() | errors.RevisionNotFoundError():
            return FetchError, "{hub} listed a file that it does not have", _LATER
        case errors.HfHubHTTPError():
            match exc.response.status_code:
                case 404:
                    return UnknownModelError, "{hub} has no such model", _SPELLING
                case 401 | 403 as status:
                    return FetchError, f"{{hub}} refused access ({status})", _ACCESS
                case 429:
                    return FetchError, "{hub} was asked too often and wants a pause (429)", _LATER
                case status:
                    return FetchError, f"{{hub}} answered with an error ({status})", _LATER
        case errors.OfflineModeIsEnabled():
            advice = "Unset it where this app runs, or choose a model that is on this machine."
            return FetchError, "HF_HUB_OFFLINE forbids asking {hub}", advice
        case httpx2.TimeoutException():
            return FetchError, "{hub} took too long to answer", _LATER
        case httpx2.ConnectError() | httpx2.ProxyError():
            advice = "Check this machine's network, or choose a model that is on this machine."
            return FetchError, "{hub} cannot be reached", advice
        case httpx2.TransportError():
            return FetchError, "the connection to {hub} broke", _AGAIN
        case OSError(errno=int()):
            advice = "See that the hub cache has room and can be written to, and try again."
            return FetchError, f"its files could not be stored ({exc.strerror})", advice
        case OSError() if not isinstance(exc, errors.FileMetadataError):
            return FetchError, "a file did not arrive whole", _AGAIN
    return FetchError, f"{{hub}} gave an unreadable answer ({type(exc).__name__})", _LATER
