"""The routes for machines: alive, ready, metrics; and who may read those."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from contextlens.core import BUNDLED_ID
from contextlens.ui.models import runtime
from contextlens.ui.models.background import jobs
from contextlens.ui.server import health, hosts, metrics
from contextlens.ui.server.health import Check, readiness
from tests.support.pages import app_settings

TOKEN = "a-token-of-some-length"
HERE, ELSEWHERE = "127.0.0.1", "192.0.2.9"
WAIT = 60.0


async def _theirs(_: Request) -> PlainTextResponse:
    return PlainTextResponse("streamlit's own")


def client(address: str = HERE, host: str = "127.0.0.1:8501") -> TestClient:
    """A client of the routes with all their middleware, from some address."""
    app = Starlette(
        routes=[*health.routes(), Route("/_stcore/metrics", _theirs), Route("/other", _theirs)],
        middleware=[*hosts.middleware(), *health.middleware()],
    )
    return TestClient(app, base_url=f"http://{host}", client=(address, 5000))


@contextmanager
def server(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Iterator[None]:
    """A server just started, offline."""
    with app_settings(ALLOW_DOWNLOADS="0", **variables):
        monkeypatch.setattr(health, "CHECKS", health.checks())
        yield


# Alive and ready


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost", "10.1.2.3:8501", "[fd00::7]:80"])
def test_a_probe_is_answered_by_any_address_of_the_machine(host: str) -> None:
    answer = client(ELSEWHERE, host).get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert answer.headers["cache-control"] == "no-store"
    assert client(ELSEWHERE, host).head("/healthz").status_code == 200
    assert client(ELSEWHERE, host).post("/healthz").status_code == 405


def test_a_server_is_ready_once_its_model_was_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with server(monkeypatch, DATA_DIR=str(tmp_path / "data")):
        first = client(ELSEWHERE).get("/readyz")
        assert first.status_code == 503
        assert first.json() == {
            "ready": False,
            "not_ready": ["model"],
            "checks": {"model": "not ready", "data_folder": "ok", "jobs": "ok"},
        }
        runtime.service().load(BUNDLED_ID)
        monkeypatch.setattr(health, "CHECKS", health.checks())
        assert client(ELSEWHERE).get("/readyz").json()["ready"]
        assert client(ELSEWHERE).get("/readyz").status_code == 200
        left = {path.name for path in (tmp_path / "data").iterdir()}
        assert left <= {"answers", "bfloat16.json"}  # which loading keeps


def test_what_is_not_ready_is_named_and_nothing_private_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "private-name").write_text("a file", encoding="utf-8")
    with server(monkeypatch, DATA_DIR=str(tmp_path / "private-name" / "data")):
        jobs().stop()
        answer = client(ELSEWHERE).get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["not_ready"] == ["model", "data_folder", "jobs"]
        assert "private-name" not in answer.text


def test_a_check_that_hangs_is_said_in_time_and_holds_one_thread() -> None:
    go_on, asked = threading.Event(), []

    def hang() -> bool:
        asked.append(threading.current_thread())
        return go_on.wait(WAIT)

    slow, quick = Check("slow", hang), Check("quick", lambda: True)
    for _ in range(5):
        found = asyncio.run(readiness((slow, quick), seconds=0.05))
        assert found == {"slow": "no answer in time", "quick": "ok"}
    go_on.set()
    assert slow.ask().result(WAIT)
    assert len(asked) == 1
    assert asyncio.run(readiness((slow,))) == {"slow": "ok"}


def test_a_check_that_raises_is_not_ready() -> None:
    def fail() -> bool:
        raise OSError("disk")

    assert asyncio.run(readiness((Check("disk", fail),))) == {"disk": "not ready"}


def test_who_asks_often_makes_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([True, False, True, False])
    often, once = Check("often", answers.__next__), Check("once", lambda: next(answers), once=True)
    for _ in range(20):
        assert often.ask().result(WAIT)
    monkeypatch.setattr(health, "_KEPT_SECONDS", 0.0)
    assert not often.ask().result(WAIT)
    assert once.ask().result(WAIT)
    assert once.ask().result(WAIT)  # it is enough that it was fine once
    assert next(answers) is False


# Metrics


@pytest.fixture
def with_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    metrics.begin()
    with server(monkeypatch, DATA_DIR=str(tmp_path), METRICS_TOKEN=TOKEN):
        yield


PATHS = ("/metrics", "/metrics/", "/_stcore/metrics", "/base/_stcore/metrics")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_this_machine_may_read_the_metrics(with_token: None, address: str) -> None:
    answer = client(address).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "contextlens_sessions 0.0" in answer.text
    assert "contextlens_cache_max_bytes 1e+09" in answer.text
    assert client(address).get("/_stcore/metrics").text == "streamlit's own"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("address", [ELSEWHERE, "::", "2001:db8::1", "testclient", ""])
def test_another_machine_may_not(with_token: None, address: str, path: str) -> None:
    answer = client(address).get(path)
    assert answer.status_code == 403
    assert "CONTEXTLENS_METRICS_TOKEN" in answer.text
    assert TOKEN not in answer.text
    assert client(address).get("/other").status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
@pytest.mark.parametrize("path", PATHS)
def test_what_a_proxy_on_this_machine_forwards_is_not_this_machine_s(
    with_token: None, header: str, path: str
) -> None:
    assert client().get(path, headers={header: "127.0.0.1"}).status_code == 403
    given = {header: ELSEWHERE, "Authorization": f"Bearer {TOKEN}"}
    assert client().get(path, headers=given).status_code in {200, 307, 404}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"Bearer {TOKEN} ", 403),
        (f"bearer {TOKEN}", 403),
        (f"Bearer {TOKEN}x", 403),
        (TOKEN, 403),
        ("Bearer ", 403),
        ("", 403),
        (b"Bearer \xff\xfe", 403),
    ],
)
def test_another_machine_needs_the_token(with_token: None, given: str | bytes, code: int) -> None:
    headers = {"Authorization": given}
    assert client(ELSEWHERE).get("/metrics", headers=headers).status_code == code  # type: ignore[arg-type]


def test_without_a_token_none_opens_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with server(monkeypatch, DATA_DIR=str(tmp_path)):
        for given in ("Bearer ", "Bearer None", "Bearer"):
            headers = {"Authorization": given}
            assert client(ELSEWHERE).get("/metrics", headers=headers).status_code == 403


def test_a_scraper_gets_the_form_that_it_asks_for(with_token: None) -> None:
    accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
    answer = client().get("/metrics", headers=accept)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_jobs_and_the_cache_are_read_when_somebody_asks(with_token: None) -> None:
    text = client().get("/metrics").text
    assert 'kind="probes"' not in text
    client().get("/readyz")
    text = client().get("/metrics").text
    assert 'contextlens_jobs_ended_total{kind="probes",state="done"} 1.0' in text
