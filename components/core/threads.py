"""Several threads with a model each at work: how they share the processors. Imports no torch."""

from __future__ import annotations

import sys

__all__ = ["limit_threads"]


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
