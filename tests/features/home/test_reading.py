"""The story's sentences: verdicts and numbers against plain numpy, on any cosines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.analysis.ruler import KINDS, Range
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.features.home.reading import (
    drawn_pairs,
    how_much,
)
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.ruler import RulerShown

PAIR = Pair(0, 1)
EQUAL = 1 - 1e-5


def portrait(
    cosines: np.ndarray,
    words: tuple[str, ...] = ("python", "Python"),
    *,
    layer: int = 0,
    band: Band | None = None,
    unknown: tuple[int, ...] = (),
    twins: bool = False,
    contexts: tuple[bool, ...] = (True, True, True),
) -> Portrait:
    """Two words and references at given cosines: (n_layers, n, n)."""
    n = cosines.shape[-1]
    known = [word.casefold() for word in words]
    ids = [(7 if twins else known.index(word),) for word in known]
    own = [
        Item("ABC"[i], word, "sentence", i, ids[i], i in unknown, contexts[i])
        for i, word in enumerate(words)
    ]
    references = [Item("", f"ref{i}", "reference", i) for i in range(n - len(words))]
    comparison = Comparison(
        items=(*own, *references),
        layers=tuple(range(len(cosines))),
        vectors=np.zeros((n, len(cosines), 2), np.float32),
        cosines=cosines.astype(np.float32),
        static=cosines[0].astype(np.float32),
        centred=False,
    )
    meaning: Any = SimpleNamespace(band=lambda _: band)
    return Portrait(meaning, comparison, comparison.pairs(), layer, (-1.0, 1.0))


def band_of(low: float, mean: float, high: float, n: int = 20) -> Band:
    return Band(*(np.full(n, value, np.float32) for value in (low, mean, high)))


def of(pair: list[float], *references: tuple[float, float]) -> np.ndarray:
    """Cosines over layers; each reference's with A and B are the same at each layer."""
    n = 2 + len(references)
    cosines = np.tile(np.eye(n), (len(pair), 1, 1))
    cosines[:, 0, 1] = cosines[:, 1, 0] = pair
    for j, (a, b) in enumerate(references, start=2):
        cosines[:, 0, j] = cosines[:, j, 0] = a
        cosines[:, 1, j] = cosines[:, j, 1] = b
    return cosines


def ruler(cosine: float = 0.7) -> RulerShown:
    """The cosine on a ruler, among all labelled pairs."""
    low = cosine - 0.1
    ranges = tuple(Range(kind, low, low + 0.1, low + 0.2, 9) for kind in KINDS)
    return RulerShown(cosine, ranges, True, 1, ())


SPLIT = [(0.51, 0.28), (0.26, 0.41)]
BAND = band_of(-0.1, 0.0, 0.15)


def test_how_much_is_said_by_the_ruler_else_by_random_pairs() -> None:
    own = portrait(of([1, 0.78]), layer=1, band=BAND)
    assert how_much(own, PAIR, ruler()).numbers["cosine"] == 0.7
    assert str(how_much(own, PAIR, None)) == (
        "Similarity (cosine) **0.78** is high for unrelated words: 9 in 10 random pairs get "
        "−0.10 to 0.15."
    )


def test_similarities_are_those_of_the_sentences_words_or_of_one_with_its_references() -> None:
    two = portrait(of([1.0, 0.9], (0.5, 0.3)))
    assert drawn_pairs(two.comparison) == [Pair(0, 1)]
    one = portrait(of([1.0, 0.9], (0.5, 0.3)), ("a",))
    assert drawn_pairs(one.comparison) == [Pair(0, 1), Pair(0, 2)]
