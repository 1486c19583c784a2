"""The description of background work: a task of some kind, for a visitor. Plain data only."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from contextlens.core.caller import StoppedError

__all__ = ["FORGOTTEN_SECONDS", "JobKind", "StoppedError", "Task", "Visitor", "page_work"]

FORGOTTEN_SECONDS = 300.0
"""The time that long work goes on while no one looks: a hidden tab polls once a minute."""


@dataclass(frozen=True)
class Visitor:
    """A place where a visitor waits; a visitor's places wait separately but share turns."""

    name: Hashable
    place: str = ""


@dataclass(frozen=True)
class JobKind:
    """A kind of work, and its limits.

    Attributes:
        name: in words, in the plural: "maps".
        n_at_once: the most jobs that run at a time.
        n_at_once_each: the most of those for one visitor; None if turns suffice, as none of the
            jobs takes long.
        n_large: the most large jobs that run at a time, so that small ones need not wait for them.
        large_seconds: the size from which a job is large.
        n_waiting: the most jobs that may wait; the next is refused.
        n_waiting_each: the most of those for one visitor.
        forgotten_seconds: how long a job goes on when no one looks; None if it always goes on.
        keeps: True if later callers get the stored result; otherwise it is computed again.
        first_words: the stage shown before the first report.
        silence: the message if expected bytes have not come for some seconds.
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


def page_work(name: str, first_words: str, *, large_seconds: float = 5.0) -> JobKind:
    """Return the kind of work behind a page's picture, with the limits that all of them share.

    Args:
        name: in words, in the plural.
        first_words: the stage shown before the first report.
        large_seconds: the duration from which work begins with a click, not with an address.
    """
    return JobKind(
        name,
        n_at_once=2,
        n_at_once_each=1,
        n_large=1,
        large_seconds=large_seconds,
        n_waiting=50,
        n_waiting_each=5,  # with one that is about to be dropped
        forgotten_seconds=FORGOTTEN_SECONDS,
        first_words=first_words,
    )


@dataclass(frozen=True, eq=False)
class Task:
    """Work that is done once for all who request its key.

    Attributes:
        key: identifies the work; keys of different kinds must differ.
        kind: its kind, with the limits.
        work: called with a `Report`, and with the result of `after` if there is one.
        size: the expected duration in seconds.
        after: a task that must run first, shared with other tasks that need it.
        split: the share of the whole progress, in [0, 1], that `after` takes.
    """

    key: Hashable
    kind: JobKind
    work: Callable[..., Any]
    size: float = 1.0
    after: Task | None = None
    split: float = 0.0

    @property
    def is_large(self) -> bool:
        """True if small tasks should not have to wait for this one."""
        return self.size >= self.kind.large_seconds
