"""Answers to work that takes a while; slow clients are disconnected."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService, errors
from contextlens.core import caller as callers
from contextlens.core.caller import Caller, calling
from contextlens.core.errors import JobError, RequestError, WorkerError
from contextlens.core.remote.wire import (
    ANSWER_TYPE,
    REQUEST_TYPE,
    STREAM_TYPE,
    pack_request,
    unpack_answer,
)
from contextlens.serving.api import create_app
from contextlens.serving.bounds import Bounds
from tests.serving.api.asking import CARD, asking, post
from tests.support.remote_server import serving


class Slow:
    """A service whose work ends when the test says so, and that notes how it went."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.stopped, self.caller = threading.Event(), Caller()

    def load(self, _: str) -> Any:
        return CARD

    def encode(self, **_: Any) -> list[Any]:
        self.caller = callers.current()
        self.begun.set()
        while not self.go.wait(0.01):
            if self.caller.is_cancelled is not None and self.caller.is_cancelled():
                self.stopped.set()
                raise JobError("Stopped.")
        return []

    def intervene(self, progress: Any = None, **_: Any) -> list[Any]:
        try:
            while not self.go.is_set():
                self.begun.set()
                if progress is not None:
                    progress(1, 2)
                self.go.wait(0.01)
        except JobError:
            self.stopped.set()
            raise
        return []

    def models(self) -> Any:
        raise ZeroDivisionError("what a visitor typed")


ARGUMENTS: dict[str, Any] = {"model": "m", "texts": ["a"]}


@pytest.fixture
def slow() -> Iterator[tuple[Slow, str]]:
    service: Any = Slow()
    with serving(create_app(service, bounds=Bounds(n_requests=1))) as url:
        yield service, url
        service.go.set()


@pytest.mark.parametrize("accept", [ANSWER_TYPE, f"{ANSWER_TYPE}, {STREAM_TYPE}"])
def test_a_client_that_goes_stops_the_work(slow: tuple[Slow, str], accept: str) -> None:
    service, url = slow
    headers = {"content-type": REQUEST_TYPE, "accept": accept}
    with httpx2.Client(trust_env=False) as client, pytest.raises(httpx2.ReadTimeout):
        client.post(
            f"{url}/v1/encode",
            content=pack_request(ARGUMENTS),
            headers=headers,
            timeout=0.3,
        )
    assert service.stopped.wait(20)


def test_what_progress_raises_at_the_client_stops_the_work(slow: tuple[Slow, str]) -> None:
    service, url = slow

    def stop(_: Any) -> None:
        raise KeyError("enough")

    with asking(url) as client, pytest.raises(KeyError, match="enough"):
        client.request("intervene", {**ARGUMENTS, "interventions": []}, on_progress=stop)
    assert service.stopped.wait(20)


def test_signs_of_life_come_while_the_work_goes_on(slow: tuple[Slow, str]) -> None:
    service, url = slow
    asked = []

    def is_cancelled() -> bool:
        asked.append(1)
        if service.begun.is_set():
            service.go.set()
        return False

    with asking(url) as client, calling(Caller("me", bulk=True, is_cancelled=is_cancelled)):
        assert client.request("encode", ARGUMENTS) == []
    assert len(asked) > 1
    assert service.caller.bulk
    assert service.caller.name not in {None, "me"}


def test_too_many_questions_at_once_are_told_to_come_again(slow: tuple[Slow, str]) -> None:
    service, url = slow
    answers: list[Any] = []

    def ask() -> None:
        with asking(url) as client:
            answers.append(client.request("encode", ARGUMENTS))

    first = threading.Thread(target=ask)
    first.start()
    assert service.begun.wait(20)
    refused = post(url, "encode", pack_request(ARGUMENTS))
    assert (refused.status_code, refused.json()["error"]) == (503, "BusyError")
    assert refused.headers["retry-after"] == "1"
    service.go.set()
    first.join()
    assert answers == [[]]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.RequestError(""), 400),
        (errors.UnknownModelError(""), 404),
        (errors.RevisionError(""), 409),
        (errors.UnsupportedModelError(""), 422),
        (errors.FetchError(""), 424),
        (errors.WorkerError(""), 500),
        (errors.BusyError("", 1.2), 503),
        (errors.ModelError(""), 507),
    ],
)
def test_a_status_says_who_can_do_something(error: errors.ContextlensError, status: int) -> None:
    def fail(**_: Any) -> None:
        raise error

    service: Any = SimpleNamespace(architecture=fail)
    with serving(create_app(service)) as url:
        answer = post(url, "architecture", pack_request({"model": "m"}))
    assert (answer.status_code, answer.json()["error"]) == (status, type(error).__name__)
    assert answer.headers.get("retry-after") == ("2" if status == 503 else None)


def test_what_should_not_happen_is_a_reference_to_the_log(
    slow: tuple[Slow, str], caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.ERROR, "contextlens"),
        asking(slow[1]) as client,
        pytest.raises(WorkerError, match=r"reference [0-9a-f]{8}") as caught,
    ):
        client.request("models", {})
    assert "typed" not in str(caught.value)
    assert "ZeroDivisionError" in caplog.text


def test_who_runs_it_learns_which_models_are_used(local: EncoderService) -> None:
    used: list[str] = []
    with serving(create_app(local, on_used=used.append)) as url, asking(url) as client:
        client.request("spec", {"model": "org/other"})
        with pytest.raises(RequestError):
            client.request("encode", {"model": BUNDLED_ID, "texts": ["a"], "layers": [99]})
        client.request("tokenize", {"model": BUNDLED_ID, "texts": ["a"]})
    assert used == [BUNDLED_ID]


# Slow clients


@contextmanager
def begun(url: str, method: str, *, n_bytes: int) -> Iterator[socket.socket]:
    """The connection of a question whose body has not been sent yet."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as line:
        head = f"POST /v1/{method} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {REQUEST_TYPE}\r\n"
        line.sendall(f"{head}content-length: {n_bytes}\r\n\r\n".encode())
        yield line


class Large:
    """A service whose answers are large."""

    def load(self, _: str) -> Any:
        return CARD

    def matrix(self, **_: Any) -> Any:
        return np.zeros((4_000, 1_000), dtype=np.float32)  # 16 MB: no socket holds that


def test_a_body_that_does_not_come_is_given_up_in_a_sentence(local: EncoderService) -> None:
    with (
        serving(create_app(local, bounds=Bounds(seconds=0.5))) as url,
        begun(url, "encode", n_bytes=1_000) as slow,
    ):
        slow.sendall(b"a")
        answer = slow.recv(10_000).decode()
    assert answer.startswith("HTTP/1.1 408")
    assert "was not there in time: it has 0.5 seconds" in answer


def test_who_takes_no_answer_is_let_go_of_and_makes_room() -> None:
    """With room for one question, the second is answered once the first is given up."""
    service: Any = Large()
    with serving(create_app(service, bounds=Bounds(n_requests=1, seconds=0.5))) as url:
        body = pack_request({"model": "m", "name": "n"})
        with begun(url, "matrix", n_bytes=len(body)) as idle:
            idle.sendall(body)
            idle.recv(1)  # it is on its way
            assert post(url, "matrix", body).status_code == 503
            end = time.monotonic() + 20
            while (answer := post(url, "matrix", body)).status_code == 503:
                assert time.monotonic() < end
            assert unpack_answer("matrix", answer.content).shape == (4_000, 1_000)


@pytest.mark.parametrize("n", [0, 250_000, 625_000])
def test_answers_of_any_size_arrive_whole(n: int) -> None:
    """Sent in parts of a megabyte."""
    service: Any = SimpleNamespace(
        load=lambda _: CARD, matrix=lambda **_: np.arange(n, dtype=np.float32)
    )
    with serving(create_app(service)) as url, asking(url) as client:
        found = client.request("matrix", {"model": "m", "name": "n"})
    assert np.array_equal(found, np.arange(n, dtype=np.float32))
