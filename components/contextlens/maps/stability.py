"""The part of a map that is chance: maps from three seeds are compared with each other.

What differs between seeds says nothing about the vectors. This is separate from `map_quality`,
which compares one map with the vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.maps import layouts
from contextlens.maps.neighbors import map_neighbors
from contextlens.maps.progress import AXES, LINKING, OnProgress, Stages
from contextlens.maps.projection import K_MEASURED, Map, choose_method
from contextlens.maps.request import MapSettings, method_name
from contextlens.maps.vector_space import VectorSpace

__all__ = ["Stability", "stability"]

N_SEEDS = 3
"""The map's own seed, and one for each name in `AGAIN`."""
COMPARING = "Comparing the maps"
AGAIN = ("Arranging the points from a second seed", "Arranging the points from a third seed")


@dataclass(frozen=True)
class Stability:
    """The similarity of maps from different seeds.

    Attributes:
        seeds: the three seeds, the map's own first.
        disparities: in [0, 1], of the pairs first and second, first and third, second and third:
            the difference that is left after moving, rotating and scaling one onto the other
            (scipy's Procrustes).
        shared_neighbors: mean share in [0, 1] of a point's map neighbours that two maps share.
        reason: why no other maps were drawn, in a sentence; "" if they were.
    """

    seeds: tuple[int, ...]
    disparities: tuple[float, ...]
    shared_neighbors: float
    reason: str = ""


def stability(
    vectors: object, settings: MapSettings, *, first: Map, on_progress: OnProgress | None = None
) -> Stability:
    """Compare a map with those from the next two seeds; its neighbour graph serves all of them.

    Args:
        vectors: (n, d), the vectors of `first`, a map of one layer.
        settings: the settings of `first`.
        first: the map from `settings.seed`.
        on_progress: receives the stage and the share done; an exception from it ends the work.

    Raises:
        RequestError: `first` is a map of other vectors or with other settings.
    """
    space = VectorSpace.of(vectors, settings.metric)
    n_points = first.coordinates.shape[1]
    if n_points != space.n_points or first.settings != settings:
        raise RequestError(
            f"The map given is one of {n_points} points with settings of its own; "
            f"{space.n_points} vectors do not go with it. Give what the map was made of."
        )
    seeds = tuple((settings.seed + i) % 2**31 for i in range(N_SEEDS))
    if first.method != "umap":
        reason = (
            f"{method_name(first.method)} starts from the vectors alone and draws nothing "
            "at random: every seed gives this same map."
        )
        return Stability(seeds, (0.0,) * N_SEEDS, 1.0, reason)
    return _compare(_runs(space, settings, first, seeds, on_progress), seeds)


def _runs(
    space: VectorSpace,
    settings: MapSettings,
    first: Map,
    seeds: tuple[int, ...],
    on_progress: OnProgress | None,
) -> list[FloatArray]:
    _, n_neighbors, _ = choose_method(space.n_points, settings, all_same=False)
    times = {AXES: 0.02, LINKING: 0.02, **dict.fromkeys(AGAIN, 1.0), COMPARING: 0.05}
    stages = Stages(on_progress, times)
    stages.stage(AXES)
    start = layouts.pca(space.rows, settings.n_components)
    stages.stage(LINKING)
    graph = layouts.links(first.neighbors[0], n_neighbors, on_wait=stages.waiting)
    runs = [first.coordinates[0]]
    for name, seed in zip(AGAIN, seeds[1:], strict=True):
        coordinates = layouts.umap(
            graph.copy(),
            start,
            min_dist=settings.min_dist,
            n_epochs=settings.n_epochs(space.n_points),
            seed=seed,
            report=stages.stage(name),
            on_wait=stages.waiting,
        )
        runs.append(coordinates)
    stages.done(COMPARING)
    return runs


def _compare(runs: list[FloatArray], seeds: tuple[int, ...]) -> Stability:
    from scipy.spatial import procrustes

    pairs = list(combinations(runs, 2))
    disparities = tuple(float(procrustes(*pair)[2]) for pair in pairs)
    k = min(K_MEASURED, (len(runs[0]) - 1) // 2)
    near = [map_neighbors(run, k).indices for run in runs]
    shared = [_share(*pair) for pair in combinations(near, 2)]
    return Stability(seeds, disparities, float(np.mean(shared)))


def _share(first: np.ndarray, second: np.ndarray) -> float:
    """Return the share of values that the rows of two (n, k) arrays have in common."""
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    return float((both[:, 1:] == both[:, :-1]).sum() / first.size)
