"""Connecting to the LanceDB database of a place: a folder, object storage, or memory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

__all__ = ["connect", "folder_of", "is_in_memory", "is_remote"]

_INDEX_CACHE, _METADATA_CACHE = 256_000_000, 64_000_000  # bytes; LanceDB itself takes gigabytes
_OF_STORAGE = {
    "connect_timeout": "2s",
    "timeout": "15s",  # of a request, of which one moves some megabytes
    "client_max_retries": "2",
    "client_retry_timeout": "10",  # seconds
}
"""Without them a page would wait minutes for object storage that is away."""


def folder_of(root: str) -> Path | None:
    """The folder that a place is; None for an address."""
    return None if "://" in root else Path(root)


def is_in_memory(root: str) -> bool:
    """Whether a place is this process's memory."""
    return root.startswith("memory://")


def is_remote(root: str) -> bool:
    """Whether a place is in object storage."""
    return folder_of(root) is None and not is_in_memory(root)


def connect(root: str, interval: timedelta | None) -> Any:
    """The database of a place.

    Args:
        root: a folder, which is made where it is not there, or an address.
        interval: after which what other processes wrote is seen; None for when it is asked for.
    """
    import lancedb  # takes a second

    folder = folder_of(root)
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return lancedb.connect(
        root,
        session=lancedb.Session(_INDEX_CACHE, _METADATA_CACHE),
        read_consistency_interval=interval,
        storage_options=_OF_STORAGE if is_remote(root) else None,
    )
