"""Start here, said in words: a headline, and the three questions that everybody asks."""

from __future__ import annotations

from components.analysis.similarity import Comparison, Pair
from components.content.wording import bold, quoted, two
from components.ui.widgets.comparison.compute import Portrait
from components.ui.widgets.comparison.reading import EQUAL, NOISE, against
from components.ui.widgets.comparison.ruler import RulerShown, ruler_reading

__all__ = ["headline", "how_much", "leaning", "parting_titles", "what_is_a_layer", "why"]


def headline(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> str:
    """What the model makes of two words, in words of every day; plain text."""
    cosine = portrait.cosine(pair)
    if not _same_word(portrait.comparison, pair):
        return _of_two_words(portrait, pair, cosine)
    if cosine >= EQUAL:
        return "Same word, same vector"
    if leaning(portrait, pair):
        return "Same word, two meanings"
    chance = None if ruler is None else ruler.chance
    if chance is not None and chance.tells and round(10 * chance.share) != 5:
        return f"Same word, most likely {'two meanings' if chance.share > 0.5 else 'one meaning'}"
    return "Same word, two vectors"


def leaning(portrait: Portrait, pair: Pair) -> str:
    """Which reference each of the two words is closer to, where these differ; else "".

    Closer means: by `NOISE`, in other digits, and more alike than random pairs of words. Of
    several references on one side the widest gap counts.
    """
    comparison, row = portrait.comparison, portrait.row
    widest: dict[int, tuple[float, str, str]] = {}
    for j, item in enumerate(comparison.items):
        if item.role != "reference":
            continue
        cosines = {i: float(comparison.cosines[row, i, j]) for i in (pair.first, pair.second)}
        near, far = sorted(cosines, key=lambda i: -cosines[i])
        band, gap = portrait.meaning.band(Pair(near, j)), cosines[near] - cosines[far]
        if band is None or cosines[near] <= band.high[row] or gap < NOISE:
            continue
        ends = f"({two(cosines[near])}, in {comparison.items[far].label} {two(cosines[far])})"
        said = (gap, quoted(item.word), f"in {comparison.items[near].label} {ends}")
        widest[near] = max(widest.get(near, said), said)
    if len(widest) < 2:
        return ""
    (_, one, to_one), (_, other, to_other) = (widest[i] for i in (pair.first, pair.second))
    return f"{one} is closer {to_one}, {other} {to_other}."


def why(portrait: Portrait, pair: Pair) -> str:
    """Why the two are as far apart as they are, in two or three sentences."""
    comparison = portrait.comparison
    start, now = float(comparison.along(pair)[0]), portrait.cosine(pair)
    begin = (
        f"Layer {comparison.layers[0]} knows only a word and its place: a {comparison.measure} of "
        f"{bold(start)}."
    )
    if portrait.row == 0:
        return f"{begin} Each later layer mixes in what stands around it."
    around = [portrait.meaning.chosen[i].context for i in (pair.first, pair.second)]
    differs = "" if around[0] == around[1] else ", which differs"
    moved = (
        f"{begin} Each later layer mixes in what stands around it{differs}: {bold(now)} at layer "
        f"{portrait.layer}."
    )
    if start >= EQUAL and start - now >= NOISE:
        return f"{moved} Both began equal, so what is around makes all of the gap."
    return moved


def what_is_a_layer(n_layers: int) -> str:
    """What a layer is, in a sentence or two."""
    return (
        "One round of reading: each word's numbers, its vector, are computed anew from those of "
        f"all words of the sentence. This model has {n_layers}; layer 0 is what the first begins "
        "with."
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


def _of_two_words(portrait: Portrait, pair: Pair, cosine: float) -> str:
    band = portrait.meaning.band(pair)
    if band is None:
        return "Two words, two vectors" if cosine < EQUAL else "Two words, same vector"
    if cosine > band.high[portrait.row]:
        return "Two words that the model holds alike"
    return "Two words, no more alike than words often are"
