"""Work that a test controls: in threads step by step, and in worker processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Queue
from typing import Any

import numpy as np

from contextlens.core.errors import CorpusError
from contextlens.jobs import OnProgress, Report, StoppedError

WAIT = 300


@dataclass(frozen=True)
class Result:
    """A result with a size."""

    name: str
    nbytes: int = 0


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Work:
    """Does one step when it is told to, in its job's own thread."""

    def __init__(self) -> None:
        self.n_runs = 0
        self.given: tuple[Any, ...] = ()
        self._orders: Queue[Callable[[Report], Any]] = Queue()
        self._answers: Queue[str] = Queue()

    def __call__(self, report: Report, *given: Any) -> Any:
        self.n_runs += 1
        self.given = given
        while True:
            order = self._orders.get(timeout=WAIT)
            try:
                found = order(report)
            except StoppedError:
                self._answers.put("stopped")
                raise
            if found is not None:
                return found
            self._answers.put("")

    def report(self, stage: str = "Working", share: float = 0.5) -> bool:
        """Have it report; True if it was told to go on."""
        return self._told(lambda report: report(stage, share))

    def count(self, stage: str, done: int, total: int | None) -> bool:
        """Have it report bytes; True if it was told to go on."""
        return self._told(lambda report: report.count(stage, done, total))

    def finish(self, result: Any) -> None:
        """Have it end with a result."""
        self._orders.put(lambda _: result)

    def fail(self, error: Exception) -> None:
        """Have it end with an error."""

        def fail(_: Report) -> None:
            raise error

        self._orders.put(fail)

    def _told(self, order: Callable[[Report], None]) -> bool:
        self._orders.put(order)
        return self._answers.get(timeout=WAIT) != "stopped"


def threads(of: str = "") -> list[threading.Thread]:
    """The jobs' threads, of kinds whose names begin with `of`."""
    return [t for t in threading.enumerate() if t.name.startswith(f"contextlens-{of}")]


# In a worker process


def total(array: np.ndarray, factor: float, report: OnProgress) -> tuple[float, np.ndarray]:
    """The sum of an array times a factor, and the array doubled."""
    for i in range(5):
        report("Adding up", i / 5)
    return float(array.sum()) * factor, 2 * array


def about(report: OnProgress) -> dict[str, Any]:
    """Facts about this process."""
    print("a library that prints")
    main = sys.modules["__main__"]
    libraries = {"streamlit", "torch"} & set(sys.modules)
    return {"pid": os.getpid(), "main": getattr(main, "__file__", None), "libraries": libraries}


def refuse(name: str, report: OnProgress) -> None:
    raise CorpusError(f"{name} is no corpus.")


def fail(report: OnProgress) -> None:
    """Fail by a bug."""
    report("Dividing", 0.0)
    print(1 / 0)


class LoadedError(CorpusError):
    """An error whose pickle cannot be read: it needs two arguments."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")


def give(what: str, report: OnProgress) -> object:
    """Give or raise what cannot be sent to another process."""
    if what == "error":
        raise LoadedError("x", "y")
    return threading.Lock()


def load_slowly(seconds: float) -> Callable[[OnProgress], Any]:
    """Return a task after a while, as one does whose pickle needs large libraries."""
    time.sleep(seconds)
    return about


class SlowToLoad:
    """A task that takes seconds to unpickle."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, report: OnProgress) -> Any:
        return about(report)

    def __reduce__(self) -> Any:
        return load_slowly, (self.seconds,)


def die(report: OnProgress) -> None:
    """End as if the kernel were out of memory."""
    report("Dying", 0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def go_on(report: OnProgress) -> None:
    """Report until stopped."""
    while True:
        report("Going on", 0.1)
        time.sleep(0.01)


def sleep(report: OnProgress) -> None:
    """Do not notice a stop for longer than any test waits."""
    report("Sleeping", 0.1)
    time.sleep(2 * WAIT)
