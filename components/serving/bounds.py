"""How much questions may bring, hold and be answered with, in one sentence where it is more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.core.errors import BusyError, RequestError
from components.core.schema import ModelCard

__all__ = ["Bounds", "Room", "answer_bytes", "busy", "read_body"]

_ADDED_TOKENS = 4
"""The most special tokens that a tokenizer adds to a pair of texts."""


@dataclass(frozen=True)
class Bounds:
    """What questions may take.

    Attributes:
        body_bytes: of its body.
        n_texts: of `texts`, and of any other list of texts.
        n_questions: under way at once, from before their bodies are read; more are told to come
            again.
        answer_bytes: of one answer, as computed before it is made.
        total_bytes: of all bodies and answers under way; more are told to come again.
        seconds: in which its body must be there, and in which each megabyte of the answer must be
            taken: else one who is slow would hold for ever what others wait for.
    """

    body_bytes: int = 16_000_000
    n_texts: int = 4096
    n_questions: int = 256
    answer_bytes: int = 2_000_000_000
    total_bytes: int = 8_000_000_000
    seconds: float = 60.0

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse what is too much.

        Raises:
            RequestError: more texts than are taken.
        """
        for name in ("texts", "pairs", "interventions", "baseline"):
            given = arguments.get(name)
            if isinstance(given, list | tuple) and len(given) > self.n_texts:
                raise RequestError(
                    f"{len(given):,} {name} are given, and {self.n_texts:,} are taken at once. "
                    "Ask in several parts."
                )

    def check_answer(self, n_bytes: int) -> None:
        """Refuse an answer that would be too large.

        Raises:
            RequestError: it is larger than one may be.
        """
        if n_bytes > self.answer_bytes:
            raise RequestError(
                f"The answer could have {n_bytes / 1e6:,.0f} MB, and one may have "
                f"{self.answer_bytes / 1e6:,.0f} MB. Ask for fewer texts, layers, heads or IDs."
            )

    def refusal(self) -> RequestError:
        """What is said of too large a body."""
        return RequestError(
            f"What is asked has more than the {self.body_bytes / 1e6:,.0f} MB that are taken at "
            "once. Ask in several parts."
        )

    def too_late(self) -> RequestError:
        """What is said of a body that does not come."""
        return RequestError(
            f"What is asked was not there within {self.seconds:g} seconds. Ask in several parts, "
            "or over a faster line."
        )

    def status(self, error: Exception) -> int | None:
        """The HTTP status that says more of a refusal than its class does."""
        own = {str(self.refusal()): 413, str(self.too_late()): 408}
        return own.get(str(error))


class Room:
    """The bytes that all questions under way may hold together. Thread-safe."""

    def __init__(self, n_bytes: int) -> None:
        self._free = n_bytes
        self._lock = threading.Lock()

    def take(self, n_bytes: int) -> None:
        """Take a part of it, to be given back.

        Raises:
            BusyError: others hold too much.
        """
        with self._lock:
            if n_bytes > self._free:
                raise busy()
            self._free -= n_bytes

    def give(self, n_bytes: int) -> None:
        """Give back what was taken."""
        with self._lock:
            self._free += n_bytes


def busy() -> BusyError:
    """The error for callers who should come again in a second."""
    error = BusyError(
        "The service that runs the models has more to do than it can. Try again in a moment."
    )
    error.retry_seconds = 1.0
    return error


def answer_bytes(method: str, arguments: Mapping[str, Any], card: ModelCard) -> int:
    """The most bytes of arrays that an answer can have; 0 if the model itself bounds them.

    A token is counted for each code point of a text, up to the model's maximum length.

    Args:
        method: of the service.
        arguments: by name, of any types; what the service will refuse counts as nothing.
        card: of the model that is asked.
    """
    if method == "word_rows":
        return 4 * card.n_dims * _length(arguments.get("token_ids"))
    texts = arguments.get("texts")
    if method not in {"encode", "intervene"} or not isinstance(texts, list | tuple):
        return 0
    pairs, padded = arguments.get("pairs"), arguments.get("pad_to")
    others = pairs if isinstance(pairs, list | tuple) else [None] * len(texts)
    least = padded if isinstance(padded, int) else 0
    lengths = [
        max(least, min(card.max_length, _length(text) + _length(other) + _ADDED_TOKENS))
        for text, other in zip(texts, others, strict=False)
    ]
    layers, heads = arguments.get("layers"), arguments.get("attentions", False)
    n_layers = card.n_layers + 1 if layers is None else _length(layers)
    n_heads = card.n_layers * card.n_heads if heads is True else _length(heads)
    return sum(4 * n * (n_layers * card.n_dims + n_heads * n) for n in lengths)


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 0


async def read_body(chunks: AsyncIterator[bytes], bounds: Bounds) -> bytes:
    """A body as it comes in, no more of it than the bound.

    Raises:
        RequestError: it is larger, or too slow.
    """
    held: list[bytes] = []
    n_bytes = 0
    try:
        async with asyncio.timeout(bounds.seconds):
            async for chunk in chunks:
                n_bytes += len(chunk)
                if n_bytes > bounds.body_bytes:
                    raise bounds.refusal()
                held.append(chunk)
    except TimeoutError:
        raise bounds.too_late() from None
    return b"".join(held)
