"""The sentences of Start here: answers to the questions that everybody asks."""

from __future__ import annotations

import numpy as np

from contextlens.analysis.similarity import Comparison, Pair
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, two
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import (
    EQUAL,
    NOISE,
    side_of,
)
from contextlens.ui.widgets.comparison.ruler import RulerShown, ruler_reading


def drawn_items(comparison: Comparison) -> list[int]:
    """Return the words in the picture: those of the sentences, or one and its references."""
    in_sentences = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    return in_sentences if len(in_sentences) > 1 else list(range(len(comparison.items)))


def drawn_pairs(comparison: Comparison) -> list[Pair]:
    """Return the pairs whose distances the picture shows: the first word with each other one."""
    first, *others = drawn_items(comparison)
    return [Pair(first, other) for other in others]


def why(portrait: Portrait, pair: Pair) -> Claim:
    """The reason for the distance between the two words."""
    along = portrait.comparison.along(pair)
    items = [portrait.comparison.items[i] for i in (pair.first, pair.second)]
    start, now = float(along[0]), portrait.cosine(pair)
    n_contexts = sum(item.has_context for item in items)
    if along.min() >= EQUAL and len(along) > 1:
        verdict = "equal"
    elif portrait.row == 0:
        verdict = "start" if n_contexts else "start_alone"
    elif not n_contexts:
        verdict = "alone"
    elif start >= EQUAL and start - now >= NOISE:
        verdict = "context"
    else:
        verdict = "moved" if n_contexts == 2 else "moved_one"
    measure = _measure(portrait.comparison)
    with_context = next((item for item in items if item.has_context), items[0])
    return claim(
        f"home.why.{verdict}",
        measure=measure,
        start=start,
        now=now,
        layer=portrait.layer,
        word=quoted(with_context.word),
        sentence=with_context.label,
    )


def how_much(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> Claim:
    """The meaning of the cosine, compared with pairs of known kinds, or else with random pairs."""
    if ruler is not None:
        return ruler_reading(ruler)
    cosine, band = portrait.cosine(pair), portrait.meaning.band(pair)
    measure = _measure(portrait.comparison)
    numbers = {"Measure": measure[:1].upper() + measure[1:], "cosine": cosine}
    if band is None or cosine >= EQUAL:
        return claim("ruler.equal" if cosine >= EQUAL else "ruler.alone", **numbers)
    side = {1: "above", 0: "within", -1: "below"}[side_of(cosine, band, portrait.row)]
    low, high = float(band.low[portrait.row]), float(band.high[portrait.row])
    return claim(f"ruler.{side}", low=low, high=high, **numbers)


def parting_titles(comparison: Comparison) -> list[str]:
    """Return the finding of the picture at each layer."""
    pairs, measure = drawn_pairs(comparison), _measure(comparison)
    cosines = np.stack([comparison.along(pair) for pair in pairs])
    first = comparison.items[pairs[0].first].label
    titles = []
    for layer, low, high in zip(
        comparison.layers, cosines.min(axis=0).tolist(), cosines.max(axis=0).tolist(), strict=True
    ):
        one_number = "gap" if two(low) == two(high) else "gaps"
        titles.append(
            say(
                f"home.picture.{'equal' if low >= EQUAL else one_number}",
                Measure=measure[:1].upper() + measure[1:],
                cosine=low,
                low=low,
                high=high,
                first=first,
                layer=layer,
            )
        )
    return titles


def _measure(comparison: Comparison) -> str:
    return say("similarity.centred" if comparison.centred else "similarity.plain")
