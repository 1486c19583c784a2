"""The door to numba and umap-learn: imported without its warning, run by one thread at a time.

What numba compiles for umap-learn is not safe in two threads; whatever calls it holds this lock.
What we compile ourselves is. A part of what umap-learn needs is compiled as it is imported.

numba keeps compiled code on disk and fails at each call where a file of it is damaged, so its
reading and writing are guarded here, before anything is imported that uses it.
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

from components.maps.progress import OnProgress

__all__ = ["WAITING", "keep_in", "machine_code", "umap_functions"]

WAITING = "Waiting for another map to be finished"
_Function = TypeVar("_Function", bound=Callable[..., Any])
_LOCK = threading.RLock()
_PATIENCE = 0.2  # seconds between calls while waiting
_FILES = ("*.nbi", "*.nbc")  # numba's index of a function, and its code
_cleared: set[Path] = set()
"""Folders of compiled code that this process has cleared: each once."""

_log = logging.getLogger("contextlens")


def keep_in(folder: Path) -> None:
    """Have numba keep in a folder what it compiles from now on, where a function wants it kept.

    Before umap-learn is imported: else some are kept beside its sources, or, where those and the
    home cannot be written, cannot be imported at all.
    """
    from numba import config

    settings: Any = config  # made as it is imported: no types
    settings.reload_config()  # else it follows a changed environment later, and forgets this
    settings.CACHE_DIR = str(folder)


@contextmanager
def umap_functions(on_wait: OnProgress | None = None) -> Iterator[Any]:
    """The module `umap.umap_`, for this thread alone; while another has it, tells so now and then.

    What `on_wait` raises ends the waiting and reaches the caller.
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
        # umap tells everyone that tensorflow, which one class of it needs, is not there.
        warnings.filterwarnings("ignore", "Tensorflow not installed", ImportWarning)
        _guard_kept_code()
        from umap import umap_
    return umap_


def _guard_kept_code() -> None:
    """Have numba compile again what it cannot read, and go on where it cannot write.

    It takes a missing file for one that is not made yet, but a damaged one for an error. There is
    no setting for that, so the two methods that every cache of it has are replaced.
    """
    from numba.core import caching

    cache_type: Any = caching.Cache  # untyped
    load, save = cache_type.load_overload, cache_type.save_overload

    def load_or_compile(cache: Any, signature: Any, context: Any) -> Any:
        try:
            return load(cache, signature, context)
        except Exception as exc:  # noqa: BLE001 - a damaged pickle raises almost anything
            _clear(cache, exc)
            return None  # numba compiles it

    def save_or_go_on(cache: Any, signature: Any, code: Any) -> None:
        try:
            save(cache, signature, code)
        except Exception as exc:  # noqa: BLE001 - as above: it reads the index first
            cache.disable()
            _log.warning("Compiled code is not kept (%s), so first maps take longer.", exc)

    cache_type.load_overload, cache_type.save_overload = load_or_compile, save_or_go_on


def _clear(cache: Any, error: Exception) -> None:
    """Delete the compiled code beside a file that cannot be read; what fails again is not kept."""
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
    """A function that numba compiles when it is first called, and that runs without the GIL.

    Sums may be added up in any order, always the same one, so that they are done many at a time;
    division by zero gives what numpy gives.
    """
    with umap_functions() as umap:
        njit = umap.numba.njit
    return cast(_Function, njit(fastmath=True, nogil=True, error_model="numpy")(function))
