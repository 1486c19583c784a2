"""The reading of a word's uses: its groups, a visitor's sentence, two sides, the word table.

`components.ui.widgets.sense_claims` describes the labelled senses. One share is called higher
than another if their 95% intervals do not overlap; numbers are compared as displayed.
"""

from __future__ import annotations

import math

from components.content.language import Claim, claim
from components.content.wording import escape, quoted, shortened
from components.features.senses.compute import InTable, Senses
from components.features.senses.words import Fall, Found, Grouping, Own, around

__all__ = [
    "groups_claims",
    "own_claims",
    "own_sure",
    "side_names",
    "sides_claims",
    "sides_sure",
    "table_claims",
    "uses_claim",
]

_WIDTH = 24
_ALIKE = 0.02


def uses_claim(found: Found) -> Claim:
    """The number of times that the word occurs in the corpus."""
    n, corpus = found.occurrences.n_total, quoted(found.corpus, 60)
    return claim("senses.uses", n=n, word=quoted(found.word), corpus=corpus)


def groups_claims(own: Grouping, layer: int) -> list[Claim]:
    """The number of groups at a layer, and whether they match the labelled senses.

    Args:
        own: the groups, without a problem.
        layer: the layer shown.
    """
    case = "dense" if own.method == "dense" else "asked" if own.asked else "kmeans"
    claims = [claim(f"senses.groups.{case}", n=len(own.each), layer=layer, asked=own.asked)]
    if own.n_none:
        claims.append(claim("senses.groups.outside", n=own.n_none))
    if not math.isnan(own.rand):
        case = "match" if round(own.rand, 2) > round(own.shuffled, 2) else "no_match"
        claims.append(claim(f"senses.groups.{case}", rand=own.rand, shuffled=own.shuffled))
    return claims


def own_claims(own: Own, found: Found, layer: int) -> list[Claim]:
    """The sense or group closest to a visitor's sentence, and the most similar use.

    Args:
        own: the sentence, without a problem.
        found: the word.
        layer: the layer shown.
    """
    place = own.near[0]
    label, context = found.labels[place], "".join(around(found, place, _WIDTH))
    nearest = claim(
        f"senses.own.{'nearest_labelled' if label else 'nearest'}",
        context=quoted(context, 80),
        sense=quoted(label),
        cosine=float(own.cosines[place]),
    )
    return [nearest] if own.fall is None else [_verdict(own.fall, layer), nearest]


def _verdict(fall: Fall, layer: int) -> Claim:
    if fall.verdict == "unclear":
        return claim("senses.own.unclear", layer=layer)
    first, second = (quoted(name) for name in fall.names[:2])
    return claim(
        f"senses.own.{fall.kind}.{fall.verdict}",
        first=first,
        second=second,
        a=fall.cosines[0],
        b=fall.cosines[1],
        low=fall.low_cosine,
    )


def own_sure(own: Own) -> list[Claim]:
    """The basis of the verdict on a visitor's sentence."""
    sure = []
    if own.fall is not None and own.fall.verdict in {"in", "between"}:
        numbers = {"margin": own.fall.margin, "low_margin": own.fall.low_margin}
        sure.append(claim("senses.own.margin", **numbers))
    if own.n_more:
        sure.append(claim("senses.own.more", n=own.n_more))
    return sure


def side_names(one: Senses, other: Senses) -> tuple[str, str]:
    """The names that distinguish two sides: their word, corpus, model or layer; plain text."""
    a, b = one.found, other.found
    for first, second in ((a.word, b.word), (a.corpus, b.corpus), (a.model, b.model)):
        if first != second:
            return first, second
    return f"layer {one.layer}", f"layer {other.layer}"


def sides_claims(one: Senses, other: Senses) -> list[Claim]:
    """The side where more uses get the right sense, at the shown layers, or that it is unclear."""
    first, second = one.separation, other.separation
    names = [escape(shortened(name, 40)) for name in side_names(one, other)]
    if first is None or second is None:
        missing = [n for n, own in zip(names, (first, second), strict=True) if own is None]
        return [claim("senses.sides.untested", names=" and ".join(missing))]
    sides = list(zip(names, (first, second), (one, other), strict=True))
    is_clear = first.interval[0] > second.interval[1] or second.interval[0] > first.interval[1]
    if is_clear:
        sides.sort(key=lambda side: -side[1].accuracy)
    numbers: dict[str, float | str] = {}
    for letter, (name, own, side) in zip("ab", sides, strict=True):
        numbers[f"{letter}_name"] = name
        numbers[f"{letter}_share"] = own.accuracy
        numbers[f"{letter}_baseline"] = side.found.trial.chance
    return [claim(f"senses.sides.{'better' if is_clear else 'unclear'}", **numbers)]


def sides_sure(one: Senses, other: Senses) -> list[Claim]:
    """The margin of error of both sides' shares; nothing if one is not tested."""
    first, second = one.separation, other.separation
    if first is None or second is None:
        return []
    names = side_names(one, other)
    return [
        claim(
            "senses.sides.interval",
            name=escape(shortened(name, 40)),
            low=own.interval[0],
            high=own.interval[1],
        )
        for name, own in zip(names, (first, second), strict=True)
    ]


def table_claims(own: InTable) -> list[Claim]:
    """The senses close to the word table's one vector.

    Args:
        own: the word in the table, without a problem.
    """
    n, word = len(own.pieces), quoted(own.surface)
    claims = [claim("senses.table.rows", n=n, word=word, average=own.average)]
    cosines = [float(value) for value in own.cosines]
    if len(cosines) < 2:
        return claims
    low, high = min(cosines), max(cosines)
    if high - low <= _ALIKE:
        return [*claims, claim("senses.table.alike", low=low, high=high)]
    best, worst = (quoted(own.senses[cosines.index(value)]) for value in (high, low))
    return [*claims, claim("senses.table.apart", best=best, worst=worst, high=high, low=low)]
