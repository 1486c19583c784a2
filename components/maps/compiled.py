"""The door to numba and umap-learn: imported without its warning, run by one thread at a time.

What numba compiles for umap-learn is not safe in two threads; whatever calls it holds this lock.
What we compile ourselves is. A part of what umap-learn needs is compiled as it is imported.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from components.maps.progress import OnProgress

__all__ = ["WAITING", "keep_in", "machine_code", "umap_functions"]

WAITING = "Waiting for another map to be finished"
_Function = TypeVar("_Function", bound=Callable[..., Any])
_LOCK = threading.RLock()
_PATIENCE = 0.2  # seconds between calls while waiting


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
        from umap import umap_
    return umap_


def machine_code(function: _Function) -> _Function:
    """A function that numba compiles when it is first called, and that runs without the GIL.

    Sums may be added up in any order, always the same one, so that they are done many at a time;
    division by zero gives what numpy gives.
    """
    with umap_functions() as umap:
        njit = umap.numba.njit
    return cast(_Function, njit(fastmath=True, nogil=True, error_model="numpy")(function))
