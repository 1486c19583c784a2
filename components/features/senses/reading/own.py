"""A visitor's own sentence among the contexts of a word, in words."""

from __future__ import annotations

from components.analysis.baseline import Band
from components.content.wording import bold, escape, quoted, two
from components.features.senses.compute.contexts import around
from components.features.senses.compute.own import Fall, Own
from components.features.senses.compute.word import Found

__all__ = ["own_reading"]

_WIDTH = 24


def own_reading(own: Own, found: Found, *, layer: int, band: Band | None = None) -> list[str]:
    """Which context a sentence is nearest to, and the sense or group it falls to: Markdown.

    Args:
        own: the sentence.
        found: the word.
        layer: the layer shown.
        band: cosines of random pairs of words by layer, from 0; None where they are not known.
    """
    if own.problem:
        return [escape(own.problem)]
    said = [_nearest(own, found, layer, band)]
    if own.fall is not None:
        said.append(_falls(own.fall, layer))
    if own.n_more:
        times = "time" if own.n_more == 1 else "times"
        said.append(f"The word occurs there {own.n_more} more {times}; the first counts.")
    return said


def _nearest(own: Own, found: Found, layer: int, band: Band | None) -> str:
    place = own.near[0]
    context = "".join(around(found, place, _WIDTH))
    sense = f", {quoted(found.labels[place])}" if found.labels[place] else ""
    random = ""
    if band is not None and layer < len(band.mean):
        random = f"; random pairs of {band.of} have {two(float(band.mean[layer]))} on average"
    cosine = bold(float(own.cosines[place]))
    return (
        f"The context nearest to your sentence at layer {layer} is {quoted(context, 80)}{sense} "
        f"(cosine {cosine}{random})."
    )


def _falls(fall: Fall, layer: int) -> str:
    if fall.verdict == "unclear":
        return (
            f"At layer {layer} the senses cannot be told apart, so your sentence gets none: the "
            "test does no better there than always guessing one sense."
        )
    first, second = (quoted(name) for name in fall.names[:2])
    a = "an " if fall.kind == "sense" else ""
    kind = "labelled" if a else "grouped"
    if fall.verdict == "unlike":
        return (
            f"It is unlike any {fall.kind} here: its cosine to the nearest, {first}, is "
            f"{bold(fall.cosines[0])}, and 19 of 20 {kind} occurrences have more than "
            f"{two(fall.low_cosine)} to theirs."
        )
    if fall.verdict == "between":
        return (
            f"It lies between two {fall.kind}s, {first} ({bold(fall.cosines[0])}) and {second} "
            f"({bold(fall.cosines[1])}): the margin of {_small(fall.margin)} is smaller than that "
            f"of 9 in 10 {kind} occurrences ({_small(fall.low_margin)})."
        )
    return (
        f"It falls to {first} (cosine {bold(fall.cosines[0])}), ahead of {second} by "
        f"**{_small(fall.margin)}**; 9 in 10 {kind} occurrences have a margin over "
        f"{_small(fall.low_margin)}."
    )


def _small(value: float) -> str:
    """Three decimals: margins are small numbers."""
    return f"{round(float(value), 3) + 0.0:.3f}"
