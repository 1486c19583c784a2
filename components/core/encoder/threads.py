"""The number of threads that torch computes with, set for each calling thread."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import torch
from threadpoolctl import ThreadpoolController

__all__ = ["limit_threads", "n_threads"]

_own = threading.local()


def n_threads() -> int:
    """The number of threads that the calling thread may compute with when it is not limited."""
    if not hasattr(_own, "most"):
        _own.most = _own.now = torch.get_num_threads()  # also sets this thread's own number, once
    return int(_own.most)


def limit_threads(n_parts: int) -> None:
    """Limit the calling thread's computations to one of `n_parts` equal parts of the processors."""
    wanted = max(1, n_threads() // n_parts)
    if wanted != _own.now:
        _openmp().limit(limits=wanted)
        _own.now = wanted


@cache
def _openmp() -> Any:
    return ThreadpoolController().select(user_api="openmp")
