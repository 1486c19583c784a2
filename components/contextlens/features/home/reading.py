"""The sentences of Start here besides its answer, and its picture in words."""

from __future__ import annotations

from typing import Literal

from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import listed_names
from contextlens.core.schema import FloatArray
from contextlens.features.home.flows import movers
from contextlens.features.home.widgets import Picture
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import (
    EQUAL,
    meaning_in_context,
    side_of,
    visible_claims,
)
from contextlens.ui.widgets.comparison.ruler import RulerShown, ruler_reading


def drawn_pairs(comparison: Comparison) -> list[Pair]:
    """Return the pairs whose similarity is drawn if nothing tells the meanings: with the first."""
    return [pair for pair in comparison.pairs() if pair.first == 0 and _is_drawn(comparison, pair)]


def _is_drawn(comparison: Comparison, pair: Pair) -> bool:
    """Return True for a sentence's word, or for a reference if there is one sentence alone."""
    is_alone = sum(item.role == "sentence" for item in comparison.items) == 1
    return is_alone or comparison.items[pair.second].role == "sentence"


def of_one(portrait: Portrait) -> list[Claim]:
    """Return what the references say of a single sentence's word."""
    layer, band = portrait.layer, portrait.meaning.band
    return visible_claims(meaning_in_context(portrait.comparison, layer, band))


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


def in_words(picture: Picture) -> str:
    """Return the picture in words, for readers who cannot see it."""
    sentences = [
        f"{row.label}: {movers(row, picture.changes_at(i, picture.at))}."
        for i, row in enumerate(picture.rows)
    ]
    tug = picture.tug
    if tug is None:
        return " ".join([*sentences, *(_alike(picture, *pair) for pair in picture.alike)])
    ends = {"left": tug.left, "right": tug.right}
    sentences.append(say("home.tug.line", **ends))
    for i, row in enumerate(picture.rows):
        place, other = float(tug.places[i, picture.at] - tug.middle), tug.others[i]
        if other is not None:
            sentences.append(say("home.tug.third", label=row.label, other=other))
            continue
        names = {"label": row.label, "place": place, "end": tug.left if place < 0 else tug.right}
        is_clear = tug.is_clear[i, picture.at]
        case: Literal["at", "middle", "gains", "even"]
        if tug.is_of_senses:
            case = "at" if is_clear else "middle"
        else:
            case = "gains" if is_clear else "even"
        sentences.append(say(f"home.tug.{case}", **names, **ends))
    return " ".join(sentences)


def _alike(picture: Picture, first: Item, second: Item, along: FloatArray) -> str:
    pair = listed_names([first.name, second.name])
    return say("home.alike.alt", pair=pair, cosine=float(along[picture.at]))


def _measure(comparison: Comparison) -> str:
    return say("similarity.centred" if comparison.centred else "similarity.plain")
