"""A long answer in frames: how far the work is, signs of life, and at the end what came of it.

A frame is one letter, the length of what follows as eight bytes (little-endian), and that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from components.core.errors import RequestError

__all__ = ["ALIVE", "ERROR", "PROGRESS", "RESULT", "Kind", "frame", "frames"]

Kind = Literal[b"A", b"E", b"P", b"R"]
ALIVE: Kind = b"A"
ERROR: Kind = b"E"
PROGRESS: Kind = b"P"
RESULT: Kind = b"R"
_KINDS: dict[bytes, Kind] = {kind: kind for kind in (ALIVE, ERROR, PROGRESS, RESULT)}
_HEAD = 9
_LARGEST = 1 << 36  # bytes; a length beyond it is no length


def frame(kind: Kind, body: bytes = b"") -> bytes:
    """One frame."""
    return b"".join((kind, len(body).to_bytes(8, "little"), body))


def frames(chunks: Iterable[bytes]) -> Iterator[tuple[Kind, bytes]]:
    """The frames in an answer, as it comes in; one that is cut off is left out.

    Raises:
        RequestError: these are no frames.
    """
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= _HEAD:
            kind, length = _head(held)
            if len(held) < _HEAD + length:
                break
            body = bytes(memoryview(held)[_HEAD : _HEAD + length])
            del held[: _HEAD + length]
            yield kind, body


def _head(held: bytearray) -> tuple[Kind, int]:
    kind = _KINDS.get(bytes(held[:1]))
    length = int.from_bytes(held[1:_HEAD], "little")
    if kind is None or length > _LARGEST:
        raise RequestError(
            "The service's answer cannot be read. See whether both sides run the same version of "
            "Contextlens."
        )
    return kind, length
