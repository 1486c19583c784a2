"""A map of token vectors: umap-learn called plainly, manifolds-rs, and both of our efforts."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from contextlens.maps.map_quality import measure
from contextlens.maps.vector_space import VectorSpace
from tests.benchmarks.maps import Turn, saved, set_up_ours, set_up_plain, token_vectors
from tests.benchmarks.peers.rows import INSTALL, Group, Missing, Row
from tests.benchmarks.workers import interleaved

__all__ = ["maps", "set_up_manifolds"]

N_POINTS = 5_000
UMAP, MANIFOLDS = "umap-learn", "manifolds-rs"
PACKAGES = {UMAP: ("umap-learn", "numba"), MANIFOLDS: ("manifolds-rs",)}
SLACK = {"full": 0.0, "quick": 0.015}
"""Of trustworthiness; a quick map is offered as one that may lose so much."""


def maps(rounds: int) -> Group:
    """5,000 token vectors of 384 dimensions, the cosine, and a seed.

    Ours are whole: the exact graph, the map, its measures. Trustworthiness is over all points.
    """
    pairs, missing = [("full", UMAP), ("quick", UMAP)], []
    if find_spec("manifolds_rs"):
        pairs.append(("quick", MANIFOLDS))  # its optimiser, too, trades trust for speed
    else:
        missing = [Missing(MANIFOLDS, f"install it with: {INSTALL}")]
    with saved(token_vectors(N_POINTS)) as path:
        contenders: dict[str, tuple[Any, ...]] = {UMAP: (set_up_plain, path)}
        if not missing:
            contenders[MANIFOLDS] = (set_up_manifolds, path)
        contenders |= {effort: (set_up_ours, path, effort) for effort in SLACK}
        took = interleaved(contenders, [(seed,) for seed in range(rounds)])
    times, trusts = ({name: tuple(t[i] for t in took[name]) for name in took} for i in (0, 1))
    rows = []
    for effort, peer in pairs:
        what, packages = f"map of {N_POINTS:,} tokens, {effort}", PACKAGES[peer]
        rows += [
            Row(what, peer, times[effort], times[peer], packages=packages),
            Row(
                f"{what}: trustworthiness",
                *(peer, trusts[effort], trusts[peer], "", "more", SLACK[effort]),
                packages=packages,
            ),
        ]
    return Group(rows, missing)


def set_up_manifolds(path: Path) -> Turn:
    """As it comes, with umap-learn's metric and its distance between near points."""
    import manifolds_rs

    vectors = np.load(path)

    def run(seed: int) -> tuple[float, float]:
        start = time.perf_counter()
        own = manifolds_rs.UMAP(metric="cosine", min_dist=0.1, seed=seed)
        places = own.fit_transform(vectors)
        took = time.perf_counter() - start
        space = VectorSpace.of(vectors, "cosine")
        return took, measure(space, places.astype(np.float32)).trustworthiness

    return run
