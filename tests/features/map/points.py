"""Made-up points of a map, with labels, places and layers, and odd ones to test claims on."""

from __future__ import annotations

import random

import numpy as np
from scipy.stats import beta

from contextlens.maps.neighbors import Neighbors, nearest
from contextlens.maps.points import Points, Unit
from contextlens.maps.vector_space import VectorSpace
from tests.support.odd import ODD_NAMES, odd_names

__all__ = [
    "LABELS",
    "SENTENCE",
    "drawn_at",
    "ends_of",
    "layers_of",
    "made",
    "odd_map",
    "places_of",
    "points_of",
]

SENTENCE = (
    "The keeper said that a hungry python swallowed the rabbit near the old river bank at dawn"
)


def points_of(n: int, *, n_senses: int = 4, unit="words", sentence: str = SENTENCE) -> Points:
    """Points with a label, a second label and a measure; some have none."""
    random = np.random.default_rng(n)
    texts = tuple(f"{sentence} {i}." for i in range(n))
    start = sentence.find("python")
    spans = np.tile([start, start + 6], (n, 1))
    senses = tuple(f"sense {int(v)}" for v in random.integers(0, n_senses, n))
    measure = random.normal(size=n).astype(np.float32)
    measure[::10] = np.nan
    labels = {"sense": ("", *senses[1:]), "source": ("book",) * n}
    return Points(unit, texts, np.arange(n), spans, ("python",) * n, labels, {"norm": measure})


def places_of(n: int, n_axes: int = 2) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, n_axes)).astype(np.float32)


def layers_of(n_layers: int, n: int) -> np.ndarray:
    return places_of(n_layers * n).reshape(n_layers, n, 2)


def drawn_at(figure, order) -> dict[int, tuple[float, ...]]:
    """The place of each point, by the figure's first traces."""
    found = {}
    for trace, rows in zip(figure.data, order, strict=False):
        axes = [trace[axis] for axis in ("xyz" if trace.type == "scatter3d" else "xy")]
        found |= {int(row): tuple(map(float, at)) for row, *at in zip(rows, *axes, strict=True)}
    return found


LABELS = [name for name in ("sport", "music", "law") for _ in range(20)]


def made(
    labels: list[str] | None, n: int, unit: Unit = "sentences", sentence: np.ndarray | None = None
) -> Points:
    place = np.arange(n) if sentence is None else sentence
    return Points(
        unit=unit,
        texts=tuple(f"text {i}" for i in range(n)),
        sentence=place,
        spans=np.zeros((n, 2), np.int64),
        names=tuple(f"name{i}" for i in range(n)),
        labels={} if labels is None else {"topic": tuple(labels)},
    )


# Odd maps, and the interval of a share


def ends_of(share: float, n: int, risk: float = 0.05) -> tuple[float, float]:
    """Clopper and Pearson's interval, by the quantiles of the beta distribution."""
    hits = share * n
    low = 0.0 if hits <= 0 else float(beta.ppf(risk / 2, hits, n - hits + 1))
    high = 1.0 if hits >= n else float(beta.ppf(1 - risk / 2, hits + 1, n - hits))
    return min(low, share), max(high, share)


def odd_map(seed: int) -> tuple[Points, Neighbors]:
    """Spread, equal, tied, zero or huge vectors; their labels follow them or do not."""
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    n = 120 if seed % 32 == 0 else chance.choice((2, 3, 4, 8, 15, 20))
    sentence = np.arange(n) if chance.random() < 0.4 else np.sort(rng.integers(n, size=n))
    if seed % 17 == 0:
        sentence = np.zeros(n, np.int64)
    labels = odd_names(chance, n, few=chance.choice((None, 2)))
    vectors = rng.normal(size=(n, 5))
    how = rng.integers(7)
    if how == 0:
        vectors[:] = vectors[0]
    elif how == 1:
        vectors = vectors[rng.integers(max(1, n // 3), size=n)]
    elif how == 2:
        vectors = np.sign(vectors)  # many distances are equal
    elif how == 3:
        vectors[: n // 2] = 0
    elif how == 4:
        vectors *= 1e4
    if n == 120 and seed % 64:  # one label in its own cluster, two mixed in another
        labels = ["abc"[kind] for kind in (np.arange(n) * 3 // n).tolist()]
        vectors = rng.normal(size=(n, 5)) + np.where(np.arange(n)[:, None] * 3 < n, 8, -8)
        sentence = np.arange(n)
    elif n == 120 and seed % 128:  # neighbours in pairs, with alternating labels
        vectors = np.repeat(rng.normal(size=(n // 2, 5)), 2, axis=0)
        vectors += rng.normal(size=vectors.shape) * 1e-2
        labels, sentence = ["ab"[i % 2] for i in range(n)], np.arange(n)
    elif chance.random() < 0.4:  # labels that the vectors follow
        for i, label in enumerate(labels):
            vectors[i] += 4 * np.sin(np.arange(5) * (1 + ODD_NAMES.index(label)))
    if chance.random() < 0.3:
        labels = [label if chance.random() < 0.6 else "" for label in labels]
    if seed % 13 == 0:
        labels = [""] * n
    points = Points(
        unit=chance.choice(("words", "tokens", "sentences")),
        texts=tuple(f"text {i if seed % 5 else i // 3}" for i in range(n)),  # some are copies
        sentence=sentence,
        spans=np.zeros((n, 2), np.int64),
        names=tuple(odd_names(chance, n)),
        labels={"topic": tuple(labels)},
    )
    metric = chance.choice(("cosine", "euclidean"))
    return points, nearest(
        VectorSpace.of(vectors.astype(np.float32), metric), chance.choice((2, 15))
    )
