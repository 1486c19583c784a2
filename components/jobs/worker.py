"""A worker process, from within.

A process of its own, because some work computes for seconds on end and holds the interpreter's
lock: pages answer meanwhile, and what nobody wants can be ended at any point. It reads one task per
line of its input, as JSON, calls the function that the task names, and answers in lines of JSON:
how far it is, then what the function gave or why not. Large things go through files in the task's
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

from components.core.errors import ContextlensError

__all__ = ["CANCEL", "main"]

CANCEL = "cancel"
"""A file of this name in a task's folder stops the task when it next reports."""

_REPORT_SECONDS = 0.05
_Say = Callable[[dict[str, Any]], None]


class _CancelledError(Exception):
    """Nobody wants this task any more."""


def main() -> None:
    """Work until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not stand between the answers
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server that hears it ends its processes
    if hasattr(os, "nice"):
        os.nice(5)  # pages come first

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
        say({"stage": "Starting", "share": 0.0})  # from here on a death is this task's
        say({"done": _done(json.loads(line), say)})
    except BrokenPipeError:
        raise
    except _CancelledError:
        say({"cancelled": True})
    except ContextlensError as exc:
        say({"refused": str(exc), "error": type(exc).__name__})
    except Exception as exc:  # noqa: BLE001 - the other side logs it and goes on
        last = traceback.extract_tb(exc.__traceback__)[-1]
        say({"failed": f"{type(exc).__name__} at {last.filename}:{last.lineno}"})


def _done(message: dict[str, Any], say: _Say) -> Any:
    module, _, name = message["entry"].partition(":")
    function = getattr(importlib.import_module(module), name)
    folder = Path(message["folder"])
    return function(message["task"], folder, _reporter(folder / CANCEL, say))


def _reporter(cancel: Path, say: _Say) -> Callable[[str, float], None]:
    """Tells how far a task is, a few times a second, and stops it when it is no longer wanted."""
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
