"""One worker process, seen from the parent: started, sent tasks, followed and ended.

Alternatives considered: pebble 5.2 (cancelling a task ends its process, and with it all compiled
code; no progress) and loky 3.7 (running work cannot be cancelled; no progress). Both transfer
pickles, and pebble's spawned processes first run the page's script once more, because Streamlit
makes that `__main__`. This module therefore runs `worker` in a plain Python, and exchanges lines
of JSON, and files for large data.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from contextlens.core import errors
from contextlens.core.errors import ContextlensError, WorkerError
from contextlens.jobs import worker

__all__ = ["OnProgress", "Process", "Sentences"]

OnProgress = Callable[[str, float], None]
"""Called with a stage and a share in [0, 1]; raising in it stops the task. Example: a `Report`."""

_POLL_SECONDS = 0.1
_GRACE_SECONDS = 2.0  # for a task to stop by itself
_ROOT = str(Path(__file__).parents[2])
_CLOSED = "This server is shutting down. Try again when it is up again."
_Answer = dict[str, Any]

_log = logging.getLogger("contextlens")


@dataclass(frozen=True)
class Sentences:
    """The messages for a task that ends badly: its process died, or it raised a foreign error."""

    died: str = (
        "The process that did this ended unexpectedly, most likely for lack of memory. Nothing "
        "else is lost: try again, with less."
    )
    failed: str = "This could not be done; the log says why. Try other settings."


class Process:
    """One process that does one task at a time; it starts with the first task."""

    def __init__(self, env: Mapping[str, str], sentences: Sentences) -> None:
        self._env = env
        self._sentences = sentences
        self._lock = threading.Lock()  # held while the process starts or ends
        self._is_closed = False
        self._process: subprocess.Popen[str] | None = None
        self._answers: Queue[_Answer | None] = Queue()

    @property
    def is_alive(self) -> bool:
        """True if the process is running."""
        process = self._process
        return process is not None and process.poll() is None

    def ask(
        self, entry: str, task: Mapping[str, Any], on_progress: OnProgress, folder: Path
    ) -> Any:
        """See `Processes.run`. Only one thread at a time may call this."""
        message = {"entry": entry, "task": task, "folder": str(folder)}
        self._send(message)
        stage, share, is_sure = "Starting", 0.0, False
        while True:
            answer = self._next()
            if answer is None and is_sure:
                raise self._died()
            if answer is None:  # it died before it began this task: retry in a new one
                self._end()
                self._send(message)
            is_sure = is_sure or answer != {}
            answer = answer or {}
            if answer and "stage" not in answer:
                return self._checked(answer)
            stage, share = answer.get("stage", stage), answer.get("share", share)
            try:
                on_progress(stage, share)
            except BaseException:
                self._abandon(folder)
                raise

    def close(self) -> None:
        """End the process for good, even in the middle of a task."""
        self._is_closed = True
        self._end()

    def _next(self) -> _Answer | None:
        """The next answer; an empty one if none comes soon, None once the process has ended."""
        try:
            return self._answers.get(timeout=_POLL_SECONDS)
        except Empty:
            return {}

    def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message) + "\n"
        try:
            self._write(line, self._running())
        except OSError:  # it died since the last task
            self._end()
            try:
                self._write(line, self._running())
            except OSError as exc:
                raise self._died() from exc

    def _write(self, line: str, process: subprocess.Popen[str]) -> None:
        if process.stdin is not None:
            process.stdin.write(line)
            process.stdin.flush()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        with self._lock:
            if self._is_closed:
                raise WorkerError(_CLOSED)
            if self._process is None:
                self._process = self._started()
            return self._process

    def _started(self) -> subprocess.Popen[str]:
        search = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", f"from {worker.__name__} import main; main()"],
                env={**os.environ, **self._env, "PYTHONPATH": search},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        except OSError as exc:
            raise WorkerError(f"A process for this could not be started: {exc}.") from exc
        atexit.register(self.close)
        self._answers = Queue()
        threading.Thread(
            target=_listen, args=(process, self._answers), daemon=True, name="contextlens-process"
        ).start()
        return process

    def _abandon(self, folder: Path) -> None:
        """Stop the current task: ask first, then kill its process if it takes too long."""
        with suppress(OSError):
            (folder / worker.CANCEL).touch()
        end = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < end:
            answer = self._next()
            if answer is None or (answer and "stage" not in answer):
                return
        self._end()

    def _end(self) -> int | None:
        """Kill the process and close its pipe; return the exit code."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return None
            process.kill()
            if process.stdin is not None:
                with suppress(OSError):  # input that it never read
                    process.stdin.close()
            code = process.wait()
            atexit.unregister(self.close)
            return code

    def _died(self) -> WorkerError:
        process = self._process
        if self._is_closed:
            return WorkerError(_CLOSED)
        if process is not None:
            with suppress(subprocess.TimeoutExpired):  # its pipe is closed: it is about to end
                process.wait(_GRACE_SECONDS)
        _log.error("A worker process ended with %s", self._end())
        return WorkerError(self._sentences.died)

    def _checked(self, answer: _Answer) -> Any:
        if "refused" in answer:
            error_class = getattr(errors, str(answer["error"]), None)
            if isinstance(error_class, type) and issubclass(error_class, ContextlensError):
                raise error_class(answer["refused"])
            raise WorkerError(answer["refused"])
        if "failed" in answer:
            _log.error("A task in a worker process failed: %s", answer["failed"])
            raise WorkerError(self._sentences.failed)
        return answer.get("done")


def _listen(process: subprocess.Popen[str], answers: Queue[_Answer | None]) -> None:
    if process.stdout is not None:
        with process.stdout as lines:
            for line in lines:
                if line.endswith("\n"):  # otherwise it was killed in the middle of a line
                    answers.put(json.loads(line))
    answers.put(None)
