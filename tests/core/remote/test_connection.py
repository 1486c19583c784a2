"""What goes wrong between a client and a service, on real sockets."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from components.core.caller import Caller, calling
from components.core.errors import (
    BusyError,
    JobError,
    RequestError,
    ServiceAwayError,
    SettingsError,
    TextError,
    WorkerError,
)
from components.core.remote import connection
from components.core.remote.connection import Connection
from components.core.remote.faults import fault_of
from components.core.remote.frames import ALIVE, ERROR, PROGRESS, RESULT, frame
from components.core.remote.names import STREAM_TYPE
from components.core.remote.wire import MEDIA_TYPE, pack, unpack
from tests.core.remote.scripted import Asked, Line, Scripted, answers, cut_off, silent, status
from tests.support.remote_server import serving


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same tries with shorter rests."""
    monkeypatch.setattr(connection, "_PAUSES", (0.0, 0.01, 0.01))
    monkeypatch.setattr(connection, "_AWAY_SECONDS", 0.0)


@contextmanager
def scripted(*lines: Line, token: str | None = None) -> Iterator[tuple[Scripted, Connection]]:
    app = Scripted(lines)
    with serving(app) as url:
        client = Connection(url, token)
        yield app, client
        client.close()


def test_an_answer_is_unpacked_and_the_question_packed() -> None:
    with scripted(answers({"a": (1, 2)})) as (app, client):
        assert client.ask("encode", {"model": "org/m", "texts": ["a"]}) == {"a": (1, 2)}
    asked = app.asked[0]
    assert asked.path == "/v1/encode"
    assert unpack(asked.body) == {"model": "org/m", "texts": ["a"]}
    assert asked.headers["content-type"] == MEDIA_TYPE
    assert asked.headers["serve_multiplexed_model_id"] == "org/m"
    assert "authorization" not in asked.headers


NOT_REACHED = {
    "503 of a proxy": status(503, b"No replicas are available yet."),
    "404 before it is there": status(404, b"Path not found"),
    "another server": status(200, b"<html></html>", "text/html"),
}
LOST = {
    "502": status(502, b"<html>Bad gateway</html>"),
    "504": status(504),
    "cut off": cut_off(MEDIA_TYPE, b"half"),
    "cut off frames": cut_off(STREAM_TYPE, frame(ALIVE), frame(RESULT, pack(1))[:-3]),
}
CASES = [*((line, 3) for line in NOT_REACHED.values()), *((line, 2) for line in LOST.values())]
IDS = [*NOT_REACHED, *LOST]


@pytest.mark.parametrize(("line", "n_tries"), CASES, ids=IDS)
def test_what_is_lost_on_the_way_is_asked_again(
    line: Line, n_tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    with scripted(*[line] * (n_tries - 1), answers("there")) as (app, client):
        assert client.ask("load", {"model": "m"}) == "there"
        assert client.away is None
    assert len(app.asked) == n_tries


@pytest.mark.parametrize(("line", "n_tries"), CASES, ids=IDS)
def test_what_may_have_ended_its_process_is_asked_again_once_only(
    line: Line, n_tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    with scripted(line) as (app, client):
        with pytest.raises(ServiceAwayError, match="does not answer"):
            client.ask("load", {"model": "m"})
        assert len(app.asked) == n_tries
        assert client.away is not None


def test_long_questions_hold_up_no_quick_one_and_more_of_them_are_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "_N_CONNECTIONS", 2)
    monkeypatch.setattr(connection, "_POOL_SECONDS", 0.3)
    go = threading.Event()

    async def held(asked: Asked, send: Any) -> None:
        while asked.path.endswith("encode") and not go.is_set():
            await asyncio.sleep(0.01)
        await answers(1)(asked, send)

    with scripted(held) as (app, client):
        threads = [threading.Thread(target=client.ask, args=("encode", {})) for _ in range(2)]
        for thread in threads:
            thread.start()
        while len(app.asked) < 2:
            time.sleep(0.01)
        begun = time.monotonic()
        assert client.ask("models", {}, quick=True) == 1
        with pytest.raises(BusyError, match="more to do than it can"):
            client.ask("encode", {})
        gone = Caller("me", is_cancelled=lambda: True)
        with calling(gone), pytest.raises(JobError, match="stopped"):
            client.ask("encode", {})
        assert time.monotonic() - begun < 3
        assert client.away is None
        go.set()
        for thread in threads:
            thread.join()


def test_a_closed_port_is_away_and_back_when_it_opens(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    client = Connection(f"http://127.0.0.1:{port}")
    with pytest.raises(ServiceAwayError, match="does not answer") as caught:
        client.ask("models", {})
    assert str(port) not in str(caught.value)  # that is for the log
    assert f"127.0.0.1:{port}" in caplog.text
    with serving(Scripted([answers(5)]), port=port):
        assert client.ask("models", {}) == 5
    assert client.away is None
    client.close()


def test_who_is_away_is_not_asked_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_AWAY_SECONDS", 600.0)
    with scripted(status(503)) as (app, client):
        for _ in range(5):
            with pytest.raises(ServiceAwayError):
                client.ask("load", {"model": "m"})
        assert len(app.asked) == 3


@pytest.mark.slow
def test_silence_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_SILENT_SECONDS", 0.2)
    with scripted(silent) as (app, client):
        with pytest.raises(ServiceAwayError):
            client.ask("load", {"model": "m"})
        assert len(app.asked) == 1


def test_what_the_service_refuses_is_not_asked_again() -> None:
    fault = fault_of(TextError("No tokenizer can read this. Leave it out."))
    with scripted(status(400, fault.body(), "application/json")) as (app, client):
        with pytest.raises(TextError, match="No tokenizer can read this"):
            client.ask("encode", {})
        assert len(app.asked) == 1
        assert client.away is None


def test_a_busy_service_says_so_with_its_wait() -> None:
    busy = BusyError("Too much waits. Try again.")
    busy.retry_seconds = 3.0
    line = status(503, fault_of(busy).body(), "application/json", {"retry-after": "3"})
    with scripted(line) as (app, client):
        with pytest.raises(BusyError, match="Too much waits") as caught:
            client.ask("encode", {})
        assert caught.value.retry_seconds == 3.0
        assert len(app.asked) == 1


def test_a_cluster_that_drops_requests_is_busy_not_away() -> None:
    line = status(503, b"Request dropped due to backpressure (num_queued_requests=512).")
    with scripted(line) as (_, client):
        with pytest.raises(BusyError, match="more to do than it can") as caught:
            client.ask("encode", {})
        assert caught.value.retry_seconds == 1.0


def test_the_token_is_sent_and_a_wrong_one_is_said() -> None:
    with (
        scripted(status(401), token="a-secret-of-the-two") as (app, client),
        pytest.raises(SettingsError, match="CONTEXTLENS_SERVICE_TOKEN") as caught,
    ):
        client.ask("models", {})
    assert app.asked[0].headers["authorization"] == "Bearer a-secret-of-the-two"
    assert "a-secret" not in str(caught.value)


def test_another_status_is_an_error_of_the_service() -> None:
    with (
        scripted(status(500, b"Internal Server Error")) as (_, client),
        pytest.raises(WorkerError, match="status 500"),
    ):
        client.ask("encode", {})


def frames(*parts: bytes) -> Line:
    return status(200, b"".join(parts), STREAM_TYPE)


def test_progress_is_told_before_the_result() -> None:
    told: list[Any] = []
    line = frames(frame(PROGRESS, pack((1, 3))), frame(ALIVE), frame(RESULT, pack("done")))
    with scripted(line) as (_, client):
        assert client.ask("intervene", {}, told=told.append) == "done"
        assert client.ask("intervene", {}) == "done"
    assert told == [(1, 3)]


def test_an_error_may_come_at_the_end() -> None:
    fault = fault_of(RequestError("Head 99 is not there."))
    with (
        scripted(frames(frame(ALIVE), frame(ERROR, fault.body()))) as (_, client),
        pytest.raises(RequestError, match="Head 99"),
    ):
        client.ask("encode", {})


def test_what_progress_raises_comes_out() -> None:
    def stop(_: Any) -> None:
        raise KeyError("stop")

    with (
        scripted(frames(frame(PROGRESS, pack((1, 3))), frame(RESULT, pack(1)))) as (_, client),
        pytest.raises(KeyError, match="stop"),
    ):
        client.ask("intervene", {}, told=stop)


@pytest.mark.slow
def test_a_caller_who_gave_up_is_heeded() -> None:
    stopped = threading.Event()

    async def working(_: Any, send: Any) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", STREAM_TYPE.encode())],
            }
        )
        for _ in range(1000):
            await send({"type": "http.response.body", "body": frame(ALIVE), "more_body": True})
            stopped.set()
            await asyncio.sleep(0.01)

    with (
        scripted(working) as (app, client),
        calling(Caller("me", is_cancelled=stopped.is_set)),
        pytest.raises(JobError, match="nobody waits"),
    ):
        client.ask("encode", {})
    assert len(app.asked) == 1


def test_who_asks_is_told_apart_and_not_named() -> None:
    with scripted(answers(1)) as (app, client):
        for caller in (Caller("ada"), Caller("ada", bulk=True), Caller("bob"), Caller()):
            with calling(caller):
                client.ask("encode", {"model": "päth"})
    names = [asked.headers.get("x-contextlens-caller") for asked in app.asked]
    assert names[0] == names[1] != names[2]
    assert names[3] is None
    assert re.fullmatch(r"[0-9a-f]{24}", str(names[0]))
    bulk = [asked.headers.get("x-contextlens-bulk") for asked in app.asked]
    assert bulk == [None, "1", None, None]
    assert "serve_multiplexed_model_id" not in app.asked[0].headers


def test_connections_are_used_again_and_many_can_be_open() -> None:
    with scripted(answers(1)) as (_, client):
        threads = [
            threading.Thread(target=lambda: [client.ask("models", {}) for _ in range(5)])
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert client.ask("models", {}) == 1


def test_all_rests_together_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A visitor waits for them before they are told."""
    monkeypatch.undo()
    assert sum(connection._PAUSES) * 1.5 < 6
