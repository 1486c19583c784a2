"""The reading of Why alike?: for each look its title, its finding, and details for engineers.

`leading_of` decides which values lead: values within the noise never do, and values that differ by
at most `MARGIN` are tied. The sentences are in `english.toml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import Doubles, Unit, is_word
from contextlens.content.language import Claim, claim
from contextlens.content.wording import (
    MARGIN,
    are_alike,
    leading,
    listed_names,
    occurrence,
    placed,
    quoted,
    span,
)
from contextlens.features.why.compute import (
    EditsResult,
    InputShares,
    InputsResult,
    LeaveOutResult,
    LeftOutWord,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
)
from contextlens.features.why.measures import NOISE, interaction
from contextlens.features.why.score import Score, Side

CONVERGED = 0.001
"""The largest remainder of integrated gradients at which the shares can still be compared."""
STANDS_OUT = 1.2
"""How many times its part of an even split a word's share must be to stand out."""
SOME = 0.05
"""The smallest share of the way from the receiver's vector to the donor's that is mentioned."""
_MAX_QUOTED = 60  # characters of an edited text


@dataclass(frozen=True)
class Reading:
    """The sentences under a picture.

    Attributes:
        sentences: the visible sentences, at most three.
        sure: details for engineers, folded under "How sure is this?"; at most four.
    """

    sentences: tuple[Claim, ...]
    sure: tuple[Claim, ...] = ()


@singledispatch
def title_of(result: object) -> Claim:
    """The title of a look: its finding in short, as plain text that is not escaped."""
    raise TypeError(f"There is no title for {type(result).__name__}.")


@singledispatch
def reading_of(result: object, band: Band | None = None) -> Reading:  # noqa: ARG001
    """The reading of a look; only that of shares takes random pairs of sentences as `band`."""
    raise TypeError(f"There is no reading of {type(result).__name__}.")


def leading_of(values: Sequence[float], least: float = NOISE) -> list[int]:
    """The indices of the highest value above a minimum, and of those within `MARGIN` of it."""
    return [i for i in leading(values) if values[i] > least]


def score_claim(score: Score, band: Band | None, *, is_english: bool) -> Claim:
    """The similarity, compared with that of random pairs.

    Args:
        score: the score to explain.
        band: random pairs of the same kind, at each layer; None if there are none.
        is_english: True if both texts are English, as random pairs are.
    """
    letters = {"a": score.first.letter, "b": score.second.letter}
    if unread := _unread_letters(score):
        return claim("why.score.unread", cosine=score.cosine, letters=unread)
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


def _unread_letters(score: Score) -> str:
    """The sentences of which the model knows no compared token; "" for none."""
    return listed_names(list(dict.fromkeys(s.letter for s in score.sides if s.is_unread)))


# Shares


@title_of.register
def _(result: SharesResult) -> Claim:
    if result.score.vector_kind != "mean":
        return claim("why.shares.title.neither", cosine=result.score.cosine)
    return _two_leaders("why.shares", _sums(result), result.score.cosine)


@reading_of.register
def _(result: SharesResult, band: Band | None = None) -> Reading:
    """The reading of shares; `band`: random pairs of sentences at each layer, if they fit."""
    score, sides = result.score, _sums(result)
    if score.vector_kind != "mean":
        return Reading((claim(f"why.shares.{score.vector_kind}", cosine=score.cosine),))
    first, second = (float(np.delete(sums, _word_indices(side)).sum()) for side, sums in sides)
    letters = {"a": score.first.letter, "b": score.second.letter}
    largest = (_largest_claim("why.shares", *side, score.cosine) for side in sides)
    special = claim("why.shares.special", first=first, second=second, **letters)
    return Reading(
        (_summary(result, band), claim("why.shares.caution")),
        (*largest, claim("why.shares.sum", cosine=score.cosine), special),
    )


def _summary(result: SharesResult, band: Band | None) -> Claim:
    """The claim about the one or two words that stand out over both sentences.

    None do in sentences that are no more alike than random ones.

    A word stands out if its share is clearly above that of an even split over all words and special
    tokens. It counts wherever it occurs; each pair's share is split evenly between its two words.
    """
    score, cosine = result.score, result.score.cosine
    if unread := _unread_letters(score):
        return claim("why.shares.summary.unread", letters=unread)
    letters = {"a": score.first.letter, "b": score.second.letter}
    ranked = _word_shares(result)
    if score.are_equal:
        return claim("why.shares.summary.same", cosine=cosine, **letters)
    usual = 0.0 if band is None else float(band.high[score.layer])
    if round(cosine, 2) <= round(max(usual, 0.0), 2):
        verdict = "unlike" if band is None else "usual"
        return claim(f"why.shares.summary.{verdict}", cosine=cosine, usual=usual)
    for n in (2, 1):
        named = ranked[:n]
        runner_up = ranked[n].share if n < len(ranked) else -np.inf
        if not all(map(_stands_out, named)) or named[-1].share - runner_up <= MARGIN:
            continue
        words = listed_names([quoted(word.label) for word in named])
        share, even = sum(word.share for word in named), sum(word.even for word in named)
        beyond = "_beyond" if round(share, 2) > round(cosine, 2) else ""
        verdict = ("one", "two")[len(named) - 1] + beyond
        numbers = {"share": share, "even": even, "cosine": cosine}
        return claim(f"why.shares.summary.{verdict}", words=words, **numbers)
    largest = ranked[0]
    words = quoted(largest.label)
    return claim("why.shares.summary.even", words=words, share=largest.share, cosine=cosine)


@dataclass(frozen=True)
class _WordShare:
    """A distinct word: its share over both sentences, and that of an even split."""

    label: str
    share: float
    even: float


def _word_shares(result: SharesResult) -> list[_WordShare]:
    """Each distinct word, the one with the largest share first."""
    words: dict[str, _WordShare] = {}
    for side, sums in _sums(result):
        even = result.score.cosine / len(side.units)
        for i in _word_indices(side):
            label = side.units[i].label
            word = words.get(label.casefold(), _WordShare(label, 0.0, 0.0))
            words[label.casefold()] = replace(
                word, share=word.share + float(sums[i]) / 2, even=word.even + even / 2
            )
    return sorted(words.values(), key=lambda word: -word.share)


def _stands_out(word: _WordShare) -> bool:
    is_shown = round(word.share, 2) > round(word.even, 2)
    return is_shown and word.share >= STANDS_OUT * word.even


@title_of.register
def _(result: InputsResult) -> Claim:
    rough = [inputs.n_steps for inputs in result.sides if _is_rough(inputs)]
    if rough:
        return claim("why.inputs.title.rough", n=max(rough))
    sides = [(inputs.side, inputs.by_word) for inputs in result.sides]
    return _two_leaders("why.inputs", sides, result.score.cosine)


@reading_of.register
def _(result: InputsResult) -> Reading:
    sentences, sure = [], []
    for inputs in result.sides:
        steps = {"letter": inputs.side.letter, "n": inputs.n_steps, "remainder": inputs.remainder}
        largest = _largest_claim("why.inputs", inputs.side, inputs.by_word, inputs.end)
        sentences.append(claim("why.inputs.rough", **steps) if _is_rough(inputs) else largest)
        sure.append(claim("why.inputs.ends", start=inputs.start, end=inputs.end, **steps))
        sure.append(claim("why.inputs.sum", sum=float(inputs.shares.sum()), **steps))
    return Reading(tuple(sentences), tuple(sure))


def _is_rough(inputs: InputShares) -> bool:
    return abs(inputs.remainder) > CONVERGED


def _sums(result: SharesResult) -> list[tuple[Side, Doubles]]:
    return list(zip(result.score.sides, (result.by_word.rows, result.by_word.columns), strict=True))


def _word_indices(side: Side) -> list[int]:
    return [i for i, unit in enumerate(side.units) if is_word(unit)]


def _leaders(side: Side, sums: Doubles) -> list[int]:
    """The indices of the words with the largest shares; none if all shares are about the same."""
    words = _word_indices(side)
    values = [float(sums[i]) for i in words]
    if len(words) < 2 or are_alike(values):
        return []
    return [words[i] for i in leading(values)]


def _two_leaders(key: str, sides: Sequence[tuple[Side, Doubles]], cosine: float) -> Claim:
    """The title that names the leading word of each sentence, if each sentence has just one."""
    (first_side, first_sums), (second_side, second_sums) = sides
    first_leaders, second_leaders = (
        _leaders(first_side, first_sums),
        _leaders(second_side, second_sums),
    )
    if len(first_leaders) != 1 or len(second_leaders) != 1:
        return claim(f"{key}.title.neither", cosine=cosine)
    return claim(
        f"{key}.title.both",
        first=_titled(first_side.units[first_leaders[0]], first_side),
        second=_titled(second_side.units[second_leaders[0]], second_side),
        a=first_side.letter,
        b=second_side.letter,
    )


def _largest_claim(key: str, side: Side, sums: Doubles, cosine: float) -> Claim:
    """The claim about the words with the largest shares in one sentence."""
    words, leaders = _word_indices(side), _leaders(side, sums)
    named = leaders or words
    shares = [float(sums[i]) for i in named]
    numbers: dict[str, Any] = {"letter": side.letter, "cosine": cosine}
    if not words:
        return claim(f"{key}.none", **numbers)
    if len(named) > 1:
        verdict = "several" if leaders else "equal"
        return claim(f"{key}.{verdict}", n=len(named), span=span(shares), **numbers)
    verdict, word = "largest" if leaders else "only", _named(side.units[named[0]], side)
    return claim(f"{key}.{verdict}", word=word, share=shares[0], **numbers)


# Leave out


@title_of.register
def _(result: LeaveOutResult) -> Claim:
    leaders = _strongest(result.changes)
    if len(leaders) != 1:
        return claim(f"why.leave_out.title.{'several' if leaders else 'none'}", n=len(leaders))
    word = result.words[leaders[0]]
    side = result.score.sides[word.side]
    key = f"why.leave_out.title.{_direction(word.change)}_{result.how}"
    return claim(key, word=_titled(word.unit, side), letter=side.letter)


@reading_of.register
def _(result: LeaveOutResult) -> Reading:
    movers = []
    for way, changes in (("lowers", -result.changes), ("raises", result.changes)):
        leaders = [result.words[i] for i in leading_of(changes.tolist())]
        if leaders:
            movers.append(
                claim(f"why.leave_out.{way}", n=len(leaders), word=_left_out(result, leaders[0]),
                      cosine=result.score.cosine, without=span([word.cosine for word in leaders]))
            )  # fmt: skip
    sentences = [*movers, claim("why.leave_out.alone")] if movers else [claim("why.leave_out.none")]
    sure = [_pair_claim(result)]
    if (order := result.order) is not None:
        n, tau = len(result.words), order.tau or 0.0
        sure.insert(0, claim(f"why.leave_out.{order.verdict}", n=n, tau=tau))
    return Reading(tuple(sentences), _without_none(sure))


def _direction(change: float) -> str:
    return "lowers" if change < 0 else "raises"


def _left_out(result: LeaveOutResult, word: LeftOutWord) -> str:
    side = result.score.sides[word.side]
    return f"{_named(word.unit, side)} ({side.letter})"


def _pair_claim(result: LeaveOutResult) -> Claim | None:
    """The claim about the two words whose joint effect differs most from the sum of theirs."""
    if result.pairs is None or len(result.words) < 2:
        return None
    beyond = np.abs(interaction(result.pairs))
    i, j = divmod(int(beyond.argmax()), len(beyond))
    if beyond[i, j] < 2 * NOISE:
        return claim("why.leave_out.additive")
    return claim(
        "why.leave_out.together",
        first=_left_out(result, result.words[i]),
        second=_left_out(result, result.words[j]),
        both=float(result.pairs[i, j]),
        one=float(result.pairs[i, i]),
        other=float(result.pairs[j, j]),
    )


# Switch off


@title_of.register
def _(result: SwitchOffResult) -> Claim:
    if not result.layers:
        return claim("why.switch_off.title.empty")
    leaders = _strongest(result.heads)
    if len(leaders) != 1:
        return claim(f"why.switch_off.title.{'several' if leaders else 'none'}", n=len(leaders))
    row, head = divmod(leaders[0], result.heads.shape[1])
    key = f"why.switch_off.title.{_direction(result.heads[row, head])}"
    return claim(key, layer=result.layers[row], head=head)


@reading_of.register
def _(result: SwitchOffResult) -> Reading:
    if not result.layers:
        return Reading((claim("why.switch_off.empty"),))
    n_moving = int((np.abs(result.heads) > NOISE).sum())
    return Reading(
        (
            _heads_claim(result),
            _blocks_claim(result),
            claim("why.switch_off.alone", n=result.n_pairs),
        ),
        (claim("why.switch_off.many", n=n_moving, of=result.heads.size),),
    )


def _heads_claim(result: SwitchOffResult) -> Claim:
    """The claim about the heads with the largest effect."""
    leaders, cosine = _strongest(result.heads), result.cosine
    if len(leaders) != 1:
        return _no_leader_claim("why.switch_off", result.heads, leaders, cosine=cosine)
    row, head = divmod(leaders[0], result.heads.shape[1])
    change = float(result.heads[row, head])
    key = f"why.switch_off.{_direction(change)}"
    return claim(key, layer=result.layers[row], head=head, without=cosine + change, cosine=cosine)


def _blocks_claim(result: SwitchOffResult) -> Claim:
    """The claim about the attention and feed-forward blocks with the largest effect."""
    changes = np.stack([result.attention, result.feed_forward], axis=1)
    leaders = _strongest(changes)
    if len(leaders) != 1:
        return _no_leader_claim("why.switch_off.layer", changes, leaders)
    row, kind = divmod(leaders[0], 2)
    key = f"why.switch_off.layer.{('attention', 'feed_forward')[kind]}"
    return claim(key, layer=result.layers[row], change=float(changes[row, kind]))


def _strongest(changes: Doubles) -> list[int]:
    """The indices of the changes with the largest absolute values."""
    return leading_of(np.abs(changes).ravel().tolist())


def _no_leader_claim(key: str, changes: Doubles, leaders: Sequence[int], **numbers: Any) -> Claim:
    """The claim for the case that none leads, or several do."""
    if not leaders:
        return claim(f"{key}.none", n=0, **numbers)
    sizes = span([abs(float(changes.flat[i])) for i in leaders])
    return claim(f"{key}.several", n=len(leaders), of=changes.size, span=sizes, **numbers)


# Swap in


@title_of.register
def _(result: SwapInResult) -> Claim:
    if result.problem is not None:
        is_equal = result.score.are_equal
        return claim(f"why.swap_in.title.{'equal' if is_equal else 'stuck'}")
    leaders = _furthest(result)
    if len(leaders) != 1:
        return claim(
            f"why.swap_in.title.{'several' if leaders else 'none'}",
            n=len(leaders),
            **_letters(result),
        )
    i, j = result.alignment.pairs[leaders[0]]
    return claim(
        f"why.swap_in.title.{'one' if result.alignment.same_length else 'one_tried'}",
        old=occurrence(result.receiver.labels[i], i, result.receiver.labels),
        new=occurrence(result.donor.labels[j], j, result.donor.labels),
        **_letters(result),
    )


@reading_of.register
def _(result: SwapInResult) -> Reading:
    if result.problem is not None:
        return Reading((result.problem,))
    alignment, n = result.alignment, len(result.alignment.pairs)
    sentences = [_furthest_claim(result), _carried_claim(result), claim("why.swap_in.alone")]
    n_away = int((np.round(100 * result.fractions[0]) < 0).sum())
    sure = [
        claim(
            f"why.swap_in.{'all' if alignment.same_length else 'partly'}",
            n=n,
            total=n + len(alignment.first_alone),
            equal=alignment.n_equal,
            **_letters(result),
        ),
        claim("why.swap_in.away", n=n_away, tried=n, **_letters(result)) if n_away else None,
    ]
    return Reading(_without_none(sentences), _without_none(sure))


def _letters(result: SwapInResult) -> dict[str, str]:
    return {"a": result.receiver.letter, "b": result.donor.letter}


def _furthest(result: SwapInResult) -> list[int]:
    """The tokens that move the receiver furthest if they are swapped in at layer 0."""
    bottom = result.fractions[0].tolist()
    return leading_of(bottom, 0.0) if max(bottom) >= SOME else []


def _beyond(share: float) -> str:
    """The suffix of a sentence's key if a share, in whole per cent, is more than 100."""
    return "_beyond" if round(100 * share) > 100 else ""


def _furthest_claim(result: SwapInResult) -> Claim:
    leaders, n = _furthest(result), len(result.alignment.pairs)
    if not leaders:
        return claim("why.swap_in.none", n=n, **_letters(result))
    share = float(result.fractions[0, leaders[0]])
    if len(leaders) > 1:
        key = f"why.swap_in.several{_beyond(share)}"
        return claim(key, n=len(leaders), tried=n, share=share, **_letters(result))
    i, j = result.alignment.pairs[leaders[0]]
    return claim(
        f"why.swap_in.one{_beyond(share)}",
        old=placed(result.receiver.labels[i], i, result.receiver.labels),
        new=placed(result.donor.labels[j], j, result.donor.labels),
        share=share,
        **_letters(result),
    )


def _carried_claim(result: SwapInResult) -> Claim | None:
    """The claim about the token, equal in both texts, whose swap moves the receiver furthest."""
    ours, theirs = result.receiver.encoding.token_ids, result.donor.encoding.token_ids
    same = [k for k, (i, j) in enumerate(result.alignment.pairs) if ours[i] == theirs[j]]
    largest = result.fractions[:, same].max(axis=0).tolist()
    leaders = leading_of(largest, 0.0)
    if len(leaders) != 1 or largest[leaders[0]] < SOME:
        return None
    row = int(result.fractions[:, same[leaders[0]]].argmax())
    position = result.alignment.pairs[same[leaders[0]]][0]
    return claim(
        f"why.swap_in.carried{_beyond(largest[leaders[0]])}",
        word=placed(result.receiver.labels[position], position, result.receiver.labels),
        share=largest[leaders[0]],
        layer=result.layers[row],
        **_letters(result),
    )


# Edits


def edits_reading(result: EditsResult, band: Band | None) -> Reading:
    """The similarity after each edit, after a negation and a typing error, and of random pairs.

    Args:
        result: the edits with their cosines.
        band: random pairs of sentences, at each layer; None if there are none.
    """
    if not result.edits:
        return Reading((claim(f"why.edits.{'none' if result.is_english else 'foreign'}"),))
    cosines, text = [ranked.cosine for ranked in result.edits], result.edits[0].edit.text
    low, high = cosines[0], cosines[-1]
    if high - low <= MARGIN:
        sentences = [claim("why.edits.equal", n=len(cosines), span=span(cosines))]
    else:
        numbers = {"text": quoted(text, _MAX_QUOTED), "low": low, "high": high}
        sentences = [claim("why.edits.apart", n=len(cosines), **numbers)]
    by_kind = {ranked.edit.kind: ranked for ranked in result.edits}
    if {"negation", "typo"} <= by_kind.keys():
        negated, typo = by_kind["negation"], by_kind["typo"].cosine
        text = quoted(negated.edit.text, _MAX_QUOTED)
        sentences.append(claim("why.edits.negation", text=text, cosine=negated.cosine, typo=typo))
    if band is not None:
        mean = float(band.mean[result.score.layer])
        sentences.append(claim("why.edits.random", kind=band.of, mean=mean))
    return Reading(tuple(sentences))


def _without_none(claims: Sequence[Claim | None]) -> tuple[Claim, ...]:
    return tuple(filter(None, claims))


def _named(unit: Unit, side: Side) -> str:
    return placed(unit.label, unit.positions[0], [other.label for other in side.units])


def _titled(unit: Unit, side: Side) -> str:
    return occurrence(unit.label, unit.positions[0], [other.label for other in side.units])
