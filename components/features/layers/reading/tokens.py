"""Layer by layer, said in words: tokens over the layers.

One is called more than another only where they are further apart than a margin: 0.01 for cosines,
a hundredth of the longest for lengths. Names within it share the place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import (
    MARGIN,
    are_alike,
    bold,
    leading,
    listed,
    placed,
    quoted,
    several,
    span,
    two,
)
from components.core.schema import FloatArray
from components.features.layers.measures.tokens import Measure

__all__ = ["layers_picture_title", "layers_reading"]

_OF_A_LENGTH = 0.01


def layers_picture_title(measure: Measure, first: str) -> str:
    """The finding of the main picture, from the averages over the text's own tokens."""
    averages, layers = measure.averages.tolist(), measure.layers
    if not layers:
        return "There is no layer to compare with"
    if measure.kind == "start":
        return f"At layer {layers[-1]}, average similarity to layer 0: {two(averages[-1])}"
    if are_alike(averages, _margin(averages, measure)):
        return f"{_all_alike_title(measure, first)} ({span(averages)})"
    best = _leading(averages, measure)
    where, number = listed(sorted(layers[i] for i in best)), span([averages[i] for i in best])
    if measure.kind == "before":
        verb = "turns" if len(best) == 1 else "turn"
        return f"{where.capitalize()} {verb} the tokens' vectors most (cosine {number})"
    if measure.kind == "length":
        return f"Longest vectors: {where} (average {number})"
    return f"Tokens are most like {first} at {where} ({number})"


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


def _margin(values: Sequence[float], measure: Measure) -> float:
    return max(MARGIN, _OF_A_LENGTH * max(values)) if measure.kind == "length" else MARGIN


def _leading(averages: Sequence[float], measure: Measure) -> list[int]:
    """The rows that the picture is about: the longest, the most alike, or what turns most."""
    signed = [-value for value in averages] if measure.kind == "before" else averages
    return leading(signed, _margin(averages, measure))


def _all_alike_title(measure: Measure, first: str) -> str:
    if len(measure.layers) == 1:
        number = {"before": "Average cosine to the layer before", "length": "Average length"}
        return f"{number.get(measure.kind, f'Average cosine to {first}')}, one layer alone"
    return {
        "before": "All layers turn the tokens' vectors about alike",
        "length": "Vectors are about as long at every layer",
    }.get(measure.kind, f"Tokens are about as like {first} at every layer")


def _nothing(labels: Sequence[str]) -> str:
    names = ", ".join(quoted(label) for label in dict.fromkeys(labels))
    return f"This text has no token of its own: what you see is only {names}."


def _extremes(measure: Measure, labels: Sequence[str], layer: int) -> str:
    """Which tokens have most and least of the measure at a layer."""
    counted = measure.counted
    values = measure.values[measure.row(layer), counted].tolist()
    if measure.kind == "start" and layer == 0:
        return "Layer 0 is where every token starts, so its cosine to itself is 1."
    if len(counted) == 1:
        return f"At layer {layer}, {_single(measure, labels, int(counted[0]), values[0])}."
    margin = _margin(values, measure)
    many = _predicates(measure, labels, plural=True)
    if are_alike(values, margin):
        all_of = "all of the text's own tokens" if measure.own.any() else "all of these tokens"
        return f"At layer {layer}, {all_of} {many[2]} ({span(values, bold)})."
    ends = leading(values, margin), leading([-value for value in values], margin)
    most, least = (several([placed(labels[i], i, labels) for i in counted[own]]) for own in ends)
    high, low = (span([values[i] for i in own], bold) for own in ends)
    most_of, least_of, _ = many if len(ends[0]) > 1 else _predicates(measure, labels, plural=False)
    whose = "of the text's own tokens " if measure.own.any() else ""
    return f"At layer {layer}, {whose}{most} {most_of} ({high}), {least} {least_of} ({low})."


def _predicates(measure: Measure, labels: Sequence[str], *, plural: bool) -> tuple[str, str, str]:
    """What is said of tokens with most of the measure, with least, and of all where alike."""
    to_be, own = ("are", "their own vectors") if plural else ("is", "its own vector")
    if measure.kind == "length":
        return (
            "have the longest vectors" if plural else "has the longest vector",
            "the shortest",
            "have vectors about as long",
        )
    like = {"start": f"{own} of layer 0", "before": f"{own} of the layer before"}.get(
        measure.kind, placed(labels[0], 0, labels)
    )
    return f"{to_be} most like {like}", "least", f"are about as like {like}"


def _single(measure: Measure, labels: Sequence[str], at: int, value: float) -> str:
    name = placed(labels[at], at, labels)
    if measure.kind == "length":
        return f"{name} has a vector of length {bold(value)}"
    to = {
        "start": "its own vector of layer 0",
        "before": "its own vector of the layer before",
    }.get(measure.kind, placed(labels[0], 0, labels))
    return f"{name} has a cosine of {bold(value)} to {to}"


def _yardstick(measure: Measure, layer: int, baseline: FloatArray | None) -> str:
    if measure.kind == "first" and baseline is not None:
        return f"Random pairs of words average {two(baseline[layer])} there."
    if measure.chance is None or layer == 0:
        return ""
    chance = measure.chance[measure.row(layer)]
    there = "at layer 0" if measure.kind == "start" else "in the layer before"
    return f"To the other tokens {there} the average is {two(chance)}."


def _trend(measure: Measure) -> str:
    averages, layers = measure.averages.tolist(), measure.layers
    if len(layers) < 2:
        return ""
    if measure.kind == "before":
        return _turns(averages, layers)
    noun = "length" if measure.kind == "length" else "cosine"
    margin, ends = _margin(averages, measure), (averages[0], averages[-1])
    first, last = (
        f"{bold(end)} at layer {at}"
        for end, at in zip(ends, layers[:: len(layers) - 1], strict=True)
    )
    if are_alike(ends, margin):
        return f"The average {noun} is about the same at both ends: {first} and {last}."
    moves = "falls" if ends[1] < ends[0] else "rises"
    return f"The average {noun} {moves} {_how(averages, margin)}from {first} to {last}."


def _turns(averages: Sequence[float], layers: Sequence[int]) -> str:
    """Which layers change the directions of the tokens' vectors most and least."""
    if are_alike(averages):
        return (
            f"On average all layers turn the tokens' vectors about alike ({span(averages, bold)})."
        )
    ends = leading([-value for value in averages]), leading(averages)
    most, least = (listed(sorted(layers[i] for i in own)) for own in ends)
    high, low = (span([averages[i] for i in own], bold) for own in ends)
    verb = "turns" if len(ends[0]) == 1 else "turn"
    return f"On average {most} {verb} the tokens' vectors most ({high}), {least} least ({low})."


def _how(averages: Sequence[float], margin: float) -> str:
    """Whether a rise or fall goes on at every layer, or turns back at one."""
    steps = np.diff(averages) * np.sign(averages[-1] - averages[0])
    if (steps > margin).all():
        return "at every layer, "
    return (
        "over the layers, though not at each, " if (steps < -margin).any() else "over the layers, "
    )
