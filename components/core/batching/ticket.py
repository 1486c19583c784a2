"""What waits for a model: the texts of one call, and those that are taken together. Plain data."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Batch", "Kind", "Ticket"]


class Kind(Protocol):
    """What texts must have in common to run together: equal kinds do. Hashable."""

    @property
    def same_length(self) -> bool:
        """Whether only texts of one length run together."""

    @property
    def overhead(self) -> int:
        """What beginning a batch costs, in tokens that could be computed instead."""

    def fits(self, n_texts: int, longest: int) -> bool:
        """Whether so many texts, padded to so many tokens, may run at once; one always may."""


class Ticket:
    """The texts of one call, of which some wait and some run. The queue's caller holds its lock.

    Attributes:
        kind: what they may run together with.
        lengths: in tokens, padding that was asked for included.
        name: whose they are; alike for all calls of one visitor.
        bulk: long work, before which what a visitor waits for goes.
        waiting: the places of those that wait, longest first.
    """

    def __init__(
        self, kind: Kind, lengths: Sequence[int], *, name: Hashable = None, bulk: bool = False
    ) -> None:
        self.kind = kind
        self.lengths = lengths
        self.name: Hashable = object() if name is None else name  # nobody in particular is one more
        self.bulk = bulk
        self.waiting = deque(sorted(range(len(lengths)), key=lambda i: -lengths[i]))

    @property
    def n_tokens(self) -> int:
        """How many tokens wait."""
        return sum(self.lengths[i] for i in self.waiting)


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts that run together.

    Attributes:
        kind: theirs.
        parts: of each ticket, the places of its texts.
        bulk: whether they are long work's.
        alone: whether nobody was beside or after them as they began.
        wide: whether they get all processors; else the part of one of several streams.
    """

    kind: Kind
    parts: tuple[tuple[Ticket, tuple[int, ...]], ...]
    bulk: bool
    alone: bool
    wide: bool

    @property
    def n_texts(self) -> int:
        """How many texts there are."""
        return sum(len(places) for _, places in self.parts)

    @property
    def padded_tokens(self) -> int:
        """How many tokens are computed, padding included."""
        longest = max(ticket.lengths[i] for ticket, places in self.parts for i in places)
        return self.n_texts * longest
