"""Meaning in context, said in words: the chosen words at one layer, and the picture's title."""

from __future__ import annotations

import numpy as np

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Item, Pair
from components.content.wording import bold, listed, quoted, two
from components.core.schema import FloatArray

__all__ = ["against", "meaning_in_context", "meaning_title"]

_EQUAL = 1 - 1e-5
"""Cosines from here on are those of equal vectors, rounding in float32 apart."""
_SMALL_FALL = 0.02
_ALIKE = 0.95


def meaning_title(comparison: Comparison) -> str:
    """The finding of the main picture: where the sentences' words part, or that they do not."""
    pairs = comparison.pairs("sentences")
    if not pairs or len(comparison.layers) < 2:
        return "Cosine at every layer"
    falls = np.array([_steepest_fall(comparison.along(pair)) for pair in pairs])
    best = int(falls[:, 0].argmax())
    drop, row = falls[best]
    whole = max(float(comparison.along(pair)[0] - comparison.along(pair).min()) for pair in pairs)
    if max(drop, whole) < _SMALL_FALL:
        apart = min(float(comparison.along(pair)[0]) for pair in pairs) < _ALIKE
        return "These words differ from layer 0 on" if apart else "No layer pulls these words apart"
    a, b = (comparison.items[i] for i in (pairs[best].first, pairs[best].second))
    layer = comparison.layers[int(row)]
    return f"{a.label} and {b.label} part most at layer {layer}"


def meaning_in_context(comparison: Comparison, layer: int, band: Band | None) -> list[str]:
    """One to three sentences on the chosen layer: the sentences' words, then the references."""
    row = comparison.layers.index(layer)
    said = [_sentences_reading(comparison, row, band)]
    gaps = _reference_gaps(comparison, row)
    said += [_reference_reading(comparison, row, ref) for ref, _ in gaps[:2]]
    return [sentence for sentence in said if sentence]


def _steepest_fall(values: FloatArray) -> tuple[float, int]:
    steps = values[:-1] - values[1:]
    row = int(steps.argmax())
    return float(steps[row]), row + 1


def _item(item: Item) -> str:
    return quoted(item.word) + (f" in {item.label}" if item.label else "")


def _rounded(values: FloatArray) -> FloatArray:
    """To the two decimals that are shown: only what differs there is called different."""
    rounded: FloatArray = np.round(values.astype(float), 2)
    return rounded


def _cosine(comparison: Comparison) -> str:
    return "centred cosine" if comparison.centred else "cosine"


def _sentences_reading(comparison: Comparison, row: int, band: Band | None) -> str:
    pairs = comparison.pairs("sentences")
    if not pairs:
        return ""
    values = np.array([comparison.cosines[row, p.first, p.second] for p in pairs])
    layer = comparison.layers[row]
    if len(pairs) == 1:
        said = _one_pair(comparison, pairs[0], row)
        # Equal vectors are equal by construction: no yardstick is needed.
        return said + ("." if values[0] >= _EQUAL else against(values[0], band, row))
    if np.ptp(_rounded(values)) == 0:
        every = f"At layer {layer} all pairs of words are equally alike ({bold(values.max())})"
        return every + against(values.max(), band, row)
    best, worst = pairs[int(values.argmax())], pairs[int(values.argmin())]
    return (
        f"At layer {layer}, {_names(comparison, best)} are most alike ({bold(values.max())}), "
        f"{_names(comparison, worst)} least ({bold(values.min())}){_level(band, row)}."
    )


def _names(comparison: Comparison, pair: Pair) -> str:
    return " and ".join(_item(comparison.items[i]) for i in (pair.first, pair.second))


def _one_pair(comparison: Comparison, pair: Pair, row: int) -> str:
    start, now = float(comparison.along(pair)[0]), float(comparison.along(pair)[row])
    layer = comparison.layers[row]
    names = _names(comparison, pair)
    if now >= _EQUAL:
        same = f"{names} have the same vector at layer {layer} ({bold(now)})"
        first, second = (comparison.items[i].word for i in (pair.first, pair.second))
        why = "word" if first == second else "tokens"
        return same + (f": same {why}, same position, nothing mixed in yet" if layer == 0 else "")
    if row == 0 or comparison.layers[0] != 0:
        return f"At layer {layer}, {names} have a {_cosine(comparison)} of {bold(now)}"
    begun = "equal" if start >= _EQUAL else f"at {bold(start)}"
    now_at = f"a {_cosine(comparison)} of {bold(now)} at layer {layer}"
    return f"{names} start {begun} at layer 0 and have {now_at}"


def against(value: float, band: Band | None, row: int) -> str:
    """The end of a sentence: how a cosine stands against random pairs."""
    if band is None:
        return "."
    if value > band.high[row]:
        place = "more alike than 95 of 100 random pairs"
    elif value < band.low[row]:
        place = "less alike than 95 of 100 random pairs"
    else:
        place = "no more alike than many random pairs"
    return f", {place} (average {two(band.mean[row])})."


def _level(band: Band | None, row: int) -> str:
    return "" if band is None else f"; random pairs average {two(band.mean[row])}"


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


def _reference_reading(comparison: Comparison, row: int, ref: int) -> str:
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    values = comparison.cosines[row, own, ref]
    name = quoted(comparison.items[ref].word)
    near, far = own[int(values.argmax())], own[int(values.argmin())]
    if len(own) == 1:
        pair = f"{_item(comparison.items[near])} and {name}"
        layer = comparison.layers[row]
        return f"At layer {layer}, {pair} have a {_cosine(comparison)} of {bold(values[0])}."
    if np.ptp(_rounded(values)) == 0:
        who = "both" if len(own) == 2 else "all of them"
        return f"{name} is equally close to {who} ({bold(values.max())})."
    return (
        f"{name} is closer to {_item(comparison.items[near])} ({bold(values.max())}) than to "
        f"{_item(comparison.items[far])} ({bold(values.min())})"
        f"{_holds(comparison, row, (near, far, ref))}."
    )


def _holds(comparison: Comparison, row: int, who: tuple[int, int, int]) -> str:
    """Over which layers the same order holds, where that is worth saying."""
    near, far, ref = who
    cosines = _rounded(comparison.cosines)
    ahead = cosines[:, near, ref] > cosines[:, far, ref]
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
