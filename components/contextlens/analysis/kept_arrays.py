"""Measured arrays on disk: written whole or not at all; an unreadable file counts as missing."""

from __future__ import annotations

import os
import tempfile
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

__all__ = ["Measured", "load", "save"]


class Measured(Protocol):
    """A dataclass of arrays and integers."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Kind = TypeVar("Kind", bound=Measured)


def save(measured: Measured, path: Path) -> None:
    """Write a measurement to an NPZ file, whole or not at all.

    Raises:
        OSError: the disk is full or not writable.
    """
    arrays = {field.name: np.asarray(getattr(measured, field.name)) for field in fields(measured)}
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(kind: type[Kind], path: Path) -> Kind | None:
    """Return what was saved; None if there is no file or it cannot be read (then measure again)."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            given = {field.name: arrays[field.name] for field in fields(kind)}
            numbers = {field.name for field in fields(kind) if field.type in ("int", int)}
            if any((array.ndim == 0) != (name in numbers) for name, array in given.items()):
                return None
            return kind(**{n: int(a) if n in numbers else a for n, a in given.items()})
    except Exception:  # noqa: BLE001 - a damaged archive raises almost anything
        return None
