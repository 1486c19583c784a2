"""UMAP's layout, made for many threads and few rounds, and the same however many threads there are.

The forces are those of McInnes et al. 2018 as umap-learn has them: each link pulls its two ends
together with the strength of its weight, and five points drawn at random push for each pull. What
differs is how they are followed:

- All points move at once: each from where the others stood before the round. So a point's place
  does not depend on which thread moves it, or when.
- Every link pulls in every round, by its weight. umap-learn draws links by their weight.
- A point's pushes come from a run of points in a row, in an order shuffled once: what is side by
  side in memory is read fast. Where the run begins is a hash of seed, round and place in the order.
- A step is as long as it would be in a spring of the links' stiffness in the time of the round: it
  cannot overshoot. Steps carry momentum, from `_MOMENTUM` down to none, which moves whole clusters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from components.core.schema import FloatArray
from components.maps.progress import Report, silent

__all__ = ["optimize"]

_MOMENTUM = np.float32(0.98)
_RUN = 32  # points that push another in one round
_PUSHES = 5  # for each pull, as umap-learn has it
_POINTS_A_THREAD = 1_000  # at least
_MOST_THREADS = 8


def optimize(
    graph: Any,
    start: FloatArray,
    *,
    a: float,
    b: float,
    n_epochs: int,
    seed: int,
    report: Report = silent,
    n_threads: int | None = None,
) -> FloatArray:
    """(n, n_components) float32, the points of a fuzzy graph arranged by its links.

    Args:
        graph: (n, n) sparse and symmetric, weights in (0, 1].
        start: (n, 2) or (n, 3) where the points begin.
        a: of UMAP's curve 1 / (1 + a d^2b).
        b: the same.
        n_epochs: rounds.
        seed: decides which points push each other away.
        report: told the share of rounds done; what it raises ends the work.
        n_threads: as many as there are processors if None; they do not change the result.
    """
    from components.maps.layout_kernel import move

    random = np.random.RandomState(seed)
    n, n_components = start.shape
    order = random.permutation(n)
    links = _shuffled(graph, order)
    weights = (links.data / links.data.max(initial=np.float32(1e-30))).astype(np.float32)
    run = min(n, _RUN)
    pulls = np.bincount(np.repeat(np.arange(n), np.diff(links.indptr)), weights, minlength=n)
    pushed = (_PUSHES / run * pulls).astype(np.float32)
    now = np.zeros((3, n + run), np.float32)
    now[:n_components, :n] = start[order].T
    now[:, n:] = now[:, :run]
    then = now.copy()
    edges = links.indptr, links.indices, weights, pushed, n, run
    curve = np.float32(a), np.float32(b)
    n_threads = min(n_threads or os.cpu_count() or 1, _MOST_THREADS, -(-n // _POINTS_A_THREAD))
    tasks = list(pairwise(n * i // n_threads for i in range(n_threads + 1)))
    with ThreadPoolExecutor(n_threads) as pool:
        each: Callable[..., Iterable[None]] = pool.map if n_threads > 1 else map
        for epoch, draw in enumerate(random.randint(0, 2**31, n_epochs)):
            left = np.float32(1 - epoch / n_epochs)
            one_round = partial(move, now, then, *edges, draw, left, _MOMENTUM * left, *curve)
            list(each(one_round, tasks))
            then[:, n:] = then[:, :run]
            now, then = then, now
            report((epoch + 1) / n_epochs)
    places = np.empty((n, n_components), np.float32)
    places[order] = now[:n_components, :n].T
    return places


def _shuffled(graph: Any, order: np.ndarray) -> Any:
    """The graph in CSR form with its points in another order, links sorted."""
    links = graph.tocsr()[order][:, order]
    links.sort_indices()
    return links
