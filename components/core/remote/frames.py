"""A long answer in frames: how far the work is, signs of life, and at the end what came of it.

A frame is one letter, the length of what follows as eight bytes (little-endian), and that.
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import RequestError

__all__ = [
    "ALIVE",
    "ERROR",
    "HEAD_BYTES",
    "PROGRESS",
    "RESULT",
    "Kind",
    "frame",
    "head",
    "read_head",
]

Kind = Literal[b"A", b"E", b"P", b"R"]
ALIVE: Kind = b"A"
ERROR: Kind = b"E"
PROGRESS: Kind = b"P"
RESULT: Kind = b"R"
_KINDS: dict[bytes, Kind] = {kind: kind for kind in (ALIVE, ERROR, PROGRESS, RESULT)}
HEAD_BYTES = 9
_LARGEST = 1 << 36  # bytes; a length beyond it is no length


def frame(kind: Kind, body: bytes = b"") -> bytes:
    """One frame."""
    return head(kind, len(body)) + body


def head(kind: Kind, n_bytes: int) -> bytes:
    """What comes before so many bytes."""
    return kind + n_bytes.to_bytes(8, "little")


def read_head(given: bytes) -> tuple[Kind, int]:
    """The kind of a frame, and how many bytes of it follow.

    Raises:
        RequestError: this is no frame.
    """
    kind = _KINDS.get(given[:1])
    length = int.from_bytes(given[1:], "little")
    if kind is None or length > _LARGEST:
        raise RequestError(
            "The service's answer cannot be read. See whether both sides run the same version of "
            "Contextlens."
        )
    return kind, length
