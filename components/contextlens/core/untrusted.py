"""Reading JSON files of untrusted models: a size limit, and rules for the values in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contextlens.core.errors import CheckpointError

__all__ = ["Rule", "read_bytes", "read_json", "shortened", "whole_number"]


@dataclass(frozen=True)
class Rule:
    """A condition on a value from an untrusted file, as words for a message and as a check."""

    says: str
    allows: Callable[[Any], bool]


def whole_number(least: int, most: int, *, or_none: bool = False) -> Rule:
    """The rule for a whole number in a range."""

    def allows(value: Any) -> bool:
        return (or_none and value is None) or (type(value) is int and least <= value <= most)

    return Rule(f"a whole number from {least} to {most:,}", allows)


def read_json(path: Path, *, title: str, most_bytes: int) -> dict[str, Any]:
    """The object in a JSON file of a model's folder.

    Args:
        path: the file.
        title: the file's name at the start of a sentence: "The model's config.json".
        most_bytes: the size limit.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is too large or not a JSON object.
    """
    data = read_bytes(path, title=title, most_bytes=most_bytes)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise _unreadable(title, exc) from exc
    if not isinstance(value, dict):
        raise CheckpointError(
            f"{title} is not a JSON object. Fetch it again, or choose another model."
        )
    return value


def read_bytes(path: Path, *, title: str, most_bytes: int) -> bytes:
    """The content of a file of a model's folder.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is too large or cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise
    except OSError as exc:
        raise _unreadable(title, exc) from exc
    if len(data) > most_bytes:
        raise CheckpointError(
            f"{title} has more than the {most_bytes:,} bytes that are read. Choose another model."
        )
    return data


def _unreadable(title: str, exc: Exception) -> CheckpointError:
    return CheckpointError(
        f"{title} cannot be read ({ascii(str(exc))[1:100]}). Fetch the model again, or choose "
        "another model."
    )


def shortened(value: object, longest: int = 40) -> str:
    """An untrusted value for a message: truncated, with unusual characters escaped."""
    if type(value) is int and abs(value) >= 10**15:
        return "a number of more than 15 digits"
    text = ascii(value[:longest] if isinstance(value, str) else value)
    return text if len(text) <= longest else text[: longest - 1] + "..."
