"""Contenders in processes of their own that take turns, so that neither tunes the other's process.

Loading a model in Contextlens changes glibc's allocator for the whole process, and the machine may
be shared: rounds of A and B alternate, each waits a little for quiet, and ratios are taken within a
round.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import psutil

__all__ = ["at_once", "interleaved", "peak", "seconds", "wait_for_quiet", "worker", "workers"]

Contenders = Mapping[str, Sequence[Any]]
"""For each name a set-up function and its arguments."""

QUIET_PERCENT = 15
QUIET_SECONDS = 3.0


def seconds(call: Callable[[], Any]) -> float:
    """Seconds that a call takes, without freeing its result."""
    start = time.perf_counter()
    result = call()
    took = time.perf_counter() - start
    del result
    return took


def wait_for_quiet() -> None:
    """Wait, but not for long, until the machine is almost idle."""
    deadline = time.monotonic() + QUIET_SECONDS
    while psutil.cpu_percent(0.2) > QUIET_PERCENT and time.monotonic() < deadline:
        pass


@contextmanager
def peak(process: psutil.Process) -> Iterator[list[int]]:
    """The peak memory of a process during the block, in bytes."""
    highest, is_over = [0], threading.Event()

    def watch() -> None:
        while not is_over.wait(0.02):
            highest[0] = max(highest[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield highest
    finally:
        is_over.set()
        watcher.join()


@contextmanager
def worker(
    set_up: Callable[..., Callable[..., Any]], *arguments: Any
) -> Iterator[Callable[..., Any]]:
    """A fresh process that runs `set_up(*arguments)` and then, on each call, what that returned.

    `set_up` must belong to an importable module: the process finds it by its name.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, set_up, arguments), daemon=True)
    process.start()
    there.close()

    def turn(*turn_arguments: Any) -> Any:
        here.send(turn_arguments)
        return here.recv()

    try:
        here.recv()  # ready
        yield turn
    finally:
        here.close()
        process.join(20)
        process.kill()


@contextmanager
def workers(contenders: Contenders) -> Iterator[dict[str, Callable[..., Any]]]:
    """One worker for each contender, by name."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(worker(*how)) for name, how in contenders.items()}


def interleaved(contenders: Contenders, turns: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Each contender's results, run in turns: A B A B."""
    given: dict[str, list[Any]] = {name: [] for name in contenders}
    with workers(contenders) as ready:
        for turn in turns:
            for name, run in ready.items():
                wait_for_quiet()
                given[name].append(run(*turn))
    return given


def at_once(contenders: Contenders, *turn: Any) -> dict[str, Any]:
    """Each contender's result of one turn, taken by all at the same time."""
    with workers(contenders) as ready, ThreadPoolExecutor() as threads:
        running = {name: threads.submit(run, *turn) for name, run in ready.items()}
        return {name: future.result() for name, future in running.items()}


def _serve(
    pipe: Any, set_up: Callable[..., Callable[..., Any]], arguments: tuple[Any, ...]
) -> None:
    run = set_up(*arguments)
    pipe.send("ready")
    try:
        while True:
            pipe.send(run(*pipe.recv()))
    except EOFError:  # the other end has closed
        return
