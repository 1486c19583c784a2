"""The processes that draw maps, from this side: start, ask, follow, stop. No streamlit in here.

There are two: small maps do not wait behind large ones. Each starts when it is first needed and
does one task at a time; one that dies or hangs is replaced by a new one.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from components.core.errors import ContextlensError, RequestError
from components.core.schema import FloatArray
from components.maps import worker
from components.maps.layer_maps import How, LayerMaps
from components.maps.projection import Map, MapSettings, OnProgress
from components.maps.stability import Stability

__all__ = ["LARGE", "MapError", "MapProcess", "MapProcesses"]

LARGE = 8_000
"""Points from which a map goes to the process for large ones."""
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 2.0  # for a task to stop by itself
_ROOT = Path(__file__).parents[2]

_log = logging.getLogger("contextlens")


class MapError(ContextlensError):
    """A map that could not be drawn, through no fault of the request."""


class MapProcess:
    """One process that draws one map after the other."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._busy = threading.Lock()
        self._is_warming = False
        self._process: subprocess.Popen[str] | None = None
        self._answers: Queue[dict[str, Any] | None] = Queue()

    def warm_up(self) -> None:
        """Have it compile what a first map needs; errors are logged."""
        self._is_warming = True
        try:
            cache = str(self._cache) if self._cache is not None else None
            self.ask({"kind": "warm up", "cache": cache}, _ignore)
        except ContextlensError as exc:
            _log.warning("The map process could not be warmed up: %s", exc)
        finally:
            self._is_warming = False

    def ask(
        self, task: Mapping[str, Any], on_progress: OnProgress, *, folder: Path | None = None
    ) -> dict[str, Any]:
        """Have a task done; gives the last answer.

        Args:
            task: for `map_worker`.
            on_progress: told how far it is; what it raises stops the task and comes out here.
            folder: the task's, where it looks for the order to stop.

        Raises:
            RequestError: the task cannot be done as asked.
            MapError: the process died, or could not be started.
        """
        while not self._busy.acquire(timeout=_POLL_SECONDS):
            on_progress("Getting ready" if self._is_warming else "Waiting for another map", 0.0)
        try:
            return self._ask(task, on_progress, folder)
        finally:
            self._busy.release()

    def stop(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _ended(process)

    def _ask(
        self, task: Mapping[str, Any], on_progress: OnProgress, folder: Path | None
    ) -> dict[str, Any]:
        self._send(task)
        stage, share = "Starting", 0.0
        while True:
            answer = self._next()
            if answer is None:
                raise self._died()
            if not answer or "stage" in answer:
                stage, share = answer.get("stage", stage), answer.get("share", share)
                try:
                    on_progress(stage, share)
                except BaseException:
                    self._abandon(folder)
                    raise
                continue
            return _checked(answer)

    def _next(self) -> dict[str, Any] | None:
        """The next answer; an empty one where there was none for a moment, None at the end."""
        try:
            return self._answers.get(timeout=_POLL_SECONDS)
        except Empty:
            return {}

    def _send(self, task: Mapping[str, Any]) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
        line = json.dumps(task) + "\n"
        try:
            self._write(line)
        except OSError:  # it died since it was last asked
            self._start()
            self._write(line)

    def _write(self, line: str) -> None:
        if self._process is None or self._process.stdin is None:
            raise self._died()
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def _start(self) -> None:
        self.stop()
        self._answers = Queue()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", worker.__name__],
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        except OSError as exc:
            raise MapError(f"The process that draws maps could not be started: {exc}.") from exc
        threading.Thread(
            target=_listen, args=(self._process, self._answers), daemon=True, name="contextlens-map"
        ).start()

    def _abandon(self, folder: Path | None) -> None:
        """Stop the task under way: it is asked first, and ended with its process if it is slow."""
        if folder is not None:
            (folder / worker.CANCEL).touch()
            end = time.monotonic() + _GRACE_SECONDS
            while time.monotonic() < end:
                try:
                    answer = self._answers.get(timeout=_POLL_SECONDS)
                except Empty:
                    continue
                if answer is None or "stage" not in answer:
                    break
            else:
                self.stop()
            return
        self.stop()

    def _died(self) -> MapError:
        process, self._process = self._process, None
        code = None if process is None else _ended(process)
        _log.error("The map process ended with %s", code)
        return MapError(
            "The process that draws maps ended unexpectedly, most likely for lack of memory. "
            "Nothing else is lost: draw again, with fewer points."
        )


@dataclass(frozen=True)
class MapProcesses:
    """Both processes, and the tasks they do."""

    small: MapProcess
    large: MapProcess

    @classmethod
    def with_cache(cls, cache: Path | None) -> MapProcesses:
        """Processes that keep compiled code in a folder."""
        return cls(MapProcess(cache), MapProcess(cache))

    def project(
        self, vectors: FloatArray, settings: MapSettings, on_progress: OnProgress = lambda *_: None
    ) -> Map:
        """`projection.project` of (n, n_dims) vectors."""
        task = {"kind": "map", "settings": settings.as_dict()}
        found: Map = self._do(task, vectors, len(vectors), on_progress, worker.read_map)[0]
        return found

    def project_layers(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        *,
        how: How,
        on_progress: OnProgress = lambda *_: None,
    ) -> LayerMaps:
        """`layer_maps.project_layers` of (n_layers, n, n_dims) vectors."""
        task = {"kind": "layers", "how": how, "settings": settings.as_dict()}
        n = vectors.shape[0] * vectors.shape[1]
        found: LayerMaps = self._do(task, vectors, n, on_progress, worker.read_maps)[0]
        return found

    def stability(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        first: Map,
        on_progress: OnProgress = lambda *_: None,
    ) -> Stability:
        """`honesty.stability` of a map."""
        task = {"kind": "stability", "settings": settings.as_dict()}
        _, answer = self._do(task, vectors, len(vectors), on_progress, _nothing, first)
        values = answer["stability"]
        return Stability(**{key: _frozen(value) for key, value in values.items()})

    def stop(self) -> None:
        """End both."""
        self.small.stop()
        self.large.stop()

    def _do(
        self,
        task: Mapping[str, Any],
        vectors: FloatArray,
        n: int,
        on_progress: OnProgress,
        read: Callable[[Path], Any],
        first: Map | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        process = self.large if n >= LARGE else self.small
        with TemporaryDirectory(prefix="contextlens-map-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            try:
                np.save(folder / worker.VECTORS, vectors, allow_pickle=False)
                if first is not None:
                    worker.write_map(folder / worker.RESULT, first)
            except OSError as exc:
                raise MapError(
                    f"There is no room on the disk to draw this map ({exc.strerror}). Free some, "
                    "or map fewer points."
                ) from exc
            answer = process.ask({**task, "folder": name}, on_progress, folder=folder)
            return read(folder / worker.RESULT), answer


def _listen(process: subprocess.Popen[str], answers: Queue[dict[str, Any] | None]) -> None:
    if process.stdout is not None:
        with process.stdout as lines:
            for line in lines:
                answers.put(json.loads(line))
    answers.put(None)


def _ended(process: subprocess.Popen[str]) -> int:
    """A process's exit code, its pipe closed."""
    if process.stdin is not None:
        with suppress(OSError):  # what it did not read any more
            process.stdin.close()
    return process.wait()


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if "refused" in answer:
        raise RequestError(answer["refused"])
    if "failed" in answer:
        _log.error("A map failed: %s", answer["failed"])
        raise MapError("This map could not be drawn; the log says why. Try other settings.")
    return answer


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _nothing(path: Path) -> None:
    del path


def _ignore(stage: str, share: float) -> None:
    del stage, share
