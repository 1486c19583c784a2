"""Layer by layer, said in words: whole layers compared, and how their variance is spread.

One is called more than another only where they are further apart than a margin; what lies within
it shares the place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.analysis.baseline import Band
from components.content.wording import (
    are_alike,
    bold,
    escape,
    leading,
    listed,
    percent,
    span,
    two,
)
from components.core.schema import FloatArray
from components.features.layers.measures.spaces import LEAST_WORDS, Alike

__all__ = ["alike_reading", "alike_title", "spread_reading", "spread_titles"]

_CLOSE = 0.1  # so little above 0 says nothing

Cell = tuple[int, int]


def alike_title(found: Alike, *, same: bool) -> str:
    """The finding of the picture of layers by layers."""
    if not np.isfinite(found.cka).any():
        return "Too little text to compare layers"
    cells = _steps(found.cka) if same else _cells(found.cka)
    values = [float(found.cka[cell]) for cell in cells]
    if not cells:
        return "One layer alone" if len(found.cka) == 1 else "No neighbouring layers to compare"
    if len(cells) == 1:
        i, j = cells[0]
        return f"Layer {i} and layer {j}: {two(values[0])}"
    if are_alike(values):
        whose = "Neighbouring layers are" if same else "All layers of both are"
        return f"{whose} about equally alike ({span(values)})"
    best = leading([-value for value in values] if same else values)
    number = span([values[k] for k in best])
    i, j = cells[best[0]]
    if same:
        return f"Widest gap: layers {i} and {j}{_others(len(best) - 1)} ({number})"
    return f"Most alike: layer {i} and layer {j}{_others(len(best) - 1)} ({number})"


def alike_reading(found: Alike, names: tuple[str, str], *, same: bool) -> list[str]:
    """Which layers are most and least alike, debiased too, and what shuffled words would give.

    Args:
        found: CKA over the same words.
        names: the two models' titles.
        same: whether both are one model.
    """
    if not np.isfinite(found.cka).any():
        return [_too_few(found.n_words)]
    many = f"Over {found.n_words} words"
    said = _within(found, many) if same else _between(found, names, many)
    return [said, *([] if same and len(found.cka) == 1 else [_bias(found)])]


def spread_titles(layers: Sequence[int], band: Band | None, shares: FloatArray) -> tuple[str, str]:
    """The findings of the two pictures: random pairs, and the first components."""
    pairs = "Random pairs: being measured"
    if band is not None:
        pairs = _highest(layers, band.mean.tolist())
    rows = np.flatnonzero(np.isfinite(shares[:, 0]))
    if not rows.size:
        return pairs, "No variance to share"
    first, at = shares[rows, 0].tolist(), [layers[row] for row in rows.tolist()]
    if are_alike(first):
        held = span(first, percent)
        return pairs, f"One direction holds about as much at every layer ({held})"
    best = leading(first)
    where, held = listed(sorted(at[i] for i in best)), span([first[i] for i in best], percent)
    return pairs, f"One direction holds most at {where} ({held})"


def spread_reading(
    layers: Sequence[int], layer: int, band: Band | None, shares: FloatArray, n_words: int
) -> list[str]:
    """How alike random words are at a layer, and how much its first components hold."""
    row = list(layers).index(layer)
    said = []
    if band is not None:
        mean = float(band.mean[row])
        said.append(
            f"At layer {layer}, two random words have an average cosine of {bold(mean)}: "
            f"{_common(mean)}."
        )
    if np.isfinite(shares[row]).all():
        even = shares.shape[1]
        said.append(
            f"Over {n_words} sample words, its first principal component holds "
            f"**{percent(shares[row, 0])}** of the variance, the first {even} hold "
            f"**{percent(shares[row, -1])}**."
        )
    return said


def _common(mean: float) -> str:
    rounded = float(two(mean))
    if rounded > _CLOSE:
        return "on average its vectors lean one way, so two words need not be related to reach it"
    if rounded < -_CLOSE:
        return "below 0, so its vectors point away from each other more than towards each other"
    return "near 0, so on average its vectors hardly lean one way"


def _highest(layers: Sequence[int], means: Sequence[float]) -> str:
    if are_alike(means):
        return f"Random words are about as alike at every layer ({span(means)})"
    best = leading(means)
    where = listed(sorted(layers[i] for i in best))
    return f"Random words most alike: {where} ({span([means[i] for i in best])})"


def _too_few(n_words: int) -> str:
    least = "Layers are compared over at least two words whose vectors differ; here "
    if n_words < 2:
        return f"{least}there is {'one word' if n_words else 'no word'}."
    return f"{least}all {n_words} have the same."


def _steps(cka: FloatArray) -> list[Cell]:
    """Neighbouring layers that can be compared."""
    return [(i, i + 1) for i in range(len(cka) - 1) if np.isfinite(cka[i, i + 1])]


def _cells(cka: FloatArray) -> list[Cell]:
    return [(int(i), int(j)) for i, j in np.argwhere(np.isfinite(cka))]


def _others(n: int) -> str:
    return f" and {n} other {'pair' if n == 1 else 'pairs'}" if n else ""


def _both(found: Alike, i: int, j: int) -> str:
    """Linear CKA of two layers, and debiased where it is defined."""
    debiased = float(found.debiased[i, j])
    beside = f", debiased {bold(debiased)}" if np.isfinite(debiased) else ""
    return f"linear CKA {bold(found.cka[i, j])}{beside}"


def _within(found: Alike, many: str) -> str:
    if len(found.cka) == 1:
        return f"{many}, there is one layer alone and nothing to compare it with."
    steps = _steps(found.cka)
    values = [float(found.cka[step]) for step in steps]
    last = len(found.cka) - 1
    ends = ""
    if last > 1 and np.isfinite(found.cka[0, last]):
        ends = f"; the first and the last have {_both(found, 0, last)}"
    if not steps:
        return f"{many}, no two neighbouring layers can be compared{ends}."
    if len(steps) == 1:
        i, j = steps[0]
        return f"{many}, layers {i} and {j} have {_both(found, i, j)}{ends}."
    if are_alike(values):
        each = span(values, bold)
        return f"{many}, neighbouring layers are about equally alike (linear CKA {each}){ends}."
    best = leading([-value for value in values])
    i, j = steps[best[0]]
    return (
        f"{many}, neighbouring layers differ most between layers {i} and {j} "
        f"({_both(found, i, j)}){_as_far(len(best) - 1)}{ends}."
    )


def _as_far(n: int) -> str:
    return f" and about as much between {n} other {'pair' if n == 1 else 'pairs'}" if n else ""


def _between(found: Alike, names: tuple[str, str], many: str) -> str:
    cells, (ours, theirs) = _cells(found.cka), (escape(name) for name in names)
    values = [float(found.cka[cell]) for cell in cells]
    last = ""
    if np.isfinite(found.cka[-1, -1]) and found.cka.size > 1:
        ends = len(found.cka) - 1, found.cka.shape[1] - 1
        last = f"; their last layers have {_both(found, *ends)}"
    if len(cells) > 1 and are_alike(values):
        each = span(values, bold)
        return (
            f"{many}, every layer of {ours} is about as like every layer of {theirs} "
            f"(linear CKA {each}){last}."
        )
    best = leading(values)
    i, j = cells[best[0]]
    pair = f"layer {i} of {ours} and layer {j} of {theirs}{_others(len(best) - 1)}"
    said = "are most alike" if len(cells) > 1 else "are alike"
    return f"{many}, {pair} {said} ({_both(found, i, j)}){last}."


def _bias(found: Alike) -> str:
    """What linear CKA gives for words in any order, and that debiased CKA gives nothing there."""
    chance = bold(float(np.nanmean(found.shuffled)))
    shuffled = f"With the words of one side shuffled, linear CKA averages {chance}"
    if found.n_words < LEAST_WORDS:
        return f"{shuffled}; debiased CKA, which has no such bias, needs {LEAST_WORDS} words."
    if not np.isfinite(found.debiased).any():
        return f"{shuffled}; debiased CKA is not defined for these words."
    return f"{shuffled}; debiased CKA averages 0 over all orders of the words."
