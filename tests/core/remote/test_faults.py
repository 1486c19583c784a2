from __future__ import annotations

import json

import pytest

from components.core import errors
from components.core.errors import BusyError, ContextlensError, UnknownModelError
from components.core.remote.faults import CLASSES, Fault, fault_of


def test_every_error_can_be_sent() -> None:
    assert set(CLASSES) == set(errors.__all__)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_an_error_comes_back_as_the_same_class_with_the_same_sentence(name: str) -> None:
    sent = fault_of(CLASSES[name]("Choose another — word."))
    assert 400 <= sent.status < 600
    read = Fault.read(sent.body())
    assert read is not None
    assert type(read.error()) is CLASSES[name]
    assert str(read.error()) == "Choose another — word."


def test_statuses_say_who_can_do_something() -> None:
    assert fault_of(errors.RequestError("")).status == 400
    assert fault_of(UnknownModelError("")).status == 404
    assert fault_of(errors.FetchError("")).status == 424
    assert fault_of(BusyError("")).status == 503
    assert fault_of(errors.WorkerError("")).status == 500


def test_a_busy_service_says_when_to_come_again() -> None:
    busy = BusyError("Try again.")
    busy.retry_seconds = 1.2
    sent = fault_of(busy)
    assert sent.headers() == {"retry-after": "2"}
    read = Fault.read(sent.body())
    assert read is not None
    assert getattr(read.error(), "retry_seconds", None) == 1.2


def test_an_error_of_a_class_of_its_own_is_sent_as_the_nearest() -> None:
    class OwnError(UnknownModelError):
        pass

    assert fault_of(OwnError("x")).name == "UnknownModelError"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b"[]",
        b"{}",
        json.dumps({"error": "SystemExit", "message": "x"}).encode(),
        json.dumps({"error": ["BusyError"], "message": "x"}).encode(),
        json.dumps({"error": "BusyError", "message": 5}).encode(),
        b"[" * 100_000,
    ],
)
def test_what_is_no_fault_of_ours_is_none(body: bytes) -> None:
    assert Fault.read(body) is None


@pytest.mark.parametrize("wait", [-1, "soon", 1e9, True, None])
def test_a_wait_that_makes_no_sense_is_left_out(wait: object) -> None:
    body = json.dumps({"error": "BusyError", "message": "x", "retry_seconds": wait}).encode()
    read = Fault.read(body)
    assert read is not None
    assert read.retry_seconds is None
    assert isinstance(read.error(), ContextlensError)
