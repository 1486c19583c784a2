"""Meaning in context in words: the chosen words at one layer, and the picture's title.

A difference is reported if it is larger than `NOISE`. Removing a sentence's final mark, or putting
"Well," before it, moves the cosine of two uses of a word by up to 0.025 (95 of 100 pairs of the
ready corpus, last layer of the bundled model).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import listed, quoted, several, two
from contextlens.core.schema import FloatArray
from contextlens.ui.widgets.comparison.controls import MAX_CLAIMED_REFERENCES

BandOf = Callable[[Pair], Band | None]
"""Returns the band of random pairs to compare a pair of words with; None if there is none."""

NOISE = 0.03
"""Cosines that differ by less count as equal."""
EQUAL = 1 - 1e-5
"""Cosines of at least this are those of equal vectors, up to rounding in float32."""
_ALIKE = 0.95


def side_of(value: float, band: Band, row: int) -> int:
    """Return 1 above the band, -1 below it, 0 within it or if the value prints like its mean."""
    if two(value) == two(band.mean[row]):
        return 0
    return int(value > band.high[row]) - int(value < band.low[row])


def similarity(value: float, band: Band | None, row: int, **names: object) -> Claim:
    """Return the similarity of two words at a layer, beside that of random pairs of words.

    Args:
        value: their cosine.
        band: the cosines of random pairs; None if there are none.
        row: the layer's row in the band.
        names: `first`, `second`, `layer` and `measure` of the sentence.
    """
    if band is None:
        return claim("similarity.alone", cosine=value, **names)
    side = {1: "above", 0: "within", -1: "below"}[side_of(value, band, row)]
    ends = {"low": float(band.low[row]), "high": float(band.high[row])}
    return claim(f"similarity.{side}", cosine=value, **ends, **names)


# The title


def meaning_title(comparison: Comparison) -> Claim:
    """Return the main picture's finding: where the sentences' words separate, or that none do."""
    pairs = comparison.pairs("sentences")
    if not pairs or len(comparison.layers) < 2 or any(map(comparison.has_unknown, pairs)):
        return claim("meaning.title.plain")
    if all(comparison.along(pair).min() >= EQUAL for pair in pairs):
        return claim("meaning.title.same")
    falls = sorted(((_fall(comparison.along(pair)), -n) for n, pair in enumerate(pairs)))[::-1]
    widest, first = falls[0][0], comparison.layers[0]
    if widest < NOISE:
        apart = min(float(comparison.along(pair)[0]) for pair in pairs) < _ALIKE
        return claim("meaning.title.apart" if apart else "meaning.title.together", first=first)
    if len(falls) > 1 and widest - falls[1][0] < NOISE:
        return claim("meaning.title.several", fall=widest, first=first)
    pair = pairs[-falls[0][1]]
    along = comparison.along(pair)
    names = {"a": comparison.items[pair.first].label, "b": comparison.items[pair.second].label}
    steps = np.sort(along[:-1] - along[1:])[::-1]
    if len(steps) > 1 and steps[0] - steps[1] < NOISE:
        last = comparison.layers[int(along.argmin())]
        return claim("meaning.title.slowly", first=first, last=last, **names)
    steepest = int((along[:-1] - along[1:]).argmax()) + 1
    return claim("meaning.title.at_once", layer=comparison.layers[steepest], **names)


def _fall(values: FloatArray) -> float:
    """Return the largest fall of a cosine below its start."""
    return float(values[0] - values.min())


# The reading


def meaning_in_context(comparison: Comparison, layer: int, band: BandOf) -> list[Claim]:
    """Return claims on the similarity of the sentences' words at a layer, and on the references.

    Args:
        comparison: what is compared.
        layer: one of its layers.
        band: the random pairs that a pair is compared with.
    """
    row = comparison.layers.index(layer)
    claims = []
    pairs = comparison.pairs("sentences")
    if any(map(comparison.has_unknown, pairs)):
        claims.append(_unknown(comparison, pairs, row))
    elif len(pairs) == 1:
        claims.append(_one_pair(comparison, pairs[0], row, band(pairs[0])))
    elif pairs:
        claims.append(_many_pairs(comparison, pairs, row))
    closest = leanings(comparison, row, band)[:MAX_CLAIMED_REFERENCES]
    return [*claims, *(_of_reference(comparison, row, leaning, band) for leaning in closest)]


def visible_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims below the picture: the references that tell words apart, or the first."""
    closer = [c for c in claims if c.key.startswith("meaning.reference.closer.")]
    return closer or list(claims[:1])


def _unknown(comparison: Comparison, pairs: Sequence[Pair], row: int) -> Claim:
    """The words of sentences that the model does not know; for a pair, also its cosine."""
    unknown = [item for item in comparison.items if item.role == "sentence" and item.unknown]
    words = several([_item(item) for item in unknown])
    if len(pairs) > 1:
        return claim("meaning.pairs.unknown", n=len(unknown), words=words)
    value = float(comparison.along(pairs[0])[row])
    return claim("meaning.pair.unknown", n=len(unknown), words=words, cosine=value)


def _one_pair(comparison: Comparison, pair: Pair, row: int, band: Band | None) -> Claim:
    names = {**_names(comparison, pair), "layer": comparison.layers[row]}
    value = float(comparison.along(pair)[row])
    if comparison.are_twins(pair):
        ids = " ".join(map(str, comparison.items[pair.first].token_ids))
        case = "same" if comparison.along(pair).min() >= EQUAL else "twins"
        return claim(f"meaning.pair.{case}", cosine=value, ids=ids, **names)
    if value < EQUAL:
        return similarity(value, band, row, measure=_measure(comparison), **names)
    return claim(f"meaning.pair.{'equal' if names['layer'] else 'start'}", **names)


def _many_pairs(comparison: Comparison, pairs: Sequence[Pair], row: int) -> Claim:
    values = [float(comparison.cosines[row, p.first, p.second]) for p in pairs]
    low, high, layer = min(values), max(values), comparison.layers[row]
    measure = _measure(comparison)
    if _are_alike(values):
        key = "equal" if two(low) == two(high) else "alike"
        return claim(f"meaning.pairs.{key}", layer=layer, low=low, high=high, measure=measure)
    best, worst = (_names(comparison, pairs[values.index(end)]) for end in (high, low))
    return claim(
        "meaning.pairs.spread",
        **best,
        third=worst["first"],
        fourth=worst["second"],
        layer=layer,
        low=low,
        high=high,
        measure=_measure(comparison, short=True),
    )


LeaningVerdict = Literal["unknown", "single", "neither", "equal", "alike", "closer"]


@dataclass(frozen=True)
class Leaning:
    """The similarity of the sentences' words to one reference.

    Attributes:
        reference: its index.
        near: the index of the closest word.
        far: the index of the least close word.
        verdict: "unknown" if the model does not know the reference or one of the words, "single"
            for one word, "neither" if none is closer than random pairs of words, "equal" or
            "alike" if they differ by nothing or too little, else "closer".
        high: the cosine of `near`.
        low: the cosine of `far`.
    """

    reference: int
    near: int
    far: int
    verdict: LeaningVerdict
    high: float
    low: float


def leanings(comparison: Comparison, row: int, band: BandOf) -> list[Leaning]:
    """Return the leaning of each reference at a layer.

    The largest separation of the words comes first, then the most similar reference.
    """
    words = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    results = []
    for j, item in enumerate(comparison.items):
        if item.role != "reference" or not words:
            continue
        values = {i: float(comparison.cosines[row, i, j]) for i in words}
        near, far = max(words, key=values.__getitem__), min(words, key=values.__getitem__)
        bands = [band(Pair(i, j)) for i in words]
        verdict: LeaningVerdict
        if any(comparison.has_unknown(Pair(i, j)) for i in words):
            verdict = "unknown"
        elif len(words) == 1:
            verdict = "single"
        elif all(
            random is not None and side_of(values[i], random, row) < 1
            for i, random in zip(words, bands, strict=True)
        ):
            verdict = "neither"
        else:
            verdict = _nearness(values[near], values[far])
        results.append(Leaning(j, near, far, verdict, values[near], values[far]))
    return sorted(results, key=lambda leaning: (leaning.low - leaning.high, -leaning.high))


def _nearness(high: float, low: float) -> LeaningVerdict:
    if two(high) == two(low):
        return "equal"
    return "alike" if _are_alike([low, high]) else "closer"


def _of_reference(comparison: Comparison, row: int, leaning: Leaning, band: BandOf) -> Claim:
    reference = quoted(comparison.items[leaning.reference].word)
    if leaning.verdict == "unknown":
        in_sentences = [item for item in comparison.items if item.role == "sentence"]
        involved = [comparison.items[leaning.reference], *in_sentences]
        words = several([_item(item) for item in involved if item.unknown])
        return claim("meaning.reference.unknown", reference=reference, words=words)
    if leaning.verdict == "single":
        return similarity(
            leaning.high,
            band(Pair(leaning.near, leaning.reference)),
            row,
            measure=_measure(comparison),
            first=_item(comparison.items[leaning.near]),
            second=reference,
            layer=comparison.layers[row],
        )
    if leaning.verdict == "closer":
        return closer_claim(comparison, leaning)
    ends = {"high": leaning.high, "low": leaning.low}
    n = sum(item.role == "sentence" for item in comparison.items)
    number = "both" if n == 2 else "all"
    return claim(f"meaning.reference.{leaning.verdict}.{number}", reference=reference, n=n, **ends)


def closer_claim(comparison: Comparison, leaning: Leaning) -> Claim:
    """Return the word that a reference is closer to, and the one that it is less close to."""
    near, far = (comparison.items[i] for i in (leaning.near, leaning.far))
    pair = Pair(*sorted((leaning.near, leaning.far)))
    return claim(
        f"meaning.reference.closer.{'uses' if comparison.is_one_word(pair) else 'words'}",
        reference=quoted(comparison.items[leaning.reference].word),
        near=quoted(near.word),
        far=quoted(far.word),
        a=near.label,
        b=far.label,
        high=leaning.high,
        low=leaning.low,
    )


# How sure


def meaning_sure(comparison: Comparison, layer: int, band: BandOf) -> list[Claim]:
    """Return the words' initial similarity, the layers of the references, and the noise level."""
    row = comparison.layers.index(layer)
    pairs, claims = comparison.pairs("sentences"), []
    if len(pairs) == 1 and row and comparison.layers[0] == 0:
        claims.append(claim("meaning.sure.start", start=float(comparison.along(pairs[0])[0])))
    yardstick = _yardstick(pairs or comparison.pairs(), band)
    if yardstick is not None:
        ends = float(yardstick.low[row]), float(yardstick.high[row])
        claims.append(claim("meaning.sure.random", low=ends[0], high=ends[1], of=yardstick.of))
    closest = leanings(comparison, row, band)[:MAX_CLAIMED_REFERENCES]
    claims += [_holds(comparison, leaning) for leaning in closest if leaning.verdict == "closer"]
    return [*claims, claim("meaning.sure.noise", noise=NOISE)]


def _yardstick(pairs: Sequence[Pair], band: BandOf) -> Band | None:
    """Return the random pairs that all of these pairs are compared with; None if they differ."""
    bands = [band(pair) for pair in pairs]
    known = [b for b in bands if b is not None]
    return known[0] if len(known) == len(bands) and len({b.of for b in known}) == 1 else None


def _holds(comparison: Comparison, leaning: Leaning) -> Claim:
    """Return the layers at which a reference is closer to one word than to the other."""
    j = leaning.reference
    gaps = comparison.cosines[:, leaning.near, j] - comparison.cosines[:, leaning.far, j]
    layers = [n for n, gap in zip(comparison.layers, gaps.tolist(), strict=True) if gap >= NOISE]
    is_everywhere = len(layers) == len(comparison.layers)
    return claim(
        f"meaning.sure.{'every' if is_everywhere else 'holds'}",
        reference=quoted(comparison.items[j].word),
        near=_item(comparison.items[leaning.near]),
        far=_item(comparison.items[leaning.far]),
        layers=listed(layers),
    )


# Names


def _are_alike(values: Sequence[float]) -> bool:
    """Return True if the numbers differ by less than `NOISE`, or print alike."""
    low, high = min(values), max(values)
    return high - low < NOISE or two(low) == two(high)


def _item(item: Item) -> str:
    return (
        say("meaning.item", word=quoted(item.word), sentence=item.label)
        if item.label
        else (quoted(item.word))
    )


def _names(comparison: Comparison, pair: Pair) -> dict[str, str]:
    first, second = (_item(comparison.items[i]) for i in (pair.first, pair.second))
    return {"first": first, "second": second}


def _measure(comparison: Comparison, *, short: bool = False) -> str:
    plain = "similarity.short" if short else "similarity.plain"
    return say("similarity.centred" if comparison.centred else plain)
