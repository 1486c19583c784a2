"""One map of the same points at every layer, so that each point has a way through the layers.

joint: all points of all layers in one fit. Each layer stands on the same footing: its mean taken
off, its vectors at one scale. UMAP's graph is then the union of three: neighbours among all points
of all layers, neighbours within each layer's own space, and a link of full strength between a point
and itself at the next layer. The first alone would hold the layers in one picture, but most of a
point's neighbours would be itself at other layers; the second alone would make an island of each
layer. PCA and t-SNE take the footing as it is.

aligned: a map for each layer of its own space, held to those of the layers around it.

What is drawn is then framed: each layer moved to its own middle, all of them turned alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.maps import layouts
from components.maps.aligned import ALIGNED_EPOCHS, align
from components.maps.estimates import layer_seconds
from components.maps.framing import framed
from components.maps.honesty import FEWEST, Honesty, measure_in
from components.maps.neighbors import Neighbors, nearest_in
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
from components.maps.projection import K_MEASURED, n_needed, plan
from components.maps.settings import MapSettings, Method
from components.maps.vector_space import VectorSpace, checked_vectors

__all__ = ["WAYS", "How", "LayerMaps", "project_layers"]

How = Literal["joint", "aligned"]
WAYS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, eq=False)
class LayerMaps:
    """The same points at every layer, on one map or on maps held together.

    Attributes:
        how: "joint", one map of all; "aligned", a map for each layer.
        coordinates: (n_layers, n, n_components) float32, each layer around its own middle.
        method: the one that was used.
        reason: why it is not quite what was asked for, in a sentence or two; "" where it is.
        settings: what was asked for.
        neighbors: each layer's true neighbours, in that layer's own full space.
        honesty: what each layer's part of the map keeps of them; None where too few points.
    """

    how: How
    coordinates: FloatArray
    method: Method
    reason: str
    settings: MapSettings
    neighbors: tuple[Neighbors, ...]
    honesty: tuple[Honesty | None, ...]


def project_layers(
    vectors: object,
    settings: MapSettings,
    *,
    how: How = "joint",
    on_progress: OnProgress | None = None,
) -> LayerMaps:
    """Maps of the same points at every layer.

    Args:
        vectors: (n_layers, n, d), finite.
        settings: method, metric and the rest.
        how: "joint" or "aligned"; aligned is UMAP's alone.
        on_progress: told the stage and the share done of the whole; what it raises ends the work.

    Raises:
        RequestError: vectors that no map can be made of, or no such way.
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
    """(n_layers * n, d), each layer less its mean and at a mean squared length of one."""
    centred = vectors - vectors.mean(axis=1, keepdims=True, dtype=np.float64)
    largest = np.abs(vectors).max(axis=(1, 2), keepdims=True)
    sizes = np.sqrt(np.square(centred).sum(axis=2, keepdims=True).mean(axis=1, keepdims=True))
    # Equal vectors leave only rounding when centred: there is nothing to bring to a scale.
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
    """The layers' neighbours as those of one long row of points, layer after layer."""
    n = len(neighbors[0].indices)
    return Neighbors(
        np.concatenate([own.indices + i * n for i, own in enumerate(neighbors)]),
        np.concatenate([own.distances for own in neighbors]),
        neighbors[0].metric,
    )


def _ways(n_layers: int, n: int) -> Any:
    """(n_layers * n, n_layers * n) sparse: each point linked to itself at the next layer."""
    from scipy.sparse import coo_array

    lower = np.arange((n_layers - 1) * n, dtype=np.int32)
    size = n_layers * n
    up = coo_array((np.ones(len(lower), np.float32), (lower, lower + n)), (size, size))
    return up + up.T


def _union(*graphs: Any) -> Any:
    """The fuzzy union of graphs, a + b - a b, as UMAP has it for its directed links."""
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
) -> tuple[Honesty | None, ...]:
    measuring = stages.stage(MEASURING)
    found: list[Honesty | None] = []
    for space, own, places in zip(spaces, neighbors, coordinates, strict=True):
        enough = space.n_points >= FEWEST
        found.append(measure_in(space, places, neighbors=own, k=K_MEASURED) if enough else None)
        measuring(len(found) / len(spaces))
    stages.done(MEASURING)
    return tuple(found)
