"""The sentences of Start here: a headline, and answers to the questions that everybody asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.ruler import Verdict
from contextlens.analysis.similarity import Comparison, Pair
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, shortened, two
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import EQUAL, NOISE, meaning_in_context, side_of
from contextlens.ui.widgets.comparison.ruler import RulerShown, ruler_reading

_WORD = 16  # characters of a word in a headline


def drawn_items(comparison: Comparison) -> list[int]:
    """Return the words in the picture: those of the sentences, or one and its references."""
    in_sentences = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    return in_sentences if len(in_sentences) > 1 else list(range(len(comparison.items)))


def drawn_pairs(comparison: Comparison) -> list[Pair]:
    """Return the pairs whose distances the picture shows: the first word with each other one."""
    first, *others = drawn_items(comparison)
    return [Pair(first, other) for other in others]


def headline(portrait: Portrait, ruler: RulerShown | None) -> Claim:
    """Return the model's view of the sentences' words, in everyday words; plain text."""
    pair, *others = portrait.comparison.pairs("sentences")
    return _of_several(portrait, [pair, *others]) if others else _of_pair(portrait, pair, ruler)


def _of_several(portrait: Portrait, pairs: Sequence[Pair]) -> Claim:
    """Return the most similar pair, if it is clearly more similar than all others."""
    if any(map(portrait.comparison.has_unknown, pairs)):
        return claim("home.headline.unknown")
    best, second, *others = sorted(pairs, key=portrait.cosine, reverse=True)
    if portrait.cosine(best) - portrait.cosine(second) < NOISE:
        lowest = portrait.cosine([second, *others][-1])
        is_alike = portrait.cosine(best) - lowest < NOISE
        return claim(f"home.headline.{'all alike' if is_alike else 'no closest'}")
    first, other = (portrait.comparison.items[i] for i in (best.first, best.second))
    return claim(
        "home.headline.closest",
        a=first.label,
        b=other.label,
        first=shortened(first.word, _WORD),
        second=shortened(other.word, _WORD),
    )


def _of_pair(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> Claim:
    first, second = (portrait.comparison.items[i] for i in (pair.first, pair.second))
    if portrait.comparison.has_unknown(pair):
        return claim("home.headline.unknown")
    if first.word.casefold() != second.word.casefold():
        return claim(f"home.headline.{_of_two_words(portrait, pair)}")
    if portrait.cosine(pair) >= EQUAL:
        return claim("home.headline.equal")
    if ruler is not None and ruler.verdict is not Verdict.CANNOT_TELL:
        return claim(f"home.headline.{ruler.verdict.value}")
    closer = _closer(portrait, pair)
    if closer is None:
        return claim("home.headline.cannot tell")
    near = {"first": closer[0].reference, "second": closer[1].reference, "word": first.word}
    short = {name: shortened(word, _WORD) for name, word in near.items()}
    return claim("home.headline.references", a=first.label, b=second.label, **short)


def _of_two_words(portrait: Portrait, pair: Pair) -> str:
    band, cosine = portrait.meaning.band(pair), portrait.cosine(pair)
    if portrait.comparison.are_twins(pair):
        is_same = portrait.comparison.along(pair).min() >= EQUAL
        return f"two words, {'same' if is_same else 'twins'}"
    if cosine >= EQUAL:
        return "two words, equal"
    if band is None:
        return "two words"
    is_similar = side_of(cosine, band, portrait.row) == 1
    return f"two words, {'similar' if is_similar else 'unrelated'}"


@dataclass(frozen=True)
class _Closer:
    """A reference that is closer to one of two words than to the other."""

    gap: float
    reference: str
    near: float
    far: float


def _closer(portrait: Portrait, pair: Pair) -> tuple[_Closer, _Closer] | None:
    """For each of two words, a reference closer to it than to the other; None unless both have one.

    Closer means by at least `NOISE`, and more similar than random pairs of words. If a word has
    several, the one with the widest gap counts.
    """
    comparison, row = portrait.comparison, portrait.row
    widest: dict[int, _Closer] = {}
    for j, item in enumerate(comparison.items):
        if item.role != "reference" or item.unknown:
            continue
        cosines = {i: float(comparison.cosines[row, i, j]) for i in (pair.first, pair.second)}
        near, far = sorted(cosines, key=lambda i: -cosines[i])
        band, gap = portrait.meaning.band(Pair(near, j)), cosines[near] - cosines[far]
        if band is None or cosines[near] <= band.high[row] or gap < NOISE:
            continue
        if near not in widest or gap > widest[near].gap:
            widest[near] = _Closer(gap, item.word, cosines[near], cosines[far])
    return (widest[pair.first], widest[pair.second]) if len(widest) == 2 else None


def evidence(portrait: Portrait) -> Claim | None:
    """Return the numbers behind the headline; None if other answers have them."""
    pair, *others = portrait.comparison.pairs("sentences")
    if not (others or portrait.comparison.has_unknown(pair) or portrait.comparison.are_twins(pair)):
        return leaning(portrait, pair)
    return meaning_in_context(portrait.comparison, portrait.layer, portrait.meaning.band)[0]


def leaning(portrait: Portrait, pair: Pair) -> Claim | None:
    """Both words' similarities to the references of `_closer`; None if there are none."""
    closer = _closer(portrait, pair)
    if closer is None:
        return None
    first, second = (portrait.comparison.items[i] for i in (pair.first, pair.second))
    of_first, of_second = closer
    names = {"word": first.word, "first": of_first.reference, "second": of_second.reference}
    return claim(
        "home.leaning",
        **{name: quoted(word) for name, word in names.items()},
        a=first.label,
        b=second.label,
        first_a=of_first.near,
        first_b=of_first.far,
        second_a=of_second.far,
        second_b=of_second.near,
    )


def why(portrait: Portrait, pair: Pair) -> Claim:
    """The reason for the distance between the two words."""
    along = portrait.comparison.along(pair)
    start, now = float(along[0]), portrait.cosine(pair)
    numbers = {"start": start, "now": now, "layer": portrait.layer}
    if portrait.row == 0:
        verdict = "start"
    elif start >= EQUAL and start - now >= NOISE:
        verdict = "context"
    else:
        verdict = "moved"
    return claim(f"home.why.{verdict}", measure=_measure(portrait.comparison), **numbers)


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
