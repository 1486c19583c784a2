"""Short answers that pages ask for at every run: believed for a while, and longer in need."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from components.core.errors import ServiceAwayError

__all__ = ["Known"]

_MOST = 512


class Known:
    """The last answer to each question, asked again after some seconds. Thread-safe.

    While the service is away the last answer holds, however old it is.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, ask: Callable[[], Any], *, seconds: float) -> Any:
        """The answer to a question.

        Raises:
            ServiceAwayError: the service is away, and never answered this.
        """
        found = self._find(key)
        if found is not None and time.monotonic() < found[0] + seconds:
            return found[1]
        try:
            answer = ask()
        except ServiceAwayError:
            if found is None:
                raise
            return found[1]
        self.keep(key, answer)
        return answer

    def keep(self, key: Hashable, answer: Any) -> None:
        """What is known from elsewhere."""
        with self._lock:
            self._answers[key] = (time.monotonic(), answer)
            self._answers.move_to_end(key)
            while len(self._answers) > _MOST:
                self._answers.popitem(last=False)

    def forget(self, key: Hashable) -> None:
        """Ask anew next time, and have nothing to fall back on."""
        with self._lock:
            self._answers.pop(key, None)

    def last(self, key: Hashable) -> Any | None:
        """The last answer, however old, or None."""
        found = self._find(key)
        return None if found is None else found[1]

    def _find(self, key: Hashable) -> tuple[float, Any] | None:
        with self._lock:
            return self._answers.get(key)
