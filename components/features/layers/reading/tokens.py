"""Layer by layer, said in words: tokens over the layers, nearest tokens, and pairs of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import bold, quoted, two
from components.core.schema import FloatArray
from components.features.layers.measures.tokens import Measure, Neighbours

__all__ = [
    "layers_picture_title",
    "layers_reading",
    "nearest_reading",
    "pairs_reading",
    "pairs_title",
]

_STEADY = 0.02


def layers_picture_title(measure: Measure, first: str) -> str:
    """The finding of the main picture, from the averages over the text's own tokens."""
    averages, layers = measure.averages, measure.layers
    if not layers:
        return "There is no layer to compare with"
    if measure.kind == "before":
        row = int(averages.argmin())
        return f"Layer {layers[row]} changes tokens most (cosine {two(averages[row])})"
    if measure.kind == "length":
        row = int(averages.argmax())
        return f"Longest vectors: layer {layers[row]} (average {two(averages[row])})"
    if measure.kind == "first":
        row = int(averages.argmax())
        where = f"{first} at layer {layers[row]} ({two(averages[row])})"
        return f"Tokens are most like {where}"
    return f"At layer {layers[-1]}, the cosine to layer 0 averages {two(averages[-1])}"


def layers_reading(
    measure: Measure, labels: Sequence[str], layer: int, baseline: FloatArray | None
) -> list[str]:
    """One to three sentences on the chosen layer, and on how it is over all layers.

    Args:
        measure: what the picture shows.
        labels: what is written on each token.
        layer: the chosen one.
        baseline: the random pairs' average cosine at each layer from 0 on, where it is known.
    """
    none = [] if measure.own.any() else [_nothing(labels)]
    if layer not in measure.layers:
        return [*none, "Layer 0 has no layer before it to compare with. Choose a later one."]
    said = [_extremes(measure, labels, layer), _yardstick(measure, layer, baseline)]
    return [*none, *(sentence for sentence in [*said, _trend(measure)] if sentence)]


def nearest_reading(
    label: str,
    names: Sequence[tuple[str, str]],
    found: Neighbours,
    layers: Sequence[int],
    baseline: FloatArray | None,
) -> list[str]:
    """Which token is nearest to the picked one at the first and the last layer.

    Args:
        label: what is written on the picked token.
        names: for each candidate, what is written on it, and its sentence's letter.
        found: the nearest ones.
        layers: the layer of each row of `found`.
        baseline: the random pairs' average cosine at each layer, where it is known.
    """
    if not found.indices.shape[1]:
        return [f"There is no other token to compare {quoted(label)} with. Add a sentence."]
    first, last = (names[found.indices[row, 0]] for row in (0, -1))
    start, end = (
        f"{bold(found.cosines[row, 0])} at layer {layers[row]}" for row in (0, len(layers) - 1)
    )
    here = "" if baseline is None else f" (random pairs of words there: {two(baseline[-1])})"
    own = quoted(label)
    if bool((found.indices[:, 0] == found.indices[0, 0]).all()):
        said = f"{_place(first)} is nearest to {own} at every layer: {start}, {end}"
    elif first == last:
        said = f"{_place(first)} is nearest to {own} at both ends, not between: {start}, {end}"
    else:
        said = f"Nearest to {own} is {_place(first)} with {start}, but {_place(last)} with {end}"
    return [f"{said}{here}."]


def _place(name: tuple[str, str]) -> str:
    return f"{quoted(name[0])} in {name[1]}"


def pairs_reading(
    matrix: FloatArray, labels: Sequence[str], own: np.ndarray, layer: int, average: float | None
) -> list[str]:
    """The two own tokens most alike at a layer and the two least alike, beside random pairs."""
    places = np.flatnonzero(own)
    if len(places) < 2:
        return ["A pair needs two tokens of the text, and there are not two."]
    rows, columns = np.triu_indices(len(places), 1)
    cosines = matrix[places[rows], places[columns]]
    best, worst = (
        " and ".join(quoted(labels[places[side[at]]]) for side in (rows, columns))
        for at in (int(cosines.argmax()), int(cosines.argmin()))
    )
    here = "" if average is None else f"; random pairs of words average {two(average)}"
    if len(cosines) == 1:
        return [f"At layer {layer}, {best} have a cosine of {bold(cosines[0])}{here}."]
    return [
        f"At layer {layer}, {best} are most alike ({bold(cosines.max())}), {worst} least "
        f"({bold(cosines.min())}); all pairs average {bold(cosines.mean())}{here}."
    ]


def pairs_title(matrix: FloatArray, labels: Sequence[str], own: np.ndarray) -> str:
    """The finding of the picture of pairs at one layer."""
    places = np.flatnonzero(own)
    if len(places) < 2:
        return "Cosine of every two tokens"
    rows, columns = np.triu_indices(len(places), 1)
    cosines = matrix[places[rows], places[columns]]
    best = int(cosines.argmax())
    pair = f"{labels[places[rows[best]]]} and {labels[places[columns[best]]]}"
    return f"Most alike: {pair} ({two(cosines[best])})"


def _nothing(labels: Sequence[str]) -> str:
    names = ", ".join(quoted(label) for label in dict.fromkeys(labels))
    return f"This text has no token of its own: what you see is only {names}."


def _extremes(measure: Measure, labels: Sequence[str], layer: int) -> str:
    values = measure.values[measure.row(layer)]
    counted = measure.counted
    if measure.kind == "start" and layer == 0:
        return "Layer 0 is where every token starts, so its cosine to itself is 1."
    high, low = (
        int(counted[pick]) for pick in (values[counted].argmax(), values[counted].argmin())
    )
    ends = {
        "start": ("is still most like its own vector of layer 0", "least"),
        "before": ("keeps the most of the layer before", "the least"),
        "first": (f"is most like {quoted(labels[0])}", "least"),
        "length": ("has the longest vector", "the shortest"),
    }[measure.kind]
    if high == low and len(counted) > 1:
        return f"At layer {layer} every token of the text has the same: {bold(values[high])}."
    if high == low:
        single = {
            "start": "has a cosine of {} to its own vector of layer 0",
            "before": "has a cosine of {} to its vector of the layer before",
            "first": f"has a cosine of {{}} to {quoted(labels[0])}",
            "length": "has a vector of length {}",
        }[measure.kind].format(bold(values[high]))
        return f"At layer {layer}, {quoted(labels[high])} {single}."
    return (
        f"At layer {layer}, of the text's own tokens {quoted(labels[high])} {ends[0]} "
        f"({bold(values[high])}), "
        f"{quoted(labels[low])} {ends[1]} ({bold(values[low])})."
    )


def _yardstick(measure: Measure, layer: int, baseline: FloatArray | None) -> str:
    if measure.kind == "first" and baseline is not None:
        return f"Random pairs of words average {two(baseline[layer])} there."
    if measure.chance is None or layer == 0:
        return ""
    chance = measure.chance[measure.row(layer)]
    there = "at layer 0" if measure.kind == "start" else "in the layer before"
    return f"To the other tokens {there} the average is {two(chance)}."


def _trend(measure: Measure) -> str:
    averages, layers = measure.averages, measure.layers
    if len(layers) < 2:
        return ""
    if measure.kind == "before":
        rows = int(averages.argmin()), int(averages.argmax())
        least, most = layers[rows[0]], layers[rows[1]]
        return (
            f"On average layer {least} changes the tokens most ({bold(averages[rows[0]])}), "
            f"layer {most} least ({bold(averages[rows[1]])})."
        )
    noun = "length" if measure.kind == "length" else "cosine"
    first, last = float(averages[0]), float(averages[-1])
    if abs(last - first) < _STEADY:
        return f"The average {noun} ends where it began: {bold(first)} and {bold(last)}."
    moves = "falls" if last < first else "rises"
    steps = np.diff(averages)
    steadily = bool((steps < 0).all() if last < first else (steps > 0).all())
    how = "at every layer, " if steadily else "over the layers, though not at each, "
    return (
        f"The average {noun} {moves} {how}from {bold(first)} at layer {layers[0]} to "
        f"{bold(last)} at layer {layers[-1]}."
    )
