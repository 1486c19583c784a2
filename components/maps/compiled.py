"""The door to numba and umap-learn: imported without its warning, run by one thread at a time.

What numba compiles for umap-learn is not safe in two threads; whatever calls it holds this lock.
What we compile ourselves is.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

from components.maps.progress import OnProgress

__all__ = ["WAITING", "keep_compiled", "machine_code", "umap_functions"]

WAITING = "Waiting for another map to be finished"
_Function = TypeVar("_Function", bound=Callable[..., Any])
_LOCK = threading.RLock()
_PATIENCE = 0.2  # seconds between calls while waiting


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


def keep_compiled(folder: Path) -> None:
    """Lets what is compiled for maps be kept in a folder, for later starts of the process.

    Only what is compiled after this call is kept, so it comes before the first map. numba reads the
    files as pickles: the folder must be one that nobody else can write to. Where it cannot be
    written, everything is compiled in memory as before.
    """
    if not _writable(folder):  # numba would go and write beside the sources
        return
    with umap_functions() as umap:
        from umap import layouts, utils

        from components.maps import distance_kernel, layout_kernel

        # numba looks at a function's own file only; what that calls changes with these versions.
        versions = "-".join(version(name) for name in ("numba", "umap-learn", "numpy"))
        umap.numba.config.CACHE_DIR = str(folder / versions)
        for module in (umap, layouts, utils, layout_kernel, distance_kernel):
            for function in vars(module).values():
                if hasattr(function, "enable_caching"):
                    _enable(function)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _enable(function: Any) -> None:
    try:
        function.enable_caching()
    except (RuntimeError, OSError):  # numba: "no locator available for file"
        return
