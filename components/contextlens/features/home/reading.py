"""The sentences of Start here: a headline, and answers to the questions that everybody asks."""

from __future__ import annotations

from collections.abc import Sequence

from contextlens.analysis.ruler import Verdict
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import isolated, listed_names, shortened
from contextlens.core.schema import FloatArray
from contextlens.features.home.flows import movers
from contextlens.features.home.widgets import Picture
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import (
    EQUAL,
    NOISE,
    Leaning,
    closer_claim,
    leanings,
    meaning_in_context,
    side_of,
    visible_claims,
)
from contextlens.ui.widgets.comparison.ruler import Fit, RulerShown, ruler_reading

_WORD = 16  # characters of a word in a headline
ASKS_FOR_REFERENCES = frozenset({"home.headline.cannot tell", "home.headline.other references"})
"""The keys of headlines that ask for a word for each meaning."""


def drawn_pairs(comparison: Comparison) -> list[Pair]:
    """Return the pairs whose similarity is drawn if nothing tells the meanings: with the first."""
    return [pair for pair in comparison.pairs() if pair.first == 0 and _is_drawn(comparison, pair)]


def _is_drawn(comparison: Comparison, pair: Pair) -> bool:
    """Return True for a sentence's word, or for a reference if there is one sentence alone."""
    is_alone = sum(item.role == "sentence" for item in comparison.items) == 1
    return is_alone or comparison.items[pair.second].role == "sentence"


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
        place = float(tug.places[i, picture.at])
        is_left = place < tug.middle
        names = {"label": row.label, "place": place, "end": tug.left if is_left else tug.right}
        case = "at" if tug.is_clear[i, picture.at] else "middle"
        sentences.append(say(f"home.tug.{case}", **names, **ends))
    return " ".join(sentences)


def _alike(picture: Picture, first: Item, second: Item, along: FloatArray) -> str:
    pair = listed_names([first.name, second.name])
    return say("home.alike.alt", pair=pair, cosine=float(along[picture.at]))


def _measure(comparison: Comparison) -> str:
    return say("similarity.centred" if comparison.centred else "similarity.plain")
