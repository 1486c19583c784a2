"""What can be asked for: a task of some kind, by a visitor. Plain data, nothing runs in here."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from components.core.caller import StoppedError

__all__ = ["Kind", "StoppedError", "Task", "Visitor"]


@dataclass(frozen=True)
class Visitor:
    """Who waits, and where: two places of one visitor wait each by itself, and have one share."""

    name: Hashable
    place: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of work, and its bounds.

    Attributes:
        name: in words, of many: "maps".
        n_at_once: how many of them run at a time.
        n_at_once_each: how many of those may be one visitor's; None where turns do, as none of
            them takes long.
        n_large: how many of those may be large, so that small ones need not wait for them.
        large_seconds: the size from which one is large.
        n_waiting: how many may wait; the next is refused.
        n_waiting_each: how many of them may be one visitor's.
        forgotten_seconds: how long one goes on when nobody looks; None for one that goes on.
        keeps: whether a result is given to who asks later; else it is worked out again.
        first_words: the stage before any was reported.
        silence: what is said when bytes were expected for some seconds, and none came.
    """

    name: str
    n_at_once: int
    n_at_once_each: int | None = None
    n_large: int | None = None
    large_seconds: float = math.inf
    n_waiting: int = 100
    n_waiting_each: int = 10
    forgotten_seconds: float | None = None
    keeps: bool = True
    first_words: str = "Starting"
    silence: str = "waiting for more"


@dataclass(frozen=True, eq=False)
class Task:
    """Work to be done once for all who ask for its key.

    Attributes:
        key: what makes it the same work; no two kinds have the same.
        kind: its bounds.
        work: called with a `Report`, and with the result of `after` where there is one.
        size: the seconds that it should take.
        after: what must be done first, for this and whatever else needs the same.
        split: the part of the whole, in [0, 1], that `after` takes.
    """

    key: Hashable
    kind: Kind
    work: Callable[..., Any]
    size: float = 1.0
    after: Task | None = None
    split: float = 0.0

    @property
    def is_large(self) -> bool:
        """Whether small ones should not have to wait for it."""
        return self.size >= self.kind.large_seconds
