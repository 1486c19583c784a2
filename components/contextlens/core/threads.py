"""The processors, and how threads that each run a model share them. Imports no torch."""

from __future__ import annotations

import os
import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["give_way", "limit_threads", "one_blas_thread", "processor", "wait_asleep"]

_NICE = 10
"""The niceness of background threads, if the system can tell threads apart."""


def processor() -> str:
    """The processor's name and features."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    features = {
        line.partition(":")[2] for line in lines if line.startswith(("model name", "flags"))
    }
    return " ".join(sorted(features)) or platform.processor()


def limit_threads(n_parts: int) -> None:
    """Limit the calling thread's computations to one of `n_parts` equal parts of the processors.

    Two threads with half of the processors each do more than one with all: one computes while the
    other is between two matrix products. Other threads keep their shares. Does nothing in a
    process that has loaded no model.
    """
    if "torch" not in sys.modules:
        return
    from contextlens.core.encoder.threads import limit_threads

    limit_threads(n_parts)


def wait_asleep() -> None:
    """Let OpenMP's threads sleep while they wait for each other, unless the environment disagrees.

    By default they spin for some milliseconds after each product. If another program wants the
    processor, they then take it from the very thread that they wait for. The library reads this
    setting once, when it is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def give_way() -> None:
    """Run the calling thread at low priority from now on."""
    if sys.platform == "linux":  # on other systems it would affect the whole process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


_blas_lock = threading.Lock()
_blas: list[Any] = []  # the limit, once for each block that is in it


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run NumPy's matrix products with one thread, in the whole process, while any block runs.

    Many small products, as in fitting a classifier, are faster so: threads that wait for each other
    lose more than they share, above all on a busy machine.
    """
    from threadpoolctl import threadpool_limits

    with _blas_lock:
        _blas.append(_blas[0] if _blas else threadpool_limits(1, user_api="blas"))
    try:
        yield
    finally:
        with _blas_lock:
            limit = _blas.pop()
            if not _blas:
                limit.restore_original_limits()
