"""Measured arrays on disk: written whole or not at all; an unreadable file counts as missing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["load_arrays", "save_arrays"]


def save_arrays(arrays: Mapping[str, Any], path: Path) -> None:
    """Write arrays to an NPZ file, whole or not at all.

    Raises:
        OSError: the disk is full or not writable.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **{k: np.asarray(v) for k, v in arrays.items()})
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load_arrays(path: Path, names: Iterable[str]) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of these names; None if there is no file or it cannot be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except Exception:  # noqa: BLE001 - a damaged archive raises almost anything
        return None
