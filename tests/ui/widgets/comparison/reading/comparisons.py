"""Comparisons with given cosines or random ones, bands of random pairs, and parts of readings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Item, Pair
from components.ui.widgets.comparison.reading import BandOf

__all__ = [
    "BOLD",
    "CLOSER",
    "LETTERS",
    "MOST",
    "band_of",
    "comparison_of",
    "comparisons",
    "made",
    "no_band",
    "symmetric",
]

LETTERS = "ABCDEFGH"
BOLD = re.compile(r"\*\*(.*?)\*\*")
CLOSER = re.compile(
    r"^“(?P<ref>\w+)” is closer to “(?P<near>\w+)” in \w \(\*\*(?P<high>\S+)\*\*\) "
    r"than to “(?P<far>\w+)” in \w \(\*\*(?P<low>\S+)\*\*\)(?P<rest>.*)\.$"
)
MOST = re.compile(
    r"“(\w+)” in \w and “(\w+)” in \w are most alike \(\*\*(\S+)\*\*\), "
    r"“(\w+)” in \w and “(\w+)” in \w least \(\*\*(\S+)\*\*\)"
)


def made(
    values: Mapping[str, Sequence[float]],
    *,
    sentences: Sequence[str] = ("python", "python"),
    references: Sequence[str] = (),
    centred: bool = False,
) -> Comparison:
    """A comparison with given cosines: "AB" for two sentences, "A0" for a sentence and the first
    reference, each over the layers from 0 on; what is not given is 0."""
    n = len(sentences) + len(references)
    n_layers = len(next(iter(values.values())))
    cosines = np.zeros((n_layers, n, n), np.float32)
    cosines[:, range(n), range(n)] = 1
    places = {letter: i for i, letter in enumerate(LETTERS[: len(sentences)])}
    places |= {str(i): len(sentences) + i for i in range(len(references))}
    for (a, b), along in values.items():
        cosines[:, places[a], places[b]] = cosines[:, places[b], places[a]] = along
    return comparison_of(cosines, sentences, references, centred=centred)


def comparison_of(
    cosines: np.ndarray,
    sentences: Sequence[str],
    references: Sequence[str],
    *,
    centred: bool = False,
) -> Comparison:
    own = [Item(LETTERS[i], word, "sentence", i) for i, word in enumerate(sentences)]
    items = (*own, *(Item("", word, "reference", 8) for word in references))
    return Comparison(
        items=items,
        layers=tuple(range(len(cosines))),
        vectors=np.zeros((len(items), len(cosines), 2), np.float32),
        cosines=cosines.astype(np.float32),
        static=cosines[0].astype(np.float32),
        centred=centred,
    )


def band_of(low: float, mean: float, high: float, n_layers: int) -> BandOf:
    """The same random pairs for every pair."""
    band = Band(*(np.full(n_layers, value, np.float32) for value in (low, mean, high)))
    return lambda _: band


def no_band(_: Pair) -> None:
    """No random pairs to hold a pair against."""


def symmetric(cosines: np.ndarray) -> np.ndarray:
    """The same with the upper half mirrored and ones on the diagonal."""
    upper = np.triu(cosines, 1)
    return upper + np.swapaxes(upper, 1, 2) + np.eye(cosines.shape[-1])


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    """Random cosines; some so coarse that there are ties, some hardly different."""
    n_sentences = draw(st.integers(1, 8))
    n_references = draw(st.integers(0 if n_sentences > 1 else 1, 8))
    n_layers = draw(st.integers(1, 14))
    n = n_sentences + n_references
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1.0, 0.3, 0.01, 0.0]))
    step = draw(st.sampled_from([None, 0.005, 0.1, 0.5]))
    cosines = 0.5 + spread * random.uniform(-1, 0.5, (n_layers, n, n))
    if step is not None:
        cosines = np.round(cosines / step) * step
    if draw(st.booleans()):
        cosines[0] = 1.0
    return comparison_of(
        symmetric(cosines),
        [f"own{i}" for i in range(n_sentences)],
        [f"ref{i}" for i in range(n_references)],
    )
