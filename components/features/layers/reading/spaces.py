"""Layer by layer, said in words: whole layers compared, and how their variance is spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.analysis.baseline import Band
from components.content.wording import bold, escape, percent, two
from components.core.schema import FloatArray
from components.features.layers.measures.spaces import Alike

__all__ = ["alike_reading", "alike_title", "spread_reading", "spread_titles"]

_CLOSE = 0.1  # so little above shuffled words, or above 0, says nothing


def alike_title(found: Alike, *, same: bool) -> str:
    """The finding of the picture of layers by layers."""
    if not np.isfinite(found.cka).any():
        return "Too little text to compare layers"
    if same:
        row, gap = _widest_step(found.cka)
        if row is None:
            return "One layer alone"
        return f"Widest gap: layers {row} and {row + 1} ({two(gap)})"
    i, j = _best(found.cka)
    return f"Most alike: layer {i} and layer {j} ({two(found.cka[i, j])})"


def alike_reading(found: Alike, names: tuple[str, str], *, same: bool) -> list[str]:
    """Which layers are most and least alike, and what shuffled words would give.

    Args:
        found: CKA over the same words.
        names: the two models' titles.
        same: whether both are one model.
    """
    if not np.isfinite(found.cka).any():
        n = found.n_words
        those = "is one" if n == 1 else f"are {n or 'none'}"
        return [f"Layers are compared over at least two words that differ; here there {those}."]
    many = f"Over {found.n_words} word{'' if found.n_words == 1 else 's'}"
    chance = float(np.nanmean(found.shuffled))
    said = [_within(found, many) if same else _between(found, names, many)]
    own = found.cka[np.eye(len(found.cka)) == 0] if same else found.cka
    lifted = f"With the words of one side shuffled, CKA still averages **{two(chance)}**"
    if not own.size:
        return said
    if float(np.nanmax(own)) - chance < _CLOSE:
        return [*said, f"{lifted}: so few words tell nothing about these layers."]
    return [*said, f"{lifted}: what lies above that is the layers' own."]


def spread_titles(layers: Sequence[int], band: Band | None, shares: FloatArray) -> tuple[str, str]:
    """The findings of the two pictures: random pairs, and the first components."""
    pairs = "Random pairs: being measured"
    if band is not None:
        row = int(band.mean.argmax())
        pairs = f"Random words most alike: layer {layers[row]} ({two(band.mean[row])})"
    first = shares[:, 0]
    if not np.isfinite(first).any():
        return pairs, "No variance to share"
    row = int(np.nanargmax(first))
    return pairs, f"One direction holds most at layer {layers[row]} ({percent(first[row])})"


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
    if mean > _CLOSE:
        return "its vectors have a direction in common, which lifts every cosine"
    return "near 0, so its vectors have hardly a direction in common"


def _widest_step(cka: FloatArray) -> tuple[int | None, float]:
    steps = np.array([cka[i, i + 1] for i in range(len(cka) - 1)])
    if not len(steps) or not np.isfinite(steps).any():
        return None, float("nan")
    row = int(np.nanargmin(steps))
    return row, float(steps[row])


def _best(cka: FloatArray) -> tuple[int, int]:
    i, j = np.unravel_index(int(np.nanargmax(cka)), cka.shape)
    return int(i), int(j)


def _within(found: Alike, many: str) -> str:
    row, gap = _widest_step(found.cka)
    if row is None:
        return f"{many}, there is one layer alone and nothing to compare it with."
    ends = bold(found.cka[0, -1])
    return (
        f"{many}, neighbouring layers differ most between layers {row} and {row + 1} "
        f"(linear CKA {bold(gap)}); the first and the last have {ends}."
    )


def _between(found: Alike, names: tuple[str, str], many: str) -> str:
    i, j = _best(found.cka)
    ours, theirs = (escape(name) for name in names)
    last = bold(found.cka[-1, -1])
    return (
        f"{many}, layer {i} of {ours} and layer {j} of {theirs} are most alike (linear CKA "
        f"{bold(found.cka[i, j])}); their last layers have {last}."
    )
