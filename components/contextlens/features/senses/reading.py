"""The reading of a word's uses: its groups, a visitor's sentence, two sides, the word table.

`contextlens.ui.widgets.sense_claims` describes the labelled senses. One share is called higher
than another if their 95% intervals do not overlap; numbers are compared as displayed.
"""

from __future__ import annotations

import math

from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, quoted, shortened
from contextlens.features.senses.compute import InTable, Senses
from contextlens.features.senses.words import Grouping, OwnSentence, SenseMatch, WordUses, around

_WIDTH = 24
_ALIKE = 0.02


def uses_claim(uses: WordUses) -> Claim:
    """The number of times that the word occurs in the corpus."""
    n, corpus = uses.occurrences.n_total, quoted(uses.corpus, 60)
    return claim("senses.uses", n=n, word=quoted(uses.word), corpus=corpus)


def groups_claims(grouping: Grouping, layer: int) -> list[Claim]:
    """The number of groups at a layer, and whether they match the labelled senses.

    Args:
        grouping: the groups, without a problem.
        layer: the layer shown.
    """
    case = "dense" if grouping.method == "dense" else "asked" if grouping.n_requested else "kmeans"
    claims = [
        claim(
            f"senses.groups.{case}",
            n=len(grouping.descriptions),
            layer=layer,
            asked=grouping.n_requested,
        )
    ]
    if grouping.n_none:
        claims.append(claim("senses.groups.outside", n=grouping.n_none))
    if not math.isnan(grouping.rand):
        is_match = round(grouping.rand, 2) > round(grouping.shuffled, 2)
        claims.append(claim(f"senses.groups.{'match' if is_match else 'no_match'}"))
    return claims


def groups_sure(grouping: Grouping) -> list[Claim]:
    """The agreement of the groups with the labelled senses; no claims without such senses."""
    if math.isnan(grouping.rand):
        return []
    return [claim("senses.groups.agreement", rand=grouping.rand, shuffled=grouping.shuffled)]


def sentence_claims(sentence: OwnSentence, uses: WordUses, layer: int) -> list[Claim]:
    """The sense or group closest to a visitor's sentence, and the most similar use.

    Args:
        sentence: the sentence, without a problem.
        uses: the word and its occurrences.
        layer: the layer shown.
    """
    place = sentence.near[0]
    label, context = uses.labels[place], "".join(around(uses, place, _WIDTH))
    nearest = claim(
        f"senses.own.{'nearest_labelled' if label else 'nearest'}",
        context=quoted(context, 80),
        sense=quoted(label),
        cosine=float(sentence.cosines[place]),
    )
    return [nearest] if sentence.match is None else [_verdict(sentence.match, layer), nearest]


def _verdict(match: SenseMatch, layer: int) -> Claim:
    if match.verdict == "unclear":
        return claim("senses.own.unclear", layer=layer)
    first, second = (quoted(name) for name in match.names[:2])
    return claim(
        f"senses.own.{match.kind}.{match.verdict}",
        first=first,
        second=second,
        a=match.cosines[0],
        b=match.cosines[1],
        low=match.low_cosine,
    )


def sentence_sure(sentence: OwnSentence) -> list[Claim]:
    """The margin behind the verdict on a visitor's sentence, and the number of ignored uses."""
    sure = []
    if sentence.match is not None and sentence.match.verdict in {"in", "between"}:
        numbers = {"margin": sentence.match.margin, "low_margin": sentence.match.low_margin}
        sure.append(claim("senses.own.margin", **numbers))
    if sentence.n_more:
        sure.append(claim("senses.own.more", n=sentence.n_more))
    return sure


def side_names(one: Senses, other: Senses) -> tuple[str, str]:
    """The names that distinguish two sides: their word, corpus, model or layer; plain text."""
    a, b = one.uses, other.uses
    for first, second in ((a.word, b.word), (a.corpus, b.corpus), (a.model, b.model)):
        if first != second:
            return first, second
    return f"layer {one.layer}", f"layer {other.layer}"


def sides_claims(one: Senses, other: Senses) -> list[Claim]:
    """The side where more uses get the right sense, or the claim that this is not clear."""
    first, second = one.separation, other.separation
    names = [escape(shortened(name, 40)) for name in side_names(one, other)]
    if first is None or second is None:
        missing = [n for n, test in zip(names, (first, second), strict=True) if test is None]
        return [claim("senses.sides.untested", names=" and ".join(missing))]
    sides = list(zip(names, (first, second), (one, other), strict=True))
    is_clear = first.interval[0] > second.interval[1] or second.interval[0] > first.interval[1]
    if is_clear:
        sides.sort(key=lambda side: -side[1].accuracy)
    numbers: dict[str, float | str] = {}
    for letter, (name, test, side) in zip("ab", sides, strict=True):
        numbers[f"{letter}_name"] = name
        numbers[f"{letter}_share"] = test.accuracy
        numbers[f"{letter}_baseline"] = side.uses.trial.chance
    return [claim(f"senses.sides.{'better' if is_clear else 'unclear'}", **numbers)]


def sides_sure(one: Senses, other: Senses) -> list[Claim]:
    """The interval of each side's share; no claims if one side is not tested."""
    first, second = one.separation, other.separation
    if first is None or second is None:
        return []
    names = side_names(one, other)
    return [
        claim(
            "senses.sides.interval",
            name=escape(shortened(name, 40)),
            low=test.interval[0],
            high=test.interval[1],
        )
        for name, test in zip(names, (first, second), strict=True)
    ]


def table_claims(in_table: InTable) -> list[Claim]:
    """The senses close to the word table's one vector.

    Args:
        in_table: the word in the table, without a problem.
    """
    n, word = len(in_table.pieces), quoted(in_table.surface)
    claims = [claim("senses.table.rows", n=n, word=word, average=in_table.average)]
    cosines = [float(value) for value in in_table.cosines]
    if len(cosines) < 2:
        return claims
    low, high = min(cosines), max(cosines)
    if high - low <= _ALIKE:
        return [*claims, claim("senses.table.alike", low=low, high=high)]
    best, worst = (quoted(in_table.senses[cosines.index(value)]) for value in (high, low))
    return [*claims, claim("senses.table.apart", best=best, worst=worst, high=high, low=low)]
