"""The progress of work: its stage, a share or bytes, the time left, and all of that in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Meter", "State", "Status", "in_words", "time_left"]

_WINDOW_SECONDS = 20.0
_SAMPLE_SECONDS = 0.1
_MIN_SECONDS = 1.0
_SILENT_SECONDS = 5.0

State = Literal["waiting", "running", "done", "failed", "stopped", "forgotten", "cancelled"]
"""The state of a job. "stopped": no one wanted it; "forgotten": its result was dropped to free
memory; "cancelled": only for the visitor who cancelled it, whatever the others do."""


@dataclass(frozen=True)
class Status:
    """The progress of a job.

    Attributes:
        state: see `State`.
        stage: the current activity, in words.
        share: the share done, in [0, 1]; a share of the bytes if those are counted.
        done_bytes, total_bytes: bytes received and expected; None if nothing is counted.
        seconds_left: None if unknown.
        silence: the message if expected bytes have not come for some seconds, else "".
        n_before: the number of jobs ahead of this one.
    """

    state: State
    stage: str
    share: float = 0.0
    done_bytes: int = 0
    total_bytes: int | None = None
    seconds_left: float | None = None
    silence: str = ""
    n_before: int = 0

    @property
    def is_over(self) -> bool:
        """True if the job is over."""
        return self.state not in {"waiting", "running"}


class Meter:
    """Tracks the progress of some work, and its recent transfer speed."""

    def __init__(self, first_words: str, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._stage, self._share = first_words, 0.0
        self._done, self._total = 0, 0
        self._samples: deque[tuple[float, int]] = deque()  # (seconds, bytes so far)

    def share(self, stage: str, share: float) -> None:
        """Record a stage and the share done, which never decreases."""
        self._stage, self._share = stage, min(1.0, max(self._share, share))
        self._total = 0
        self._samples.clear()

    def count(self, stage: str, done: int, total: int | None) -> None:
        """Record a stage and its bytes; `total` is None if they are not counted."""
        self._stage, self._done, self._total = stage, done, total or 0
        if total is None:
            self._samples.clear()
        else:
            self._sample(self._clock(), done)

    def status(self, state: State, silence: str) -> Status:
        """Return the current progress."""
        if not self._total or not self._samples:
            return Status(state, self._stage, self._share)
        (first, start), now = self._samples[0], self._clock()
        rate = (self._done - start) / max(now - first, _MIN_SECONDS)
        is_known = rate > 0 and now - first >= _MIN_SECONDS
        is_silent = now - self._samples[-1][0] > _SILENT_SECONDS
        return Status(
            state,
            self._stage,
            min(1.0, self._done / self._total),
            self._done,
            self._total,
            (self._total - self._done) / rate if is_known and not is_silent else None,
            silence if is_silent else "",
        )

    def _sample(self, now: float, done: int) -> None:
        if len(self._samples) > 1 and now - self._samples[-2][0] < _SAMPLE_SECONDS:
            self._samples.pop()
        self._samples.append((now, done))
        while now - self._samples[0][0] > _WINDOW_SECONDS and len(self._samples) > 2:
            self._samples.popleft()


def in_words(status: Status) -> str:
    """The progress in one line; names in it are not escaped."""
    if status.state == "waiting":
        before = f", {status.n_before:,} before it" if status.n_before else ""
        return f"Waiting for its turn{before}…"
    if status.total_bytes is None:
        return f"{status.stage}…"
    done, total = status.done_bytes / 1e6, status.total_bytes / 1e6
    line = f"{status.stage}: {done:,.1f} of {total:,.1f} MB"
    if status.silence:
        return f"{line}, {status.silence}"
    return line if status.seconds_left is None else f"{line}, {time_left(status.seconds_left)}"


def time_left(seconds: float) -> str:
    """A deliberately rough estimate: "about 2 minutes left"."""
    if seconds < 5:
        return "a few seconds left"
    if seconds < 55:
        return f"about {5 * round(seconds / 5)} seconds left"
    if seconds < 90:
        return "about a minute left"
    if seconds < 3300:
        return f"about {round(seconds / 60)} minutes left"
    hours = max(1, round(seconds / 3600))
    return f"about {hours} hours left" if hours > 1 else "about an hour left"
