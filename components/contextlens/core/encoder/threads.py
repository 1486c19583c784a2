"""The number of threads that torch computes with, set for each calling thread."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import torch
from threadpoolctl import ThreadpoolController

__all__ = ["limit_threads", "n_threads"]

_threads = threading.local()


def n_threads() -> int:
    """The number of threads that the calling thread may compute with when it is not limited."""
    if not hasattr(_threads, "most"):
        _threads.most = _threads.now = (
            torch.get_num_threads()
        )  # also sets this thread's own number, once
    return int(_threads.most)


def limit_threads(n_parts: int) -> None:
    """Limit the calling thread's computations to one of `n_parts` equal parts of the processors."""
    wanted = max(1, n_threads() // n_parts)
    if wanted != _threads.now:
        _openmp().limit(limits=wanted)
        _threads.now = wanted


@cache
def _openmp() -> Any:
    return ThreadpoolController().select(user_api="openmp")
