"""A worker process, from the inside.

Some work computes for seconds on end and holds the interpreter's lock. In a process of its own, it
does not block pages, and it can be ended at any point. The process reads one task per line of its
input, as JSON, calls the function that the task names, and answers in lines of JSON: progress, then
the function's result or the reason why there is none. Large data go through files in the task's
folder.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contextlens.core.errors import ContextlensError

__all__ = ["CANCEL", "main"]

CANCEL = "cancel"
"""A file of this name in a task's folder stops the task when it next reports."""

_REPORT_SECONDS = 0.05
_Say = Callable[[dict[str, Any]], None]


class _CancelledError(Exception):
    """The task is no longer wanted."""


def main() -> None:
    """Run tasks until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library's prints must not mix with the answers
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server gets it and ends its processes
    if hasattr(os, "nice"):
        os.nice(5)  # pages have priority

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    for line in sys.stdin:
        try:
            _answer(line, say)
        except BrokenPipeError:
            return


def _answer(line: str, say: _Say) -> None:
    try:
        say({"stage": "Starting", "share": 0.0})  # from here on, a crash belongs to this task
        say({"done": _done(json.loads(line), say)})
    except BrokenPipeError:
        raise
    except _CancelledError:
        say({"cancelled": True})
    except ContextlensError as exc:
        say({"refused": str(exc), "error": type(exc).__name__})
    except Exception as exc:  # noqa: BLE001 - the parent logs it and continues
        last = traceback.extract_tb(exc.__traceback__)[-1]
        say({"failed": f"{type(exc).__name__} at {last.filename}:{last.lineno}"})


def _done(message: dict[str, Any], say: _Say) -> Any:
    module, _, name = message["entry"].partition(":")
    function = getattr(importlib.import_module(module), name)
    folder = Path(message["folder"])
    return function(message["task"], folder, _reporter(folder / CANCEL, say))


def _reporter(cancel: Path, say: _Say) -> Callable[[str, float], None]:
    """Return a function that reports progress up to 20 times a second and stops unwanted tasks."""
    last, before = 0.0, ""

    def report(stage: str, share: float) -> None:
        nonlocal last, before
        if cancel.exists():
            raise _CancelledError
        now = time.monotonic()
        if stage != before or now - last >= _REPORT_SECONDS:
            last, before = now, stage
            say({"stage": stage, "share": round(float(share), 4)})

    return report
