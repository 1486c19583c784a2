"""Which models of the hub are on this machine, cheap enough to ask on every rerun of a page."""

from __future__ import annotations

import threading
import time

from components.core.errors import UnknownModelError
from components.core.hub.fetching import cached
from components.core.hub.listing import check_id
from components.core.hub.local import repository

__all__ = ["Presence"]

_SECONDS = 5.0
_MOST = 200


class Presence:
    """A memory of a few seconds over `cached`, which reads folders. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, bool]] = {}
        self._lock = threading.Lock()

    def has(self, model_id: str) -> bool:
        """Whether a model is complete in the local hub cache; False for what is no id."""
        now = time.monotonic()
        with self._lock:
            until, here = self._known.get(model_id, (0.0, False))
        if now >= until:
            here = _is_here(model_id)
            with self._lock:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[model_id] = (now + _SECONDS, here)
        return here

    def forget(self, model_id: str) -> None:
        """Look again the next time: it was just fetched."""
        with self._lock:
            self._known.pop(model_id, None)


def _is_here(model_id: str) -> bool:
    try:
        check_id(model_id)
        # Where there is no such folder, huggingface_hub's slow parts need not be imported.
        return repository(model_id, None).is_dir() and cached(model_id) is not None
    except (UnknownModelError, OSError):
        return False
