"""Worker processes for work that holds the interpreter's lock for long, such as maps.

They are processes of `multiprocessing`, started by "spawn", as a server with threads and torch must
not be forked. Each has a pipe, which carries tasks, progress and results.

Alternatives tried: in pebble 5.2, a worker that the kernel ends between two tasks breaks the pool
for good, and cancelling a task ends its worker, which takes 2 to 8 seconds to get ready again; in
`concurrent.futures` and loky 3.7, running work cannot be cancelled. None of them reports progress.
"""

from __future__ import annotations

import atexit
import logging
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import spawn
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.reduction import ForkingPickler
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from contextlens.core.errors import ContextlensError, WorkerError

__all__ = ["OnProgress", "Processes", "Sentences", "Worker", "WorkerTask"]

OnProgress = Callable[[str, float], None]
"""Called with a stage and a share in [0, 1]; raising in it stops the task. Example: a `Report`."""

_Result = TypeVar("_Result")
WorkerTask = Callable[[OnProgress], _Result]
"""A function that can be pickled, such as a `partial` of one; it reports its progress."""

_POLL_SECONDS = 0.1
_REPORT_SECONDS = 0.05
_GRACE_SECONDS = 2.0  # for a task to stop by itself
_CLOSED = "This server is shutting down. Try again when it is up again."

_log = logging.getLogger("contextlens")


@dataclass(frozen=True)
class Sentences:
    """The messages for a task that ends badly: its process died, or it raised a foreign error."""

    died: str = (
        "The process that did this ended unexpectedly, most likely for lack of memory. Nothing "
        "else is lost: try again, with less."
    )
    failed: str = "This could not be done; the log says why. Try other settings."


class Processes:
    """A pool of worker processes, each of which does one task at a time. Thread-safe.

    Each starts when it is first needed; one that dies or does not stop in time is replaced.

    Args:
        n: the most processes.
        warm: a task that is run ahead of time by `warm_up` and in replacement processes.
        sentences: the messages for a task that ends badly.
    """

    def __init__(
        self, n: int, *, warm: WorkerTask[None] | None = None, sentences: Sentences | None = None
    ) -> None:
        self._all = [Worker(sentences or Sentences()) for _ in range(n)]
        self._idle = list(self._all)
        self._changed = threading.Condition()
        self._warm = warm
        self._is_closed = False
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, task: WorkerTask[_Result], on_progress: OnProgress) -> _Result:
        """Return the result of a task that runs in one of the processes.

        Args:
            task: sent as a pickle; its result comes back the same way.
            on_progress: called with the progress a few times a second, even when nothing changes.
                An exception that it raises stops the task and propagates from here.

        Raises:
            ContextlensError: an error of ours that the task raised.
            WorkerError: the task failed otherwise, or the process died or did not start.
        """
        with self._one(on_progress, alive=True) as worker:
            try:
                result: _Result = worker.run(task, on_progress)
                return result
            finally:
                if not (worker.is_alive or self._is_closed):
                    threading.Thread(
                        target=self.warm_up, daemon=True, name="contextlens-warm-up"
                    ).start()

    def warm_up(self) -> None:
        """Run `warm` in a process that is not running yet; errors are logged."""
        if self._warm is None:
            return
        with self._one(_ignore, alive=False) as worker:
            try:
                worker.run(self._warm, _ignore)
            except ContextlensError as exc:
                if not self._is_closed:
                    _log.warning("A worker process could not be warmed up: %s", exc)

    def close(self) -> None:
        """End all processes for good, even in the middle of a task."""
        self._is_closed = True
        for worker in self._all:
            worker.close()
        atexit.unregister(self.close)

    @contextmanager
    def _one(self, on_progress: OnProgress, *, alive: bool) -> Iterator[Worker]:
        """An idle worker, preferably one that is running (`alive`) or one that is not."""
        with self._changed:
            while not self._idle:
                on_progress("Getting ready", 0.0)
                self._changed.wait(_POLL_SECONDS)
            worker = max(self._idle, key=lambda worker: worker.is_alive == alive)
            self._idle.remove(worker)
        try:
            yield worker
        finally:
            with self._changed:
                self._idle.append(worker)
                self._changed.notify()


def _ignore(stage: str, share: float) -> None:
    del stage, share


# --- One process, seen from the parent


class _Progress(NamedTuple):
    stage: str
    share: float


class _Ending(NamedTuple):
    """The end of a task: its result, our error that it raised, or a line for the log."""

    result: Any = None
    refusal: ContextlensError | None = None
    failure: str = ""


_NAME = "contextlens-worker"


def _without_main(
    name: str, prepare: Callable[[str], dict[str, Any]] = spawn.get_preparation_data
) -> dict[str, Any]:
    """Return what a new process gets from this one; a worker of ours does not get `__main__`."""
    data = prepare(name)
    if name != _NAME:
        return data
    return {key: value for key, value in data.items() if not key.startswith("init_main")}


# A spawned process imports its parent's `__main__`. Streamlit makes a page's script that, which
# would run once more, with all its imports. No setting of multiprocessing prevents it.
spawn.get_preparation_data = _without_main


class Worker:
    """One process that does one task at a time; it starts with the first task."""

    def __init__(self, sentences: Sentences) -> None:
        self._sentences = sentences
        self._lock = threading.Lock()  # held while the process starts or ends
        self._is_closed = False
        self._process: SpawnProcess | None = None
        self._is_ready = False  # True once the process reads tasks
        self._pipe: Connection

    @property
    def pid(self) -> int | None:
        """The id of the process, or None if it is not running."""
        process = self._process
        return process.pid if process is not None and process.is_alive() else None

    @property
    def is_alive(self) -> bool:
        """True if the process is running."""
        return self.pid is not None

    def run(self, task: WorkerTask[Any], on_progress: OnProgress) -> Any:
        """See `Processes.run`. Only one thread at a time may call this."""
        self._begin(task, on_progress)
        message: _Progress | _Ending = _Progress("Starting", 0.0)
        while isinstance(message, _Progress):
            try:
                on_progress(*message)
            except BaseException:
                self._abandon()
                raise
            try:
                if self._pipe.poll(_POLL_SECONDS):
                    message = self._pipe.recv()
            except (EOFError, OSError):
                raise self._died() from None
            except Exception as exc:  # noqa: BLE001 - an error whose pickle cannot be read
                message = _Ending(failure=f"No reading of the result: {exc!r}")
        if message.refusal is not None:
            raise message.refusal
        if message.failure:
            _log.error("A task in a worker process failed: %s", message.failure)
            raise WorkerError(self._sentences.failed)
        return message.result

    def close(self) -> None:
        """End the process for good, even in the middle of a task."""
        self._is_closed = True
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.join()

    def _begin(self, task: WorkerTask[Any], on_progress: OnProgress) -> None:
        """Send a task to a process that confirms it; one that died since its last is replaced.

        An exception from `on_progress` leaves a process that starts as it is.
        """
        for _ in range(2):
            self._start()
            self._is_ready = self._is_ready or self._answers(on_progress)
            if self._is_ready and self._sends(task):
                try:
                    if self._answers(on_progress):
                        return
                except BaseException:
                    self._abandon()
                    raise
            code = self._end()
        raise self._died(code)

    def _answers(self, on_progress: OnProgress) -> bool:
        """Wait for a message from the process; return False if it died."""
        while True:
            try:
                if self._pipe.poll(_POLL_SECONDS):
                    self._pipe.recv()
                    return True
            except (EOFError, OSError):
                return False
            on_progress("Starting", 0.0)

    def _sends(self, task: WorkerTask[Any]) -> bool:
        """Send a task; return False if the process died."""
        with suppress(OSError):
            self._pipe.send(task)
            return True
        return False

    def _start(self) -> None:
        if not self.is_alive:
            self._end()
        with self._lock:
            if self._is_closed:
                raise WorkerError(_CLOSED)
            if self._process is not None:
                return
            self._pipe, child_pipe = multiprocessing.Pipe()
            process = SpawnProcess(target=_work, args=(child_pipe,), name=_NAME, daemon=True)
            try:
                process.start()
            except OSError as exc:
                self._pipe.close()
                raise WorkerError(f"A process for this could not be started: {exc}.") from exc
            finally:
                child_pipe.close()
            self._process, self._is_ready = process, False

    def _abandon(self) -> None:
        """Stop the current task: ask first, then kill its process if it takes too long."""
        with suppress(EOFError, OSError):
            self._pipe.send(None)
            end = time.monotonic() + _GRACE_SECONDS
            while self._pipe.poll(max(0.0, end - time.monotonic())):
                if isinstance(self._pipe.recv(), _Ending):
                    return
        self._end()

    def _end(self) -> int | None:
        """Kill the process and close its pipe; return the exit code."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return None
            process.kill()
            process.join()
            self._pipe.close()
            return process.exitcode

    def _died(self, code: int | None = None) -> WorkerError:
        process = self._process
        if process is not None:
            process.join(_GRACE_SECONDS)  # its pipe is closed: it is about to end
            code = self._end()
        if self._is_closed:
            return WorkerError(_CLOSED)
        _log.error("A worker process ended with %s", code)
        return WorkerError(self._sentences.died)


# --- The process, from the inside


class _CancelledError(Exception):
    """The task is no longer wanted."""


def _work(pipe: Connection) -> None:
    """Run tasks until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server gets it and ends its processes
    if hasattr(os, "nice"):
        os.nice(5)  # pages have priority
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        pipe.send(_Progress("Starting", 0.0))  # large tasks are read from here on
        while True:
            task = pipe.recv()
            if task is not None:  # what stops a task may come after its end
                pipe.send(_Progress("Starting", 0.0))  # a crash belongs to this task from here on
                _answer(pipe, _ending(task, pipe))
            del task  # its arrays, too


def _answer(pipe: Connection, ending: _Ending) -> None:
    try:
        message = ForkingPickler.dumps(ending)
    except Exception as exc:  # noqa: BLE001 - whatever its own `__reduce__` raises
        message = ForkingPickler.dumps(_Ending(failure=f"No pickle of the result: {exc!r}"))
    pipe.send_bytes(message)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _ending(task: WorkerTask[Any], pipe: Connection) -> _Ending:
    try:
        return _Ending(task(_reporter(pipe)))
    except _CancelledError:
        return _Ending()
    except ContextlensError as exc:
        return _Ending(refusal=exc)
    except Exception as exc:  # noqa: BLE001 - the parent logs it and continues
        last = traceback.extract_tb(exc.__traceback__)[-1]
        return _Ending(failure=f"{type(exc).__name__} at {last.filename}:{last.lineno}")


def _reporter(pipe: Connection) -> OnProgress:
    """Return a function that reports progress up to 20 times a second and stops unwanted tasks."""
    last, before = 0.0, ""

    def report(stage: str, share: float) -> None:
        nonlocal last, before
        if pipe.poll():  # nothing else comes during a task
            raise _CancelledError
        now = time.monotonic()
        if stage != before or now - last >= _REPORT_SECONDS:
            last, before = now, stage
            pipe.send(_Progress(stage, float(share)))

    return report
