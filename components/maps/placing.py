"""Maps drawn in other processes, so that pages stay responsive; same numbers. No streamlit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import numpy as np

from components.core.errors import JobError
from components.core.schema import FloatArray
from components.jobs import Processes, Sentences
from components.maps import entries
from components.maps.layer_maps import How, LayerMaps
from components.maps.progress import OnProgress
from components.maps.projection import Map
from components.maps.request import MapSettings
from components.maps.stability import Stability

__all__ = ["N_PROCESSES", "Placing"]

N_PROCESSES = 2
"""Two, so that a small map need not wait behind a large one."""
_SENTENCES = Sentences(
    died="The process that draws maps ended unexpectedly, most likely for lack of memory. Nothing "
    "else is lost: draw again, with fewer points.",
    failed="This map could not be drawn; the log says why. Try other settings.",
)


class Placing:
    """The processes that draw maps, and the calls to them. Thread-safe.

    Args:
        compiled: a private folder for compiled code, or None.
    """

    def __init__(self, compiled: Path | None = None) -> None:
        self._always = {"compiled": str(compiled) if compiled is not None else ""}
        warm = (_entry(entries.warm_up), self._always)
        self.processes = Processes(N_PROCESSES, warm=warm, sentences=_SENTENCES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes for good."""
        self.processes.close()

    def warm_up(self) -> None:
        """Make a process compile what a first map needs; errors are logged."""
        self.processes.warm_up()

    def project(
        self, vectors: FloatArray, settings: MapSettings, on_progress: OnProgress = lambda *_: None
    ) -> Map:
        """`projection.project` of (n, n_dims) vectors."""
        with _folder(vectors) as folder:
            self._run(entries.draw, settings, folder, on_progress)
            return entries.read_map(folder / entries.RESULT)

    def project_layers(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        *,
        how: How,
        on_progress: OnProgress = lambda *_: None,
    ) -> LayerMaps:
        """`layer_maps.project_layers` of (n_layers, n, n_dims) vectors."""
        with _folder(vectors) as folder:
            self._run(entries.draw_layers, settings, folder, on_progress, how=how)
            return entries.read_maps(folder / entries.RESULT)

    def stability(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        first: Map,
        on_progress: OnProgress = lambda *_: None,
    ) -> Stability:
        """`stability.stability` of a map."""
        with _folder(vectors, first) as folder:
            values = self._run(entries.draw_again, settings, folder, on_progress)
        return Stability(**{key: _frozen(value) for key, value in values.items()})

    def _run(
        self,
        function: Callable[..., Any],
        settings: MapSettings,
        folder: Path,
        on_progress: OnProgress,
        **more: str,
    ) -> Any:
        task: Mapping[str, Any] = {**self._always, "settings": settings.as_dict(), **more}
        return self.processes.run(_entry(function), task, on_progress, folder=folder)


def _entry(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__name__}"


@contextmanager
def _folder(vectors: FloatArray, first: Map | None = None) -> Iterator[Path]:
    """A temporary folder with a task's vectors, and with the map that the task is about."""
    with TemporaryDirectory(prefix="contextlens-map-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            np.save(folder / entries.VECTORS, vectors, allow_pickle=False)
            if first is not None:
                entries.write_map(folder / entries.RESULT, first)
        except OSError as exc:
            raise JobError(
                f"There is no room on the disk to draw this map ({exc.strerror}). Free some, "
                "or map fewer points."
            ) from exc
        yield folder


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
