"""Maps of vectors: settings in, coordinates out, with the quality of the map.

Numpy in, numpy out. The same vectors and settings give the same map, bit for bit. The neighbour
graph is made once: UMAP and t-SNE arrange it, the map's quality is measured against it, and it
gives each point's true neighbours.

A map of several layers is one fit of all points of all layers, so that each point has a path
through them. The layers are made comparable first: each is centred on its mean and brought to one
scale. UMAP's graph is then the union of three graphs: neighbours among all points of all layers,
neighbours within each layer's own space, and a link of full strength between each point and itself
at the next layer. The first graph alone would keep the layers in one picture, but most neighbours
of a point would be the point itself at other layers; the second alone would make each layer an
island. PCA and t-SNE use only the comparable layers. The map is then framed: each layer is centred,
and all layers are rotated by the same angle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    FINDING_ACROSS,
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
    "framed",
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
        coordinates: (n_layers, n, n_components) float32; each of several layers is centred.
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


def project(
    vectors: object, settings: MapSettings, *, on_progress: OnProgress | None = None
) -> Map:
    """Return a map of some vectors, or one of the same points at several layers.

    Args:
        vectors: (n_layers, n, d), or (n, d) for one layer; finite.
        settings: the settings of the layout.
        on_progress: receives the stage and the share done of the whole; an exception from it ends
            the work and reaches the caller.

    Raises:
        RequestError: no map can be made of the vectors.
    """
    given = np.asarray(vectors)
    layers = checked_vectors(given[None] if given.ndim == 2 else given, n_axes=3)
    n_layers, n, d = layers.shape
    spaces = [VectorSpace.of(layer, settings.metric) for layer in layers]
    whole = spaces[0] if n_layers == 1 else VectorSpace.of(_comparable(layers), settings.metric)
    method, n_neighbors, reason = choose_method(n, settings, all_same=whole.all_same)
    times = stage_seconds(n, d, settings, method=method, n_layers=n_layers)
    stages = Stages(on_progress, times)
    neighbors = _layer_neighbors(spaces, _n_needed(method, n_neighbors), stages)
    stages.stage(AXES)
    coordinates = layouts.pca(whole.rows, settings.n_components)
    if method != "pca":
        coordinates = _arranged(whole, neighbors, coordinates, settings, n_neighbors, stages)
    by_layer = coordinates.reshape(n_layers, n, -1)
    by_layer = framed(by_layer) if n_layers > 1 else by_layer
    quality = _measured(spaces, neighbors, by_layer, stages)
    return Map(by_layer, method, reason, settings, neighbors, quality)


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


def _n_needed(method: Method, n_neighbors: int) -> int:
    """Return the number of true neighbours of each point that the method and the measures need."""
    wanted = {"umap": n_neighbors, "tsne": 3 * n_neighbors, "pca": 1}[method]
    return max(wanted, K_MEASURED)


def _comparable(vectors: FloatArray) -> FloatArray:
    """(n_layers * n, d), each layer centred and scaled to a mean squared length of one."""
    centred = vectors - vectors.mean(axis=1, keepdims=True, dtype=np.float64)
    largest = np.abs(vectors).max(axis=(1, 2), keepdims=True)
    sizes = np.sqrt(np.square(centred).sum(axis=2, keepdims=True).mean(axis=1, keepdims=True))
    # Centring equal vectors leaves only rounding errors, which must not be scaled up.
    scaled = np.divide(centred, sizes, out=np.zeros_like(centred), where=sizes > 1e-6 * largest)
    rows: FloatArray = scaled.reshape(-1, vectors.shape[2]).astype(np.float32)
    return rows


def _layer_neighbors(spaces: list[VectorSpace], k: int, stages: Stages) -> tuple[Neighbors, ...]:
    finding = stages.stage(FINDING)

    def nearest_at(i: int) -> Neighbors:
        def report(_: str, share: float) -> None:
            finding((i + share) / len(spaces))

        return nearest(spaces[i], k, on_progress=report)

    return tuple(map(nearest_at, range(len(spaces))))


def _arranged(
    whole: VectorSpace,
    neighbors: tuple[Neighbors, ...],
    start: FloatArray,
    settings: MapSettings,
    n_neighbors: int,
    stages: Stages,
) -> FloatArray:
    """Return UMAP's or t-SNE's coordinates of all points from a PCA start."""
    across = neighbors[0]
    if len(neighbors) > 1:
        finding = stages.stage(FINDING_ACROSS)
        k = _n_needed(settings.method, n_neighbors)
        across = nearest(whole, k, on_progress=lambda _, share: finding(share))
    if settings.method == "tsne":
        report = stages.stage(ARRANGING)
        return layouts.tsne(whole, across, start, perplexity=n_neighbors, report=report)
    stages.stage(LINKING)
    graph = layouts.links(across, n_neighbors, on_wait=stages.waiting)
    if len(neighbors) > 1:
        graph = _union(
            graph,
            layouts.links(_side_by_side(neighbors), n_neighbors, on_wait=stages.waiting),
            _links_between_layers(len(neighbors), len(neighbors[0].indices)),
        )
    return layouts.umap(
        graph,
        start,
        min_dist=settings.min_dist,
        n_epochs=settings.n_epochs(len(start)),
        seed=settings.seed,
        report=stages.stage(ARRANGING),
        on_wait=stages.waiting,
    )


def _side_by_side(neighbors: tuple[Neighbors, ...]) -> Neighbors:
    """Return the layers' neighbours as those of the points of all layers, layer after layer."""
    n = len(neighbors[0].indices)
    return Neighbors(
        np.concatenate([layer.indices + i * n for i, layer in enumerate(neighbors)]),
        np.concatenate([layer.distances for layer in neighbors]),
        neighbors[0].metric,
    )


def _links_between_layers(n_layers: int, n: int) -> Any:
    """(n_layers * n, n_layers * n) sparse: a link from each point to itself at the next layer."""
    from scipy.sparse import coo_array

    lower = np.arange((n_layers - 1) * n, dtype=np.int32)
    size = n_layers * n
    up = coo_array((np.ones(len(lower), np.float32), (lower, lower + n)), (size, size))
    return up + up.T


def _union(*graphs: Any) -> Any:
    """Return the fuzzy union of graphs, a + b - a b, as in UMAP for its directed links."""
    from scipy.sparse import coo_matrix, csr_array

    whole, *others = (csr_array(graph) for graph in graphs)
    for other in others:
        whole = whole + other - whole * other
    return coo_matrix(whole)


def _measured(
    spaces: list[VectorSpace],
    neighbors: tuple[Neighbors, ...],
    coordinates: FloatArray,
    stages: Stages,
) -> tuple[MapQuality | None, ...]:
    measuring = stages.stage(MEASURING)

    def report(share: float) -> None:
        measuring((len(measured) + share) / len(spaces))

    measured: list[MapQuality | None] = []
    for space, near, places in zip(spaces, neighbors, coordinates, strict=True):
        quality = None
        if space.n_points >= FEWEST:
            quality = measure(space, places, neighbors=near, k=K_MEASURED, report=report)
        measured.append(quality)
    stages.done(MEASURING)
    return tuple(measured)


# --- Maps of several layers in one frame

_ENOUGH = 0.75
"""The share of a common frame that the points of each layer should span in each direction."""
_WIDE = 1.4
"""The ratio of width to height of a frame that suits a page."""


def framed(coordinates: FloatArray) -> FloatArray:
    """(n_layers, n, n_components) float32, each layer centred; in 2-D all rotated alike.

    The rotation lets the layer that spans the least of the common frame span as much of it as
    possible. Among rotations at which every layer spans enough, the frame's shape decides.
    """
    middles = coordinates.mean(axis=1, keepdims=True, dtype=np.float64)
    centred = coordinates.astype(np.float64) - middles
    if coordinates.shape[2] == 2 and coordinates.shape[1] > 1:
        centred = centred @ _best_turn(centred)
    places: FloatArray = centred.astype(np.float32)
    return places


def _best_turn(centred: FloatArray) -> FloatArray:
    """Return the (2, 2) rotation to multiply places with, so that they are wider than high."""
    turns = [_turn(np.deg2rad(degrees)) for degrees in range(90)]
    best = max(turns, key=lambda turn: _suits(centred @ turn))
    width, height = _whole(centred @ best)
    return best if width >= height else best @ _turn(np.pi / 2)


def _turn(angle: float) -> FloatArray:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, sin], [-sin, cos]])


def _suits(places: FloatArray) -> tuple[float, float]:
    """Return a sort key: how well layers share a frame, then how well its shape suits a page."""
    whole = np.maximum(_whole(places), 1e-12)
    least = float(((places.max(axis=1) - places.min(axis=1)) / whole).min())
    shape = abs(float(np.log(whole[0] / whole[1])))
    return min(least, _ENOUGH), -abs(shape - float(np.log(_WIDE)))


def _whole(places: FloatArray) -> FloatArray:
    """Return (2,) width and height of the frame that holds all layers."""
    whole: FloatArray = places.max(axis=(0, 1)) - places.min(axis=(0, 1))
    return whole
