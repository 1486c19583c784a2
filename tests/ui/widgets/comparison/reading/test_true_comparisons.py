"""Every sentence of the reading, read back against the cosines of any comparison."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Pair
from components.ui.widgets.comparison.reading import NOISE, meaning_in_context
from tests.ui.widgets.comparison.reading.comparisons import (
    BOLD,
    CLOSER,
    MOST,
    band_of,
    comparisons,
    no_band,
)


@pytest.mark.slow
@given(comparisons(), st.data())
@settings(max_examples=2000)
def test_every_reading_is_true(comparison: Comparison, data: st.DataObject) -> None:
    layer = data.draw(st.sampled_from(comparison.layers))
    n_layers = len(comparison.layers)
    band = data.draw(st.sampled_from([no_band, band_of(0.0, 0.1, 0.2, n_layers)]))
    said = meaning_in_context(comparison, layer, band)
    assert 1 <= len(said) <= 3
    for sentence in said:
        assert sentence.endswith(".")
        check_numbers(comparison, layer, sentence)
        check_order(comparison, layer, sentence)
        check_extremes(comparison, layer, sentence)
        check_neither(comparison, layer, sentence, band(Pair(0, 1)))
        check_band(comparison, layer, sentence, band(Pair(0, 1)))


def check_numbers(comparison: Comparison, layer: int, sentence: str) -> None:
    """Every bold number is a cosine of two different items here, or at layer 0 where it says so."""
    n = len(comparison.items)
    rows = {0, layer} if " start " in sentence else {layer}
    upper = np.triu_indices(n, 1)
    shown = {two_decimals(value) for row in rows for value in comparison.cosines[row][upper]}
    assert set(BOLD.findall(sentence)) <= shown
    assert BOLD.findall(sentence)


def two_decimals(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def check_order(comparison: Comparison, layer: int, sentence: str) -> None:
    assert ("is closer" in sentence) == (CLOSER.match(sentence) is not None)
    match = CLOSER.match(sentence)
    if match is None:
        return
    names = [item.word for item in comparison.items]
    near, far, ref = (names.index(match[part]) for part in ("near", "far", "ref"))
    along = comparison.cosines[:, [near, far], ref]
    assert along[layer, 0] - along[layer, 1] >= NOISE
    assert match["high"] != match["low"]
    assert [two_decimals(value) for value in along[layer]] == [match["high"], match["low"]]
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    assert along[layer, 0] == comparison.cosines[layer, own, ref].max()
    assert along[layer, 1] == comparison.cosines[layer, own, ref].min()
    check_layers(along[:, 0] - along[:, 1] >= NOISE, layer, match["rest"])


def check_layers(ahead: np.ndarray, layer: int, rest: str) -> None:
    assert ahead[layer]
    runs = re.findall(r"(\d+)(?: to (\d+))?", rest)
    numbers = [n for a, b in runs for n in range(int(a), int(b or a) + 1)]
    if "from" in rest:
        assert len(numbers) == 1
        assert 0 < numbers[0] <= layer
        assert ahead[numbers[0] :].all()
    elif "every layer" in rest:
        assert ahead.all()
    elif "but not at" in rest:
        assert set(np.flatnonzero(~ahead)) <= set(numbers)
        assert layer not in numbers
    else:
        assert rest == ""


def check_extremes(comparison: Comparison, layer: int, sentence: str) -> None:
    names = [item.word for item in comparison.items]
    pairs = comparison.pairs("sentences")
    values = np.array([comparison.cosines[layer, p.first, p.second] for p in pairs])
    match = MOST.search(sentence)
    if match is not None:
        a, b, highest, c, d, lowest = match.groups()
        assert comparison.cosines[layer, names.index(a), names.index(b)] == values.max()
        assert comparison.cosines[layer, names.index(c), names.index(d)] == values.min()
        assert (highest, lowest) == (two_decimals(values.max()), two_decimals(values.min()))
        assert highest != lowest
        assert np.ptp(values) >= NOISE
    if "all pairs" in sentence:
        assert np.ptp(values) < NOISE or two_decimals(values.max()) == two_decimals(values.min())
    if "equally close" in sentence:
        ref = names.index(re.findall(r"“(\w+)”", sentence)[0])
        own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
        assert np.ptp(comparison.cosines[layer, own, ref]) < NOISE + 0.01


def check_neither(comparison: Comparison, layer: int, sentence: str, band: Band | None) -> None:
    """A reference is close to none only where random pairs are as close to all."""
    names = [item.word for item in comparison.items]
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    found = re.match(r"“(ref\d+)” is (.*)", sentence)
    if found is None or len(own) < 2:
        return
    values = comparison.cosines[layer, own, names.index(found[1])]
    inside = band is not None and bool(
        ((values <= band.high[layer]) | (np.abs(values - band.mean[layer]) < 0.01)).all()
    )
    outside = band is None or bool((values > band.high[layer] + 0.01).any())
    if "close to neither" in sentence or "close to none" in sentence:
        assert inside
    assert outside or not inside or "is closer" not in sentence


def check_band(comparison: Comparison, layer: int, sentence: str, band: Band | None) -> None:
    if band is None:
        assert "random" not in sentence
        return
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    names = [item.word for item in comparison.items]
    end = re.search(
        r", (more alike than|as alike as|less alike than) .*\(average (\S+)\)\.", sentence
    )
    if end is None:
        return
    first, second = (names.index(name) for name in re.findall(r"“(\w+)”", sentence)[:2])
    assert len(own) <= 2
    value, mean = comparison.cosines[layer, first, second], band.mean[layer]
    assert end[2] == two_decimals(mean)
    if end[1] == "more alike than":
        assert value > band.high[layer]
        assert two_decimals(value) != end[2]
    elif end[1] == "less alike than":
        assert value < band.low[layer]
        assert two_decimals(value) != end[2]
    else:
        printed_alike = two_decimals(value) == end[2]
        assert printed_alike or band.low[layer] <= value <= band.high[layer]
