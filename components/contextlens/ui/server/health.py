"""The server's answers to machines: whether it lives, whether it is ready, and its metrics."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from ipaddress import ip_address

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.url_util import make_url_path

from contextlens.core import meters
from contextlens.core.errors import ContextlensError
from contextlens.core.ready_answers import ReadyService
from contextlens.jobs import JobKind, Task
from contextlens.ui.models import runtime
from contextlens.ui.models.background import jobs
from contextlens.ui.state import session
from contextlens.ui.state.services import settings, uncached

_SECONDS = 2.0  # for all checks together
_KEPT_SECONDS = 1.0  # so that frequent requests cause no work
_BYTES = 4096
_PROBES = JobKind("probes", n_at_once=1, keeps=False)
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_METRICS = ("/metrics", "/_stcore/metrics")  # the second one is Streamlit's own
_NO_METRICS = (
    "Nothing is counted here, as prometheus-client is not installed. Install the extra `server` "
    "(pip install 'contextlens[server]'), and start Contextlens again.\n"
)
_REFUSAL = (
    "Only the machine that Contextlens runs on may read this, or who sends the token that "
    "CONTEXTLENS_METRICS_TOKEN names (Authorization: Bearer ...).\n"
)


def routes(base: str = "") -> list[Route]:
    """Return the health and metrics routes, at the root (for probes) and under a base path."""
    answers = {"healthz": _alive, "readyz": _ready, "metrics": _metrics}
    return [
        Route(make_url_path(prefix, name), answer)
        for prefix in dict.fromkeys(("", base))
        for name, answer in answers.items()
    ]


def middleware() -> list[Middleware]:
    """Return the middleware in front of the metrics, including Streamlit's own."""
    return [Middleware(OperatorsOnly)]


class Check:
    """One check of whether the server is ready.

    It runs in a thread of its own, and does not start again before it has an answer: a disk that
    hangs holds one thread, however often somebody asks.

    Args:
        name: what is checked.
        is_fine: returns True if it is fine.
        once: True if one success is enough.
    """

    def __init__(self, name: str, is_fine: Callable[[], bool], *, once: bool = False) -> None:
        self.name = name
        self._is_fine, self._once = is_fine, once
        self._lock = threading.Lock()
        self._last: Future[bool] | None = None
        self._asked_at = 0.0

    def ask(self) -> Future[bool]:
        """Return the pending or recent answer; it never raises."""
        with self._lock:
            now = time.monotonic()
            if self._last and (not self._last.done() or self._is_recent(self._last, now)):
                return self._last
            answer = self._last = Future[bool]()
            self._asked_at = now
        threading.Thread(target=self._answer, args=(answer,), daemon=True, name="check").start()
        return answer

    def _is_recent(self, answer: Future[bool], now: float) -> bool:
        return now - self._asked_at < _KEPT_SECONDS or (self._once and answer.result())

    def _answer(self, answer: Future[bool]) -> None:
        try:
            answer.set_result(self._is_fine())
        except Exception:  # noqa: BLE001 - whatever it is, it is not ready
            answer.set_result(False)


async def readiness(checks: Sequence[Check], seconds: float = _SECONDS) -> dict[str, str]:
    """Return each check's answer within some seconds: "ok", "not ready" or "no answer in time"."""
    answers = {check.name: asyncio.wrap_future(check.ask()) for check in checks}
    await asyncio.wait(answers.values(), timeout=seconds)
    return {
        name: ("ok" if answer.result() else "not ready") if answer.done() else "no answer in time"
        for name, answer in answers.items()
    }


class OperatorsOnly:
    """Let metrics be read only from this machine or with the token; pass all other requests on.

    A proxy on this machine speaks for others, so forwarded requests do not count as local.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with 403 and a sentence."""
        is_for_metrics = scope["type"] == "http" and scope["path"].rstrip("/").endswith(_METRICS)
        if is_for_metrics and not _may_read(Request(scope)):
            await PlainTextResponse(_REFUSAL, status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _may_read(request: Request) -> bool:
    token = _token()
    authorization = request.headers.get("authorization", "").encode()
    if token and secrets.compare_digest(authorization, f"Bearer {token}".encode()):
        return True
    is_forwarded = any(name in request.headers for name in _FORWARDED)
    return not is_forwarded and _is_here(request.client.host if request.client else "")


def _is_here(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _token() -> str | None:
    try:
        return settings().metrics_token
    except ContextlensError:  # every page reports it
        return None


async def _alive(_: Request) -> Response:
    return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})


async def _ready(_: Request) -> Response:
    answers = await readiness(CHECKS)
    missing = [name for name, answer in answers.items() if answer != "ok"]
    return JSONResponse(
        {"ready": not missing, "not_ready": missing, "checks": answers},
        status_code=503 if missing else 200,
        headers={"Cache-Control": "no-store"},
    )


def _metrics(request: Request) -> Response:
    if not meters.IS_COUNTING:
        return PlainTextResponse(_NO_METRICS, status_code=501)
    from prometheus_client.exposition import choose_encoder

    encoder, media_type = choose_encoder(request.headers.get("accept", ""))
    headers = {"Content-Type": media_type, "Cache-Control": "no-store"}
    return Response(encoder(meters.REGISTRY), headers=headers)


def _has_model() -> bool:
    """Return True if the first model is in memory; pages may come from disk before."""
    service = uncached()
    is_coming = isinstance(service, ReadyService) and service.has_answers
    return not is_coming and runtime.is_loaded(session.default().model)


def _can_write() -> bool:
    folder = settings().data_dir
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(_BYTES))
        file.flush()
    return True


def _has_jobs() -> bool:
    probe = jobs().start(Task(("probe",), _PROBES, work=lambda _: True))
    return probe.wait(_SECONDS) and bool(probe.result())


def checks() -> tuple[Check, ...]:
    """Return the conditions for sending visitors here.

    The first model was loaded, the data folder is writable, and background work starts.
    """
    return (
        Check("model", _has_model, once=True),  # an idle model may leave memory
        Check("data_folder", _can_write),
        Check("jobs", _has_jobs),
    )


CHECKS = checks()
"""The checks of this server."""
