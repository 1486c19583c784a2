"""Transfer of a map between the app and a process that draws maps: arrays in files, no pickles.

The functions that `components.jobs.worker` calls in that process are here too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.schema import FloatArray
from components.maps import prepare
from components.maps.layer_maps import LayerMaps, project_layers
from components.maps.map_quality import MapQuality
from components.maps.neighbors import Neighbors
from components.maps.progress import OnProgress
from components.maps.projection import Map, project
from components.maps.request import MapSettings
from components.maps.stability import stability
from components.maps.vector_space import Metric

__all__ = [
    "RESULT",
    "VECTORS",
    "draw",
    "draw_again",
    "draw_layers",
    "read_map",
    "read_maps",
    "warm_up",
    "write_map",
]

VECTORS = "vectors.npy"
RESULT = "result.npz"


def warm_up(task: Mapping[str, Any], folder: Path, report: OnProgress) -> None:
    """Compile what a first map needs."""
    del folder, report
    prepare.warm_up(Path(task["compiled"]) if task["compiled"] else None)


def draw(task: Mapping[str, Any], folder: Path, report: OnProgress) -> None:
    """Draw a map of the vectors in the folder, and write it to a file."""
    vectors, settings = _begun(task, folder)
    write_map(folder / RESULT, project(vectors, settings, on_progress=report))


def draw_layers(task: Mapping[str, Any], folder: Path, report: OnProgress) -> None:
    """Draw maps of all layers of the vectors in the folder, and write them to a file."""
    vectors, settings = _begun(task, folder)
    maps = project_layers(vectors, settings, how=task["how"], on_progress=report)
    _write_maps(folder / RESULT, maps)


def draw_again(task: Mapping[str, Any], folder: Path, report: OnProgress) -> dict[str, Any]:
    """Return the values of a `Stability` for the map in the folder's file."""
    vectors, settings = _begun(task, folder)
    first = read_map(folder / RESULT)
    return asdict(stability(vectors, settings, first=first, on_progress=report))


def _begun(task: Mapping[str, Any], folder: Path) -> tuple[FloatArray, MapSettings]:
    if task["compiled"]:
        _keep_compiled(task["compiled"])
    vectors: FloatArray = np.load(folder / VECTORS, allow_pickle=False)
    return vectors, MapSettings.from_dict(task["settings"])


@cache
def _keep_compiled(folder: str) -> None:
    prepare.keep_compiled(Path(folder))


def write_map(path: Path, found: Map) -> None:
    """Write a map to a file that `read_map` reads."""
    head = {
        "method": found.method,
        "reason": found.reason,
        "settings": found.settings.as_dict(),
        "metric": found.neighbors.metric,
        "honesty": None if found.honesty is None else asdict(found.honesty),
    }
    _save(path, head, {"coordinates": found.coordinates, **_arrays("neighbors", found.neighbors)})


def read_map(path: Path) -> Map:
    """Return the map in a file."""
    head, arrays = _load(path)
    return Map(
        coordinates=arrays["coordinates"],
        method=head["method"],
        reason=head["reason"],
        settings=MapSettings.from_dict(head["settings"]),
        neighbors=_neighbors(head["metric"], "neighbors", arrays),
        honesty=_honesty(head["honesty"]),
    )


def _write_maps(path: Path, found: LayerMaps) -> None:
    head = {
        "how": found.how,
        "method": found.method,
        "reason": found.reason,
        "settings": found.settings.as_dict(),
        "metrics": [own.metric for own in found.neighbors],
        "honesty": [None if own is None else asdict(own) for own in found.honesty],
    }
    arrays = {"coordinates": found.coordinates}
    for i, own in enumerate(found.neighbors):
        arrays |= _arrays(f"neighbors{i}", own)
    _save(path, head, arrays)


def read_maps(path: Path) -> LayerMaps:
    """Return the maps of all layers in a file."""
    head, arrays = _load(path)
    return LayerMaps(
        how=head["how"],
        coordinates=arrays["coordinates"],
        method=head["method"],
        reason=head["reason"],
        settings=MapSettings.from_dict(head["settings"]),
        neighbors=tuple(
            _neighbors(metric, f"neighbors{i}", arrays) for i, metric in enumerate(head["metrics"])
        ),
        honesty=tuple(map(_honesty, head["honesty"])),
    )


def _arrays(name: str, found: Neighbors) -> dict[str, NDArray[Any]]:
    return {f"{name}_indices": found.indices, f"{name}_distances": found.distances}


def _neighbors(metric: Metric, name: str, arrays: Mapping[str, NDArray[Any]]) -> Neighbors:
    return Neighbors(arrays[f"{name}_indices"], arrays[f"{name}_distances"], metric)


def _honesty(values: Mapping[str, Any] | None) -> MapQuality | None:
    return None if values is None else MapQuality(**values)


def _save(path: Path, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    np.savez(path, allow_pickle=False, head=np.array(json.dumps(head)), **arrays)


def _load(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(str(arrays.pop("head"))), arrays
