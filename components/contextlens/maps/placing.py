"""Draw maps in other processes, so that pages stay responsive; the numbers are the same.

It does not import streamlit.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from contextlens.core.errors import ContextlensError
from contextlens.core.schema import FloatArray
from contextlens.jobs import Processes, Sentences
from contextlens.jobs.processes import WorkerTask
from contextlens.maps import prepare
from contextlens.maps.compiled import umap_functions
from contextlens.maps.progress import OnProgress
from contextlens.maps.projection import Map, project
from contextlens.maps.request import MapSettings
from contextlens.maps.stability import Stability, stability

__all__ = ["N_PROCESSES", "Placing"]

N_PROCESSES = 2
"""Two, so that a small map need not wait for a large one."""
_POLL_SECONDS = 0.1
_SENTENCES = Sentences(
    died="The process that draws maps ended unexpectedly, most likely for lack of memory. Nothing "
    "else is lost: draw again, with fewer points.",
    failed="This map could not be drawn; the log says why. Try other settings.",
)
_Result = TypeVar("_Result")


class Placing:
    """The processes that draw maps, with methods that run a task in one of them. Thread-safe.

    Args:
        compiled: a private folder for compiled code, or None.
    """

    def __init__(self, compiled: Path | None = None) -> None:
        self._compiled = compiled
        warm = partial(_warm_up, compiled)
        self.processes = Processes(N_PROCESSES, warm=warm, sentences=_SENTENCES)
        self._starting: threading.Thread | None = None
        self._lock = threading.Lock()

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

    def begin(self) -> None:
        """Start a process in the background, once, to be ready when texts have been read."""
        with self._lock:
            if self._starting is None:
                import_all = partial(_compute, self._compiled, _import_all)
                self._starting = threading.Thread(
                    target=self._run_quietly, args=(import_all,), daemon=True
                )
                self._starting.start()

    def project(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        on_progress: OnProgress = lambda *_: None,
        *,
        last: Map | None = None,
    ) -> Map:
        """Return what `projection.project` returns, computed in another process."""
        return self._run(partial(project, vectors, settings, last=last), on_progress)

    def stability(
        self,
        vectors: FloatArray,
        settings: MapSettings,
        first: Map,
        on_progress: OnProgress = lambda *_: None,
    ) -> Stability:
        """Return what `stability.stability` returns, computed in another process."""
        return self._run(partial(stability, vectors, settings, first=first), on_progress)

    def _run_quietly(self, task: WorkerTask[None]) -> None:
        with suppress(ContextlensError):  # the first map tells
            self.processes.run(task, lambda *_: None)

    def _run(self, function: Callable[..., _Result], on_progress: OnProgress) -> _Result:
        while self._starting is not None and self._starting.is_alive():  # not in a second one
            on_progress("Starting", 0.0)
            self._starting.join(_POLL_SECONDS)
        return self.processes.run(partial(_compute, self._compiled, function), on_progress)


# --- In the process that draws maps


def _warm_up(compiled: Path | None, report: OnProgress) -> None:
    del report
    _leave_out_pandas()
    prepare.warm_up(compiled)


def _compute(
    compiled: Path | None, function: Callable[..., _Result], report: OnProgress
) -> _Result:
    _leave_out_pandas()
    if compiled is not None:
        _keep_compiled(compiled)
    return function(on_progress=report)


class _WithoutPandas(MetaPathFinder):
    """Keeps scikit-learn from importing pandas where it can: it takes 70 MB, and maps need none."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Raise ModuleNotFoundError for pandas."""
        if fullname == "pandas":
            raise ModuleNotFoundError("Maps are drawn without pandas.", name=fullname)


@cache
def _leave_out_pandas() -> None:
    sys.meta_path.insert(0, _WithoutPandas())


def _import_all(on_progress: OnProgress) -> None:
    with umap_functions(on_progress):
        from contextlens.maps import kernels  # noqa: F401


@cache
def _keep_compiled(folder: Path) -> None:
    prepare.keep_compiled(folder)
