"""Failures between a client and a service, on real sockets."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from contextlens.core.caller import Caller, calling
from contextlens.core.errors import (
    BusyError,
    JobError,
    RequestError,
    ServiceAwayError,
    SettingsError,
    TextError,
    WorkerError,
)
from contextlens.core.remote import service
from contextlens.core.remote.service import Connection
from contextlens.core.remote.wire import (
    ANSWER_TYPE,
    REQUEST_TYPE,
    STREAM_TYPE,
    Event,
    Fault,
    pack_answer,
    unpack_request,
)
from contextlens.core.schema import ModelSpec, ProgressEvent
from tests.core.remote.scripted import Asked, Line, Scripted, answers, cut_off, silent, status
from tests.support.remote_server import serving


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many tries, with shorter pauses."""
    monkeypatch.setattr(service, "_PAUSES", (0.0, 0.01, 0.01))
    monkeypatch.setattr(service, "_AWAY_SECONDS", 0.0)


@contextmanager
def scripted(*lines: Line, token: str | None = None) -> Iterator[tuple[Scripted, Connection]]:
    app = Scripted(lines)
    with serving(app) as url:
        client = Connection(url, token)
        yield app, client
        client.close()


def line(**fields: Any) -> bytes:
    """One line of a stream."""
    return msgspec.json.encode(Event(**fields)) + b"\n"


ALIVE = line()
THERE = pack_answer("there")


def test_an_answer_is_unpacked_and_the_question_packed() -> None:
    with scripted(answers(["a", "b"])) as (app, client):
        assert client.request("normalize", {"model": "org/m", "texts": ["A"]}) == ["a", "b"]
    asked = app.asked[0]
    assert asked.path == "/v1/normalize"
    arguments = {"model": "org/m", "texts": ["A"], "checksum": None}
    assert unpack_request("normalize", asked.body) == arguments
    assert asked.headers["content-type"] == REQUEST_TYPE
    assert asked.headers["serve_multiplexed_model_id"] == "org/m"
    assert "authorization" not in asked.headers


NOT_ASKED = {
    "503 of a proxy": status(503, b"No replicas are available yet."),
    "404 before it is there": status(404, b"Path not found"),
    "another server": status(200, b"<html></html>", "text/html"),
}
LOST = {
    "502": status(502, b"<html>Bad gateway</html>"),
    "504": status(504),
    "cut off": cut_off(ANSWER_TYPE, b"half"),
    "cut off stream": cut_off(STREAM_TYPE, ALIVE, line(n_bytes=len(THERE)), THERE[:-3]),
    "no stream": status(200, b"{]\n", STREAM_TYPE),
}


@pytest.mark.parametrize("first", NOT_ASKED.values(), ids=NOT_ASKED)
def test_what_reached_nobody_is_asked_a_few_times(first: Line) -> None:
    with scripted(first, first, answers("there")) as (app, client):
        assert client.request("decode", {"model": "m"}) == "there"
        assert client.away is None
    assert len(app.asked) == 3


@pytest.mark.parametrize("first", LOST.values(), ids=LOST)
def test_what_was_lost_on_the_way_is_asked_once_more_and_no_more(
    first: Line, caplog: pytest.LogCaptureFixture
) -> None:
    """It may have crashed the process that got it."""
    with scripted(first, answers("there")) as (app, client):
        assert client.request("decode", {"model": "m"}) == "there"
        assert client.away is None
        assert len(app.asked) == 2
    with scripted(first) as (app, client):
        with pytest.raises(ServiceAwayError, match="does not answer"):
            client.request("decode", {"model": "m"})
        assert len(app.asked) == 2


def test_a_closed_port_is_away_and_back_when_it_opens(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    client = Connection(f"http://127.0.0.1:{port}")
    with pytest.raises(ServiceAwayError, match="does not answer") as caught:
        client.request("decode", {})
    assert str(port) not in str(caught.value)  # that is for the log
    assert f"127.0.0.1:{port}" in caplog.text
    with serving(Scripted([answers("five")]), port=port):
        assert client.request("decode", {}) == "five"
    assert client.away is None
    client.close()


def test_who_is_away_is_not_asked_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_AWAY_SECONDS", 600.0)
    with scripted(status(503)) as (app, client):
        for _ in range(5):
            with pytest.raises(ServiceAwayError):
                client.request("load", {"model": "m"})
        assert len(app.asked) == 3


def test_silence_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_SILENT_SECONDS", 0.2)
    with scripted(silent) as (app, client):
        with pytest.raises(ServiceAwayError):
            client.request("load", {"model": "m"})
        assert len(app.asked) == 1


def test_what_the_service_refuses_is_not_asked_again() -> None:
    fault = Fault.of(TextError("No tokenizer can read this. Leave it out."))
    with scripted(status(400, msgspec.json.encode(fault), "application/json")) as (app, client):
        with pytest.raises(TextError, match="No tokenizer can read this"):
            client.request("encode", {})
        assert len(app.asked) == 1
        assert client.away is None


def test_a_busy_service_says_so_with_its_wait() -> None:
    busy = BusyError("Too much waits. Try again.", 3.0)
    line = status(
        503, msgspec.json.encode(Fault.of(busy)), "application/json", {"retry-after": "3"}
    )
    with scripted(line) as (app, client):
        with pytest.raises(BusyError, match="Too much waits") as caught:
            client.request("encode", {})
        assert caught.value.retry_seconds == 3.0
        assert len(app.asked) == 1


def test_a_cluster_that_drops_requests_is_busy_not_away() -> None:
    line = status(503, b"Request dropped due to backpressure (num_queued_requests=512).")
    with scripted(line) as (_, client):
        with pytest.raises(BusyError, match="more to do than it can") as caught:
            client.request("encode", {})
        assert caught.value.retry_seconds == 1.0


def test_the_token_is_sent_and_a_wrong_one_is_said() -> None:
    with (
        scripted(status(401), token="a-secret-of-the-two") as (app, client),
        pytest.raises(SettingsError, match="CONTEXTLENS_SERVICE_TOKEN") as caught,
    ):
        client.request("models", {})
    assert app.asked[0].headers["authorization"] == "Bearer a-secret-of-the-two"
    assert "a-secret" not in str(caught.value)


def test_another_status_is_an_error_of_the_service() -> None:
    with (
        scripted(status(500, b"Internal Server Error")) as (app, client),
        pytest.raises(WorkerError, match="status 500"),
    ):
        client.request("encode", {})
    assert len(app.asked) == 2


def test_a_request_whose_replica_died_is_sent_once_more() -> None:
    died = status(500, b"Internal Server Error")  # as Ray's HAProxy says it
    with scripted(died, stream(line(n_bytes=len(THERE)), THERE)) as (_, client):
        assert client.request("decode", {}) == "there"


def stream(*parts: bytes) -> Line:
    return status(200, b"".join(parts), STREAM_TYPE)


def test_progress_is_told_before_the_result() -> None:
    told: list[Any] = []
    event = ProgressEvent("Fetching", 1, 3)
    end = (line(n_bytes=len(THERE)), THERE)
    with scripted(stream(line(progress=(1, 3)), ALIVE, line(progress=event), *end)) as (_, client):
        assert client.request("decode", {}, on_progress=told.append) == "there"
        assert client.request("decode", {}) == "there"
    assert told == [(1, 3), event]


def test_an_error_may_come_at_the_end() -> None:
    fault = Fault.of(RequestError("Head 99 is not there."))
    with (
        scripted(stream(ALIVE, line(fault=fault))) as (_, client),
        pytest.raises(RequestError, match="Head 99"),
    ):
        client.request("encode", {})


def test_what_progress_raises_comes_out() -> None:
    def stop(_: Any) -> None:
        raise KeyError("stop")

    with (
        scripted(stream(line(progress=(1, 3)), line(n_bytes=1))) as (_, client),
        pytest.raises(KeyError, match="stop"),
    ):
        client.request("intervene", {}, on_progress=stop)


async def working(_: Any, send: Any) -> None:
    """Send endless signs of life."""
    kind = (b"content-type", STREAM_TYPE.encode())
    await send({"type": "http.response.start", "status": 200, "headers": [kind]})
    for _ in range(1000):
        await send({"type": "http.response.body", "body": ALIVE, "more_body": True})
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("line", [working, silent], ids=["while it works", "while it is silent"])
def test_a_caller_who_gives_up_is_heard_at_once(line: Line) -> None:
    start = time.monotonic()
    with (
        scripted(line) as (app, client),
        calling(Caller("me", is_cancelled=lambda: bool(app.asked))),
        pytest.raises(JobError, match="nobody waits"),
    ):
        client.request("encode", {})
    assert time.monotonic() - start < 5
    assert len(app.asked) == 1


# More questions than connections


@pytest.fixture
def full() -> Iterator[Connection]:
    """A connection with all places taken by questions that get no answer."""

    async def line(asked: Asked, send: Any) -> None:
        if asked.path.endswith("/spec"):
            await answers(ModelSpec("m", "M", "", "bundled"))(asked, send)
        else:
            await silent(asked, send)

    over = threading.Event()
    with scripted(line) as (app, client):

        def ask() -> None:
            with calling(Caller("me", is_cancelled=over.is_set)), pytest.raises(JobError):
                client.request("encode", {})

        threads = [threading.Thread(target=ask) for _ in range(service._CONNECTIONS[False])]
        for thread in threads:
            thread.start()
        while len(app.asked) < len(threads):
            time.sleep(0.01)
        yield client
        over.set()
        for thread in threads:
            thread.join()


def test_quick_questions_do_not_wait_for_long_ones(full: Connection) -> None:
    start = time.monotonic()
    assert full.request("spec", {"model": "m"}).id == "m"
    assert time.monotonic() - start < 3


def test_who_finds_no_free_connection_is_told_after_a_short_time(full: Connection) -> None:
    start = time.monotonic()
    with pytest.raises(BusyError, match="Try again in a moment") as caught:
        full.request("encode", {})
    assert time.monotonic() - start < 10
    assert caught.value.retry_seconds
    assert full.away is None


def test_who_waits_for_a_connection_may_give_up(full: Connection) -> None:
    given_up = threading.Event()
    threading.Timer(0.3, given_up.set).start()
    start = time.monotonic()
    with (
        calling(Caller("you", is_cancelled=given_up.is_set)),
        pytest.raises(JobError, match="nobody waits"),
    ):
        full.request("encode", {})
    assert time.monotonic() - start < 3


def test_a_quick_question_has_five_seconds_in_all(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Even if the answer begins and then goes on endlessly."""
    monkeypatch.setattr(service, "_QUICK_SECONDS", 0.3)
    with scripted(working) as (app, client):
        start = time.monotonic()
        with pytest.raises(ServiceAwayError):
            client.request("spec", {"model": "m"})
        assert time.monotonic() - start < 3
        assert len(app.asked) == 1


def test_who_asks_is_told_apart_and_not_named() -> None:
    with scripted(answers("")) as (app, client):
        for caller in (Caller("ada"), Caller("ada", bulk=True), Caller("bob"), Caller()):
            with calling(caller):
                client.request("decode", {"model": "päth"})
    names = [asked.headers.get("x-contextlens-caller") for asked in app.asked]
    assert names[0] == names[1] != names[2]
    assert names[3] is None
    assert re.fullmatch(r"[0-9a-f]{24}", str(names[0]))
    bulk = [asked.headers.get("x-contextlens-bulk") for asked in app.asked]
    assert bulk == [None, "1", None, None]
    assert "serve_multiplexed_model_id" not in app.asked[0].headers
