"""Many threads that ask at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from contextlens.core.errors import ContextlensError

__all__ = ["N_THREADS", "SECONDS", "together"]

N_THREADS = 20
SECONDS = 60.0


def together(n: int, call: Callable[[int], Any]) -> list[Any]:
    """The results of n threads that start at once; an exception counts as a result."""
    start = threading.Barrier(n)

    def one(i: int) -> Any:
        start.wait(SECONDS)
        try:
            return call(i)
        except ContextlensError as exc:
            return exc

    with ThreadPoolExecutor(n) as pool:
        return [future.result(SECONDS) for future in [pool.submit(one, i) for i in range(n)]]
