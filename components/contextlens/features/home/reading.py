"""The sentences of Start here: a headline, and answers to the questions that everybody asks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextlens.analysis.ruler import Verdict
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import isolated, listed_names, quoted, shortened, two
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import (
    EQUAL,
    NOISE,
    Leaning,
    closer_claim,
    leanings,
    meaning_in_context,
    side_of,
)
from contextlens.ui.widgets.comparison.ruler import Fit, RulerShown, ruler_reading

_WORD = 16  # characters of a word in a headline
ASKS_FOR_REFERENCES = frozenset({"home.headline.cannot tell", "home.headline.other references"})
"""The keys of headlines that ask for a word for each meaning."""


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
        return _unknown(portrait)
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
        first=_named(first),
        second=_named(other),
    )


def _of_pair(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> Claim:
    first, second = (portrait.comparison.items[i] for i in (pair.first, pair.second))
    if portrait.comparison.has_unknown(pair):
        return _unknown(portrait)
    names = {
        "a": first.label,
        "b": second.label,
        "first": _named(first),
        "second": _named(second),
    }
    if not portrait.comparison.is_one_word(pair):
        verdict = _of_two_words(portrait, pair)
        return claim(f"home.headline.{verdict}", cosine=portrait.cosine(pair), **names)
    names["word"] = names["first"]
    closer = _closer(portrait, pair)
    if portrait.cosine(pair) >= EQUAL:
        return claim("home.headline.equal", **names)
    if ruler is not None and ruler.verdict is not Verdict.CANNOT_TELL:
        return claim(f"home.headline.{ruler.verdict.value}", **names)
    if closer is not None:
        items = [portrait.comparison.items[leaning.reference] for leaning in closer]
        references = list(map(_named, items))
        names |= {"first": references[0], "second": references[1]}
        return claim("home.headline.references", **names)
    if ruler is not None and ruler.fit is Fit.ABOVE:
        return claim("home.headline.nearly equal", **names)
    n_references = sum(item.role == "reference" for item in portrait.comparison.items)
    verdict = "other references" if n_references > 1 else "cannot tell"
    return claim(f"home.headline.{verdict}", **names)


def _unknown(portrait: Portrait) -> Claim:
    """Return the words of the sentences that the model does not know."""
    items = portrait.comparison.items
    unknown = {_named(item): None for item in items if item.role == "sentence" and item.unknown}
    return claim("home.headline.unknown", words=listed_names([f"“{word}”" for word in unknown]))


def _named(item: Item) -> str:
    return isolated(shortened(item.word, _WORD))


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


def _closer(portrait: Portrait, pair: Pair) -> list[Leaning] | None:
    """For each of two words, a reference closer to it than to the other; None unless both have one.

    Closer means by at least `NOISE`, and more similar than random pairs of words. If a word has
    several, the one with the widest gap counts.
    """
    row, band = portrait.row, portrait.meaning.band
    widest: dict[int, Leaning] = {}
    for leaning in leanings(portrait.comparison, row, band):  # widest first
        random = band(Pair(leaning.near, leaning.reference))
        is_close = random is not None and leaning.high > random.high[row]
        if leaning.verdict == "closer" and is_close:
            widest.setdefault(leaning.near, leaning)
    return [widest[pair.first], widest[pair.second]] if len(widest) == 2 else None


def evidence(portrait: Portrait) -> list[Claim]:
    """Return the numbers behind the headline; none if other answers have them."""
    comparison = portrait.comparison
    pair, *others = comparison.pairs("sentences")
    if not (others or comparison.has_unknown(pair) or comparison.are_twins(pair)):
        return [closer_claim(comparison, leaning) for leaning in _closer(portrait, pair) or ()]
    return meaning_in_context(comparison, portrait.layer, portrait.meaning.band)[:1]


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
