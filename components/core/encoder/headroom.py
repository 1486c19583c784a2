"""Whether a model's weights fit into the memory that is free, asked before they are read."""

from __future__ import annotations

import sys
from math import prod
from pathlib import Path

import psutil
from safetensors import SafetensorError, safe_open

__all__ = ["free_memory", "needed_memory"]

_BYTES = 4  # of a weight in memory: float32, whatever the file has
_CONTAINER = Path("/sys/fs/cgroup")
_SPARE = 200_000_000  # bytes for the tokenizer and the first texts


def free_memory() -> int:
    """Bytes that this machine, or the container that this runs in, can give without swapping."""
    return min(int(psutil.virtual_memory().available), _container_memory())


def _container_memory() -> int:
    """What a container's own bound leaves (cgroup v2); as much as can be where there is none."""
    try:
        most, held = (
            int((_CONTAINER / f"memory.{kind}").read_text()) for kind in ("max", "current")
        )
        stated = dict(
            line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines()
        )
        return most - held + int(stated["inactive_file"])  # files' pages are given back when asked
    except (OSError, ValueError, KeyError):  # no such files, or no number: "max"
        return sys.maxsize


def needed_memory(folder: Path) -> int:
    """Bytes that a model of this folder takes, by the headers of its weights; 0 if unreadable.

    safetensors checks a header against the length of its file, so no size is made up.
    """
    single = folder / "model.safetensors"
    paths = [single] if single.is_file() else sorted(folder.glob("model-*-of-*.safetensors"))
    try:
        return sum(map(_n_weights, paths)) * _BYTES + _SPARE
    except (SafetensorError, OSError, MemoryError):  # the loader says what is wrong with them
        return 0


def _n_weights(path: Path) -> int:
    with safe_open(path, framework="numpy") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    return sum(map(prod, shapes))
