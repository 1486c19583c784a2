"""JSON from a model's folder, read with bounds: size, depth, digits, no name twice, no NaN.

Python's own reader takes the last of two values of one name, `NaN`, and numbers of any length: two
readers may then see different files, and a few bytes may cost much. What no honest file has is
refused in one sentence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from components.core.errors import CheckpointError

__all__ = ["parse_object", "read_bytes", "read_object"]

_DEEPEST = 24  # lists and objects inside each other; an honest tokenizer.json has about 7
_DIGITS = 40  # of a whole number; "no limit" is written with 31
_ADVICE = "Choose another model."


class _RefusedError(Exception):
    """What is wrong with the text, in words that follow the file's name."""


def read_object(path: Path, *, what: str, largest: int) -> dict[str, Any]:
    """The object in a JSON file.

    Args:
        path: the file.
        what: the file's name at the start of a sentence: "The model's config.json".
        largest: bytes that are read at most.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: it is too large, no JSON object, or holds what no honest file does.
    """
    return parse_object(read_bytes(path, what=what, largest=largest), what=what)


def read_bytes(path: Path, *, what: str, largest: int) -> bytes:
    """What is in a file.

    Raises:
        FileNotFoundError, CheckpointError: as `read_object`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except FileNotFoundError:
        raise
    except OSError as exc:
        raise _unreadable(what, exc) from exc
    if len(data) > largest:
        raise CheckpointError(
            f"{what} has more than the {largest:,} bytes that are read. {_ADVICE}"
        )
    return data


def parse_object(data: bytes, *, what: str) -> dict[str, Any]:
    """The object that a JSON text holds.

    Raises:
        CheckpointError: as `read_object`.
    """
    try:
        text = data.decode()
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_constant=_constant,
        )
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except _RefusedError as exc:
        raise CheckpointError(f"{what} {exc}. {_ADVICE}") from exc
    except RecursionError as exc:
        raise CheckpointError(_too_deep(what)) from exc
    except ValueError as exc:
        raise _unreadable(what, exc) from exc
    if not isinstance(value, dict):
        raise CheckpointError(f"{what} is not a JSON object. Fetch it again, or {_ADVICE.lower()}")
    if not _is_shallow(value):
        raise CheckpointError(_too_deep(what))
    return value


def _too_deep(what: str) -> str:
    return f"{what} has lists and objects more than {_DEEPEST} deep inside each other. {_ADVICE}"


def _unreadable(what: str, exc: Exception) -> CheckpointError:
    return CheckpointError(
        f"{what} cannot be read ({ascii(str(exc))[1:100]}). Fetch the model again, or choose "
        "another model."
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if names.index(name) < i)
        raise _RefusedError(f"gives {ascii(twice)[:40]} more than once in one place")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise _RefusedError(
            f"holds a number of {len(digits):,} digits (at most {_DIGITS} are read)"
        )
    return int(digits)


def _constant(name: str) -> float:
    raise _RefusedError(f"holds {name}, which is not a number")


def _is_shallow(value: Any) -> bool:
    """Whether lists and objects lie at most `_DEEPEST` inside each other."""
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return True
    return False
