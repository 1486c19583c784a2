"""Who asks for the work that is under way: a visitor or a job, known without being handed on.

Services share what they have among callers by it. Work in another thread has to be told again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Caller", "StoppedError", "calling", "current", "otherwise"]


class StoppedError(Exception):
    """Ends work that nobody wants any more."""


@dataclass(frozen=True)
class Caller:
    """One who asks.

    Attributes:
        name: alike for all that one visitor asks for; None for nobody in particular.
        bulk: long work, before which what a visitor waits for goes.
        is_cancelled: whether nobody wants the result any more; asked often, by the thread that
            waits for it, which an exception of its own may end.
    """

    name: Hashable = None
    bulk: bool = False
    is_cancelled: Callable[[], bool] | None = None


_NOBODY = Caller()
_current: ContextVar[Caller] = ContextVar("contextlens_caller", default=_NOBODY)


_otherwise: list[Callable[[], Caller | None]] = []


def current() -> Caller:
    """Who asks for what this thread does."""
    known = _current.get()
    if known is not _NOBODY or not _otherwise:
        return known
    return _otherwise[-1]() or _NOBODY


def otherwise(find: Callable[[], Caller | None]) -> None:
    """Have someone asked who it is, where nobody said: of a page's thread, say."""
    _otherwise[:] = [find]


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Whatever is done inside is asked for by this caller."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)
