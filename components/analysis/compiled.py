"""The door to umap-learn: imported without its warning, run by one thread at a time.

What numba compiles for it is not safe in two threads; whatever calls it holds this lock.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from components.analysis.progress import OnProgress

__all__ = ["WAITING", "keep_compiled", "umap_functions"]

WAITING = "Waiting for another map to be finished"
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


def keep_compiled(folder: Path) -> None:
    """Lets umap-learn's compiled functions be kept in a folder, for later starts of the process.

    Only what is compiled after this call is kept, so it comes before the first map. numba reads the
    files as pickles: the folder must be one that nobody else can write to. Where it cannot be
    written, everything is compiled in memory as before.
    """
    with umap_functions() as umap:
        from umap import layouts, utils

        # numba looks at a function's own file only; what that calls changes with these versions.
        versions = "-".join(version(name) for name in ("numba", "umap-learn", "numpy"))
        umap.numba.config.CACHE_DIR = str(folder / versions)
        for module in (umap, layouts, utils):
            for function in vars(module).values():
                if hasattr(function, "enable_caching"):
                    _enable(function)


def _enable(function: Any) -> None:
    try:
        function.enable_caching()
    except (RuntimeError, OSError):  # numba: "no locator available for file"
        return
