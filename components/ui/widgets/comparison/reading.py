"""Meaning in context, said in words: the chosen words at one layer, and the picture's title.

A difference is told where it is larger than `NOISE`: taking a sentence's final mark away, or
putting "Well," before it, moves the cosine of two uses of a word by up to 0.025 (95 of 100 pairs of
the ready corpus, last layer of the bundled model).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Item, Pair
from components.content.wording import bold, listed, quoted, span, two
from components.core.schema import FloatArray

__all__ = ["EQUAL", "NOISE", "BandOf", "against", "meaning_in_context", "meaning_title", "side_of"]

BandOf = Callable[[Pair], Band | None]
"""The random pairs that a pair of words is held against; None where there are none."""

NOISE = 0.03
"""Cosines that differ by less are called alike."""
EQUAL = 1 - 1e-5
"""Cosines from here on are those of equal vectors, rounding in float32 apart."""
_ALIKE = 0.95


def meaning_title(comparison: Comparison) -> str:
    """The finding of the main picture: where the sentences' words part, or that they do not."""
    pairs = comparison.pairs("sentences")
    if not pairs or len(comparison.layers) < 2:
        return "Cosine at every layer"
    falls = sorted(((_fall(comparison.along(pair)), -n) for n, pair in enumerate(pairs)))[::-1]
    widest = falls[0][0]
    if widest < NOISE:
        apart = min(float(comparison.along(pair)[0]) for pair in pairs) < _ALIKE
        return "These words differ from layer 0 on" if apart else "No layer pulls these words apart"
    if len(falls) > 1 and widest - falls[1][0] < NOISE:
        return f"Cosines fall by up to {two(widest)} below layer {comparison.layers[0]}"
    pair = pairs[-falls[0][1]]
    along = comparison.along(pair)
    both = " and ".join(comparison.items[i].label for i in (pair.first, pair.second))
    steps = np.sort(along[:-1] - along[1:])[::-1]
    if len(steps) > 1 and steps[0] - steps[1] < NOISE:
        ends = (comparison.layers[0], comparison.layers[int(along.argmin())])
        return f"{both} part between layers {ends[0]} and {ends[1]}"
    return f"{both} part most at layer {comparison.layers[_steepest(along)]}"


def meaning_in_context(comparison: Comparison, layer: int, band: BandOf) -> list[str]:
    """One to three sentences on the chosen layer: the sentences' words, then the references.

    Args:
        comparison: what is compared.
        layer: one of its layers.
        band: the random pairs that a pair is held against.
    """
    row = comparison.layers.index(layer)
    said = [_sentences_reading(comparison, row, band)]
    gaps = _reference_gaps(comparison, row)
    said += [_reference_reading(comparison, row, ref, band) for ref, _ in gaps[:2]]
    return [sentence for sentence in said if sentence]


def _fall(values: FloatArray) -> float:
    """How far a cosine falls below its start."""
    return float(values[0] - values.min())


def _steepest(values: FloatArray) -> int:
    """The row that ends the steepest fall."""
    return int((values[:-1] - values[1:]).argmax()) + 1


def _item(item: Item) -> str:
    return quoted(item.word) + (f" in {item.label}" if item.label else "")


def _alike(values: FloatArray) -> bool:
    """Whether numbers differ by too little to be told apart, or are printed alike."""
    low, high = float(values.min()), float(values.max())
    return high - low < NOISE or two(low) == two(high)


def _equally(values: FloatArray) -> str:
    return "equally" if two(values.min()) == two(values.max()) else "about equally"


def _sentences_reading(comparison: Comparison, row: int, band: BandOf) -> str:
    pairs = comparison.pairs("sentences")
    if not pairs:
        return ""
    values = np.array([comparison.cosines[row, p.first, p.second] for p in pairs])
    layer = comparison.layers[row]
    if len(pairs) == 1:
        said = _one_pair(comparison, pairs[0], row)
        # Equal vectors are equal by construction: no yardstick is needed.
        own = None if values[0] >= EQUAL else band(pairs[0])
        return said + against(values[0], own, row)
    if _alike(values):
        ends = span(values.tolist(), bold)
        every = f"At layer {layer} all pairs of words are {_equally(values)} alike ({ends})"
        return f"{every}{_level(pairs, band, row)}."
    best, worst = pairs[int(values.argmax())], pairs[int(values.argmin())]
    return (
        f"At layer {layer}, {_names(comparison, best)} are most alike ({bold(values.max())}), "
        f"{_names(comparison, worst)} least ({bold(values.min())}){_level(pairs, band, row)}."
    )


def _names(comparison: Comparison, pair: Pair) -> str:
    return " and ".join(_item(comparison.items[i]) for i in (pair.first, pair.second))


def _one_pair(comparison: Comparison, pair: Pair, row: int) -> str:
    start, now = float(comparison.along(pair)[0]), float(comparison.along(pair)[row])
    layer = comparison.layers[row]
    names = _names(comparison, pair)
    if now >= EQUAL:
        same = f"{names} have the same vector at layer {layer} ({bold(now)})"
        first, second = (comparison.items[i].word for i in (pair.first, pair.second))
        why = "word" if first == second else "tokens"
        return same + (f": same {why}, same position, nothing mixed in yet" if layer == 0 else "")
    if row == 0 or comparison.layers[0] != 0:
        return f"At layer {layer}, {names} have a {comparison.measure} of {bold(now)}"
    begun = "equal" if start >= EQUAL else f"at {bold(start)}"
    now_at = f"a {comparison.measure} of {bold(now)} at layer {layer}"
    return f"{names} start {begun} at layer 0 and have {now_at}"


def against(value: float, band: Band | None, row: int) -> str:
    """The end of a sentence: how a cosine stands against random pairs."""
    if band is None:
        return "."
    place = {
        1: f"more alike than 95 of 100 random pairs of {band.of}",
        -1: f"less alike than 95 of 100 random pairs of {band.of}",
        0: f"as alike as random pairs of {band.of} often are",
    }[side_of(value, band, row)]
    return f", {place} (average {two(band.mean[row])})."


def side_of(value: float, band: Band, row: int) -> int:
    """1 above the band, -1 below it, 0 in it or printed like its average."""
    if two(value) == two(band.mean[row]):
        return 0
    return int(value > band.high[row]) - int(value < band.low[row])


def _level(pairs: list[Pair], band: BandOf, row: int) -> str:
    """The average of the random pairs, where all of these pairs are held against the same."""
    bands = [band(pair) for pair in pairs]
    known = [own for own in bands if own is not None]
    if len(known) < len(bands) or len({own.of for own in known}) != 1:
        return ""
    return f"; random pairs of {known[0].of} average {two(known[0].mean[row])}"


def _reference_gaps(comparison: Comparison, row: int) -> list[tuple[int, float]]:
    """References with how far the sentences' words differ in closeness to them, widest first."""
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    if not own:
        return []
    gaps = [
        (j, float(np.ptp(comparison.cosines[row, own, j])))
        for j, item in enumerate(comparison.items)
        if item.role == "reference"
    ]
    return sorted(gaps, key=lambda gap: -gap[1])


def _reference_reading(comparison: Comparison, row: int, ref: int, band: BandOf) -> str:
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    values = comparison.cosines[row, own, ref]
    name = quoted(comparison.items[ref].word)
    near, far = own[int(values.argmax())], own[int(values.argmin())]
    if len(own) == 1:
        pair = f"{_item(comparison.items[near])} and {name}"
        said = f"At layer {comparison.layers[row]}, {pair} have a {comparison.measure} of "
        return f"{said}{bold(values[0])}{against(values[0], band(Pair(near, ref)), row)}"
    both = " and ".join(dict.fromkeys((bold(values.max()), bold(values.min()))))
    if _unrelated(values, [band(Pair(i, ref)) for i in own], row):
        who = "neither" if len(own) == 2 else "none of them"
        return f"{name} is close to {who} ({both}): no closer than random pairs of words often are."
    if _alike(values):
        who = "both" if len(own) == 2 else "all of them"
        return f"{name} is {_equally(values)} close to {who} ({both})."
    return (
        f"{name} is closer to {_item(comparison.items[near])} ({bold(values.max())}) than to "
        f"{_item(comparison.items[far])} ({bold(values.min())})"
        f"{_holds(comparison, row, (near, far, ref))}."
    )


def _unrelated(values: FloatArray, bands: list[Band | None], row: int) -> bool:
    """Whether no cosine rises above what random pairs of words get."""
    return all(
        band is not None and side_of(float(value), band, row) < 1
        for value, band in zip(values, bands, strict=True)
    )


def _holds(comparison: Comparison, row: int, who: tuple[int, int, int]) -> str:
    """Over which layers the same difference holds, where that is worth saying."""
    near, far, ref = who
    ahead = comparison.cosines[:, near, ref] - comparison.cosines[:, far, ref] >= NOISE
    first = row
    while first > 0 and ahead[first - 1]:
        first -= 1
    if first < len(ahead) - 1 and bool(ahead[first:].all()):
        layer = comparison.layers[first]
        return ", at every layer" if first == 0 else f", at every layer from {layer} on"
    others = listed(
        [n for n, is_ahead in zip(comparison.layers, ahead, strict=True) if not is_ahead]
    )
    return f" here, but not at {others}" if others else ""
