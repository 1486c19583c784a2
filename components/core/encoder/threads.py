"""How many threads the network's own library computes with, thread by thread."""

from __future__ import annotations

import torch
from threadpoolctl import threadpool_limits

__all__ = ["limit_threads"]


def limit_threads(n_parts: int) -> None:
    """Have what the calling thread computes take one of so many parts of the processors."""
    n_threads = torch.get_num_threads()  # also sets this thread's own number, once
    threadpool_limits(max(1, n_threads // n_parts), user_api="openmp")
