"""Strategies for damaged inputs: valid files with bytes and parts of their JSON changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

__all__ = ["damaged", "damaged_json"]

_BYTES = (
    *(
        b"\x00",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\x7f",
    ),
    *(b"\r", b"\n", b"\r\n", b"\xe2\x80\xa8", b"\x1b[31m", b"\x1a", b"\xcc\x81" * 20, b"\\ud800"),
    *(b"<script>alert(1)</script>", b"=HYPERLINK(1)", b"{{", b"%s%n", b"../../etc/passwd"),
    *(b"\xe2\x80\xae", b"\xf0\x9f\x90\x8d", b"NaN", b"-Infinity", b"1e999", b"9" * 5_000, b"-0"),
    *(b'"', b"'", b",", b";", b"\t", b"|", b"[", b"]", b"{", b"}", b":", b"\\", b"null", b"true"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 4 * 10**9, 10**400, -(10**20)),
    *(0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "\0", "\ud800", "a" * 300),
    *("a" * 30_000, "🐍", "\u202e", "<b>x</b>", "null", [], {}, [[]], {"": None}, [None] * 12),
    *([0, 1], [-1, 2], [2**40, 2**41], ["a", None, None], {"type": "Sequence"}),
)
_LARGEST = 4_000_000  # bytes of an input; characters of a list that is repeated

Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def damaged(draw: Draw, bases: Sequence[bytes], pieces: Sequence[bytes] = ()) -> bytes:
    """Return one of the bases with stretches cut, repeated or replaced."""
    content: bytes = draw(st.sampled_from(bases))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 24)) | st.just(len(content)))
        put = draw(
            st.sampled_from((b"", *_BYTES))
            | st.sampled_from((content[start:end], *pieces, *bases))
            | st.binary(max_size=8)
        )
        times = draw(st.sampled_from((1,) * 12 + (30, 70_000)))
        content = content[:start] + put * min(times, 1 + _LARGEST // (len(put) + 1)) + content[end:]
    return content[:_LARGEST]


@st.composite
def damaged_json(draw: Draw, bases: Sequence[bytes], words: Sequence[str]) -> bytes:
    """Return one of the bases with values added, dropped, nested, moved or replaced."""
    tree = [json.loads(draw(st.sampled_from(bases)))]
    for _ in range(draw(st.integers(1, 5))):
        places = list(_places(tree))
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        value, strange = holder[key], deepcopy(draw(st.sampled_from(_VALUES)))
        match draw(st.sampled_from(("odd", "odd", "word", "move", "nest", "many", "add", "drop"))):
            case "word" if words:
                holder[key] = draw(st.sampled_from(words))
            case "move":
                other, name = places[draw(st.integers(0, len(places) - 1))]
                holder[key] = deepcopy(other[name])
            case "nest":
                for _ in range(draw(st.sampled_from((1, 2, 60)))):
                    holder[key] = [holder[key]] if draw(st.booleans()) else {"type": holder[key]}
            case "many" if isinstance(value, list):
                times = draw(st.sampled_from((2, 2, 2, 30, 20_000)))
                holder[key] = value * min(times, 1 + _LARGEST // len(json.dumps(value)))
            case "add" if isinstance(value, dict) and words:
                value[draw(st.sampled_from(words))] = strange
            case "drop" if holder is not tree:
                del holder[key]
            case _:
                holder[key] = strange
    text = json.dumps(tree[0], ensure_ascii=draw(st.booleans()))
    return text.encode("utf-8", "surrogatepass")[:_LARGEST]


def _places(tree: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield where a value stands, as its holder and its key there: the first thousand."""
    n_places, holders = 0, [tree]
    while holders and n_places < 1_000:
        holder: Any = holders.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            n_places += 1
            yield holder, key
            if isinstance(holder[key], dict | list):
                holders.append(holder[key])
