"""Progress of a computation with several stages, reported as one share of the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = [
    "ARRANGING",
    "AXES",
    "FINDING",
    "LINKING",
    "MEASURING",
    "OnProgress",
    "Report",
    "Stages",
    "silent",
]

FINDING = "Finding each point's nearest neighbours"
AXES = "Finding the main directions"
LINKING = "Linking neighbours"
ARRANGING = "Arranging the points"
MEASURING = "Measuring the map"


OnProgress = Callable[[str, float], None]
"""Called with the stage in plain words and the share done of the whole, in [0, 1].

An exception from it ends the computation and reaches the caller.
"""
Report = Callable[[float], None]
"""Called with the share done of one stage, in [0, 1]."""


class Stages:
    """Turn the shares of single stages into one that never falls and ends at 1."""

    def __init__(self, on_progress: OnProgress | None, seconds: Mapping[str, float]) -> None:
        """Take the stages by name, in order, each with the seconds that it is expected to take."""
        self._on_progress = on_progress
        self._seconds = dict(seconds)
        self._total = sum(self._seconds.values())
        self._last = 0.0

    def stage(self, name: str) -> Report:
        """Report that a stage begins, and return the function that reports its progress."""
        names = list(self._seconds)
        before = sum(self._seconds[other] for other in names[: names.index(name)])

        def report(share: float) -> None:
            inside = min(1.0, max(0.0, share))
            self._tell(name, (before + inside * self._seconds[name]) / self._total)

        report(0.0)
        return report

    def done(self, name: str) -> None:
        """Report that everything is done; `name` is the last stage."""
        self._tell(name, 1.0)

    def waiting(self, name: str, _: float) -> None:
        """Report what the computation is waiting for; the share stays."""
        self._tell(name, self._last)

    def _tell(self, name: str, share: float) -> None:
        if self._on_progress is not None:
            self._last = max(self._last, min(1.0, share))
            self._on_progress(name, self._last)


def silent(share: float) -> None:
    """Report nothing."""
