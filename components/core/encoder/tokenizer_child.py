"""What runs in a process of its own to try a foreign tokenizer: load it, and have it cut odd texts.

Run as a script, so that it imports nothing of ours, torch least of all. Its memory and its time are
bounded by itself before it reads anything, and by `tokenizer_trial`, which ends it. One line of
JSON says how it went; no line says that it died.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

__all__ = ["main"]

_LENGTHS = (1_000, 40_000)  # of texts: growth shows in the first, squares in the second
_MOST_TOKENS = 40  # for a character: one of compatible forms becomes 18 letters of up to 2 bytes
_SPARE = 1000  # special tokens
_ODD = (
    "",
    "a",
    "The cat's \u201csat\u201d, 12,345.67 x\u00b2 \u00e9e\u0301 \u4f60\u597d \ud55c\uad6d\uc5b4 "
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \U0001f469\u200d\U0001f4bb\U0001f1e9\U0001f1ea "
    "\ufdfa\u0130\ufb03\u1e9e",
    "\x00\x01\t\r\n\u00a0\u00ad\u200b\u200e\u202e\u2028\ufeff\ufffd\uffff\U0010ffff",
    "\u0301" * 300,
    "[CLS] [SEP] [MASK] <s> </s> <pad> <unk> ##a \u2581a \u0120a",
)
_UNITS = (*"a A0.!'-_", "\u00e9", "\u4f60", "\ufdfa", "\U0001f600", "a ", "aB1! ", "\u0301", "\n")


def main() -> None:
    """Try the tokenizer that the arguments name: path, megabytes, seconds, one more than any ID."""
    path, megabytes, seconds, limit = sys.argv[1], *map(int, sys.argv[2:5])
    _bound(megabytes, seconds)
    refused = _try(path, limit)
    print(json.dumps({"refused": refused}), flush=True)
    os._exit(0)  # nothing is put away with care


def _bound(megabytes: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows: there the time alone is bounded
        return
    # Some systems know a bound and refuse to set it.
    for bound, most in (
        (resource.RLIMIT_AS, megabytes * 1_000_000),
        (resource.RLIMIT_DATA, megabytes * 1_000_000),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(bound, (most, most))


def _try(path: str, limit: int) -> str | None:
    """Why the tokenizer is refused, or None."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(path)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        for text in _texts():
            refused = _look(tokenizer, text, limit)
            if refused is not None:
                return refused
    except MemoryError:
        return "it takes more memory than a tokenizer of its size needs"
    except BaseException as exc:  # noqa: BLE001 - Rust panics are no Exception
        return f"it cannot be read or fails on a text ({ascii(str(exc))[1:100]})"
    return None


def _texts() -> Iterator[str]:
    yield from _ODD
    for length in _LENGTHS:
        for unit in _UNITS:
            yield unit * (length // len(unit))


def _look(tokenizer: Any, text: str, limit: int) -> str | None:
    ids = tokenizer.encode(text).ids
    if len(ids) > _MOST_TOKENS * len(text) + _SPARE:
        return f"it makes {len(ids):,} tokens of {len(text):,} characters"
    if ids and max(ids) >= limit:
        return f"it gives the ID {max(ids)}, and its largest is {limit - 1:,}"
    if len(text) <= _SPARE:
        tokenizer.decode(ids)
    return None


if __name__ == "__main__":
    main()
