"""One map for each layer, held to its neighbours: AlignedUMAP's optimiser on graphs made before.

`umap.AlignedUMAP` fits every layer on its own first, compiles its optimiser again on every call and
cannot be stopped. Here the same functions run on the exact graphs, from one shared start.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from components.core.schema import FloatArray
from components.maps.compiled import umap_functions
from components.maps.neighbors import Neighbors
from components.maps.progress import OnProgress, Report

__all__ = ["ALIGNED_EPOCHS", "align", "one_epoch"]

ALIGNED_EPOCHS = {"full": 200, "quick": 100}
"""Rounds by effort; 200 are AlignedUMAP's own."""
_WINDOW = 3  # layers before and after that hold a point
_HOLD = 1e-2  # how strongly, as AlignedUMAP has it
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
    """(n_layers, n, n_components) float32, a map of each layer, the same points held together.

    Args:
        neighbors: at least `n_neighbors - 1` of each point, for each layer.
        start: (n_layers, n, n_components) where the points begin.
        n_neighbors: counts the point itself, as umap-learn does.
        min_dist: how close points may come.
        n_epochs: rounds of stochastic gradient descent.
        seed: decides what is drawn at random.
        report: told the share of rounds done; what it raises ends the work.
        on_wait: told that another map is being made, as long as that is so.
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
    """How alike each point's neighbourhoods in near layers are, and which points are the same."""
    from umap import aligned_umap

    typed = umap.numba.typed.List
    identity = [{i: i for i in range(graphs[0].shape[0])}] * (len(graphs) - 1)
    relations = aligned_umap.expand_relations(identity, _WINDOW)
    indptr, indices = typed([g.indptr for g in graphs]), typed([g.indices for g in graphs])
    return aligned_umap.build_neighborhood_similarities(indptr, indices, relations), relations


def _schedule(umap: Any, graphs: Sequence[Any], n_epochs: int) -> tuple[Any, ...]:
    """Both ends of each link, the rounds between its pulls, between its pushes, and to the next."""
    typed = umap.numba.typed.List
    edges = [graph.tocoo() for graph in graphs]
    steps = [umap.make_epochs_per_sample(edge.data, n_epochs) for edge in edges]
    # The weakest links are never due; float32 must be able to say when that is.
    steps = [np.minimum(own, 1e9).astype(np.float32) for own in steps]
    heads, tails = typed([edge.row for edge in edges]), typed([edge.col for edge in edges])
    pushes, push_at = (typed([own / np.float32(5) for own in steps]) for _ in range(2))
    return heads, tails, typed(steps), pushes, push_at, typed([own.copy() for own in steps])


@cache
def one_epoch() -> Any:
    """The optimiser's one epoch, compiled when it is first called."""
    with umap_functions() as umap:
        from umap.layouts import _optimize_layout_aligned_euclidean_single_epoch as epoch

        return umap.numba.njit(epoch, fastmath=True)
