"""The story's sentences: verdicts and numbers against plain numpy, on any cosines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.analysis.ruler import KINDS, Range
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.features.home.reading import (
    drawn_items,
    drawn_pairs,
    how_much,
    parting_titles,
    why,
)
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.ruler import RulerShown
from tests.support.claims import read, unreached

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


def test_the_reason_and_the_similarity_hold_on_odd_numbers() -> None:
    random, said = np.random.default_rng(3), []
    for _ in range(1_000):
        along = [random.choice([1.0, 0.3]), *random.uniform(-1, 1, 2), random.choice([1.0, 0.96])]
        contexts = tuple((random.random(3) < 0.8).tolist())
        along = [1.0] * 4 if random.random() < 0.1 else along
        band = random.choice(np.array([None, BAND]))
        own = portrait(of(along), layer=int(random.integers(4)), band=band, contexts=contexts)
        reason, much = why(own, PAIR), how_much(own, PAIR, None)
        cosine = float(np.float32(along[own.layer]))
        fell = along[0] >= EQUAL and along[0] - cosine >= 0.03
        n_contexts = sum(contexts[:2])
        kind = "context" if fell else "moved" if n_contexts == 2 else "moved_one"
        kind = kind if n_contexts else "alone"
        if own.layer == 0:
            kind = "start" if n_contexts else "start_alone"
        assert reason.key == f"home.why.{'equal' if min(along) >= EQUAL else kind}"
        assert ("surrounding" in str(reason)) <= bool(n_contexts)
        assert reason.numbers["start"] == pytest.approx(along[0])
        assert reason.numbers["now"] == much.numbers["cosine"] == pytest.approx(cosine)
        said += [reason, much]
    left = unreached("home", read(said))
    assert {key for key in left if not key.startswith("home.picture.")} == set()


def test_how_much_is_said_by_the_ruler_else_by_random_pairs() -> None:
    own = portrait(of([1, 0.78]), layer=1, band=BAND)
    assert how_much(own, PAIR, ruler()).numbers["cosine"] == 0.7
    assert str(how_much(own, PAIR, None)) == (
        "Similarity (cosine) **0.78** is high for unrelated words: 9 in 10 random pairs get "
        "−0.10 to 0.15."
    )


def test_titles_are_each_layer_s_similarity() -> None:
    own = portrait(of([1.0, 0.996, -0.001]))
    assert parting_titles(own.comparison) == [
        "Same vector at layer 0",
        "Similarity (cosine) 1.00 at layer 1",
        "Similarity (cosine) 0.00 at layer 2",
    ]
    three = portrait(of([1.0, 0.9], (0.5, 0.3)), ("a", "b", "c"))
    assert parting_titles(three.comparison) == [
        "Similarity (cosine) to A, at layer 0: 0.50 to 1.00",
        "Similarity (cosine) to A, at layer 1: 0.50 to 0.90",
    ]


def test_the_picture_has_the_sentences_words_or_one_with_its_references() -> None:
    two = portrait(of([1.0, 0.9], (0.5, 0.3)))
    assert drawn_items(two.comparison) == [0, 1]
    one = portrait(of([1.0, 0.9], (0.5, 0.3)), ("a",))
    assert drawn_items(one.comparison) == [0, 1, 2]
    assert drawn_pairs(one.comparison) == [Pair(0, 1), Pair(0, 2)]
