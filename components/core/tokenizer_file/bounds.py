"""How a tokenizer's files are held against their bounds, and how they are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from components.core.config_keys import shortened

__all__ = [
    "LONGEST_PIECE",
    "LONGEST_TEXT",
    "MAX_ADDED",
    "MAX_PIECES",
    "RefusedError",
    "bounded_list",
    "bounded_object",
    "check_ids",
    "is_pair",
    "short_text",
]

MAX_PIECES = 1_000_000
MAX_ADDED = 20_000  # tokens beside the vocabulary
LONGEST_PIECE = 512  # characters
LONGEST_TEXT = 64  # characters of what a rule looks for or puts in


class RefusedError(Exception):
    """Why a tokenizer is not used, in words that follow a colon."""


def check_ids(ids: Iterable[object], limit: int) -> None:
    """Pass where all are whole numbers from 0 and below a limit.

    Raises:
        RefusedError: one is not.
    """
    for number in ids:
        if type(number) is not int or not 0 <= number < limit:
            raise RefusedError(
                f"it gives a token the ID {shortened(number)}, and with its {limit:,} pieces an ID "
                f"is a whole number from 0 to {limit - 1:,}"
            )


def is_pair(value: object, second: type | tuple[type, ...]) -> bool:
    """Whether this is a list of a text and something else."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], second)
    )


def short_text(text: object, what: str, longest: int) -> str:
    """The text, where it is one of at most so many characters."""
    if not isinstance(text, str) or len(text) > longest:
        raise RefusedError(f"{what} is no text of at most {longest} characters ({shortened(text)})")
    return text


def bounded_list(owner: dict[str, Any], name: str, longest: int) -> list[Any]:
    """The list of a name, where it has at most so many entries; an empty one for none."""
    found = owner.get(name) or []
    if not isinstance(found, list) or len(found) > longest:
        raise RefusedError(f"{name} is no list of at most {longest:,}")
    return found


def bounded_object(owner: dict[str, Any], name: str) -> dict[str, Any]:
    """The object of a name; an empty one for none."""
    found = owner.get(name) or {}
    if not isinstance(found, dict):
        raise RefusedError(f"{name} is no object")
    return found
