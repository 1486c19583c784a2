"""The form of the log: lines for people or JSON for programs, of every library's loggers alike.

Streamlit, uvicorn and transformers each write to the console by handlers of their own, some made
long after the server started. Handlers are therefore left as they are: what is changed is how those
that write to a stream put a record into words. Those of tests (subclasses) stay as they were.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import secrets
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from importlib import metadata
from typing import Any

from streamlit import config
from streamlit.logger import DEFAULT_LOG_MESSAGE
from streamlit.runtime.scriptrunner import get_script_run_ctx

from components.core.log_entries import OWN, entry
from components.ui.frame import runs

__all__ = ["begin", "versions"]

_LIBRARIES = ("contextlens", "streamlit", "torch", "transformers", "tokenizers", "numpy", "lancedb")
_IN_ITS_PLACE = ("time", "level", "logger", "message", "traceback")
_KEY = secrets.token_bytes(16)  # so that nobody can tell a session's id from its name in the log
_log = logging.getLogger(OWN)


def begin(form: str) -> Callable[[], None]:
    """Write the log in this form from now on; gives what ends that.

    Args:
        form: "plain", "json", or "full" for Python's own, with whatever messages say.
    """
    undo = ExitStack()
    if form != "full":
        undo.callback(_write_in(_as_json if form == "json" else _as_line))
        undo.callback(_catch_the_rest())
        undo.callback(_without_rich())
    undo.callback(_have_own_written())
    _log.info("Contextlens begins", extra={"versions": versions()})
    return undo.close


def versions() -> dict[str, str]:
    """Of Python and of the libraries behind every number."""
    own = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            own[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from a folder that was not installed
            continue
    return own


def _write_in(form: Callable[[dict[str, Any]], str]) -> Callable[[], None]:
    """Have all handlers that write to a stream use this form; gives what undoes it."""
    theirs, raises = logging.StreamHandler.format, logging.raiseExceptions
    logging.raiseExceptions = False  # else a record that cannot be written is shown as it is

    def format_(handler: logging.StreamHandler[Any], record: logging.LogRecord) -> str:
        is_plain = type(handler) is logging.StreamHandler or handler is logging.lastResort
        return form(entry(_placed(record))) if is_plain else theirs(handler, record)

    logging.StreamHandler.format = format_  # type: ignore[assignment]

    def undo() -> None:
        logging.StreamHandler.format = theirs  # type: ignore[method-assign]
        logging.raiseExceptions = raises

    return undo


def _have_own_written() -> Callable[[], None]:
    """Have our own logger write what it is told, from "info" on."""
    handler, level = logging.StreamHandler[Any](), _log.level
    handler.setFormatter(logging.Formatter(DEFAULT_LOG_MESSAGE))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)

    def undo() -> None:
        _log.removeHandler(handler)
        _log.setLevel(level)

    return undo


def _without_rich() -> Callable[[], None]:
    """Have Streamlit log what a script raises: where rich is installed, it prints it instead."""
    option = "logger.enableRich"
    before = config.get_option(option)
    config.set_option(option, False)
    return lambda: config.set_option(option, before)


def _catch_the_rest() -> Callable[[], None]:
    """Have warnings, and errors that end a thread, written by loggers too."""
    warned, thread_ended = warnings.showwarning, threading.excepthook
    ended, unraisable = sys.excepthook, sys.unraisablehook
    warnings.showwarning = _warn  # type: ignore[assignment]
    threading.excepthook = _thread_ended
    sys.excepthook = _ended
    sys.unraisablehook = _unraisable

    def undo() -> None:
        warnings.showwarning, threading.excepthook = warned, thread_ended
        sys.excepthook, sys.unraisablehook = ended, unraisable

    return undo


def _warn(_: Any, category: type[Warning], filename: str, line: int, *__: Any) -> None:
    about = {"kind": category.__name__, "place": f"{filename}:{line}"}
    _log.warning("A library warns", extra=about)


def _thread_ended(given: threading.ExceptHookArgs) -> None:
    if given.exc_value is not None and not isinstance(given.exc_value, SystemExit):
        _log.error("A thread ended with an error", exc_info=given.exc_value)


def _ended(kind: type[BaseException], error: BaseException, frames: Any) -> None:
    if isinstance(error, KeyboardInterrupt):
        sys.__excepthook__(kind, error, frames)
    else:
        _log.critical("The server ends with an error", exc_info=error)


def _unraisable(given: sys.UnraisableHookArgs) -> None:
    _log.error("An error that nobody can be told of", exc_info=given.exc_value)


def _placed(record: logging.LogRecord) -> logging.LogRecord:
    """Note on a record which page ran, and in which session, if it was written by one."""
    context = get_script_run_ctx(suppress_warning=True)
    session = None if context is None else _hashed(context.session_id)
    vars(record).update(page=runs.page(), session=session)
    return record


def _hashed(session: str) -> str:
    return hashlib.blake2s(session.encode(), key=_KEY, digest_size=6).hexdigest()


def _as_json(fields: dict[str, Any]) -> str:
    return json.dumps(fields)


def _as_line(fields: dict[str, Any]) -> str:
    head = "{time} {level:<7} {logger}: {message}".format_map(fields)
    about = {name: value for name, value in fields.items() if name not in _IN_ITS_PLACE}
    said = "".join(f" {name}={_in_words(value)}" for name, value in about.items())
    return "\n".join(filter(None, (head + said, fields.get("traceback"))))


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items())
    return str(value)
