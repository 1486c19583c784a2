"""How much one question may bring along, and how slowly, said in one sentence where it is more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.core.errors import RequestError

__all__ = ["Bounds", "read_body"]


@dataclass(frozen=True)
class Bounds:
    """What one question may bring.

    Attributes:
        body_bytes: of its body.
        n_texts: of `texts`, and of any other list of texts.
        n_questions: under way at once; more are told to come again.
        seconds: in which its body must be there, and in which each megabyte of the answer must be
            taken: else one who is slow would hold for ever what others wait for.
    """

    body_bytes: int = 64_000_000
    n_texts: int = 4096
    n_questions: int = 256
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
