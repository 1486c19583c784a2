"""The log: one line for each event, as text or JSON, without anything that visitors type.

Our own records hold one of our sentences, fields, an error's class and its traceback. Of other
libraries' records only the logger, the level, the line of code and an error's class are kept: their
messages may repeat a text, a file's content or a name. Libraries have handlers of their own, and
some add them after the server has started. So each record contains its whole line, which any
handler then writes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import secrets
import sys
import threading
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx

from contextlens.core.errors import SettingsError
from contextlens.ui.page import runs

_EXTRA = ("reference", "versions")  # set by the caller
_OF_THE_RUN = ("page", "session", "error", "traceback")
FIELDS = ("time", "level", "logger", "message", *_EXTRA, *_OF_THE_RUN)
"""A line's fields; those after the first four only if they have a value."""

_LIBRARIES = ("contextlens", "streamlit", "torch", "transformers", "tokenizers", "numpy", "lancedb")
_MAX_FRAMES = 50
_KEY = secrets.token_bytes(16)  # so that nobody can infer a session's id from its name in the log
_log = logging.getLogger("contextlens")


def begin(form: str) -> None:
    """Write the log in this form from now on.

    Args:
        form: "plain", "json", or "full" for Python's own format, with complete messages.
    """
    line = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    if form != "full":
        line = "%(message)s"
        _Record.is_json = form == "json"
        logging.setLogRecordFactory(_Record)
        logging.raiseExceptions = False  # else Python prints the record that it cannot write
        logging.captureWarnings(True)
        threading.excepthook = _thread_ended
        sys.excepthook = lambda _, error, __: _log.critical("The server ends", exc_info=error)
        sys.unraisablehook = lambda args: _log.error("Not raised", exc_info=args.exc_value)
    _log.setLevel(logging.INFO)
    logging.getLogger().addHandler(logging.StreamHandler())
    for logger in [logging.getLogger(), *logging.Logger.manager.loggerDict.values()]:
        for handler in getattr(logger, "handlers", ()):
            if type(handler) is logging.StreamHandler:
                handler.setFormatter(logging.Formatter(line))
    _log.info("Contextlens begins", extra={"versions": versions()})


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries behind every number."""
    installed = {"python": platform.python_version()}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):  # run from a folder that was not installed
            installed[name] = metadata.version(name)
    return installed


class _Record(logging.LogRecord):
    """A record whose message is its whole line."""

    is_json = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_ours = self.name == _log.name
        context = get_script_run_ctx(suppress_warning=True)
        error = self.exc_info[1] if self.exc_info else None
        self._run = (
            runs.page(),
            context and _hashed(context.session_id),
            error and _error_name(error),
            error and self._is_ours and _frames(error),
        )
        self.exc_info = self.stack_info = None  # handlers would write the error's message
        if not self._is_ours:
            self.msg, self.args = f"{self.module}.py, line {self.lineno}", ()
        elif isinstance(self.args, tuple):
            self.args = tuple(
                _error_name(a) if isinstance(a, BaseException) else a for a in self.args
            )

    def getMessage(self) -> str:  # noqa: N802 - logging's name
        """Return the line."""
        time = datetime.fromtimestamp(self.created, UTC).isoformat(timespec="milliseconds")
        extra = [getattr(self, name, None) if self._is_ours else None for name in _EXTRA]
        values = (time, self.levelname, self.name, super().getMessage(), *extra, *self._run)
        fields = {name: value for name, value in zip(FIELDS, values, strict=True) if value}
        if self.is_json:
            return json.dumps(fields)
        frames = f"\n{fields.pop('traceback')}" if "traceback" in fields else ""
        details = "".join(f" {name}={fields[name]}" for name in FIELDS[4:] if name in fields)
        return f"{time} {self.levelname:<7} {self.name}: {fields.get('message')}{details}{frames}"


def _hashed(session: str) -> str:
    return hashlib.blake2s(session.encode(), key=_KEY, digest_size=6).hexdigest()


def _error_name(error: BaseException) -> str:
    """Return an error's class, the operating system's words for it, and any text on settings."""
    if isinstance(error, SettingsError):  # written by an operator, not a visitor
        return f"SettingsError: {error}"
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return f"{name}: [Errno {error.errno}] {os.strerror(error.errno)}"
    return name


def _frames(error: BaseException) -> str:
    """Return a traceback with all causes, oldest first, without the errors' messages."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and not any(cause is one for one in chain):
        chain.insert(0, cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    head, limit = "Traceback (most recent call last):\n", -_MAX_FRAMES
    tracebacks = (
        head + "".join(traceback.format_tb(e.__traceback__, limit)) + _error_name(e) for e in chain
    )
    return "\n\n".join(tracebacks)


def _thread_ended(args: threading.ExceptHookArgs) -> None:
    if args.exc_type is not SystemExit:
        _log.error("A thread ended with an error", exc_info=args.exc_value)
