"""Start here, said in words: a headline, and the three questions that everybody asks."""

from __future__ import annotations

from dataclasses import dataclass

from components.analysis.ruler import Verdict
from components.analysis.similarity import Comparison, Pair
from components.content.language import say
from components.content.wording import bold, quoted, shortened, two
from components.ui.widgets.comparison.compute import Portrait
from components.ui.widgets.comparison.reading import EQUAL, NOISE, against, side_of
from components.ui.widgets.comparison.ruler import RulerShown, ruler_reading

__all__ = ["headline", "how_much", "leaning", "parting_titles", "what_is_a_layer", "why"]

_WORD = 16  # characters of a word in a headline


def headline(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> str:
    """What the model makes of two words, in everyday words; plain text."""
    if not _same_word(portrait.comparison, pair):
        return say(f"home.headline.{_of_two_words(portrait, pair)}")
    if portrait.cosine(pair) >= EQUAL:
        return say("home.headline.equal")
    if ruler is not None and ruler.verdict is not Verdict.CANNOT_TELL:
        return say(f"home.headline.{ruler.verdict.value}")
    closer = _closer(portrait, pair)
    if closer:
        first, second = (portrait.comparison.items[i] for i in (pair.first, pair.second))
        return say(
            "home.headline.references",
            word=shortened(first.word, _WORD),
            first=shortened(closer[0].reference, _WORD),
            a=first.label,
            second=shortened(closer[1].reference, _WORD),
            b=second.label,
        )
    return say("home.headline.cannot tell")


@dataclass(frozen=True)
class _Closer:
    """A reference that one of two words is closer to than the other is."""

    gap: float
    reference: str
    near: float
    far: float


def _closer(portrait: Portrait, pair: Pair) -> tuple[_Closer, _Closer] | None:
    """The reference that each of the two words is closer to; None where they do not differ.

    Closer means: by `NOISE`, in other digits, and more similar than random pairs of words. Of
    several references on one side the widest gap counts.
    """
    comparison, row = portrait.comparison, portrait.row
    widest: dict[int, _Closer] = {}
    for j, item in enumerate(comparison.items):
        if item.role != "reference":
            continue
        cosines = {i: float(comparison.cosines[row, i, j]) for i in (pair.first, pair.second)}
        near, far = sorted(cosines, key=lambda i: -cosines[i])
        band, gap = portrait.meaning.band(Pair(near, j)), cosines[near] - cosines[far]
        if band is None or cosines[near] <= band.high[row] or gap < NOISE:
            continue
        if near not in widest or gap > widest[near].gap:
            widest[near] = _Closer(gap, item.word, cosines[near], cosines[far])
    return (widest[pair.first], widest[pair.second]) if len(widest) == 2 else None


def leaning(portrait: Portrait, pair: Pair) -> str:
    """Each word's similarity to the reference that it is closer to, where these differ; else ""."""
    closer = _closer(portrait, pair)
    if closer is None:
        return ""
    a, b = (portrait.comparison.items[i].label for i in (pair.first, pair.second))
    (one, other) = closer
    return (
        f"Similarity to {quoted(one.reference)}: {two(one.near)} in {a}, {two(one.far)} in {b}. "
        f"To {quoted(other.reference)}: {two(other.far)} in {a}, {two(other.near)} in {b}."
    )


def why(portrait: Portrait, pair: Pair) -> str:
    """Why the two are as far apart as they are, in two or three sentences."""
    comparison = portrait.comparison
    start, now = float(comparison.along(pair)[0]), portrait.cosine(pair)
    begin = (
        f"At layer {comparison.layers[0]} the model knows only the word and its position: a "
        f"{comparison.measure} of {bold(start)}."
    )
    if portrait.row == 0:
        return f"{begin} Each later layer mixes in the words around it."
    around = [portrait.meaning.chosen[i].context for i in (pair.first, pair.second)]
    differs = "" if around[0] == around[1] else ", which differ"
    moved = (
        f"{begin} Each later layer mixes in the words around it{differs}: {bold(now)} at layer "
        f"{portrait.layer}."
    )
    if start >= EQUAL and start - now >= NOISE:
        return f"{moved} Both began equal, so the surrounding words cause the whole gap."
    return moved


def what_is_a_layer(n_layers: int) -> str:
    """What a layer is, in a sentence or two."""
    return (
        "One round of reading: each word's vector, a list of numbers, is computed anew from the "
        f"vectors of all words in the sentence. This model has {n_layers}; layer 0 feeds the first."
    )


def how_much(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> str:
    """What the cosine says: against pairs of known kinds, else against random pairs."""
    if ruler is not None:
        return ruler_reading(ruler)
    cosine, measure = portrait.cosine(pair), portrait.comparison.measure
    said = f"A {measure} of 1 is the same direction, of 0 a right angle; this one is {bold(cosine)}"
    return said + against(cosine, portrait.meaning.band(pair), portrait.row)


def parting_titles(comparison: Comparison, pair: Pair) -> list[str]:
    """The finding of the picture at each layer."""
    return [
        "Same vector" if cosine >= EQUAL else f"{comparison.measure.capitalize()} {two(cosine)}"
        for cosine in comparison.along(pair).tolist()
    ]


def _same_word(comparison: Comparison, pair: Pair) -> bool:
    first, second = (comparison.items[i].word.casefold() for i in (pair.first, pair.second))
    return first == second


def _of_two_words(portrait: Portrait, pair: Pair) -> str:
    band, cosine = portrait.meaning.band(pair), portrait.cosine(pair)
    if cosine >= EQUAL:
        return "two words, equal"
    if band is None:
        return "two words"
    is_similar = side_of(cosine, band, portrait.row) == 1
    return f"two words, {'similar' if is_similar else 'unrelated'}"
