"""A way in that breaks every promise, by its first letter: what finds nothing protects nothing.

The command does not run it; the tests do.
"""

from __future__ import annotations

import os
import time

from hypothesis import strategies as st

from components.core.errors import InputError
from tests.fuzz.target import MEGABYTE, Target, hold

__all__ = ["TARGETS"]

_LETTERS = "abcdefgh"


def _run(content: bytes) -> None:
    match content[:1]:
        case b"a":
            raise KeyError(content)
        case b"b":
            raise InputError("Traceback (most recent call last):")
        case b"c":
            raise InputError("one line\nand another one.")
        case b"d":
            raise InputError("long " * 100 + ".")
        case b"e":
            hold(False, "not what was written")
        case b"f":
            bytearray(5_000 * MEGABYTE)
        case b"g":
            bytearray(300 * MEGABYTE)[::4096] = b"x" * (300 * MEGABYTE // 4096 + 1)
        case b"h":
            os.abort()
        case b"i":
            begin = time.process_time()
            while time.process_time() < begin + 2.1:
                pass
        case b"x":
            raise InputError("This begins with x; begin with another letter.")


TARGETS = {
    "planted": Target(
        name="planted",
        run=_run,
        structure=st.sampled_from(_LETTERS).map(str.encode),
        seeds=lambda: {letter: letter.encode() for letter in (*_LETTERS, "x", "y")},
        most_bytes=200 * MEGABYTE,
    )
}
