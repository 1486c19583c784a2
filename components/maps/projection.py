"""Maps of vectors: settings in, coordinates out, with the quality of the map.

Numpy in, numpy out. The same vectors and settings give the same map, bit for bit. The neighbour
graph is made once: UMAP and t-SNE arrange it, the map's quality is measured against it, and it
gives each point's true neighbours.

A map of several layers has a fit for each layer, made from the last layer down. The last layer's is
the map of that layer alone. Each lower layer's own neighbour graph is arranged from where the layer
above left the points, so each layer is as good as a map of it alone, and points move little between
layers. Each layer is then shifted, rotated and mirrored onto the one above (orthogonal Procrustes);
PCA is only that. Distances within a layer are those of its own fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from components.core.schema import FloatArray
from components.maps import layouts
from components.maps.map_quality import FEWEST, MapQuality, measure
from components.maps.neighbors import Neighbors, nearest
from components.maps.plan import stage_seconds
from components.maps.progress import (
    ARRANGING,
    AXES,
    FINDING,
    LINKING,
    MEASURING,
    OnProgress,
    Stages,
)
from components.maps.request import MapSettings, Method, method_name
from components.maps.vector_space import VectorSpace, checked_vectors

__all__ = [
    "FEWEST_TO_ARRANGE",
    "K_MEASURED",
    "Map",
    "choose_method",
    "project",
]

FEWEST_TO_ARRANGE = 15
"""With fewer points PCA is drawn: there is too little for UMAP or t-SNE to arrange."""
K_MEASURED = 15
"""The neighbours by which every map is measured, so that maps with any settings compare."""


@dataclass(frozen=True, eq=False)
class Map:
    """The places of some points at one layer or at several.

    Attributes:
        coordinates: (n_layers, n, n_components) float32.
        method: the method that was used.
        reason: why the map differs from the request, in a sentence or two; "" if it does not.
        settings: the requested settings.
        neighbors: the true neighbours of each point in each layer's own full space, `K_MEASURED`
            or more.
        quality: the quality at each layer; None if there are too few points to measure.
    """

    coordinates: FloatArray
    method: Method
    reason: str
    settings: MapSettings
    neighbors: tuple[Neighbors, ...]
    quality: tuple[MapQuality | None, ...]

    @cached_property
    def moved(self) -> tuple[float, ...]:
        """How far half of the points move from each layer to the next, at most.

        Each layer fills a square; the shares are of its diagonal.
        """
        low, high = (edge(self.coordinates, axis=1, keepdims=True) for edge in (np.min, np.max))
        inside = (self.coordinates - low) / np.maximum(high - low, np.float32(1e-12))
        steps = np.linalg.norm(np.diff(inside, axis=0), axis=2) / self.coordinates.shape[2] ** 0.5
        return tuple(np.median(steps, axis=1).tolist())


def project(
    vectors: object,
    settings: MapSettings,
    *,
    last: Map | None = None,
    on_progress: OnProgress | None = None,
) -> Map:
    """Return a map of some vectors, or one of the same points at several layers.

    Args:
        vectors: (n_layers, n, d), or (n, d) for one layer; finite.
        settings: the settings of the layout.
        last: the map of the last layer alone, if it was made before.
        on_progress: receives the stage and the share done of the whole; an exception from it ends
            the work and reaches the caller.

    Raises:
        RequestError: no map can be made of the vectors.
    """
    given = np.asarray(vectors)
    layers = checked_vectors(given[None] if given.ndim == 2 else given, n_axes=3)
    maps = [] if last is None else [last]  # from the last layer down
    todo = layers[: len(layers) - len(maps)][::-1]
    for i, layer in enumerate(todo):

        def report(stage: str, share: float, i: int = i) -> None:
            if on_progress is not None:
                on_progress(stage, (i + share) / len(todo))

        maps.append(_layer_map(layer, settings, maps, report))
    return maps[0] if len(maps) == 1 else _joined(maps[::-1])


def _layer_map(
    vectors: FloatArray, settings: MapSettings, above: Sequence[Map], on_progress: OnProgress
) -> Map:
    """Return the map of one layer, given those of the layers above, the last layer first."""
    space = VectorSpace.of(vectors, settings.metric)
    n, d = vectors.shape
    method, n_neighbors, reason = choose_method(n, settings, all_same=space.all_same)
    # Equal vectors have one place, which is no start for another layer.
    start = next((m.coordinates[0] for m in reversed(above) if m.coordinates.any()), None)
    is_settled = start is not None
    seconds = stage_seconds(n, d, settings, method=method, is_settled=is_settled)
    stages = Stages(on_progress, seconds)
    finding = stages.stage(FINDING)
    neighbors = nearest(space, _n_needed(n, settings), on_progress=lambda _, share: finding(share))
    stages.stage(AXES)
    if method == "pca":
        places = layouts.pca(space.rows, settings.n_components)
    else:
        places = _arranged(space, neighbors, start, settings, n_neighbors, stages)
    if start is not None:
        places = _onto(start, places)
    measuring = stages.stage(MEASURING)
    quality = None
    if n >= FEWEST:
        quality = measure(space, places, neighbors=neighbors, k=K_MEASURED, report=measuring)
    stages.done(MEASURING)
    return Map(places[None], method, reason, settings, (neighbors,), (quality,))


def _joined(maps: Sequence[Map]) -> Map:
    """Return the maps of single layers as one; layers of equal vectors do not name its method."""
    first = next((m for m in maps if m.method == m.settings.method), maps[-1])
    return Map(
        coordinates=np.concatenate([m.coordinates for m in maps]),
        method=first.method,
        reason=first.reason,
        settings=first.settings,
        neighbors=tuple(m.neighbors[0] for m in maps),
        quality=tuple(m.quality[0] for m in maps),
    )


def choose_method(n: int, settings: MapSettings, *, all_same: bool) -> tuple[Method, int, str]:
    """Return the method and number of neighbours to use, and why they differ from the request."""
    name = method_name(settings.method)
    if settings.method == "pca":
        return "pca", settings.n_neighbors, ""
    if n < FEWEST_TO_ARRANGE:
        few = "there is 1" if n == 1 else f"there are {n}"
        return (
            "pca",
            settings.n_neighbors,
            (f"PCA was drawn: {name} needs at least {FEWEST_TO_ARRANGE} points, and {few}."),
        )
    if all_same:
        return (
            "pca",
            settings.n_neighbors,
            (f"PCA was drawn: all {n:,} vectors are the same, so {name} has nothing to arrange."),
        )
    most = n - 1 if settings.method == "umap" else (n - 1) // 3
    if settings.n_neighbors <= most:
        return settings.method, settings.n_neighbors, ""
    return (
        settings.method,
        most,
        (
            f"{name} used {most} neighbours, the most that {n:,} points allow, "
            f"not the {settings.n_neighbors} that were asked for."
        ),
    )


def _n_needed(n: int, settings: MapSettings) -> int:
    """Return the number of true neighbours of each point that the method and the measures need.

    It is the same at layers of equal vectors.
    """
    method, n_neighbors, _ = choose_method(n, settings, all_same=False)
    wanted = {"umap": n_neighbors, "tsne": 3 * n_neighbors, "pca": 1}[method]
    return max(wanted, K_MEASURED)


def _arranged(
    space: VectorSpace,
    neighbors: Neighbors,
    above: FloatArray | None,
    settings: MapSettings,
    n_neighbors: int,
    stages: Stages,
) -> FloatArray:
    """Return UMAP's or t-SNE's coordinates, from the layer above if there is one, else from PCA."""
    start = layouts.pca(space.rows, settings.n_components) if above is None else above
    if settings.method == "tsne":
        return layouts.tsne(
            space,
            neighbors,
            start,
            perplexity=n_neighbors,
            is_settled=above is not None,
            report=stages.stage(ARRANGING),
        )
    stages.stage(LINKING)
    graph = layouts.links(neighbors, n_neighbors, on_wait=stages.waiting)
    return layouts.umap(
        graph,
        start,
        min_dist=settings.min_dist,
        n_epochs=settings.n_epochs(len(start), is_settled=above is not None),
        seed=settings.seed,
        is_settled=above is not None,
        report=stages.stage(ARRANGING),
        on_wait=stages.waiting,
    )


def _onto(above: FloatArray, places: FloatArray) -> FloatArray:
    """Return places shifted, rotated and mirrored as near as possible to the layer above's.

    This is the orthogonal Procrustes problem (Schönemann 1966): distances stay.
    """
    middle, target = (rows.mean(axis=0, dtype=np.float64) for rows in (places, above))
    centred = places - middle
    left, _, right = np.linalg.svd(centred.T @ (above - target))
    turned: FloatArray = (centred @ (left @ right) + target).astype(np.float32)
    return turned
