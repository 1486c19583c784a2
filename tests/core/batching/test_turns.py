"""Work that callers do in their own threads, which lets others go first."""

from __future__ import annotations

import threading

import pytest

from contextlens.core.caller import Caller, StoppedError, calling
from tests.core.batching.queued import SECONDS, Recorded, clients, streams_of, wait_until_queued

KIND = Recorded()


def test_between_its_steps_long_work_lets_others_go_first() -> None:
    streams, order = streams_of(1), []
    kind = Recorded(work=lambda texts: [order.append("visitor") or text for text in texts])  # type: ignore[func-returns-value]
    with clients(1) as ask, streams.turn() as pause:
        order.append("step")
        pause()  # nobody waits: no pause
        order.append("step")
        visitor = ask(streams, kind, ["aa"])
        wait_until_queued(streams, 1)
        pause()
        order.append("step")
        assert visitor.result(SECONDS) == ["aa"]
    assert order == ["step", "step", "visitor", "step"]


def test_long_work_stops_between_its_steps_when_nobody_wants_it() -> None:
    streams, gone = streams_of(1), threading.Event()
    with calling(Caller(is_cancelled=gone.is_set)), streams.turn() as pause:
        pause()
        gone.set()
        with pytest.raises(StoppedError):
            pause()
    assert streams._queue.is_idle
    assert streams.run(KIND, ["a"], [1]) == ["a"]


def test_who_has_a_stream_does_not_wait_for_another() -> None:
    streams = streams_of(1)
    with streams.turn(), streams.turn() as pause:
        pause()
        assert streams.run(KIND, ["a"], [1]) == ["a"]
    assert streams._queue.is_idle


def test_an_error_inside_a_turn_gives_the_stream_back() -> None:
    streams = streams_of(1)
    with pytest.raises(ZeroDivisionError), streams.turn():
        raise ZeroDivisionError
    assert streams.run(KIND, ["a"], [1]) == ["a"]
