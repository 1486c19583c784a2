"""What a log says of an event, without a word that a visitor typed.

An error's message may repeat a text, a file's content or a name, and so may what a library says. So
a message is written where it stands so in the program's source; of what is put into it, numbers are
written and words are not. Of an error its class is written, and where it came from.
"""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

from components.core.errors import SettingsError

__all__ = ["FIELDS", "OWN", "entry", "name_of", "told"]

OWN = "contextlens"
"""The logger whose `extra` fields are ours."""

_OF_ALL = ("time", "level", "logger", "message")
_OF_WHO_RUNS = ("page", "session")  # set by the handler
_OF_OURS = ("reference", "kind", "place", "versions")  # given by who logs
_OF_ERRORS = ("error", "traceback")
FIELDS = (*_OF_ALL, *_OF_OURS, *_OF_WHO_RUNS, *_OF_ERRORS)
"""Of an entry; after the first four only those that there are."""

_HIDDEN = "…"
_PLAIN = re.compile(r"[\w.,:<>/\\+~() -]{1,200}")
_MOST_FRAMES = 50


def entry(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of one line: time, level, logger, message, what it is about, and its error."""
    own = _OF_OURS if record.name == OWN else ()
    about = {name: getattr(record, name, None) for name in (*own, *_OF_WHO_RUNS)}
    fields: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
        "message": _message(record, {value for value in about.values() if isinstance(value, str)}),
    }
    fields |= {name: value for name, value in about.items() if _is_plain(value)}
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        fields |= zip(_OF_ERRORS, (name_of(error), told(error)), strict=True)
    return fields


def told(error: BaseException) -> str:
    """A traceback with all causes, as Python writes it, but without the errors' messages."""
    parts = []
    for each in reversed(list(_with_causes(error))):
        frames = traceback.format_tb(each.__traceback__, limit=-_MOST_FRAMES)
        parts.append("".join(["Traceback (most recent call last):\n", *frames, name_of(each)]))
    return "\n\n".join(parts)


def name_of(error: BaseException) -> str:
    """An error's class, and what the operating system calls it; ours of settings in full."""
    if isinstance(error, SettingsError):  # what an operator wrote, not a visitor
        return f"SettingsError: {error}"
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return f"{name}: [Errno {error.errno}] {os.strerror(error.errno)}"
    if isinstance(error, BaseExceptionGroup):
        return f"{name} of {', '.join(map(name_of, error.exceptions))}"
    return name


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        hidden = error.__suppress_context__
        error = error.__cause__ or (None if hidden else error.__context__)


def _is_plain(value: object) -> bool:
    """Whether a field is what ours are: short words, or versions by name."""
    if isinstance(value, Mapping):
        return all(_is_plain(each) for item in value.items() for each in item)
    return isinstance(value, str) and _PLAIN.fullmatch(value) is not None


def _message(record: logging.LogRecord, known: set[str]) -> str:
    """What the source says, with numbers, classes and known words put in."""
    if not isinstance(record.msg, str):
        return str(_shown(record.msg, known))
    if record.msg not in _literals(record.pathname):
        return f"(not shown: {record.module}.py, line {record.lineno})"
    given = record.args
    if not given:
        return record.msg
    try:
        if isinstance(given, Mapping):
            return record.msg % {name: _shown(value, known) for name, value in given.items()}
        return record.msg % tuple(_shown(value, known) for value in given)
    except (TypeError, ValueError, KeyError):  # "%d" of what is no number
        return record.msg


def _shown(value: object, known: set[str]) -> object:
    if value is None or type(value) in {bool, int, float}:
        return value
    if isinstance(value, BaseException):
        return name_of(value)
    if isinstance(value, type):
        return value.__name__
    return value if isinstance(value, str) and value in known else _HIDDEN


@lru_cache(maxsize=500)
def _literals(path: str) -> frozenset[str]:
    """All strings that stand in a source file; none where it cannot be read."""
    try:
        code = SourceFileLoader("logged", path).get_code("logged")
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(_strings(code)) if code is not None else frozenset()


def _strings(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _strings(constant)
