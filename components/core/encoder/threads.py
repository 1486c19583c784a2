"""How many threads the network's own library computes with, thread by thread."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import torch
from threadpoolctl import ThreadpoolController

__all__ = ["limit_threads", "n_threads"]

_own = threading.local()


def n_threads() -> int:
    """How many threads the calling thread may compute with where it is not limited."""
    if not hasattr(_own, "most"):
        _own.most = _own.now = torch.get_num_threads()  # also sets this thread's own number, once
    return int(_own.most)


def limit_threads(n_parts: int) -> None:
    """Have what the calling thread computes take one of so many parts of the processors."""
    wanted = max(1, n_threads() // n_parts)
    if wanted != _own.now:
        _openmp().limit(limits=wanted)
        _own.now = wanted


@cache
def _openmp() -> Any:
    return ThreadpoolController().select(user_api="openmp")
