"""Made-up points of a map, with labels, places and layers, and where a figure draws them."""

from __future__ import annotations

import numpy as np

from contextlens.maps.points import Points, Unit

__all__ = [
    "LABELS",
    "SENTENCE",
    "drawn_at",
    "layers_of",
    "made",
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
