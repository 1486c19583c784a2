"""The pictures from Python as a new process makes them: under the settings of now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from contextlens import show

__all__ = ["fresh_show"]


@contextmanager
def fresh_show() -> Iterator[None]:
    """The functions of `contextlens.show` with nothing kept before, and nothing left after."""
    _forget()
    try:
        yield
    finally:
        show._maps(show._service()).close()
        _forget()


def _forget() -> None:
    for kept in (show._settings, show._service, show._maps):
        kept.cache_clear()
