"""Maps of vectors: settings in, coordinates out, with the quality of the map.

Numpy in, numpy out. The same vectors and settings give the same map, bit for bit. The neighbour
graph is made once: UMAP and t-SNE arrange it, the map's quality is measured against it, and it
gives each point's true neighbours.

A map of several layers has a fit for each layer, made from the last layer down. The last layer's is
the map of that layer alone. Each lower layer's own neighbour graph is arranged from where the layer
above left the points, so that they move little between layers; if that is less trustworthy than a
map of the layer alone, by more than 0.01, the latter is taken. Each layer is then shifted, rotated
and mirrored onto the one above (orthogonal Procrustes); PCA is only that. Distances within a layer
are those of its own fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.schema import FloatArray, IntArray
from contextlens.maps import layouts
from contextlens.maps.map_quality import FEWEST, MapQuality, measure
from contextlens.maps.neighbors import Neighbors, nearest
from contextlens.maps.plan import stage_seconds
from contextlens.maps.progress import (
    ARRANGING,
    AXES,
    FINDING,
    LINKING,
    MEASURING,
    OnProgress,
    Stages,
)
from contextlens.maps.request import MapSettings, Method, method_name
from contextlens.maps.vector_space import VectorSpace, checked_vectors

__all__ = [
    "K_MEASURED",
    "MIN_TO_ARRANGE",
    "Map",
    "choose_method",
    "project",
    "turned",
]

MIN_TO_ARRANGE = 15
"""With fewer points PCA is drawn: there is too little for UMAP or t-SNE to arrange."""
K_MEASURED = 15
"""The neighbours by which every map is measured, so that maps with any settings compare."""


_MAX_LOST = 0.01
"""The trustworthiness that a layer may lose by starting from the one above."""


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
        """The median distance that points move from each layer to the next.

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
    fits = [layouts.pca(space.rows, settings.n_components)]
    if method != "pca":
        starts = fits if start is None else [start, *fits]
        fits = _arranged(space, neighbors, starts, settings, n_neighbors, stages)
    if start is not None:
        fits = [_onto(start, places) for places in fits]
    places, quality = _best(space, neighbors, fits, stages)
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
    if n < MIN_TO_ARRANGE:
        few = "there is 1" if n == 1 else f"there are {n}"
        return (
            "pca",
            settings.n_neighbors,
            (f"PCA was drawn: {name} needs at least {MIN_TO_ARRANGE} points, and {few}."),
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
    starts: Sequence[FloatArray],
    settings: MapSettings,
    n_neighbors: int,
    stages: Stages,
) -> list[FloatArray]:
    """Return UMAP's or t-SNE's coordinates from each start; the last start is PCA's."""
    graph = None
    if settings.method == "umap":
        stages.stage(LINKING)
        graph = layouts.links(neighbors, n_neighbors, on_wait=stages.waiting)
    arranging = stages.stage(ARRANGING)
    fits: list[FloatArray] = []

    def report(share: float) -> None:
        arranging((len(fits) + share) / len(starts))

    for i, start in enumerate(starts):
        how: dict[str, Any] = {"is_settled": i < len(starts) - 1, "report": report}
        if graph is None:
            fits.append(layouts.tsne(space, neighbors, start, perplexity=n_neighbors, **how))
        else:
            n_epochs = settings.n_epochs(len(start), is_settled=how["is_settled"])
            how |= {"n_epochs": n_epochs, "on_wait": stages.waiting}
            fits.append(
                layouts.umap(graph, start, min_dist=settings.min_dist, seed=settings.seed, **how)
            )
    return fits


def _best(
    space: VectorSpace, neighbors: Neighbors, fits: Sequence[FloatArray], stages: Stages
) -> tuple[FloatArray, MapQuality | None]:
    """Return the first fit and its quality, or the last one if that is clearly more trustworthy."""
    measuring = stages.stage(MEASURING)

    def measured_fit(i: int) -> MapQuality:
        return measure(
            space,
            fits[i],
            neighbors=neighbors,
            k=K_MEASURED,
            report=lambda share: measuring((i + share) / len(fits)),
        )

    measured = list(map(measured_fit, range(len(fits)))) if space.n_points >= FEWEST else []
    stages.done(MEASURING)
    if not measured:
        return fits[0], None
    lost = measured[-1].trustworthiness - measured[0].trustworthiness
    best = -1 if lost > _MAX_LOST else 0
    return fits[best], measured[best]


def _onto(above: FloatArray, places: FloatArray) -> FloatArray:
    """Return places shifted, rotated and mirrored as near as possible to the layer above's.

    This is the orthogonal Procrustes problem (Schönemann 1966): distances stay.
    """
    middle, target = (rows.mean(axis=0, dtype=np.float64) for rows in (places, above))
    centred = places - middle
    moved: FloatArray = (centred @ _turn(centred, above - target) + target).astype(np.float32)
    return moved


def _turn(places: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
    """The rotation or reflection that brings centred places as near as possible to others."""
    left, _, right = np.linalg.svd(places.T @ target)
    turn: NDArray[Any] = left @ right
    return turn


def turned(drawn: Map, rows: IntArray, first: Map) -> Map:
    """Return a map of one layer, turned so that points lie as they did on an earlier map of them.

    Distances stay: the map is rotated and mirrored about its middle.

    Args:
        drawn: the map.
        rows: its points that are on the earlier map too, in the order of that map.
        first: the earlier map, of one layer.
    """
    places, earlier = drawn.coordinates[0], first.coordinates[0]
    middle, own, other = (
        rows.mean(axis=0, dtype=np.float64) for rows in (places, places[rows], earlier)
    )
    turn = _turn(places[rows] - own, earlier - other)
    moved = ((places - middle) @ turn + middle).astype(np.float32)
    return replace(drawn, coordinates=moved[None])
