"""Many callers at once: batches that run together, waits, and ends of all kinds."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from contextlens.core import meters
from contextlens.core.batching import Batch, Processors, Queue, Streams
from contextlens.core.caller import StoppedError
from contextlens.core.errors import BusyError
from tests.core.batching.queued import SECONDS, Recorded, clients, streams_of, wait_until_queued

KIND = Recorded()


class Gate:
    """Work that waits until the gate opens, and notes what ran together."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = threading.Semaphore(0)
        self.batches: list[list[Any]] = []

    def __call__(self, texts: Sequence[Any]) -> list[Any]:
        self.batches.append(list(texts))
        self.begun.release()
        assert self.open.wait(SECONDS)
        return list(texts)

    def wait_for(self, n: int) -> None:
        for _ in range(n):
            assert self.begun.acquire(timeout=SECONDS)


def test_results_come_in_the_order_given() -> None:
    streams = streams_of()
    texts = [f"{i}" * (1 + i % 7) for i in range(200)]
    found = streams.run(
        Recorded(work=lambda some: [t.upper() for t in some]), texts, [*map(len, texts)]
    )
    assert found == texts
    assert streams.run(KIND, [], []) == []


def test_who_comes_while_a_batch_runs_is_in_the_next_one() -> None:
    streams, gate = streams_of(1), Gate()
    kind = Recorded(work=gate)
    with clients(5) as ask:
        first = ask(streams, kind, ["aa"], name="a")
        gate.wait_for(1)
        rest = [ask(streams, kind, [f"{name}{name}"], name=name) for name in "bcde"]
        wait_until_queued(streams, 4)
        gate.open.set()
        assert first.result(SECONDS) == ["aa"]
        assert [each.result(SECONDS) for each in rest] == [["bb"], ["cc"], ["dd"], ["ee"]]
    assert [len(batch) for batch in gate.batches] == [1, 4]


def test_two_who_ask_again_at_once_never_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most one waits, as the other is told only once the next batch has begun."""
    done = Queue.done

    def slow(queue: Queue, batch: Batch, seconds: float | None = None) -> None:
        threading.Event().wait(0.005)
        done(queue, batch, seconds)

    monkeypatch.setattr(Queue, "done", slow)
    batches: list[list[str]] = []

    def noted(texts: Sequence[str]) -> Sequence[str]:
        batches.append(list(texts))
        return texts

    streams, kind = streams_of(1), Recorded(work=noted)
    with ThreadPoolExecutor(2) as pool:
        asked = [
            pool.submit(lambda name: [streams.run(kind, [name], [1]) for _ in range(10)], name)
            for name in "ab"
        ]
        assert [each.result(SECONDS) for each in asked] == [[["a"]] * 10, [["b"]] * 10]
    assert sorted(batches) == [["a"]] * 10 + [["b"]] * 10


def test_batches_and_waits_are_counted() -> None:
    def sample(name: str, **labels: str) -> float:
        return meters.REGISTRY.get_sample_value(name, labels) or 0.0

    counts = {
        "contextlens_batch_texts_sum": {},
        "contextlens_batch_tokens_sum": {},
        "contextlens_queue_seconds_count": {"kind": "interactive"},
    }
    before = {name: sample(name, **labels) for name, labels in counts.items()}
    streams = streams_of()
    streams.run(KIND, ["aa", "a"], [2, 1])
    streams._threads[False].shutdown()
    grown = [sample(name, **labels) - before[name] for name, labels in counts.items()]
    assert grown == [2, 4, 1]
    assert sample("contextlens_queued") == 0


def test_an_error_reaches_only_the_caller_whose_text_it_is() -> None:
    streams, gate = streams_of(1), Gate()

    def run(texts: Sequence[Any]) -> list[Any]:
        gate(texts)
        if "bad" in texts:
            raise MemoryError("too large")
        return list(texts)

    kind = Recorded(work=run)
    with clients(4) as ask:
        first = ask(streams, kind, ["aaa"])
        gate.wait_for(1)
        asked = [ask(streams, kind, [text]) for text in ("bbb", "bad", "ccc")]
        wait_until_queued(streams, 3)
        gate.open.set()
        assert first.result(SECONDS) == ["aaa"]
        assert asked[0].result(SECONDS) == ["bbb"]
        assert asked[2].result(SECONDS) == ["ccc"]
        with pytest.raises(MemoryError, match="too large"):
            asked[1].result(SECONDS)
    assert streams.run(kind, ["ddd"], [3]) == ["ddd"]


def test_a_kind_that_gives_too_few_results_is_an_error_and_no_silence() -> None:
    with pytest.raises(ValueError, match="zip"):
        streams_of().run(Recorded(work=lambda _: []), ["a"], [1])


def test_who_is_gone_leaves_the_queue() -> None:
    streams, gate, gone = streams_of(1), Gate(), threading.Event()
    kind = Recorded(work=gate)
    with clients(3) as ask:
        first = ask(streams, kind, ["aa"])
        gate.wait_for(1)
        leaver = ask(streams, kind, ["bb", "cc"], is_cancelled=gone.is_set)
        stayer = ask(streams, kind, ["dd"], is_cancelled=lambda: False)
        wait_until_queued(streams, 3)
        gone.set()
        with pytest.raises(StoppedError):
            leaver.result(SECONDS)
        wait_until_queued(streams, 1)
        assert streams._queue.n_waiting == 1
        gate.open.set()
        assert (first.result(SECONDS), stayer.result(SECONDS)) == (["aa"], ["dd"])
    assert gate.batches == [["aa"], ["dd"]]


def test_a_full_queue_refuses_visitors_and_lets_long_work_wait() -> None:
    streams, gate = streams_of(1, most_texts=2), Gate()
    kind = Recorded(work=gate)
    with clients(6) as ask:
        first = ask(streams, kind, ["aa"], name="a")
        gate.wait_for(1)
        waiting = [ask(streams, kind, ["bb"], name=name) for name in "bc"]
        wait_until_queued(streams, 2)
        job = ask(streams, kind, ["cc"], name="d", bulk=True)
        wait_until_queued(streams, 3)
        with pytest.raises(BusyError, match="Try again in"):
            ask(streams, kind, ["ee"], name="e").result(SECONDS)
        gate.open.set()
        for each in (first, *waiting, job):
            each.result(SECONDS)


@pytest.mark.parametrize("n_streams", [1, 2])
def test_sixty_four_callers_never_compute_with_more_than_all_processors(n_streams: int) -> None:
    """Each thread's part is noted as its batch begins; parts of 1 / n add up to at most 1."""
    own, lock = threading.local(), threading.Lock()
    busy = {"now": 0.0, "most": 0.0}

    def share(n_parts: int) -> None:
        own.part = 1 / n_parts

    def work(texts: Sequence[Any]) -> list[Any]:
        with lock:
            busy["now"] += own.part
            busy["most"] = max(busy.values())
        threading.Event().wait(0.001)
        with lock:
            busy["now"] -= own.part
        return list(texts)

    streams = streams_of(n_streams, share=share)
    kind = Recorded(work=work)

    def client(number: int) -> None:
        for i in range(4):
            if number % 8:
                texts = [f"{number}-{i}"] * (1 + number % 3)
                assert streams.run(kind, texts, [5] * len(texts)) == texts
            else:
                with streams.turn() as pause:
                    work([])
                    pause()
                    work([])

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(client, range(64)))
    assert busy["most"] <= 1.0


@pytest.mark.parametrize("n_streams", [1, 2])
def test_memory_is_kept_while_a_crowd_is_there_and_given_back_after_it(n_streams: int) -> None:
    seen: list[str] = []
    given_back = threading.Event()

    @contextmanager
    def crowd() -> Iterator[None]:
        seen.append("in")
        yield
        seen.append("out")
        given_back.set()

    streams = Streams(Processors(n_streams, id, crowd), most_texts=1000)  # type: ignore[arg-type]
    assert streams.run(KIND, ["alone"], [5]) == ["alone"]
    assert seen == []
    for _ in range(2):  # a quick return finds it there
        streams.run(KIND, ["many"] * 100, [4] * 100)
        assert seen == ["in"]
    assert given_back.wait(SECONDS)
    streams.run(KIND, ["many"] * 100, [4] * 100)
    assert seen == ["in", "out", "in"]


def test_results_go_with_the_last_who_has_them() -> None:
    """At once, not at the next garbage collection: those of a long text take many megabytes."""

    class Result:
        """The result of a text."""

    found = streams_of().run(Recorded(work=lambda some: [Result() for _ in some]), ["a"], [1])
    gone = threading.Event()
    weakref.finalize(found[0], gone.set)
    collects = gc.isenabled()
    gc.disable()
    try:
        del found
        assert gone.wait(SECONDS)
    finally:
        if collects:
            gc.enable()
