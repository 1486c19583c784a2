"""The process that draws maps: `python -m components.analysis.map_worker`.

A process of its own, because one map computes for seconds on end: pages answer meanwhile, nothing
here shares UMAP's global state with anyone, and a map that nobody wants can be ended at any point.
It reads one task per line of its input, as JSON, and answers in lines of JSON: how far it is, then
that it is done or why not. Arrays go through files in the task's folder, without pickles.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import RequestError
from components.maps.honesty import Honesty
from components.maps.layer_maps import LayerMaps, project_layers
from components.maps.neighbors import Neighbors
from components.maps.projection import Map, MapSettings, OnProgress, project, warm_up
from components.maps.stability import stability

__all__ = ["CANCEL", "RESULT", "VECTORS", "main", "read_map", "read_maps", "write_map"]

VECTORS = "vectors.npy"
RESULT = "result.npz"
CANCEL = "cancel"
"""A file of this name in a task's folder stops the task."""

_REPORT_SECONDS = 0.05
Say = Callable[[dict[str, Any]], None]


class _CancelledError(Exception):
    """Nobody wants this task any more."""


def main() -> None:
    """Work until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not stand between the answers
    sys.stdout = sys.stderr
    if hasattr(os, "nice"):
        os.nice(5)  # pages come first

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    for line in sys.stdin:
        try:
            _run(json.loads(line), say)
        except BrokenPipeError:
            return
        except _CancelledError:
            say({"cancelled": True})
        except RequestError as exc:
            say({"refused": str(exc)})
        except Exception as exc:  # noqa: BLE001 - the parent logs it and goes on
            say({"failed": f"{type(exc).__name__}: {exc}"})


def _run(task: Mapping[str, Any], say: Say) -> None:
    if task["kind"] == "warm up":
        warm_up(Path(task["cache"]) if task["cache"] else None)
        say({"done": True})
        return
    folder = Path(task["folder"])
    settings = MapSettings.from_dict(task["settings"])
    vectors = np.load(folder / VECTORS, allow_pickle=False)
    reporter = _reporter(folder / CANCEL, say)
    extra: dict[str, Any] = {}
    if task["kind"] == "map":
        write_map(folder / RESULT, project(vectors, settings, on_progress=reporter))
    elif task["kind"] == "layers":
        maps = project_layers(vectors, settings, how=task["how"], on_progress=reporter)
        _write_maps(folder / RESULT, maps)
    else:
        first = read_map(folder / RESULT)
        found = stability(vectors, settings, first=first, on_progress=reporter)
        extra = {"stability": asdict(found)}
    say({"done": True, **extra})


def _reporter(cancel: Path, say: Say) -> OnProgress:
    """Tells how far a task is, a few times a second, and stops it when it is no longer wanted."""
    last = 0.0

    def report(stage: str, share: float) -> None:
        nonlocal last
        if cancel.exists():
            raise _CancelledError
        now = time.monotonic()
        if now - last >= _REPORT_SECONDS:
            last = now
            say({"stage": stage, "share": round(float(share), 4)})

    return report


def write_map(path: Path, found: Map) -> None:
    """Keep a map in a file, for `read_map`."""
    head = {
        "method": found.method,
        "reason": found.reason,
        "settings": found.settings.as_dict(),
        "neighbors": _about(found.neighbors),
        "honesty": None if found.honesty is None else asdict(found.honesty),
    }
    _save(path, head, {"coordinates": found.coordinates, **_arrays("neighbors", found.neighbors)})


def read_map(path: Path) -> Map:
    """The map in a file."""
    head, arrays = _load(path)
    return Map(
        coordinates=arrays["coordinates"],
        method=head["method"],
        reason=head["reason"],
        settings=MapSettings.from_dict(head["settings"]),
        neighbors=_neighbors(head["neighbors"], "neighbors", arrays),
        honesty=_honesty(head["honesty"]),
    )


def _write_maps(path: Path, found: LayerMaps) -> None:
    head = {
        "how": found.how,
        "method": found.method,
        "reason": found.reason,
        "settings": found.settings.as_dict(),
        "neighbors": [_about(own) for own in found.neighbors],
        "honesty": [None if own is None else asdict(own) for own in found.honesty],
    }
    arrays = {"coordinates": found.coordinates}
    for i, own in enumerate(found.neighbors):
        arrays |= _arrays(f"neighbors{i}", own)
    _save(path, head, arrays)


def read_maps(path: Path) -> LayerMaps:
    """The maps of all layers in a file."""
    head, arrays = _load(path)
    return LayerMaps(
        how=head["how"],
        coordinates=arrays["coordinates"],
        method=head["method"],
        reason=head["reason"],
        settings=MapSettings.from_dict(head["settings"]),
        neighbors=tuple(
            _neighbors(own, f"neighbors{i}", arrays) for i, own in enumerate(head["neighbors"])
        ),
        honesty=tuple(map(_honesty, head["honesty"])),
    )


def _about(found: Neighbors) -> dict[str, Any]:
    return {"metric": found.metric, "exact": found.exact}


def _arrays(name: str, found: Neighbors) -> dict[str, NDArray[Any]]:
    return {f"{name}_indices": found.indices, f"{name}_distances": found.distances}


def _neighbors(
    about: Mapping[str, Any], name: str, arrays: Mapping[str, NDArray[Any]]
) -> Neighbors:
    return Neighbors(arrays[f"{name}_indices"], arrays[f"{name}_distances"], **about)


def _honesty(values: Mapping[str, Any] | None) -> Honesty | None:
    return None if values is None else Honesty(**values)


def _save(path: Path, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    np.savez(path, allow_pickle=False, head=np.array(json.dumps(head)), **arrays)


def _load(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(str(arrays.pop("head"))), arrays


if __name__ == "__main__":
    main()
