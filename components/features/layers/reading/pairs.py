"""Layer by layer, said in words: the tokens nearest to one, and tokens in pairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from components.content.wording import (
    MARGIN,
    are_alike,
    bold,
    leading,
    occurrence,
    placed,
    several,
    span,
    two,
)
from components.core.schema import FloatArray
from components.features.layers.measures.tokens import Neighbours

__all__ = ["nearest_reading", "pairs_reading", "pairs_title"]

Names = Sequence[tuple[str, str]]


def nearest_reading(
    picked: int,
    names: Names,
    found: Neighbours,
    layers: Sequence[int],
    baseline: FloatArray | None,
) -> list[str]:
    """Which token is nearest to the picked one at the first and the last layer.

    Args:
        picked: the place of the picked token.
        names: for each token of all sentences, what is written on it, and its sentence's letter.
        found: the nearest ones, by their places.
        layers: the layer of each row of `found`.
        baseline: the random pairs' average cosine at each layer, where it is known.
    """
    own = _named(picked, names)
    if not found.indices.shape[1]:
        return [f"There is no other token of a text to compare {own} with. Write more text."]
    first, last = found.tied[0], found.tied[-1]
    start, end = (
        f"{bold(found.cosines[row, 0])} at layer {layers[row]}" for row in (0, len(layers) - 1)
    )
    here = "" if baseline is None else f" (random pairs of words there: {two(baseline[-1])})"
    who = _all_of(first, names)
    if first == last:
        where = _where(found.tied)
        are = {1: "is", 2: "are both"}.get(len(first), "are all")
        return [f"{who} {are} nearest to {own} {where}: {start}, {end}{here}."]
    are = "is" if len(first) == 1 else "are"
    then = _all_of(last, names)
    return [f"Nearest to {own} {are} {who} with {start}, but {then} with {end}{here}."]


def pairs_reading(
    matrix: FloatArray, labels: Sequence[str], own: np.ndarray, layer: int, average: float | None
) -> list[str]:
    """The own tokens most alike at a layer and those least alike, beside random pairs."""
    pairs, cosines = _pairs(matrix, own)
    if not len(cosines):
        return ["A pair needs two tokens of the text, and there are not two."]
    here = "" if average is None else f"; random pairs of words average {two(average)}"
    if len(cosines) == 1:
        both = _both(pairs[0], labels)
        return [f"At layer {layer}, {both} have a cosine of {bold(cosines[0])}{here}."]
    whole = f"all pairs average {bold(float(cosines.mean()))}{here}"
    if are_alike(_ends(cosines)):
        each = span(_ends(cosines), bold)
        return [
            f"At layer {layer}, all pairs of the text's tokens are about alike ({each}); {whole}."
        ]
    ends = _leading(cosines), _leading(-cosines)
    most, least = (_some(pairs[side], labels) for side in ends)
    high, low = (span(_ends(cosines[side]), bold) for side in ends)
    return [f"At layer {layer}, {most} are most alike ({high}), {least} least ({low}); {whole}."]


def pairs_title(matrix: FloatArray, labels: Sequence[str], own: np.ndarray) -> str:
    """The finding of the picture of pairs at one layer."""
    pairs, cosines = _pairs(matrix, own)
    if not len(cosines):
        return "Cosine of every two tokens"
    if len(cosines) == 1:
        return f"Cosine of {_both(pairs[0], labels, bare=True)}: {two(cosines[0])}"
    if are_alike(_ends(cosines)):
        return f"All pairs are about alike ({span(_ends(cosines))})"
    best = _leading(cosines)
    most = _some(pairs[best], labels, bare=True)
    return f"Most alike: {most} ({span(_ends(cosines[best]))})"


def _named(place: int, names: Names) -> str:
    """A token by its label, with its position in its sentence where the label is there twice."""
    letter = names[place][1]
    labels = [label for label, other in names if other == letter]
    start = next(i for i, name in enumerate(names) if name[1] == letter)
    return placed(names[place][0], place - start, labels)


def _all_of(places: Collection[int], names: Names) -> str:
    return several([f"{_named(i, names)} in {names[i][1]}" for i in sorted(places)])


def _where(tied: Sequence[frozenset[int]]) -> str:
    """At which layers those are nearest that are so at both ends."""
    ends, between = tied[0], tied[1:-1]
    if all(others == ends for others in between):
        return "at every layer"
    if all(others >= ends for others in between):
        return "at every layer, though others are as near at some"
    if all(others.isdisjoint(ends) for others in between):
        return "at both ends, but at no layer between"
    return "at both ends, but not at every layer between"


def _pairs(matrix: FloatArray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n_pairs, 2) positions of every two own tokens, and (n_pairs,) float64 cosines of theirs."""
    places = np.flatnonzero(own)
    pairs = places[np.column_stack(np.triu_indices(len(places), 1))]
    return pairs, matrix[pairs[:, 0], pairs[:, 1]].astype(np.float64)


def _leading(cosines: np.ndarray) -> list[int]:
    """Which lead, looked for among those that can: 512 tokens have 130,000 pairs."""
    near = np.flatnonzero(cosines >= cosines.max() - 2 * MARGIN)
    return [int(near[i]) for i in leading(cosines[near].tolist())]


def _ends(cosines: np.ndarray) -> list[float]:
    return [float(cosines.min()), float(cosines.max())]


def _both(pair: Sequence[int], labels: Sequence[str], *, bare: bool = False) -> str:
    name = occurrence if bare else placed
    return " and ".join(name(labels[i], i, labels) for i in pair)


def _some(pairs: np.ndarray, labels: Sequence[str], *, bare: bool = False) -> str:
    """The first pair, and how many others."""
    others = {1: "", 2: " and one other pair"}
    more = others.get(len(pairs), f" and {len(pairs) - 1} other pairs")
    return f"{_both(pairs[0], labels, bare=bare)}{more}"
