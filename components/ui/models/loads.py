"""Models on their way into memory: one load each, joined by all who want it. No streamlit in here.

A load goes on when those who wait for it leave, and stops only when one of them says so and nobody
else waits. Stopping is asked for, and happens when the hub is next heard of: until then whoever
wants the model again finds the same load, so no second download waits behind a hanging first one.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from components.core import EncoderService, ModelCard
from components.core.schema import ProgressEvent

__all__ = ["Load", "Loads", "NotWantedError", "Status", "in_words", "time_left"]

_N_AT_ONCE = 16
_N_KEPT = 32
_WINDOW_SECONDS = 20.0
_SAMPLE_SECONDS = 0.1
_LEAST_SECONDS = 1.0
_SILENT_SECONDS = 5.0


class NotWantedError(Exception):
    """Ends a load that nobody waits for any more."""


@dataclass(frozen=True)
class Status:
    """How far a load is: its last event, and seconds left and since then where they are known."""

    event: ProgressEvent | None = None
    seconds_left: float | None = None
    is_silent: bool = False  # bytes were expected for some seconds, and none came


class Load:
    """One load of one model, from its start to its card or its error."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.future: Future[ModelCard] = Future()
        self._lock = threading.Lock()
        self._waiting: set[object] = set()
        self._is_unwanted = False
        self._has_stopped = False
        self._event: ProgressEvent | None = None
        self._samples: deque[tuple[float, int]] = deque()  # (seconds, bytes so far)

    def run(self, service: EncoderService) -> None:
        """Load the model in this thread."""
        try:
            card = service.load(self.model, progress=self._note)
        except BaseException as exc:  # noqa: BLE001 - it is those who wait that must hear of it
            self.future.set_exception(exc)
        else:
            self.future.set_result(card)

    def join(self, who: object) -> bool:
        """Wait for this load (None wants it, and waits not); False where it has stopped."""
        with self._lock:
            if self._has_stopped:
                return False
            self._is_unwanted = False
            if who is not None:
                self._waiting.add(who)
            return True

    def leave(self, who: object) -> None:
        """Wait no longer, and let it go on."""
        with self._lock:
            self._waiting.discard(who)

    def give_up(self, who: object = None) -> None:
        """Wait no longer, and have it stopped unless someone else waits."""
        with self._lock:
            self._waiting.discard(who)
            self._is_unwanted = not self._waiting

    def done(self) -> bool:
        """Whether there is a card or an error."""
        return self.future.done()

    def result(self, timeout: float | None = None) -> ModelCard:
        """The card; raises what the load ended with."""
        return self.future.result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the load ended with, or None."""
        return self.future.exception(timeout)

    @property
    def was_stopped(self) -> bool:
        """Whether it ended because nobody wanted it."""
        return self._has_stopped

    def status(self) -> Status:
        """How far it is now."""
        with self._lock:
            event, samples = self._event, list(self._samples)
        if event is None or event.total_bytes is None or not samples:
            return Status(event)
        (first, start), now = samples[0], time.monotonic()
        rate = (event.done_bytes - start) / max(now - first, _LEAST_SECONDS)
        is_known = rate > 0 and now - first >= _LEAST_SECONDS
        left = (event.total_bytes - event.done_bytes) / rate if is_known else None
        is_silent = now - samples[-1][0] > _SILENT_SECONDS
        return Status(event, None if is_silent else left, is_silent)

    def _note(self, event: ProgressEvent) -> None:
        with self._lock:
            if self._is_unwanted:
                self._has_stopped = True
                raise NotWantedError(self.model)
            self._event = event
            if event.total_bytes is None:
                self._samples.clear()
            else:
                self._sample(time.monotonic(), event.done_bytes)

    def _sample(self, now: float, done: int) -> None:
        if len(self._samples) > 1 and now - self._samples[-2][0] < _SAMPLE_SECONDS:
            self._samples.pop()
        self._samples.append((now, done))
        while now - self._samples[0][0] > _WINDOW_SECONDS and len(self._samples) > 2:
            self._samples.popleft()


class Loads:
    """The loads of one process, by model. Thread-safe."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_N_AT_ONCE, thread_name_prefix="contextlens-load")
        self._lock = threading.Lock()
        self._by_model: dict[str, Load] = {}

    def __iter__(self) -> Iterator[Load]:
        with self._lock:
            return iter(list(self._by_model.values()))

    def get(self, model: str) -> Load | None:
        """The last load of a model, or None."""
        return self._by_model.get(model)

    def start(self, model: str, service: EncoderService, who: object = None) -> Load:
        """The load of a model that is under way, or a new one; `who` waits for it."""
        with self._lock:
            running = self._by_model.get(model)
            if running is not None and not running.done() and running.join(who):
                return running
            self._forget_the_oldest()
            load = self._by_model[model] = Load(model)
            load.join(who)
            self._pool.submit(load.run, service)
            return load

    def _forget_the_oldest(self) -> None:
        done = [model for model, load in self._by_model.items() if load.done()]
        for model in done[: max(0, len(self._by_model) - _N_KEPT)]:
            del self._by_model[model]


def in_words(status: Status) -> str:
    """How far a load is, in one line; the model's name in it is not escaped."""
    event = status.event
    if event is None:
        return "Looking for the model…"
    if not event.total_bytes:
        return f"{event.stage}…"
    line = f"{event.stage}: {event.done_bytes / 1e6:,.1f} of {event.total_bytes / 1e6:,.1f} MB"
    if status.is_silent:
        return f"{line}, waiting for the hub"
    return line if status.seconds_left is None else f"{line}, {time_left(status.seconds_left)}"


def time_left(seconds: float) -> str:
    """An estimate, as rough as it is: "about 2 minutes left"."""
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
