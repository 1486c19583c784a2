"""Room for what is fetched: within the hub cache's bound, and on the disk that it lies on."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from components.core.errors import FetchError
from components.core.hub.limits import Limits, megabytes

__all__ = ["room_for"]

_RESERVE = 500_000_000  # bytes of the disk that stay free for everything else
_ADVICE = "Choose a model that is on this machine, or ask whoever runs this app to make room."

_lock = threading.Lock()
_coming: list[int] = []  # bytes of the fetches that are under way


@contextmanager
def room_for(n_bytes: int, model_id: str, cache: Path, limits: Limits) -> Iterator[None]:
    """Keep room for a fetch while it goes on.

    Args:
        n_bytes: what is still to come.
        model_id: for messages.
        cache: the hub cache's folder; it need not be there yet.
        limits: `cache_bytes` of them.

    Raises:
        FetchError: the cache's bound or the disk leaves less.
    """
    with _lock:
        _check_cache(n_bytes, model_id, _held_bytes(cache), limits.cache_bytes)
        _check_disk(n_bytes, model_id, cache)
        _coming.append(n_bytes)
    try:
        yield
    finally:
        with _lock:
            _coming.remove(n_bytes)


def _check_cache(n_bytes: int, model_id: str, held: int, most: int) -> None:
    if n_bytes and held + sum(_coming) + n_bytes > most:
        raise FetchError(
            f"{model_id} needs {megabytes(n_bytes)} more in the hub cache, which holds "
            f"{megabytes(held + sum(_coming))} of at most {megabytes(most)} "
            f"(CONTEXTLENS_HUB_CACHE_MB). {_ADVICE}"
        )


def _check_disk(n_bytes: int, model_id: str, cache: Path) -> None:
    there = next(folder for folder in (cache, *cache.parents) if folder.exists())
    with suppress(OSError):  # a disk that cannot be asked says itself when it is full
        free = shutil.disk_usage(there).free
        if n_bytes and n_bytes + sum(_coming) + _RESERVE > free:
            raise FetchError(
                f"{model_id} needs {megabytes(n_bytes)} on the disk of the hub cache, where "
                f"{megabytes(free)} are free and {megabytes(_RESERVE + sum(_coming))} of these "
                f"are kept for other things. {_ADVICE}"
            )


def _held_bytes(cache: Path) -> int:
    """Bytes of all files in the cache, of links their own."""
    held = 0
    for folder, _, names in os.walk(cache):
        for name in names:
            with suppress(OSError):  # it was deleted since
                held += (Path(folder) / name).lstat().st_size
    return held
