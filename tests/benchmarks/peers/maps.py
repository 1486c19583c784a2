"""A map of token vectors: umap-learn called plainly, and both of our efforts."""

from __future__ import annotations

from tests.benchmarks.maps import saved, set_up_ours, set_up_plain, token_vectors
from tests.benchmarks.peers.rows import Group, Row
from tests.benchmarks.workers import interleaved

__all__ = ["maps"]

N_POINTS = 5_000
PACKAGES = ("umap-learn", "numba")
SLACK = {"full": 0.0, "quick": 0.015}
"""Of trustworthiness; a quick map is offered as one that may lose so much."""


def maps(rounds: int) -> Group:
    """5,000 token vectors of 384 dimensions, the cosine, and a seed.

    Ours are whole: the exact graph, the map, its measures. Trustworthiness is over all points.
    """
    with saved(token_vectors(N_POINTS)) as path:
        contenders = {"plain": (set_up_plain, path)} | {
            effort: (set_up_ours, path, effort) for effort in SLACK
        }
        took = interleaved(contenders, [(seed,) for seed in range(rounds)])
    times, trusts = ({name: tuple(t[i] for t in took[name]) for name in took} for i in (0, 1))
    rows = []
    for effort, slack in SLACK.items():
        what = f"map of {N_POINTS:,} tokens, {effort}"
        rows += [
            Row(what, "umap-learn", times[effort], times["plain"], packages=PACKAGES),
            Row(
                f"{what}: trustworthiness",
                *("umap-learn", trusts[effort], trusts["plain"], "", "more", slack),
                packages=PACKAGES,
            ),
        ]
    return Group(rows)
