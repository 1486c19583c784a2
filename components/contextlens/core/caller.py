"""The caller of the current work, a visitor or a job, kept per thread.

Services use it to share their capacity fairly. Work in another thread must set it again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Caller", "StoppedError", "calling", "current", "set_default_caller"]


class StoppedError(Exception):
    """Ends work whose result is no longer wanted."""


@dataclass(frozen=True)
class Caller:
    """A visitor or job that requests work.

    Attributes:
        name: the same for everything that one visitor requests; None if anonymous.
        bulk: True for long work, which runs after anything that a visitor is waiting for.
        is_cancelled: returns True once the result is no longer wanted. The waiting thread calls
            it often, and it may raise its own exception to end that thread.
    """

    name: Hashable = None
    bulk: bool = False
    is_cancelled: Callable[[], bool] | None = None


_NOBODY = Caller()
_current: ContextVar[Caller] = ContextVar("contextlens_caller", default=_NOBODY)


_otherwise: list[Callable[[], Caller | None]] = []


def current() -> Caller:
    """The caller of this thread's work."""
    known = _current.get()
    if known is not _NOBODY or not _otherwise:
        return known
    return _otherwise[-1]() or _NOBODY


def set_default_caller(find: Callable[[], Caller | None]) -> None:
    """Set the function that finds the caller when none is set, for example in a page's thread."""
    _otherwise[:] = [find]


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Attribute everything done inside the block to this caller."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)
