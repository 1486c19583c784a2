"""The door to umap-learn: imported without its warning, run by one thread at a time.

What numba compiles for it is not safe in two threads; whatever calls it holds this lock.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from components.analysis.progress import OnProgress

__all__ = ["WAITING", "umap_functions"]

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
