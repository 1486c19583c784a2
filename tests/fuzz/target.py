"""What is fuzzed: one way in for strangers' bytes, how to make inputs for it, and what is judged.

A target's `run` does what the app does with such bytes, and raises `BrokenError` where a promise
about whatever was taken (a round trip, a bound) does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from components.content.wording import escape
from components.core.errors import ContextlensError

__all__ = ["MEGABYTE", "BrokenError", "Target", "check_says", "hold", "judge", "seeds_of"]

MEGABYTE = 1_000_000
_LONGEST_MESSAGE = 400  # characters
_SEEDS = Path(__file__).parent / "seeds"


class BrokenError(Exception):
    """A promise about what was taken, or about how a refusal is said, that does not hold."""


class _NeverError(Exception):
    """Raised by no target that was not told to."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One way in.

    Attributes:
        name: what the command calls it.
        run: takes one input; returns where it was taken, raises our errors where it was refused.
        structure: nearly valid inputs.
        seeds: valid inputs, and some of an odd kind.
        tokens: pieces that mutation puts into inputs.
        is_json: whether inputs (unwrapped) can be changed as trees too.
        wrap: makes an input of what was changed inside it; `unwrap` is its way back.
        unwrap: what is inside of an input, raising where there is nothing.
        dies: whether the app runs this in a process of its own, whose end it tells in a sentence.
        also: errors beside ours that the app itself answers.
        most_bytes: memory that one input may take.
        longest: bytes of an input, unwrapped.
    """

    name: str
    run: Callable[[bytes], None]
    structure: st.SearchStrategy[bytes]
    seeds: Callable[[], Mapping[str, bytes]]
    tokens: tuple[bytes, ...] = ()
    is_json: bool = False
    wrap: Callable[[bytes], bytes] = bytes
    unwrap: Callable[[bytes], bytes] = bytes
    dies: bool = False
    also: tuple[type[Exception], ...] = field(default=(_NeverError,))
    most_bytes: int = 200 * MEGABYTE
    longest: int = MEGABYTE


def seeds_of(folder: str) -> dict[str, bytes]:
    """The files of a folder of seeds, by name."""
    return {path.name: path.read_bytes() for path in sorted((_SEEDS / folder).iterdir())}


def judge(target: Target, content: bytes) -> bool:
    """Whether an input was taken; False where it was refused as it should be.

    Raises:
        Exception: anything else that happens is a find.
    """
    try:
        target.run(content)
    except ContextlensError as exc:
        check_says(str(exc))
        return False
    except target.also:
        return False
    return True


def check_says(message: str) -> None:
    """Pass where a visitor can be shown this: a whole sentence, short, printable, no markup.

    Raises:
        BrokenError: it is not, and why.
    """
    hold(0 < len(message) <= _LONGEST_MESSAGE, "a message of {} characters", len(message))
    hold(message.isprintable(), "a message that cannot be printed: {!r}", message)
    hold(message.rstrip().endswith((".", "?")), "a message that ends in no sentence: {!r}", message)
    hold(
        "Traceback" not in message and 'File "' not in message,
        "a message with a trace: {!r}",
        message,
    )
    shown = escape(message)
    hold("<" not in shown.replace("\\<", ""), "a message with markup: {!r}", shown)


def hold(kept: bool, what: str, *values: Any) -> None:
    """Pass where a promise is kept.

    Raises:
        BrokenError: it is not.
    """
    if not kept:
        raise BrokenError(what.format(*values)[:2_000])
