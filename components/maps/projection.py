"""Maps of vectors: settings in, coordinates out, with the quality of the map.

Numpy in, numpy out. The same vectors and settings give the same map, bit for bit. The neighbour
graph is made once: UMAP and t-SNE arrange it, the map's quality is measured against it, and it
gives each point's true neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.core.schema import FloatArray
from components.maps import layouts
from components.maps.map_quality import FEWEST, MapQuality, measure_in
from components.maps.neighbors import Neighbors, nearest_in
from components.maps.plan import Estimate, estimate, stage_seconds
from components.maps.progress import (
    ARRANGING,
    AXES,
    FINDING,
    LINKING,
    MEASURING,
    OnProgress,
    Stages,
)
from components.maps.request import EFFORTS, METHODS, Effort, MapSettings, Method, method_name
from components.maps.vector_space import METRICS, Metric, VectorSpace

__all__ = [
    "EFFORTS",
    "FEWEST_TO_ARRANGE",
    "K_MEASURED",
    "METHODS",
    "METRICS",
    "Effort",
    "Estimate",
    "Map",
    "MapSettings",
    "Method",
    "Metric",
    "OnProgress",
    "arrange",
    "estimate",
    "n_needed",
    "plan",
    "project",
]

FEWEST_TO_ARRANGE = 15
"""With fewer points PCA is drawn: there is too little for UMAP or t-SNE to arrange."""
K_MEASURED = 15
"""The neighbours by which every map is measured, so that maps with any settings compare."""


@dataclass(frozen=True, eq=False)
class Map:
    """A projection of vectors.

    Attributes:
        coordinates: (n, n_components) float32.
        method: the method that was used.
        reason: why the map differs from the request, in a sentence or two; "" if it does not.
        settings: the requested settings.
        neighbors: the true neighbours of each point in the full space, `K_MEASURED` or more.
        honesty: the quality of the map; None if there are too few points to measure.
    """

    coordinates: FloatArray
    method: Method
    reason: str
    settings: MapSettings
    neighbors: Neighbors
    honesty: MapQuality | None


def project(
    vectors: object, settings: MapSettings, *, on_progress: OnProgress | None = None
) -> Map:
    """Return a map of some vectors.

    Args:
        vectors: (n, d), finite.
        settings: method, metric and the rest.
        on_progress: receives the stage and the share done of the whole; an exception from it ends
            the work and reaches the caller.

    Raises:
        RequestError: no map can be made of the vectors.
    """
    space = VectorSpace.of(vectors, settings.metric)
    method, n_neighbors, reason = plan(len(space.rows), settings, all_same=space.all_same)
    n, d = space.rows.shape
    stages = Stages(on_progress, stage_seconds(n, d, settings, method=method))
    finding = stages.stage(FINDING)
    k = n_needed(method, n_neighbors)
    neighbors = nearest_in(space, k, on_progress=lambda _, share: finding(share))
    stages.stage(AXES)
    start = layouts.pca(space.rows, settings.n_components)
    coordinates = start
    if method != "pca":
        coordinates = arrange(space, neighbors, start, settings, n_neighbors, stages)
    measuring = stages.stage(MEASURING)
    honesty = None
    if n >= FEWEST:
        honesty = measure_in(
            space, coordinates, neighbors=neighbors, k=K_MEASURED, report=measuring
        )
    stages.done(MEASURING)
    return Map(coordinates, method, reason, settings, neighbors, honesty)


def plan(n: int, settings: MapSettings, *, all_same: bool) -> tuple[Method, int, str]:
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


def n_needed(method: Method, n_neighbors: int) -> int:
    """Return the number of true neighbours of each point that the method and the measures need."""
    wanted = {"umap": n_neighbors, "tsne": 3 * n_neighbors, "pca": 1}[method]
    return max(wanted, K_MEASURED)


def arrange(
    space: VectorSpace,
    neighbors: Neighbors,
    start: FloatArray,
    settings: MapSettings,
    n_neighbors: int,
    stages: Stages,
) -> FloatArray:
    """Return UMAP's or t-SNE's coordinates from a PCA start."""
    if settings.method == "tsne":
        report = stages.stage(ARRANGING)
        return layouts.tsne(space, neighbors, start, perplexity=n_neighbors, report=report)
    linking = stages.stage(LINKING)
    graph = layouts.links(neighbors, n_neighbors, on_wait=stages.waiting)
    linking(1.0)
    return layouts.umap(
        graph,
        start,
        min_dist=settings.min_dist,
        n_epochs=settings.n_epochs(space.n_points),
        seed=settings.seed,
        report=stages.stage(ARRANGING),
        on_wait=stages.waiting,
    )
