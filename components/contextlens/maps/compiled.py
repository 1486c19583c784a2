"""Access to numba and umap-learn: imported without their warning, used by one thread at a time.

The code that numba compiles for umap-learn is not thread-safe, so every caller holds this lock. Our
own compiled code is thread-safe. Some of umap-learn's code is compiled at import.

numba keeps compiled code on disk, and a damaged file makes every call fail. So this module guards
numba's reading and writing before it imports anything that uses numba.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

from contextlens.maps.progress import OnProgress

__all__ = ["WAITING", "keep_in", "machine_code", "umap_functions"]

WAITING = "Waiting for another map to be finished"
_Function = TypeVar("_Function", bound=Callable[..., Any])
_LOCK = threading.RLock()
_PATIENCE = 0.2  # seconds between calls while waiting
_FILES = ("*.nbi", "*.nbc")  # numba's index of a function, and its code
_cleared: set[Path] = set()
"""Folders of compiled code that this process has cleared; it clears each of them once."""

_log = logging.getLogger("contextlens")


def keep_in(folder: Path) -> None:
    """Make numba keep compiled code in a folder from now on, for functions that ask for a cache.

    Call this before umap-learn is imported. Otherwise umap-learn keeps some code beside its
    sources, and if neither they nor the home folder can be written to, its import fails.
    """
    from numba import config

    settings: Any = config  # numba creates it at import, without types
    settings.reload_config()  # otherwise a later change of the environment undoes this
    settings.CACHE_DIR = str(folder)


@contextmanager
def umap_functions(on_wait: OnProgress | None = None) -> Iterator[Any]:
    """Yield the module `umap.umap_` to this thread alone; call `on_wait` while another has it.

    An exception from `on_wait` ends the waiting and reaches the caller.
    """
    while not _LOCK.acquire(timeout=_PATIENCE):
        if on_wait is not None:
            on_wait(WAITING, 0.0)
    try:
        yield _imported()
    finally:
        _LOCK.release()


def _imported() -> Any:
    if "umap.umap_" in sys.modules:
        return sys.modules["umap.umap_"]
    with warnings.catch_warnings():
        # umap-learn warns every user that tensorflow is missing, which only one of its classes
        # needs.
        warnings.filterwarnings("ignore", "Tensorflow not installed", ImportWarning)
        _guard_kept_code()
        from umap import umap_
    return umap_


def _guard_kept_code() -> None:
    """Make numba recompile what it cannot read, and go on where it cannot write.

    numba recompiles if a file is missing, but fails if it is damaged. No setting changes that, so
    this replaces the two methods that all of its caches share.
    """
    from numba.core import caching

    cache_type: Any = caching.Cache  # untyped
    load, save = cache_type.load_overload, cache_type.save_overload

    def load_or_compile(cache: Any, signature: Any, context: Any) -> Any:
        try:
            return load(cache, signature, context)
        except Exception as exc:  # noqa: BLE001 - a damaged pickle raises almost anything
            _clear(cache, exc)
            return None  # makes numba compile it

    def save_or_go_on(cache: Any, signature: Any, code: Any) -> None:
        try:
            save(cache, signature, code)
        except Exception as exc:  # noqa: BLE001 - as above: saving reads the index first
            cache.disable()
            _log.warning("Compiled code is not kept (%s), so first maps take longer.", exc)

    cache_type.load_overload, cache_type.save_overload = load_or_compile, save_or_go_on


def _clear(cache: Any, error: Exception) -> None:
    """Delete all compiled code in an unreadable file's folder; the second time, stop caching."""
    folder = Path(cache.cache_path)
    _log.warning(
        "Compiled code in %s cannot be read (%s), so it is compiled again.",
        folder,
        type(error).__name__,
    )
    if folder in _cleared:
        cache.disable()
        return
    _cleared.add(folder)
    try:
        for path in chain.from_iterable(map(folder.glob, _FILES)):
            path.unlink(missing_ok=True)
    except OSError:
        cache.disable()


def machine_code(function: _Function) -> _Function:
    """Make numba compile a function at its first call; the compiled code runs without the GIL.

    Sums may be reordered so that they are vectorised, but the order is always the same. Division by
    zero gives the same result as in numpy.
    """
    with umap_functions() as umap:
        njit = umap.numba.njit
    return cast(_Function, njit(fastmath=True, nogil=True, error_model="numpy")(function))
