"""Inputs made of others: bytes flipped, cut, repeated, spliced and put in, trees changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

__all__ = ["mutated", "mutated_json", "odd_value"]

_ODD_BYTES = (
    *(b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\r", b"\n", b"\r\n", b"\xe2\x80\xa8", b"\x1b[31m", b"\x7f", b"\x1f", b"\x1a"),
    *(b"<script>alert(1)</script>", b"=HYPERLINK(1)", b"{{", b"%s%n", b"${x}", b"../../etc/passwd"),
    *(b"\xe2\x80\xae", b"\xf0\x9f\x90\x8d", b"\xcc\x81" * 20, b"\\ud800", b"\\u0000"),
    *(b"NaN", b"-Infinity", b"1e999", b"9" * 400, b"9" * 5_000, b"-0", b"4000000000"),
    *(b'"', b"'", b",", b";", b"\t", b"|", b"[", b"]", b"{", b"}", b":", b"\\", b"null", b"true"),
)
_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 4 * 10**9, 10**400, -(10**20)),
    *(0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "\0", "\ud800", "a" * 300),
    *("a" * 30_000, "🐍", "\u202e", "<b>x</b>", "null", [], {}, [[]], {"": None}, [None] * 12),
    *([0, 1], [-1, 2], [2**40, 2**41], ["a", None, None], {"type": "Sequence"}),
)
_LONGEST = 8_000_000  # bytes of a piece that is repeated
_MOST_TREE = 4_000_000  # characters of a list that is repeated in a tree
_RARE = 60  # one change in so many is of a size that shows a bomb


def odd_value(rng: Random) -> Any:
    """A value that JSON can hold and hardly anybody expects; a copy, which may be changed."""
    return deepcopy(rng.choice(_ODD_VALUES))


def mutated(rng: Random, pool: Sequence[bytes], tokens: Sequence[bytes], longest: int) -> bytes:
    """One of the pool after a few changes of bytes."""
    content = rng.choice(pool)
    for _ in range(1 + min(int(rng.expovariate(0.7)), 6)):
        content = rng.choice(_CHANGES)(rng, content, pool, tokens)[:longest]
    return content


def _spot(rng: Random, content: bytes) -> tuple[int, int]:
    """A stretch, mostly short."""
    start = rng.randrange(len(content) + 1)
    most = len(content) - start if not rng.randrange(8) else min(len(content) - start, 24)
    return start, start + rng.randint(0, max(most, 0))


def _many(piece: bytes, times: int) -> bytes:
    return piece * max(min(times, _LONGEST // max(len(piece), 1)), 1)


def _flip(rng: Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    if not content:
        return b"\x01"
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _write(rng: Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    start, end = _spot(rng, content)
    return content[:start] + rng.randbytes(end - start) + content[end:]


def _cut(rng: Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    start, end = _spot(rng, content)
    return content[:start] + content[end:]


def _end(rng: Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _repeat(rng: Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    start, end = _spot(rng, content)
    most = 17 if not rng.randrange(_RARE) else 5
    return content[:end] + _many(content[start:end], 1 << rng.randrange(most)) + content[end:]


def _splice(rng: Random, content: bytes, pool: Sequence[bytes], _: Sequence[bytes]) -> bytes:
    other = rng.choice(pool)
    start, end = _spot(rng, other)
    at = rng.randrange(len(content) + 1)
    return content[:at] + (other[start:] if rng.randrange(2) else other[start:end]) + content[at:]


def _insert(rng: Random, content: bytes, _: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    piece = rng.choice(tokens if tokens and rng.randrange(2) else _ODD_BYTES)
    start, end = _spot(rng, content)
    return content[:start] + piece + content[start if rng.randrange(2) else end :]


def _insert_many(rng: Random, content: bytes, _: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    if rng.randrange(_RARE):
        return content
    piece = rng.choice(tokens if tokens and rng.randrange(2) else _ODD_BYTES)
    at = rng.randrange(len(content) + 1)
    return content[:at] + _many(piece, 1 << rng.randrange(18)) + content[at:]


_CHANGES: tuple[Callable[[Random, bytes, Sequence[bytes], Sequence[bytes]], bytes], ...] = (
    *(_flip, _write, _cut, _end, _repeat, _splice, _insert, _insert, _insert_many),
)


# Trees


def mutated_json(rng: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    """JSON with some of its values changed, dropped, doubled, moved or nested.

    Raises:
        ValueError, RecursionError: it is no JSON.
    """
    tree = [json.loads(content)]
    for _ in range(1 + min(int(rng.expovariate(0.8)), 5)):
        _change(rng, tree, [word.decode(errors="replace") for word in words])
    escaped = bool(rng.randrange(4))
    return json.dumps(tree[0], ensure_ascii=escaped).encode("utf-8", "surrogatepass")


def _change(rng: Random, tree: list[Any], words: Sequence[str]) -> None:
    places = list(_places(tree))
    holder, key = rng.choice(places)
    kind = rng.randrange(7)
    if kind == 0 and holder is not tree:
        del holder[key]
    elif kind == 1:
        other, name = rng.choice(places)
        holder[key] = json.loads(json.dumps(other[name]))
    elif kind == 2 and isinstance(holder[key], dict):
        holder[key][rng.choice(words) if words else "x"] = odd_value(rng)
    elif kind == 3 and isinstance(holder[key], list):
        times = 1 << rng.randrange(5 if rng.randrange(_RARE) else 15)
        # What was repeated before may stand in it: it must still fit when it is written.
        holder[key] = holder[key] * min(times, 1 + _MOST_TREE // len(json.dumps(holder[key])))
    elif kind == 4:
        holder[key] = _nested(rng, holder[key])
    elif kind == 5 and words:
        holder[key] = rng.choice(words)
    else:
        holder[key] = odd_value(rng)


def _nested(rng: Random, value: Any) -> Any:
    for _ in range(rng.choice((1, 2, 60))):
        value = [value] if rng.randrange(2) else {"type": value}
    return value


def _places(tree: list[Any]) -> list[tuple[Any, Any]]:
    """Where a value stands: its holder and its key there; the first few thousand."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [tree]
    while waiting and len(found) < 3_000:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return found
