"""Processes that draw maps, kept for the next app of the same tests: to start one takes seconds."""

from __future__ import annotations

from typing import Any, ClassVar

from contextlens.jobs import Processes, Sentences
from contextlens.jobs.processes import Worker

__all__ = ["KeptProcesses"]


class KeptProcesses(Processes):
    """Those that are idle when they are closed go on, for the next who wants some."""

    _left: ClassVar[list[Worker]] = []

    def __init__(self, n: int, **options: Any) -> None:
        super().__init__(n, **options)
        n_kept = min(n, len(self._left))
        self._all[:n_kept] = [self._left.pop() for _ in range(n_kept)]
        self._idle = list(self._all)

    def close(self) -> None:
        with self._changed:
            kept = {worker: Worker(Sentences()) for worker in self._idle if worker.is_alive}
            self._left.extend(kept)
            self._all = [kept.get(worker, worker) for worker in self._all]
            self._idle = [kept.get(worker, worker) for worker in self._idle]
        super().close()
