"""Odd maps, and what there is to tell of them: computed anew, point by point.

Nothing here asks the code that worded the sentences.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from components.maps.neighbors import Neighbors, nearest
from components.maps.points import Points
from tests.support.true_words import LABELS, PERCENT, odd_labels

N_EACH = 500
NAME = r"“(?P<{}>[^”]*)”"
SHARES = rf"(?P<share>{PERCENT}) of (?P<unit>\w+)"
BESIDE = (
    rf"\(95% interval (?P<low>{PERCENT}) to (?P<high>{PERCENT}), by chance (?P<chance>{PERCENT})\)"
)
SAME = 1e-6


# What there is to tell, computed anew


def whole(share: float) -> int:
    return round(100 * share)


def ends_of(share: float, n: int, risk: float = 0.05) -> tuple[float, float]:
    """Clopper and Pearson's interval, by the quantiles of the beta distribution."""
    hits = share * n
    low = 0.0 if hits <= 0 else float(beta.ppf(risk / 2, hits, n - hits + 1))
    high = 1.0 if hits >= n else float(beta.ppf(1 - risk / 2, hits + 1, n - hits))
    return min(low, share), max(high, share)


def state_of(share: float, chance: float, n: int) -> set[str]:
    """Where a whole interval lies: above chance, below it, above half of what it leaves, below."""
    low, high = (whole(end) for end in ends_of(share, n))
    half = whole((1 + chance) / 2)
    found = {
        "clear": low > whole(chance),
        "below": high < whole(chance),
        "apart": low > half,
        "together": high < half,
    }
    return {name for name, is_so in found.items() if is_so}


@dataclass(frozen=True)
class Told:
    """How often nearest points have the same label, point by point."""

    share: float
    chance: float
    n: int
    n_apart: int
    by_label: dict[str, tuple[int, float, float]]


def told_of(labels: list[str], sentence: np.ndarray, near: Neighbors) -> Told | None:
    n = len(labels)
    known = [i for i in range(n) if labels[i]]
    group = sentence if len({int(sentence[i]) for i in known}) > 1 else np.arange(n)
    closest: dict[int, set[int]] = {}
    equal: set[tuple[int, int]] = set()
    for i in known:
        pairs = list(zip(near.distances[i].tolist(), near.indices[i].tolist(), strict=True))
        pairs = [(far, j) for far, j in pairs if labels[j] and group[j] != group[i]]
        if pairs:
            least = min(pairs)[0]
            closest[i] = {j for far, j in pairs if far <= least + SAME * max(1.0, least)}
            equal |= {(i, j) for far, j in pairs if far <= SAME and j in closest[i]}
    if not closest:
        return None
    root = list(range(n))

    def top(i: int) -> int:
        return i if root[i] == i else top(root[i])

    for i, own in closest.items():
        for j in own:
            if (i, j) in equal or i in closest.get(j, ()):
                root[top(i)] = top(j)
    shares = {i: np.mean([labels[j] == labels[i] for j in own]) for i, own in closest.items()}
    chances = {}
    for i in closest:
        others = [labels[j] == labels[i] for j in known if group[j] != group[i]]
        chances[i] = np.mean(others)
    by_label = {
        name: (
            len(own := [i for i in closest if labels[i] == name]),
            float(np.mean([shares[i] for i in own])),
            float(np.mean([chances[i] for i in own])),
        )
        for name in {labels[i] for i in closest}
    }
    means = float(np.mean(list(shares.values()))), float(np.mean(list(chances.values())))
    return Told(*means, len(closest), len({top(i) for i in closest}), by_label)


# Odd inputs


def odd_vectors(rng: np.random.Generator, n: int) -> np.ndarray:
    vectors = rng.normal(size=(n, 5))
    how = rng.integers(7)
    if how == 0:
        vectors[:] = vectors[0]
    elif how == 1:
        vectors = vectors[rng.integers(max(1, n // 3), size=n)]
    elif how == 2:
        vectors = np.sign(vectors)  # many are equally far
    elif how == 3:
        vectors[: n // 2] = 0
    elif how == 4:
        vectors = vectors[0] + vectors * 1e-3
    elif how == 5:
        vectors *= 1e4
    return np.ascontiguousarray(vectors, np.float32)


def odd_points(chance: random.Random, rng: np.random.Generator) -> tuple[Points, Neighbors]:
    story = rng.integers(10)
    n = 120 if story < 2 else chance.choice((1, 2, 3, 4, 8, 15, 20, 40))
    sentence = np.arange(n) if chance.random() < 0.4 else np.sort(rng.integers(n, size=n))
    labels = odd_labels(chance, n)
    if chance.random() < 0.5:
        labels = [label if chance.random() < 0.8 else "" for label in labels]
    if chance.random() < 0.1:
        labels = [""] * n
    vectors = odd_vectors(rng, n)
    if chance.random() < 0.4:  # labels that the vectors follow
        for i, label in enumerate(labels):
            vectors[i] += 4 * np.sin(np.arange(5) * (1 + LABELS.index(label) if label else 0))
    if story == 0:  # neighbours in pairs, of two labels by turns
        vectors = np.repeat(vectors[: -(-n // 2)], 2, axis=0)[:n]
        vectors = (vectors + rng.normal(size=vectors.shape) * 1e-2).astype(np.float32)
        labels = [LABELS[i % 2] for i in range(n)]
    elif story == 1:  # one label in a heap of its own, two mixed in another one
        kinds = np.arange(n) * 3 // n
        vectors[:, 0] += np.where(kinds == 0, 8, -8)
        labels = [LABELS[kind] for kind in kinds.tolist()]
    if story < 2:
        sentence = np.arange(n)
    points = Points(
        unit=chance.choice(("words", "tokens", "sentences")),
        texts=tuple(f"text {i}" for i in range(n)),
        sentence=sentence,
        spans=np.zeros((n, 2), np.int64),
        names=tuple(odd_labels(chance, n)),
        labels={"topic": tuple(labels)},
    )
    metric = chance.choice(("cosine", "euclidean"))
    return points, nearest(vectors, chance.choice((2, 15)), metric)


def assert_equal(a: object, b: object) -> None:
    assert a == b
