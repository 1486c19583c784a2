"""What a caller asks of a model, the arrays that come back, and how far the work is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AttentionRequest",
    "Counted",
    "FloatArray",
    "IntArray",
    "Mask",
    "Precision",
    "Progress",
    "ProgressEvent",
]

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
Mask = Literal["model", "ones"]
Precision = Literal["exact", "fast"]
AttentionRequest = bool | Sequence[tuple[int, int]]
"""False, True (all), or (layer, head) pairs: layers count from 1 as in `hidden`, heads from 0."""


@dataclass(frozen=True)
class ProgressEvent:
    """How far a load is: a stage in words, and bytes where they are known."""

    stage: str
    done_bytes: int = 0
    total_bytes: int | None = None


Progress = Callable[[ProgressEvent], None]

Counted = Callable[[int, int], None]
"""Told how much is done, and of how much; what it raises ends the work."""
