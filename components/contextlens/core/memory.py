"""The memory that this process may still take: what loads something large asks first."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil

__all__ = ["free_memory"]

_CONTAINER = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Bytes that this machine, or the container around this process, can give without swapping."""
    return min(int(psutil.virtual_memory().available), _container_memory())


def _container_memory() -> int:
    """Bytes left under the container's limit (cgroup v2); the maximum if there is no limit."""
    try:
        most, held = (
            int((_CONTAINER / f"memory.{kind}").read_text()) for kind in ("max", "current")
        )
        stated = dict(
            line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines()
        )
        return most - held + int(stated["inactive_file"])  # the page cache is released on demand
    except (OSError, ValueError, KeyError):  # no such files, or "max" instead of a number
        return sys.maxsize
