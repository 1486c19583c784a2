"""Several threads with a model each at work: how they share the processors. Imports no torch."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

__all__ = ["give_way", "limit_threads", "wait_asleep"]

_NICE = 10
"""How far other threads come first, where the system can tell threads apart."""


def limit_threads(n_parts: int) -> None:
    """Have what the calling thread computes take one of so many parts of the processors.

    Two threads that compute with half of the processors each do more than one with all: what one
    does between two products of matrices, the other's products fill. Other threads keep theirs.
    There is nothing to do in a process that has loaded no model.
    """
    if "torch" not in sys.modules:
        return
    from components.core.encoder.threads import limit_threads

    limit_threads(n_parts)


def wait_asleep() -> None:
    """Have OpenMP's threads sleep while they wait for one another, unless the environment says how.

    By default they ask again and again for some milliseconds after each product, and where another
    program wants the processor they keep it from the very thread that they wait for. The library
    reads this once, as it is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def give_way() -> None:
    """Have the calling thread compute when others do not, from now on."""
    if sys.platform == "linux":  # elsewhere it would be the whole process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
