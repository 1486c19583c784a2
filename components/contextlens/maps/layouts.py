"""The three layouts, PCA, UMAP and t-SNE, each from a known start and reproducible.

UMAP (McInnes et al. 2018) takes umap-learn's links and curve, on a neighbour graph made beforehand:
the graph is exact and shared, and may link points that are not neighbours. From a PCA start
`optimize` follows UMAP's forces, in several threads. t-SNE (van der Maaten 2014) is that of
openTSNE (Poličar et al. 2024) on the same kind of graph, with scikit-learn's rates and phases.
Called this way, both report their progress and can be stopped.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.schema import FloatArray
from contextlens.maps.compiled import umap_functions
from contextlens.maps.neighbors import Neighbors
from contextlens.maps.progress import OnProgress, Report, silent
from contextlens.maps.vector_space import VectorSpace

__all__ = ["links", "optimize", "pca", "tsne", "umap"]


# --- UMAP's layout, for many threads and few rounds

_MOMENTUM = np.float32(0.98)
_RUN = 32  # the number of points that push another one in one round
_PUSHES = 5  # for each pull, as in umap-learn
_POINTS_A_THREAD = 1_000  # at least
_MAX_THREADS = 8


def optimize(
    graph: Any,
    start: FloatArray,
    *,
    a: float,
    b: float,
    n_epochs: int,
    seed: int,
    speed: float = 1.0,
    report: Report = silent,
    n_threads: int | None = None,
) -> FloatArray:
    """(n, n_components) float32, the points of a fuzzy graph arranged by its links.

    Args:
        graph: (n, n) sparse and symmetric, weights in (0, 1].
        start: (n, 2) or (n, 3), the initial places of the points.
        a: parameter of UMAP's curve 1 / (1 + a d^2b).
        b: parameter of the same curve.
        n_epochs: rounds.
        seed: decides which points push each other away.
        speed: how far a force moves a point in the first round, in (0, 1]; it falls to 0.
        report: receives the share of rounds done; an exception from it ends the work.
        n_threads: one per processor if None, at most 8; it does not change the result.
    """
    from contextlens.maps.kernels import move

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
    n_threads = min(n_threads or os.cpu_count() or 1, _MAX_THREADS, -(-n // _POINTS_A_THREAD))
    tasks = list(pairwise(n * i // n_threads for i in range(n_threads + 1)))
    with ThreadPoolExecutor(n_threads) as pool:
        map_tasks: Callable[..., Iterable[None]] = pool.map if n_threads > 1 else map
        for epoch, draw in enumerate(random.randint(0, 2**31, n_epochs)):
            left = np.float32(speed * (1 - epoch / n_epochs))
            one_round = partial(move, now, then, *edges, draw, left, _MOMENTUM * left, *curve)
            list(map_tasks(one_round, tasks))
            then[:, n:] = then[:, :run]
            now, then = then, now
            report((epoch + 1) / n_epochs)
    places = np.empty((n, n_components), np.float32)
    places[order] = now[:n_components, :n].T
    return places


def _shuffled(graph: Any, order: np.ndarray) -> Any:
    """Return the graph in CSR form with its points in another order and its links sorted."""
    links = graph.tocsr()[order][:, order]
    links.sort_indices()
    return links


_FLAT = 1e-5  # of the first axis: the rounding error of an axis that has no spread
_EXAGGERATION, _N_EARLY, _N_LATE = 12.0, 250, 750  # t-SNE, as in scikit-learn
_N_SETTLED = 250
_SETTLED_SPEED = 0.5
"""UMAP's first speed from a settled layout. Slower ones lose trustworthiness where two layers
differ much (up to 0.08 at 0.02); at 1, points move further and nothing is gained."""
_ONE_THREAD_BELOW = 2_000  # points below which t-SNE is slower in two threads on a busy machine


def pca(rows: FloatArray, n_components: int) -> FloatArray:
    """(n, n_components) float32, the rows along their main axes; zeros if there is no spread.

    The sign of an axis is the one that makes its largest loading positive.
    """
    n_axes = min(n_components, len(rows) - 1, rows.shape[1])
    coordinates = np.zeros((len(rows), n_components), np.float32)
    if n_axes < 1:
        return coordinates
    centred = rows - rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    if not centred.any():
        return coordinates
    # scipy could find these axes without numpy, but it has a BLAS of its own, which waits for the
    # threads of numpy's BLAS. Those keep spinning for longer than all this takes.
    if len(rows) > rows.shape[1]:
        axes = np.linalg.eigh(centred.T @ centred)[1][:, : -n_axes - 1 : -1].T
    else:
        axes = np.linalg.svd(centred, full_matrices=False)[2][:n_axes]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(n_axes), largest])[:, None]
    projected = centred @ axes.T.astype(np.float32)
    spread = np.abs(projected).max(axis=0)
    coordinates[:, :n_axes] = np.where(spread > _FLAT * spread[0], projected, 0.0)
    return coordinates


def links(neighbors: Neighbors, n_neighbors: int, *, on_wait: OnProgress | None = None) -> Any:
    """UMAP's fuzzy graph: (n, n) scipy sparse, the strength of each link in (0, 1].

    Args:
        neighbors: at least `n_neighbors - 1` of each point.
        n_neighbors: counts the point itself, as in umap-learn.
    """
    n = len(neighbors.indices)
    others = slice(0, n_neighbors - 1)
    indices = np.column_stack([np.arange(n), neighbors.indices[:, others]])
    distances = np.column_stack([np.zeros(n, np.float32), neighbors.distances[:, others]])
    with umap_functions(on_wait) as umap_module:
        graph, *_ = umap_module.fuzzy_simplicial_set(
            np.empty((n, 1), np.float32),  # only its length is read if neighbours are given
            n_neighbors,
            np.random.RandomState(0),
            neighbors.metric,
            knn_indices=indices.astype(np.int32),
            knn_dists=np.ascontiguousarray(distances, np.float32),
        )
    return graph


def umap(
    graph: Any,
    start: FloatArray,
    *,
    min_dist: float,
    n_epochs: int,
    seed: int,
    is_settled: bool = False,
    report: Report,
    on_wait: OnProgress | None = None,
) -> FloatArray:
    """(n, n_components) float32, the points arranged by the links of a fuzzy graph.

    Args:
        graph: (n, n) sparse, from `links`.
        start: (n, n_components), the initial places of the points.
        min_dist: the smallest distance between points.
        n_epochs: rounds.
        seed: decides the noise added to such a start, and which points push each other away.
        is_settled: True if the start is a layout of nearly the same links, to be kept where it can.
        report: receives the share of rounds done; an exception from it ends the work.
        on_wait: called while another thread uses umap-learn.
    """
    with umap_functions(on_wait) as umap_module:
        a, b = umap_module.find_ab_params(1.0, min_dist)
    begin = start if is_settled else _umap_start(start, seed)
    speed = _SETTLED_SPEED if is_settled else 1.0
    return optimize(
        graph, begin, a=a, b=b, n_epochs=n_epochs, seed=seed, speed=speed, report=report
    )


def _umap_start(start: FloatArray, seed: int) -> FloatArray:
    """Scale the start so that it reaches to 10, and add a little noise, as umap-learn does."""
    largest = float(np.abs(start).max())
    scaled = start * (10.0 / largest if largest > 0 else 1.0)
    shaking = np.random.RandomState(seed).normal(scale=1e-4, size=start.shape)
    shaken: FloatArray = (scaled + shaking).astype(np.float32)
    return shaken


def tsne(
    space: VectorSpace,
    neighbors: Neighbors,
    start: FloatArray,
    *,
    perplexity: float,
    is_settled: bool = False,
    report: Report,
) -> FloatArray:
    """(n, n_components) float32, with neighbours as likely on the map as in the full space.

    Args:
        space: the vectors.
        neighbors: at least 3 * perplexity of each point.
        start: (n, n_components), the initial places of the points.
        perplexity: the approximate number of neighbours of a point.
        is_settled: True if the start is a layout of nearly the same neighbours, to be kept where it
            can: it is neither shrunk nor drawn together first.
        report: receives the share of iterations done; an exception from it ends the work.
    """
    from openTSNE import TSNE
    from openTSNE.affinity import PerplexityBasedNN
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    n, n_components = start.shape
    threads = 1 if n < _ONE_THREAD_BELOW else 2  # threads share the work; the result is the same
    known = PrecomputedNeighbors(neighbors.indices, _lengths(space, neighbors))
    likely = PerplexityBasedNN(perplexity=perplexity, knn_index=known, n_jobs=threads)
    spread = float(np.std(start[:, 0]))
    shrunk = 1e-4 / spread if spread > 0 and not is_settled else 1.0
    n_early, n_late = (0, _N_SETTLED) if is_settled else (_N_EARLY, _N_LATE)
    done = count(1)  # openTSNE restarts the count of iterations in each phase

    def report_round(*_: object) -> None:
        report(next(done) / (n_early + n_late))

    # It takes a settled layout for a random start that is too wide.
    logging.getLogger("openTSNE.tsne").addFilter(_is_no_width_warning)
    drawn = TSNE(
        n_components=n_components,
        early_exaggeration=_EXAGGERATION,
        early_exaggeration_iter=n_early,
        n_iter=n_late,
        learning_rate=max(n / _EXAGGERATION, 200.0),
        initial_momentum=0.5,
        max_step_norm=None,
        negative_gradient_method="bh",  # interpolation is slower here, and has no third dimension
        n_jobs=threads,
        callbacks=report_round,
        callbacks_every_iters=1,
    ).fit(affinities=likely, initialization=start.astype(np.float64) * shrunk)
    return np.asarray(drawn, np.float32)


def _is_no_width_warning(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Standard deviation of embedding")


def _lengths(space: VectorSpace, neighbors: Neighbors) -> NDArray[np.float64]:
    """(n, k) distances of the space's rows from their neighbours, each at least 1e-6."""
    distances = neighbors.distances.astype(np.float64) / space.scale
    # Rows of length one have squared distances of 2 (1 - cosine).
    lengths = np.sqrt(2 * distances) if space.metric == "cosine" else distances
    return np.maximum(lengths, 1e-6)
