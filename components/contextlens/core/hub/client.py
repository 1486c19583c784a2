"""The HTTP client for huggingface_hub, with its progress, its token and its errors.

The hub itself is trusted: it is the public one, or the operator's own. What strangers publish there
is not, and is bounded by its listing (`fetching`). httpx2 and huggingface_hub are slow to import:
import this module where a hub is used.
"""

from __future__ import annotations

import re
import threading
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
    "ANSWER_SECONDS",
    "ByteCounter",
    "HubAnswerError",
    "bar_class",
    "diagnose",
    "open_client",
    "token_for",
    "use_client",
]

ANSWER_SECONDS = 10.0  # without a byte, where huggingface_hub would wait for ever
_STEP_BYTES = 1 << 18  # read, written and reported at once
_ETAG = re.compile(r"[\w+=-]{1,64}(?:\.[\w+=-]{1,64})?", re.ASCII)  # names a file in the cache
_MAX_PAUSE_SECONDS = 60  # seconds that a hub may ask for before the next try

_installing = threading.Lock()


class HubAnswerError(Exception):
    """A hub's response is implausible or must not be followed; "{hub}" stands for its name."""


# Requests


def use_client() -> None:
    """Make huggingface_hub use `open_client` from now on, and fetch by plain HTTP."""
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
    set_client_factory(open_client)  # once, as it closes open clients


def open_client(transport: httpx2.BaseTransport | None = None) -> httpx2.Client:
    """An HTTP client like huggingface_hub's own, but with time limits, and no token over http."""
    return httpx2.Client(
        headers={"Accept-Encoding": "identity"},  # sizes and resumed transfers count plain bytes
        follow_redirects=True,
        event_hooks={"request": [_check_request], "response": [_check_response]},
        transport=transport,
    )


def _check_request(request: httpx2.Request) -> None:
    if constants.is_offline_mode():
        raise errors.OfflineModeIsEnabled("HF_HUB_OFFLINE is set")
    token = request.headers.get("Authorization", "").lower().startswith("bearer")
    if token and request.url.scheme != "https":
        raise HubAnswerError("{hub} leads to an http:// address, where no token is sent")
    waits = request.extensions["timeout"]  # huggingface_hub lists files with a time-out of None
    request.extensions["timeout"] = {key: wait or ANSWER_SECONDS for key, wait in waits.items()}


def _check_response(response: httpx2.Response) -> None:
    headers = response.headers
    target = response.url.join(headers.get("Location", ""))
    if response.url.scheme == "https" and target.scheme != "https":
        raise HubAnswerError("{hub} leads from https to an unprotected address")
    # These headers become names of files in the cache.
    commit = headers.get("X-Repo-Commit", "0" * 40)
    etag = headers.get("X-Linked-Etag") or headers.get("ETag")
    is_named = response.request.method == "HEAD" and etag is not None
    if not COMMIT.fullmatch(commit) or (
        is_named and not _ETAG.fullmatch(str(etag).removeprefix("W/").strip('"'))
    ):
        raise HubAnswerError("{hub} gave a file an impossible name")
    # huggingface_hub would sleep for as long as these headers say, and nobody could cancel that.
    headers.pop("RateLimit", None)
    pause = headers.get("Retry-After", "")
    if pause.isdecimal() and (len(pause) > 3 or int(pause) > _MAX_PAUSE_SECONDS):
        del headers["Retry-After"]


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
        self._total = self._limit = self._arrived = self._done = 0

    def start(self, total: int, *, already: int, coming: int) -> None:
        """Set and report the scale, the bytes of it that are here, and those that may come next."""
        with self._lock:
            self._total, self._limit = total, already + coming
            self._report(already)

    def add(self, n_bytes: int) -> None:
        """Count received bytes; a server that sends a file again from the start takes some back."""
        with self._lock:
            if self.stopped_by is None and self._arrived + n_bytes > self._limit:
                self.stopped_by = HubAnswerError("{hub} sent more than it listed")
            if self.stopped_by is not None:
                raise self.stopped_by
            self._report(self._arrived + n_bytes)

    def finish(self) -> None:
        """Report completion (files linked from another commit were never counted)."""
        with self._lock:
            self._report(self._total)

    def _report(self, arrived: int) -> None:
        self._arrived, self._done = arrived, max(self._done, arrived)
        try:
            if self._progress is not None:
                self._progress(ProgressEvent(self._stage, self._done, self._total))
        except BaseException as exc:
            self.stopped_by = exc
            raise


def bar_class(counter: ByteCounter) -> Any:
    """A progress bar class for `snapshot_download` that draws nothing and reports to a counter."""

    class SilentProgressBar(tqdm):
        monitor_interval = 0  # no thread to monitor bars that are never drawn

        def __init__(self, *args: Any, name: str | None = None, **kwargs: Any) -> None:
            # Two more bars count files, and the same bytes as they are written.
            self._counts_bytes = str(name).endswith(".transfer")
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            if self._counts_bytes:
                counter.add(int(n or 0))

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
