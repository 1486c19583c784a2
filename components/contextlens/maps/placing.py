"""Draw maps in other processes, so that pages stay responsive; the numbers are the same.

Arrays go to these processes and back in files, without pickles. This module also has the functions
that `contextlens.jobs.worker` calls in those processes. It does not import streamlit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import numpy as np

from contextlens.core.errors import JobError
from contextlens.core.schema import FloatArray
from contextlens.jobs import Processes, Sentences
from contextlens.maps import prepare
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors
from contextlens.maps.progress import OnProgress
from contextlens.maps.projection import Map, project
from contextlens.maps.request import MapSettings
from contextlens.maps.stability import Stability, stability

__all__ = ["N_PROCESSES", "Placing", "check_stability", "draw", "warm_up"]

N_PROCESSES = 2
"""Two, so that a small map need not wait for a large one."""
_SENTENCES = Sentences(
    died="The process that draws maps ended unexpectedly, most likely for lack of memory. Nothing "
    "else is lost: draw again, with fewer points.",
    failed="This map could not be drawn; the log says why. Try other settings.",
)
_VECTORS, _MAP = "vectors.npy", "map.npz"


class Placing:
    """The processes that draw maps, with methods that run a task in one of them. Thread-safe.

    Args:
        compiled: a private folder for compiled code, or None.
    """

    def __init__(self, compiled: Path | None = None) -> None:
        self._compiled = {"compiled": str(compiled) if compiled is not None else ""}
        warm = (_entry_point(warm_up), self._compiled)
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
        """End the processes; this object cannot be used again."""
        self.processes.close()

    def warm_up(self) -> None:
        """Make a process compile in advance what the first map needs; errors are logged."""
        self.processes.warm_up()

    def project(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        on_progress: OnProgress = lambda *_: None,
        *,
        last: Map | None = None,
    ) -> Map:
        """Return what `projection.project` returns, computed in another process."""
        with _folder(vectors, last) as folder:
            self._run(draw, settings, folder, on_progress)
            return _read_map(folder / _MAP)

    def stability(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        first: Map,
        on_progress: OnProgress = lambda *_: None,
    ) -> Stability:
        """Return what `stability.stability` returns, computed in another process."""
        with _folder(vectors, first) as folder:
            values = self._run(check_stability, settings, folder, on_progress)
        tuples = {name: tuple(values[name]) for name in ("seeds", "disparities")}
        return Stability(**{**values, **tuples})

    def _run(
        self,
        function: Callable[..., Any],
        settings: MapSettings,
        folder: Path,
        on_progress: OnProgress,
    ) -> Any:
        task: Mapping[str, Any] = {**self._compiled, "settings": settings.as_dict()}
        return self.processes.run(_entry_point(function), task, on_progress, folder=folder)


def _entry_point(function: Callable[..., Any]) -> str:
    """The address by which another process imports a function: "module:name"."""
    return f"{function.__module__}:{function.__name__}"


@contextmanager
def _folder(vectors: FloatArray, first: Map | None = None) -> Iterator[Path]:
    """A temporary folder with a task's vectors and, if it has one, the map to go on from."""
    with TemporaryDirectory(prefix="contextlens-map-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            np.save(folder / _VECTORS, vectors, allow_pickle=False)
            if first is not None:
                _write_map(folder / _MAP, first)
        except OSError as exc:
            raise JobError(
                f"There is no room on the disk to draw this map ({exc.strerror}). Free some, "
                "or map fewer points."
            ) from exc
        yield folder


# --- In the process that draws maps


def warm_up(task: Mapping[str, Any], folder: Path, report: OnProgress) -> None:
    """Compile in advance what the first map needs."""
    del folder, report
    prepare.warm_up(Path(task["compiled"]) if task["compiled"] else None)


def draw(task: Mapping[str, Any], folder: Path, report: OnProgress) -> None:
    """Draw a map of the vectors in the folder, from a map of the last layer if there is one."""
    vectors, settings = _inputs(task, folder)
    path = folder / _MAP
    last = _read_map(path) if path.exists() else None
    _write_map(path, project(vectors, settings, last=last, on_progress=report))


def check_stability(task: Mapping[str, Any], folder: Path, report: OnProgress) -> dict[str, Any]:
    """Return the values of a `Stability` for the map in the folder's file."""
    vectors, settings = _inputs(task, folder)
    first = _read_map(folder / _MAP)
    return asdict(stability(vectors, settings, first=first, on_progress=report))


def _inputs(task: Mapping[str, Any], folder: Path) -> tuple[FloatArray, MapSettings]:
    if task["compiled"]:
        _keep_compiled(task["compiled"])
    vectors: FloatArray = np.load(folder / _VECTORS, allow_pickle=False)
    return vectors, MapSettings.from_dict(task["settings"])


@cache
def _keep_compiled(folder: str) -> None:
    prepare.keep_compiled(Path(folder))


def _write_map(path: Path, drawn: Map) -> None:
    header = {
        "method": drawn.method,
        "reason": drawn.reason,
        "settings": drawn.settings.as_dict(),
        "metric": drawn.neighbors[0].metric,
        "quality": [None if layer is None else asdict(layer) for layer in drawn.quality],
    }
    np.savez(
        path,
        allow_pickle=False,
        head=np.array(json.dumps(header)),
        coordinates=drawn.coordinates,
        indices=np.stack([layer.indices for layer in drawn.neighbors]),
        distances=np.stack([layer.distances for layer in drawn.neighbors]),
    )


def _read_map(path: Path) -> Map:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(str(arrays["head"]))
    per_layer = zip(arrays["indices"], arrays["distances"], strict=True)
    return Map(
        coordinates=arrays["coordinates"],
        method=header["method"],
        reason=header["reason"],
        settings=MapSettings.from_dict(header["settings"]),
        neighbors=tuple(Neighbors(*layer, header["metric"]) for layer in per_layer),
        quality=tuple(
            None if layer is None else MapQuality(**layer) for layer in header["quality"]
        ),
    )
