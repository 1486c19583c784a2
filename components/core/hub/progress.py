"""Bytes fetched so far, from huggingface_hub's several progress bars."""

from __future__ import annotations

import threading
from typing import Any

from components.core.hub.faults import UntrueError
from components.core.schema import Progress, ProgressEvent

__all__ = ["Tally", "bar_class"]


class Tally:
    """Bytes so far of one fetch: never less than before, never more than the total."""

    def __init__(self, stage: str, progress: Progress | None) -> None:
        self.stopped_by: BaseException | None = None
        self._stage = stage
        self._progress = progress
        self._lock = threading.Lock()
        self._already = 0
        self._done = 0
        self._total = 0
        self._coming = 0

    def start(self, total: int, *, already: int, coming: int) -> None:
        """Set the scale, and tell it; `coming` is what a bar may count at most."""
        with self._lock:
            self._total, self._already, self._done = total, already, max(self._done, already)
            self._coming = coming
            self._tell()

    def add(self, bar: Any, n: float) -> None:
        """Count on a bar; the one that is furthest ahead says what is done.

        Two bars count the same bytes, as received and as written, and a server that sends a file
        again from the start takes a bar back.
        """
        with self._lock:
            bar.n += n
            if bar.counts_bytes:
                if bar.n > self._coming and self.stopped_by is None:
                    self.stopped_by = UntrueError("{hub} sent more than it listed")
                self._reach(self._already + int(bar.n))

    def finish(self) -> None:
        """Tell that all is here (files linked from another commit were never counted)."""
        with self._lock:
            self._reach(self._total)

    def _reach(self, done: int) -> None:
        if self.stopped_by is not None:
            raise self.stopped_by
        if (done := min(done, self._total)) > self._done:
            self._done = done
            self._tell()

    def _tell(self) -> None:
        if self._progress is None:
            return
        try:
            self._progress(ProgressEvent(self._stage, self._done, self._total))
        except BaseException as exc:
            self.stopped_by = exc
            raise


def bar_class(tally: Tally) -> Any:
    """A progress bar class for huggingface_hub that draws nothing and tells the tally."""
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):
        monitor_interval = 0  # no thread that watches bars which are never drawn

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.counts_bytes = kwargs.get("unit") == "B"
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            tally.add(self, n or 0)

    return Bar
