"""The story's sentences, read back against the numbers."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.baseline import Band
from components.analysis.ruler import Calibration, Verdict
from components.analysis.similarity import Comparison, Item, Pair
from components.features.home.reading import (
    headline,
    how_much,
    leaning,
    parting_titles,
    what_is_a_layer,
    why,
)
from components.ui.widgets.comparison.compute import Portrait
from components.ui.widgets.comparison.ruler import RulerShown

PAIR = Pair(0, 1)
BOLD = re.compile(r"\*\*(.*?)\*\*")
LEANS = re.compile(
    r"Similarity to “(\w+)”: (\S+) in A, (\S+) in B\. To “(\w+)”: (\S+) in A, (\S+) in B\."
)


def portrait(
    cosines: np.ndarray,
    words: tuple[str, str] = ("python", "Python"),
    *,
    layer: int = 0,
    band: Band | None = None,
    texts: tuple[str, str] = ("one", "two"),
    centred: bool = False,
) -> Portrait:
    """Two words and references at given cosines: (n_layers, n, n)."""
    n = cosines.shape[-1]
    own = [Item("AB"[i], word, "sentence", i) for i, word in enumerate(words)]
    references = [Item("", f"ref{i}", "reference", i) for i in range(n - 2)]
    comparison = Comparison(
        items=(*own, *references),
        layers=tuple(range(len(cosines))),
        vectors=np.zeros((n, len(cosines), 2), np.float32),
        cosines=cosines.astype(np.float32),
        static=cosines[0].astype(np.float32),
        centred=centred,
    )
    chosen = [SimpleNamespace(context=text) for text in texts]
    meaning: Any = SimpleNamespace(band=lambda _: band, chosen=chosen)
    return Portrait(meaning, comparison, comparison.pairs(), layer, (-1.0, 1.0))


def band_of(low: float, mean: float, high: float, n: int) -> Band:
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


def ruler(verdict: Verdict) -> RulerShown:
    cuts = {Verdict.SAME: (None, 0.5), Verdict.DIFFERENT: (0.9, None)}.get(verdict, (None, None))
    return RulerShown(0.7, (), True, Calibration(*cuts, 83), 1, ())


SPLIT = [(0.51, 0.28), (0.26, 0.41)]
BAND = band_of(-0.1, 0.0, 0.15, 2)
UNCLEAR = "Same word; unclear whether the meaning differs"


# The headline


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"cosines": of([1, 0.78], *SPLIT), "band": BAND},
            "python is closer to ref0 in A, to ref1 in B",
        ),
        ({"cosines": of([1, 0.78], SPLIT[0]), "band": BAND}, UNCLEAR),
        ({"cosines": of([1, 0.78], *SPLIT), "band": None}, UNCLEAR),
        ({"cosines": of([1, 1.0], *SPLIT), "band": BAND}, "Same word, same vector"),
        (
            {"cosines": of([0.3, 0.4]), "band": BAND, "words": ("good", "bad")},
            "Two words that the model treats as similar",
        ),
        (
            {"cosines": of([0.3, 0.1]), "band": BAND, "words": ("good", "bad")},
            "Two words, no more similar than unrelated words often are",
        ),
        ({"cosines": of([0.3, 0.1]), "words": ("ש", "س")}, "Two words, two vectors"),
    ],
)
def test_the_headline_is_what_the_numbers_hold(given: dict[str, Any], expected: str) -> None:
    assert headline(portrait(layer=1, **given), PAIR, None) == expected


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Verdict.DIFFERENT, "Same word, two meanings"),
        (Verdict.SAME, "Same word, one meaning"),
        (Verdict.CANNOT_TELL, UNCLEAR),
    ],
)
def test_a_meaning_is_claimed_only_by_a_calibration(verdict: Verdict, expected: str) -> None:
    assert headline(portrait(of([1, 0.7]), layer=1), PAIR, ruler(verdict)) == expected


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.sampled_from([1.0, 0.2, 0.02]))
@settings(max_examples=2000)
def test_references_are_named_only_where_they_set_the_two_apart(
    seed: int, n_references: int, spread: float
) -> None:
    random = np.random.default_rng(seed)
    pairs = [tuple(0.2 + spread * random.uniform(-1, 1, 2)) for _ in range(n_references)]
    own = portrait(of([1.0, 0.7], *pairs), layer=1, band=BAND)
    said, leans = headline(own, PAIR, None), leaning(own, PAIR)
    assert (said != UNCLEAR) == bool(leans)
    nearer = {"A": [], "B": []}
    for i, (a, b) in enumerate(np.float32(pairs).reshape(-1, 2)):
        if abs(a - b) >= 0.03 and max(a, b) > 0.15:
            nearer["A" if a > b else "B"].append((abs(a - b), f"ref{i}", a, b))
    assert bool(leans) == all(nearer.values())
    if leans:
        match = LEANS.fullmatch(leans)
        assert match is not None
        for side, found in zip("AB", (match.groups()[:3], match.groups()[3:]), strict=True):
            _, name, a, b = max(nearer[side])
            assert found[0] == name
            assert [float(value) for value in found[1:]] == pytest.approx([a, b], abs=0.0051)
        first, second = (max(nearer[side])[1] for side in "AB")
        assert said == f"python is closer to {first} in A, to {second} in B"


# The answers


@pytest.mark.slow
@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=13),
    st.integers(0, 12),
    st.booleans(),
)
@settings(max_examples=500)
def test_why_holds_the_numbers_of_its_layers(along: list[float], layer: int, same: bool) -> None:
    layer %= len(along)
    texts = ("one", "one") if same else ("one", "two")
    own = portrait(of(along), layer=layer, texts=texts)
    said = why(own, PAIR)
    shown = [float(value) for value in BOLD.findall(said)]
    expected = [along[0]] if layer == 0 else [along[0], along[layer]]
    assert shown == pytest.approx(expected, abs=0.0051)
    assert ("which differ" in said) == (layer > 0 and not same)
    fell = float(np.float32(along[0])) >= 1 - 1e-5 and along[0] - along[layer] >= 0.03
    assert ("cause the whole gap" in said) == (layer > 0 and fell)


def test_a_layer_is_told_with_how_many_there_are() -> None:
    assert "has 6;" in what_is_a_layer(6)
    assert "has 1;" in what_is_a_layer(1)


def test_how_much_is_said_by_the_ruler_else_by_random_pairs() -> None:
    own = portrait(of([1, 0.78]), layer=1, band=BAND)
    assert how_much(own, PAIR, ruler(Verdict.CANNOT_TELL)).startswith(
        "Similarity (cosine) **0.70**"
    )
    assert "**0.78**, more alike than 95 of 100 random pairs" in how_much(own, PAIR, None)
    assert how_much(portrait(of([1, 0.78]), layer=1), PAIR, None).endswith("one is **0.78**.")


def test_a_centred_cosine_is_called_that() -> None:
    own = portrait(of([1, 0.78]), layer=1, centred=True)
    assert "a centred cosine of **1.00**" in why(own, PAIR)
    assert how_much(own, PAIR, None).startswith("A centred cosine of 1 is the")
    assert parting_titles(own.comparison, PAIR)[1] == "Centred cosine 0.78"


def test_titles_are_each_layer_s_cosine() -> None:
    own = portrait(of([1.0, 0.996, -0.001]))
    assert parting_titles(own.comparison, PAIR) == ["Same vector", "Cosine 1.00", "Cosine 0.00"]
