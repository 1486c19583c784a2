"""One map of the same points at every layer, so that each point has a path through the layers.

joint: one fit of all points of all layers. The layers are made comparable first: each is centred on
its mean and brought to one scale. UMAP's graph is then the union of three graphs: neighbours among
all points of all layers, neighbours within each layer's own space, and a link of full strength
between each point and itself at the next layer. The first graph alone would keep the layers in one
picture, but most neighbours of a point would be the point itself at other layers; the second alone
would make each layer an island. PCA and t-SNE use the comparable layers as they are.

aligned: a map for each layer of its own space, held close to the maps of nearby layers.

The maps are then framed: each layer is centred, and all layers are rotated by the same angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import numpy as np

from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.maps import layouts
from components.maps.compiled import umap_functions
from components.maps.map_quality import FEWEST, MapQuality, measure_in
from components.maps.neighbors import Neighbors, nearest_in
from components.maps.plan import layer_seconds
from components.maps.progress import (
    ARRANGING,
    AXES,
    FINDING,
    FINDING_ACROSS,
    LINKING,
    MEASURING,
    OnProgress,
    Report,
    Stages,
)
from components.maps.projection import K_MEASURED, n_needed, plan
from components.maps.request import MapSettings, Method
from components.maps.vector_space import VectorSpace, checked_vectors

__all__ = ["How", "LayerMaps", "framed", "one_epoch", "project_layers"]


# --- Maps of several layers in one frame

_ENOUGH = 0.75
"""The share of a common frame that the points of each layer should span in each direction."""
_WIDE = 1.4
"""The ratio of width to height of a frame that suits a page."""


def framed(coordinates: FloatArray) -> FloatArray:
    """(n_layers, n, n_components) float32, each layer centred; in 2-D all rotated alike.

    The rotation is the one at which the layer that spans the least of the common frame spans most
    of it. If every layer spans enough, it is the rotation whose frame suits a page best.
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
    """Return how well layers share a frame, and how near its shape is to that of a page."""
    whole = np.maximum(_whole(places), 1e-12)
    least = float(((places.max(axis=1) - places.min(axis=1)) / whole).min())
    shape = abs(float(np.log(whole[0] / whole[1])))
    return min(least, _ENOUGH), -abs(shape - float(np.log(_WIDE)))


def _whole(places: FloatArray) -> FloatArray:
    """Return (2,) width and height of the frame that holds all layers."""
    whole: FloatArray = places.max(axis=(0, 1)) - places.min(axis=(0, 1))
    return whole


# --- One map for each layer

ALIGNED_EPOCHS = {"full": 200, "quick": 100}
"""Rounds by effort; 200 is AlignedUMAP's default."""
_WINDOW = 3  # layers before and after that hold a point
_HOLD = 1e-2  # how strongly, as in AlignedUMAP
_INT32 = np.iinfo(np.int32)


def align(
    neighbors: Sequence[Neighbors],
    start: FloatArray,
    *,
    n_neighbors: int,
    min_dist: float,
    n_epochs: int,
    seed: int,
    report: Report,
    on_wait: OnProgress | None = None,
) -> FloatArray:
    """(n_layers, n, n_components) float32, a map of each layer that holds the same points together.

    Args:
        neighbors: at least `n_neighbors - 1` of each point, for each layer.
        start: (n_layers, n, n_components) the initial places of the points.
        n_neighbors: counts the point itself, as in umap-learn.
        min_dist: the smallest distance between points.
        n_epochs: rounds of stochastic gradient descent.
        seed: seeds all random draws.
        report: receives the share of rounds done; an exception from it ends the work.
        on_wait: called while another map is being made.
    """
    from components.maps.layouts import links

    graphs = [links(own, n_neighbors, on_wait=on_wait).tocsr() for own in neighbors]
    random = np.random.RandomState(seed)
    begin = 10.0 * start / (np.abs(start).max() or 1.0)
    begin = (begin + random.normal(scale=1e-4, size=start.shape)).astype(np.float32)
    state = random.randint(_INT32.min + 1, _INT32.max - 1, 3).astype(np.int64)
    with umap_functions(on_wait) as umap:
        first, second = umap.find_ab_params(1.0, min_dist)
        held = _held_together(umap, graphs)
        heads, tails, every, pushes, push_at, pull_at = _schedule(umap, graphs, n_epochs)
        places = umap.numba.typed.List([np.ascontiguousarray(layer) for layer in begin])
        run_epoch, speed = one_epoch(), 1.0
        for epoch in range(n_epochs):
            run_epoch(
                places,
                places,
                heads,
                tails,
                every,
                first,
                second,
                *held,
                state,
                1.0,  # gamma
                _HOLD,
                start.shape[2],
                True,  # both ends of a link move
                speed,
                pushes,
                push_at,
                pull_at,
                epoch,
            )
            speed = 1.0 - epoch / n_epochs
            report((epoch + 1) / n_epochs)
        return np.stack([np.asarray(layer) for layer in places])


def _held_together(umap: Any, graphs: Sequence[Any]) -> tuple[Any, Any]:
    """Return the similarity of each point's neighbourhoods in near layers, and matching points."""
    from umap import aligned_umap

    typed = umap.numba.typed.List
    identity = [{i: i for i in range(graphs[0].shape[0])}] * (len(graphs) - 1)
    relations = aligned_umap.expand_relations(identity, _WINDOW)
    indptr, indices = typed([g.indptr for g in graphs]), typed([g.indices for g in graphs])
    return aligned_umap.build_neighborhood_similarities(indptr, indices, relations), relations


def _schedule(umap: Any, graphs: Sequence[Any], n_epochs: int) -> tuple[Any, ...]:
    """Return both ends of each link, the rounds between its pulls and pushes, and to the next."""
    typed = umap.numba.typed.List
    edges = [graph.tocoo() for graph in graphs]
    steps = [umap.make_epochs_per_sample(edge.data, n_epochs) for edge in edges]
    # The weakest links are never due, but float32 must be able to hold the round at which they
    # would be.
    steps = [np.minimum(own, 1e9).astype(np.float32) for own in steps]
    heads, tails = typed([edge.row for edge in edges]), typed([edge.col for edge in edges])
    pushes, push_at = (typed([own / np.float32(5) for own in steps]) for _ in range(2))
    return heads, tails, typed(steps), pushes, push_at, typed([own.copy() for own in steps])


@cache
def one_epoch() -> Any:
    """Return the optimiser's single epoch, compiled at its first call."""
    with umap_functions() as umap:
        from umap.layouts import _optimize_layout_aligned_euclidean_single_epoch as epoch

        return umap.numba.njit(epoch, fastmath=True)


How = Literal["joint", "aligned"]
WAYS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, eq=False)
class LayerMaps:
    """The same points at every layer, on one map or on maps held together.

    Attributes:
        how: "joint", one map of all layers; "aligned", a map for each layer.
        coordinates: (n_layers, n, n_components) float32, each layer centred.
        method: the method that was used.
        reason: why the map differs from the request, in a sentence or two; "" if it does not.
        settings: the requested settings.
        neighbors: the true neighbours in each layer's own full space.
        honesty: the quality of each layer's part of the map; None if there are too few points.
    """

    how: How
    coordinates: FloatArray
    method: Method
    reason: str
    settings: MapSettings
    neighbors: tuple[Neighbors, ...]
    honesty: tuple[MapQuality | None, ...]


def project_layers(
    vectors: object,
    settings: MapSettings,
    *,
    how: How = "joint",
    on_progress: OnProgress | None = None,
) -> LayerMaps:
    """Return maps of the same points at every layer.

    Args:
        vectors: (n_layers, n, d), finite.
        settings: method, metric and the rest.
        how: "joint" or "aligned"; only UMAP can be aligned.
        on_progress: receives the stage and the share done of the whole; an exception from it ends
            the work.

    Raises:
        RequestError: no map can be made of the vectors, or `how` is unknown.
    """
    if how not in WAYS:
        raise RequestError(f"{how!r} is no way to map layers. Choose one of {', '.join(WAYS)}.")
    if how == "aligned" and settings.method != "umap":
        raise RequestError(
            f"Aligned maps are made by UMAP alone, not by {settings.method}. "
            "Choose UMAP, or one joint map of all layers."
        )
    checked = checked_vectors(vectors, n_axes=3)
    n_layers, n, d = checked.shape
    spaces = [VectorSpace.of(layer, settings.metric) for layer in checked]
    whole = VectorSpace.of(_footing(checked), settings.metric)
    method, n_neighbors, reason = plan(n, settings, all_same=whole.all_same)
    if method == "pca" or n_layers == 1:  # there is nothing to align
        how = "joint"
    times = layer_seconds(n_layers, n, d, settings, method=method, joint=how == "joint")
    stages = Stages(on_progress, times)
    neighbors = _layer_neighbors(spaces, n_needed(method, n_neighbors), stages)
    stages.stage(AXES)
    start = layouts.pca(whole.rows, settings.n_components)
    if method == "pca":
        coordinates = start
    elif how == "aligned":
        coordinates = _aligned(neighbors, start, settings, n_neighbors, stages)
    else:
        coordinates = _joint(whole, neighbors, start, settings, n_neighbors, stages)
    by_layer = framed(coordinates.reshape(n_layers, n, -1))
    honesty = _measured(spaces, neighbors, by_layer, stages)
    return LayerMaps(how, by_layer, method, reason, settings, neighbors, honesty)


def _footing(vectors: FloatArray) -> FloatArray:
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
    found = []
    for i, space in enumerate(spaces):
        found.append(nearest_in(space, k))
        finding((i + 1) / len(spaces))
    return tuple(found)


def _joint(
    whole: VectorSpace,
    neighbors: tuple[Neighbors, ...],
    start: FloatArray,
    settings: MapSettings,
    n_neighbors: int,
    stages: Stages,
) -> FloatArray:
    across_report = stages.stage(FINDING_ACROSS)
    k = n_needed(settings.method, n_neighbors)
    across = nearest_in(whole, k, on_progress=lambda _, share: across_report(share))
    if settings.method == "tsne":
        report = stages.stage(ARRANGING)
        return layouts.tsne(whole, across, start, perplexity=n_neighbors, report=report)
    stages.stage(LINKING)
    graph = _union(
        layouts.links(across, n_neighbors, on_wait=stages.waiting),
        layouts.links(_side_by_side(neighbors), n_neighbors, on_wait=stages.waiting),
        _ways(len(neighbors), len(neighbors[0].indices)),
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
    """Return the layers' neighbours as those of one long row of points, layer after layer."""
    n = len(neighbors[0].indices)
    return Neighbors(
        np.concatenate([own.indices + i * n for i, own in enumerate(neighbors)]),
        np.concatenate([own.distances for own in neighbors]),
        neighbors[0].metric,
    )


def _ways(n_layers: int, n: int) -> Any:
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


def _aligned(
    neighbors: tuple[Neighbors, ...],
    start: FloatArray,
    settings: MapSettings,
    n_neighbors: int,
    stages: Stages,
) -> FloatArray:
    arranging = stages.stage(ARRANGING)
    return align(
        neighbors,
        start.reshape(len(neighbors), -1, settings.n_components),
        n_neighbors=n_neighbors,
        min_dist=settings.min_dist,
        n_epochs=ALIGNED_EPOCHS[settings.effort],
        seed=settings.seed,
        report=arranging,
        on_wait=stages.waiting,
    )


def _measured(
    spaces: list[VectorSpace],
    neighbors: tuple[Neighbors, ...],
    coordinates: FloatArray,
    stages: Stages,
) -> tuple[MapQuality | None, ...]:
    measuring = stages.stage(MEASURING)
    found: list[MapQuality | None] = []
    for space, own, places in zip(spaces, neighbors, coordinates, strict=True):
        enough = space.n_points >= FEWEST
        found.append(measure_in(space, places, neighbors=own, k=K_MEASURED) if enough else None)
        measuring(len(found) / len(spaces))
    stages.done(MEASURING)
    return tuple(found)
