"""About how long a map takes and how much memory, before it is made.

The constants were fitted to runs on two cores of a server; other machines differ by a factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from components.maps.honesty import ALL_UP_TO, N_SAMPLE
from components.maps.progress import ARRANGING, AXES, FINDING, FINDING_ACROSS, LINKING, MEASURING
from components.maps.settings import MapSettings, Method

__all__ = ["Estimate", "estimate", "layer_seconds", "stage_seconds"]

_PRODUCT, _SELECTION, _CANDIDATE = 1.8e-11, 6e-10, 1e-9
_AXIS, _LINK = 3e-11, 5e-7
_ROUND, _FORCE, _PUSH = 1e-4, 2.1e-9, 3e-4
_RUN, _ONE_THREAD_UP_TO = 32, 1_000  # of UMAP's layout
_RANK = 7e-9
_BLOCKS, _BYTES_A_LINK = 150 << 20, 120


@dataclass(frozen=True)
class Estimate:
    """What a map will take, roughly.

    Attributes:
        seconds: wall-clock seconds once everything is imported and compiled.
        n_bytes: memory at the peak, beside the vectors as given.
    """

    seconds: float
    n_bytes: int


def estimate(n: int, d: int, settings: MapSettings, *, n_layers: int = 1) -> Estimate:
    """What a map of n vectors of d dimensions takes; with layers, of n at each, all in one map."""
    if n_layers == 1:
        times = stage_seconds(n, d, settings, method=settings.method)
    else:
        times = layer_seconds(n_layers, n, d, settings, method=settings.method, joint=True)
    return Estimate(sum(times.values()), _n_bytes(n * n_layers, d, settings))


def layer_seconds(
    n_layers: int, n: int, d: int, settings: MapSettings, *, method: Method, joint: bool
) -> dict[str, float]:
    """Seconds of each stage of a map through layers, by its name, in order."""
    one = stage_seconds(n, d, settings, method=method)
    whole = stage_seconds(n_layers * n, d, settings, method=method)
    seconds = {FINDING: n_layers * one[FINDING], AXES: whole[AXES]}
    if method != "pca" and joint:
        seconds[FINDING_ACROSS] = whole[FINDING]
    if method == "umap" and joint:
        seconds[LINKING] = 2 * whole[LINKING]
        seconds[ARRANGING] = 1.5 * whole[ARRANGING]
    elif method != "pca":
        seconds[ARRANGING] = whole[ARRANGING] * (1.0 if joint else 4.0)
    seconds[MEASURING] = n_layers * one[MEASURING]
    return seconds


def stage_seconds(n: int, d: int, settings: MapSettings, *, method: Method) -> dict[str, float]:
    """Seconds of each stage, by its name, in order."""
    k = settings.n_neighbors
    n_found = {"umap": k, "tsne": 3 * k, "pca": 1}[method]
    n_measured = n if n <= ALL_UP_TO else N_SAMPLE
    seconds = {
        FINDING: _PRODUCT / 2 * n * n * d
        + _SELECTION * n * n
        + _CANDIDATE * n * (n_found + 15) * d,
        AXES: 0.01 + _AXIS * n * d * d,
    }
    if method == "umap":
        seconds[LINKING] = _LINK * n * k
        forces = n * (1.3 * k + _RUN) * (2 if n <= _ONE_THREAD_UP_TO else 1)
        seconds[ARRANGING] = 0.02 + settings.n_epochs(n) * (_ROUND + _FORCE * forces)
    if method == "tsne":
        seconds[ARRANGING] = 0.2 + _PUSH * n * math.log2(n + 1) * (settings.n_components - 1)
    precision = 2 if n <= ALL_UP_TO else 1  # in doubles
    seconds[MEASURING] = precision * n_measured * n * (_RANK + _PRODUCT * d)
    return seconds


def _n_bytes(n: int, d: int, settings: MapSettings) -> int:
    rows = 2 * 4 * n * d
    n_found = {"umap": 1, "tsne": 3, "pca": 0}[settings.method] * settings.n_neighbors + 15
    return _BLOCKS + rows + _BYTES_A_LINK * n * n_found
