"""The reading of Why alike?: for each look its title, its finding, and details for engineers.

`leading_of` decides on what leads: values within the noise are never named, and numbers that are
the same to two decimals are tied. The sentences are in `english.toml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from components.analysis.baseline import Band
from components.content.language import Claim, claim
from components.content.wording import (
    MARGIN,
    are_alike,
    leading,
    occurrence,
    placed,
    quoted,
    span,
)
from components.features.why.compute import (
    EditsShown,
    Integrated,
    IntegratedSide,
    LeftOut,
    LeftWord,
    SharesShown,
    SwappedIn,
    SwitchedOff,
)
from components.features.why.measures import NOISE, Doubles, Unit, interaction, is_word
from components.features.why.score import Score, Side

__all__ = ["Reading", "edits_reading", "leading_of", "reading_of", "score_claim", "title_of"]

CONVERGED = 0.001
"""The remainder of integrated gradients up to which the shares can be compared."""
SOME = 0.05
"""The smallest part of the way that is mentioned."""
_LONGEST = 60  # characters of an edited text


@dataclass(frozen=True)
class Reading:
    """The sentences on a picture.

    Attributes:
        sentences: the visible ones, at most three.
        sure: the folded ones, at most four.
    """

    sentences: tuple[Claim, ...]
    sure: tuple[Claim, ...] = ()


@singledispatch
def title_of(shown: object) -> Claim:
    """The finding of a look, short: plain text, not escaped."""
    raise TypeError(f"There is no title for {type(shown).__name__}.")


@singledispatch
def reading_of(shown: object) -> Reading:
    """The reading of a look."""
    raise TypeError(f"There is no reading of {type(shown).__name__}.")


def leading_of(values: Sequence[float], least: float = NOISE) -> list[int]:
    """The indices of the highest values, to within `MARGIN`, among those above a minimum."""
    return [i for i in leading(values) if values[i] > least]


def score_claim(score: Score, band: Band | None, *, is_english: bool) -> Claim:
    """The similarity beside that of random pairs.

    Args:
        score: the score to explain.
        band: random pairs of the same kind, at each layer; None if there are none.
        is_english: True if both texts are English, as random pairs are.
    """
    letters = {"a": score.first.letter, "b": score.second.letter}
    if score.are_equal:
        return claim("why.score.equal", cosine=score.cosine, **letters)
    if not is_english:
        return claim("why.score.foreign", cosine=score.cosine)
    if band is None:
        return claim("why.score.unknown", cosine=score.cosine, layer=score.layer, **letters)
    low, high = float(band.low[score.layer]), float(band.high[score.layer])
    seen, first, last = (round(value, 2) for value in (score.cosine, low, high))
    verdict = "above" if seen > last else "below" if seen < first else "within"
    return claim(f"why.score.{verdict}", cosine=score.cosine, kind=band.of, low=low, high=high)


# Shares


@title_of.register
def _(shown: SharesShown) -> Claim:
    if shown.score.what != "mean":
        return claim("why.shares.title.neither", cosine=shown.score.cosine)
    return _two_leaders("why.shares", _sums(shown), shown.score.cosine)


@reading_of.register
def _(shown: SharesShown) -> Reading:
    score, sides = shown.score, _sums(shown)
    if score.what != "mean":
        return Reading((claim(f"why.shares.{score.what}", cosine=score.cosine),))
    first, second = (float(np.delete(sums, _words(side)).sum()) for side, sums in sides)
    letters = {"a": score.first.letter, "b": score.second.letter}
    largest = (_largest("why.shares", *side, score.cosine) for side in sides)
    special = claim("why.shares.special", first=first, second=second, **letters)
    return Reading(
        (*largest, claim("why.shares.caution")),
        (claim("why.shares.sum", cosine=score.cosine), special),
    )


@title_of.register
def _(shown: Integrated) -> Claim:
    rough = [own.n_steps for own in shown.sides if _is_rough(own)]
    if rough:
        return claim("why.inputs.title.rough", n=max(rough))
    sides = [(own.side, own.by_word) for own in shown.sides]
    return _two_leaders("why.inputs", sides, shown.score.cosine)


@reading_of.register
def _(shown: Integrated) -> Reading:
    sentences, sure = [], []
    for own in shown.sides:
        steps = {"letter": own.side.letter, "n": own.n_steps, "remainder": own.remainder}
        largest = _largest("why.inputs", own.side, own.by_word, own.end)
        sentences.append(claim("why.inputs.rough", **steps) if _is_rough(own) else largest)
        sure.append(claim("why.inputs.ends", start=own.start, end=own.end, **steps))
        sure.append(claim("why.inputs.sum", sum=float(own.shares.sum()), **steps))
    return Reading(tuple(sentences), tuple(sure))


def _is_rough(own: IntegratedSide) -> bool:
    return abs(own.remainder) > CONVERGED


def _sums(shown: SharesShown) -> list[tuple[Side, Doubles]]:
    return list(zip(shown.score.sides, (shown.by_word.rows, shown.by_word.columns), strict=True))


def _words(side: Side) -> list[int]:
    return [i for i, unit in enumerate(side.units) if is_word(unit)]


def _leaders(side: Side, sums: Doubles) -> list[int]:
    """The units of the words with the largest shares; none if all have about the same."""
    words = _words(side)
    values = [float(sums[i]) for i in words]
    if len(words) < 2 or are_alike(values):
        return []
    return [words[i] for i in leading(values)]


def _two_leaders(key: str, sides: Sequence[tuple[Side, Doubles]], cosine: float) -> Claim:
    """The title if one word of each sentence leads, or the one for other cases."""
    (one, ours), (other, theirs) = sides
    first, second = _leaders(one, ours), _leaders(other, theirs)
    if len(first) != 1 or len(second) != 1:
        return claim(f"{key}.title.neither", cosine=cosine)
    return claim(
        f"{key}.title.both",
        first=_titled(one.units[first[0]], one),
        second=_titled(other.units[second[0]], other),
        a=one.letter,
        b=other.letter,
    )


def _largest(key: str, side: Side, sums: Doubles, cosine: float) -> Claim:
    """The words of one sentence with the largest shares."""
    words, leaders = _words(side), _leaders(side, sums)
    which = leaders or words
    shares = [float(sums[i]) for i in which]
    letter: dict[str, Any] = {"letter": side.letter, "cosine": cosine}
    if not words:
        return claim(f"{key}.none", **letter)
    if len(which) > 1:
        verdict = "several" if leaders else "equal"
        return claim(f"{key}.{verdict}", n=len(which), span=span(shares), **letter)
    verdict, word = "largest" if leaders else "only", _named(side.units[which[0]], side)
    return claim(f"{key}.{verdict}", word=word, share=shares[0], **letter)


# Leave out


@title_of.register
def _(shown: LeftOut) -> Claim:
    lead = _strongest(shown.changes)
    if len(lead) != 1:
        return claim(f"why.leave_out.title.{'several' if lead else 'none'}", n=len(lead))
    word = shown.words[lead[0]]
    side = shown.score.sides[word.side]
    key = f"why.leave_out.title.{_way(word.change)}_{shown.how}"
    return claim(key, word=_titled(word.unit, side), letter=side.letter)


@reading_of.register
def _(shown: LeftOut) -> Reading:
    moved = []
    for way, changes in (("lowers", -shown.changes), ("raises", shown.changes)):
        lead = [shown.words[i] for i in leading_of(changes.tolist())]
        if lead:
            moved.append(
                claim(f"why.leave_out.{way}", n=len(lead), word=_left_out(shown, lead[0]),
                      cosine=shown.score.cosine, without=span([word.cosine for word in lead]))
            )  # fmt: skip
    told = [*moved, claim("why.leave_out.alone")] if moved else [claim("why.leave_out.none")]
    sure = [_pairs(shown)]
    if (order := shown.order) is not None:
        n, tau = len(shown.words), order.tau or 0.0
        sure.insert(0, claim(f"why.leave_out.{order.verdict}", n=n, tau=tau))
    return Reading(tuple(told), tuple(own for own in sure if own is not None))


def _way(change: float) -> str:
    return "lowers" if change < 0 else "raises"


def _left_out(shown: LeftOut, word: LeftWord) -> str:
    side = shown.score.sides[word.side]
    return f"{_named(word.unit, side)} ({side.letter})"


def _pairs(shown: LeftOut) -> Claim | None:
    """The two words with the largest joint effect beyond their single effects."""
    if shown.pairs is None or len(shown.words) < 2:
        return None
    beyond = np.abs(interaction(shown.pairs))
    i, j = divmod(int(beyond.argmax()), len(beyond))
    if beyond[i, j] < 2 * NOISE:
        return claim("why.leave_out.additive")
    return claim(
        "why.leave_out.together",
        first=_left_out(shown, shown.words[i]),
        second=_left_out(shown, shown.words[j]),
        both=float(shown.pairs[i, j]),
        one=float(shown.pairs[i, i]),
        other=float(shown.pairs[j, j]),
    )


# Switch off


@title_of.register
def _(shown: SwitchedOff) -> Claim:
    if not shown.layers:
        return claim("why.switch_off.title.empty")
    lead = _strongest(shown.heads)
    if len(lead) != 1:
        return claim(f"why.switch_off.title.{'several' if lead else 'none'}", n=len(lead))
    row, head = divmod(lead[0], shown.heads.shape[1])
    key = f"why.switch_off.title.{_way(shown.heads[row, head])}"
    return claim(key, layer=shown.layers[row], head=head)


@reading_of.register
def _(shown: SwitchedOff) -> Reading:
    if not shown.layers:
        return Reading((claim("why.switch_off.empty"),))
    n_told = int((np.abs(shown.heads) > NOISE).sum())
    return Reading(
        (_heads(shown), _layers(shown), claim("why.switch_off.alone", n=shown.n_pairs)),
        (claim("why.switch_off.many", n=n_told, of=shown.heads.size),),
    )


def _heads(shown: SwitchedOff) -> Claim:
    """The strongest heads."""
    lead, own = _strongest(shown.heads), {"cosine": shown.cosine}
    if len(lead) != 1:
        return _several("why.switch_off", shown.heads, lead, **own)
    (row, head), change = divmod(lead[0], shown.heads.shape[1]), float(shown.heads.flat[lead[0]])
    without = shown.cosine + change
    key = f"why.switch_off.{_way(change)}"
    return claim(key, layer=shown.layers[row], head=head, without=without, **own)


def _layers(shown: SwitchedOff) -> Claim:
    """The strongest of the whole attentions and feed-forwards."""
    changes = np.stack([shown.attention, shown.feed_forward], axis=1)
    lead = _strongest(changes)
    if len(lead) != 1:
        return _several("why.switch_off.layer", changes, lead)
    row, kind = divmod(lead[0], 2)
    key = f"why.switch_off.layer.{('attention', 'feed_forward')[kind]}"
    return claim(key, layer=shown.layers[row], change=float(changes[row, kind]))


def _strongest(changes: Doubles) -> list[int]:
    """The indices of the changes largest in absolute value."""
    return leading_of(np.abs(changes).ravel().tolist())


def _several(key: str, changes: Doubles, lead: Sequence[int], **own: Any) -> Claim:
    """The sentence for the case that no single one leads."""
    if not lead:
        return claim(f"{key}.none", n=0, **own)
    said = span([abs(float(changes.flat[i])) for i in lead])
    return claim(f"{key}.several", n=len(lead), of=changes.size, span=said, **own)


# Swap in


@title_of.register
def _(shown: SwappedIn) -> Claim:
    if shown.problem is not None:
        is_equal = shown.score.are_equal
        return claim(f"why.swap_in.title.{'equal' if is_equal else 'stuck'}")
    lead = _furthest(shown)
    if len(lead) != 1:
        return claim(
            f"why.swap_in.title.{'several' if lead else 'none'}", n=len(lead), **_ends(shown)
        )
    i, j = shown.alignment.pairs[lead[0]]
    return claim(
        f"why.swap_in.title.{'one' if shown.alignment.same_length else 'one_tried'}",
        old=occurrence(shown.receiver.labels[i], i, shown.receiver.labels),
        new=occurrence(shown.donor.labels[j], j, shown.donor.labels),
        **_ends(shown),
    )


@reading_of.register
def _(shown: SwappedIn) -> Reading:
    if shown.problem is not None:
        return Reading((shown.problem,))
    own, n = shown.alignment, len(shown.alignment.pairs)
    told = [_bottom(shown), _carried(shown), claim("why.swap_in.alone")]
    n_away = int((np.round(100 * shown.fractions[0]) < 0).sum())
    sure = [
        claim(
            f"why.swap_in.{'all' if own.same_length else 'partly'}",
            n=n,
            total=n + len(own.first_alone),
            equal=own.n_equal,
            **_ends(shown),
        ),
        claim("why.swap_in.away", n=n_away, tried=n, **_ends(shown)) if n_away else None,
    ]
    return Reading(*(tuple(own for own in each if own is not None) for each in (told, sure)))


def _ends(shown: SwappedIn) -> dict[str, str]:
    return {"a": shown.receiver.letter, "b": shown.donor.letter}


def _furthest(shown: SwappedIn) -> list[int]:
    """The tokens that move the receiver furthest if they are swapped in at layer 0."""
    bottom = shown.fractions[0].tolist()
    return leading_of(bottom, 0.0) if max(bottom) >= SOME else []


def _beyond(share: float) -> str:
    """The suffix of a sentence's key if more than all of the way was covered, in whole per cent."""
    return "_beyond" if round(100 * share) > 100 else ""


def _bottom(shown: SwappedIn) -> Claim:
    lead, n = _furthest(shown), len(shown.alignment.pairs)
    if not lead:
        return claim("why.swap_in.none", n=n, **_ends(shown))
    share = float(shown.fractions[0, lead[0]])
    if len(lead) > 1:
        key = f"why.swap_in.several{_beyond(share)}"
        return claim(key, n=len(lead), tried=n, share=share, **_ends(shown))
    i, j = shown.alignment.pairs[lead[0]]
    return claim(
        f"why.swap_in.one{_beyond(share)}",
        old=placed(shown.receiver.labels[i], i, shown.receiver.labels),
        new=placed(shown.donor.labels[j], j, shown.donor.labels),
        share=share,
        **_ends(shown),
    )


def _carried(shown: SwappedIn) -> Claim | None:
    """The token, the same in both, that comes to hold most of the difference above layer 0."""
    ours, theirs = shown.receiver.encoding.token_ids, shown.donor.encoding.token_ids
    same = [k for k, (i, j) in enumerate(shown.alignment.pairs) if ours[i] == theirs[j]]
    most = shown.fractions[:, same].max(axis=0).tolist()
    lead = leading_of(most, 0.0)
    if len(lead) != 1 or most[lead[0]] < SOME:
        return None
    row = int(shown.fractions[:, same[lead[0]]].argmax())
    place = shown.alignment.pairs[same[lead[0]]][0]
    return claim(
        f"why.swap_in.carried{_beyond(most[lead[0]])}",
        word=placed(shown.receiver.labels[place], place, shown.receiver.labels),
        share=most[lead[0]],
        layer=shown.layers[row],
        **_ends(shown),
    )


# Edits


def edits_reading(shown: EditsShown, band: Band | None) -> Reading:
    """The effect of the edits, the negation beside a typing error, and random pairs.

    Args:
        shown: the edits with their cosines.
        band: random pairs of sentences, at each layer; None if there are none.
    """
    if not shown.edits:
        return Reading((claim(f"why.edits.{'none' if shown.is_english else 'foreign'}"),))
    cosines, text = [each.cosine for each in shown.edits], shown.edits[0].edit.text
    low, high = cosines[0], cosines[-1]
    if high - low <= MARGIN:
        told = [claim("why.edits.equal", n=len(cosines), span=span(cosines))]
    else:
        own = {"text": quoted(text, _LONGEST), "low": low, "high": high}
        told = [claim("why.edits.apart", n=len(cosines), **own)]
    kinds = {each.edit.kind: each for each in shown.edits}
    if {"negation", "typo"} <= kinds.keys():
        negated, typo = kinds["negation"], kinds["typo"].cosine
        text = quoted(negated.edit.text, _LONGEST)
        told.append(claim("why.edits.negation", text=text, cosine=negated.cosine, typo=typo))
    if band is not None:
        mean = float(band.mean[shown.score.layer])
        told.append(claim("why.edits.random", kind=band.of, mean=mean))
    return Reading(tuple(told))


def _named(unit: Unit, side: Side) -> str:
    return placed(unit.label, unit.positions[0], [other.label for other in side.units])


def _titled(unit: Unit, side: Side) -> str:
    return occurrence(unit.label, unit.positions[0], [other.label for other in side.units])
