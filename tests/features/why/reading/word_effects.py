"""What is said of words, by their shares and left out, checked against the numbers."""

from __future__ import annotations

import re

import numpy as np

from components.features.why.compute.leave_out import LeftOut
from components.features.why.compute.shares import SharesShown
from components.features.why.measures.effects import NOISE, interaction
from components.features.why.measures.units import is_word
from components.features.why.reading.titles import reading_of, title_of
from tests.features.why.reading.patterns import (
    CLEAR,
    MANY,
    SPAN,
    WHO,
    N,
    close,
    first_at,
    largest_at,
    number,
    size,
)
from tests.support.true_words import bare, is_two, nothing, read_back

__all__ = ["check_left_out", "check_shares"]

# Shares


def check_shares(shown: SharesShown) -> None:
    score, sums = shown.score, (shown.by_word.rows, shown.by_word.columns)
    told: list[int] = []

    def side_of(name: str) -> int:
        letters = [side.letter for side in score.sides]
        return len(told) if letters[0] == letters[1] else letters.index(name[-1])

    def values(side: int) -> list[float]:
        units = score.sides[side].units
        return [float(s) for u, s in zip(units, sums[side], strict=True) if is_word(u)]

    def largest(letter: str, names: str, span: str) -> None:
        side = side_of(letter)
        names = re.sub(r"(”(?: at position \d+)?)(?= and |$)", rf"\1 in {letter}", names)
        told.append(side)
        own = values(side)
        _, unit = first_at(names, score.sides, side)
        near = [v for v in own if max(own) - v <= 0.01]
        assert sums[side][unit] == max(own)
        assert size(names) == len(near)
        close(span, min(near), max(near))

    def alike(letter: str, span: str) -> None:
        side = side_of(letter)
        told.append(side)
        assert max(values(side)) - min(values(side)) <= 0.02
        close(span, min(values(side)), max(values(side)))

    def one(letter: str, span: str) -> None:
        side = side_of(letter)
        told.append(side)
        assert len(values(side)) == 1
        close(span, *values(side) * 2)

    def none(letter: str) -> None:
        side = side_of(letter)
        told.append(side)
        assert not values(side)

    def against(names: str, span: str) -> None:
        side, unit = first_at(names, score.sides, told[-1])
        own = [v for v in values(side) if v <= -NOISE]
        assert sums[side][unit] == min(own)
        assert close(span, min(own), max(v for v in own if v - min(own) <= 0.01)) is None

    def special(first: str, second: str) -> None:
        for side, said in enumerate((first, second)):
            assert is_two(said.replace("−", "-"), float(sums[side].sum()) - sum(values(side)))

    def total(cosine: str) -> None:
        assert is_two(cosine.replace("−", "-"), shown.by_token.cells.sum())

    read_back(
        bare(" ".join(reading_of(shown))),
        {
            r"The shares add up to the cosine, (?P<cosine>-?\d+\.\d\d)\.": total,
            r"Of the words of (?P<letter>\w), (?P<names>“.*?) ha(?:s|ve) the largest shares? "
            r"\((?P<span>\S+(?: to \S+)?)\)\.": largest,
            r"The words of (?P<letter>\w) have about the same share \((?P<span>\S+(?: to "
            r"\S+)?)\)\.": alike,
            r"The one word of (?P<letter>\w) has a share of (?P<span>\S+\d)\.": one,
            r"(?P<letter>\w) has no word of its own\.": none,
            rf"(?P<names>{MANY}) counts? against it \((?P<span>\S+(?: to \S+)?)\)\.": against,
            r"Special tokens, which are no words, have (?P<first>\S+) of it in \w and "
            r"(?P<second>\S+\d) in \w\.": special,
            r"Only the .*?\.": nothing,
        },
    )
    check_shares_title(shown)


def check_shares_title(shown: SharesShown) -> None:
    title, sums = title_of(shown), (shown.by_word.rows, shown.by_word.columns)
    if title.startswith("The shares add up to "):
        assert is_two(title.rsplit(" ", 1)[1].replace("−", "-"), shown.score.cosine)
        return
    said = []
    for side, own in zip(shown.score.sides, sums, strict=True):
        words = [k for k, unit in enumerate(side.units) if is_word(unit)]
        (best,) = largest_at(own[words], 0.01)
        said.append(f"{side.units[words[best]].label} in {side.letter}")
    assert title == f"The largest shares: {' and '.join(said)}"


# Leave out


def check_left_out(shown: LeftOut) -> None:
    score, changes = shown.score, shown.changes

    def at(names: str) -> int:
        found = re.match(r"“([^”]*)”(?: at position (\d+))? in ([A-H])", names)
        assert found
        own = [
            i
            for i, w in enumerate(shown.words)
            if w.unit.label == found[1]
            and score.sides[w.side].letter == found[3]
            and (found[2] is None or w.unit.positions[0] == int(found[2]))
        ]
        assert own
        return own[0]

    def furthest(names: str, span: str, to: str, sign: int) -> None:
        moves = sign * changes
        near = [
            i for i in range(len(moves)) if moves.max() - moves[i] <= 0.01 and moves[i] >= NOISE
        ]
        assert moves.max() >= NOISE
        assert score.sides[0].letter == score.sides[1].letter or moves[at(names)] == moves.max()
        assert size(names) == len(near)
        close(span, min(changes[near]), max(changes[near]))
        cosines = [shown.words[i].cosine for i in near]
        close(to, min(cosines), max(cosines))

    def lowering(names: str, span: str, to: str) -> None:
        furthest(names, span, to, -1)

    def raising(names: str, span: str, to: str) -> None:
        furthest(names, span, to, 1)

    def no_lowering() -> None:
        assert changes.min() > -NOISE

    def no_moves() -> None:
        assert np.abs(changes).max() < NOISE

    def no_words() -> None:
        assert not shown.words

    def both_first(names: str, how: str) -> None:
        place = at(names)
        near = (shown.shares >= shown.shares.max() - NOISE).sum()
        assert (how == "first") == (near == 1)
        assert (
            score.first.letter == score.second.letter or shown.shares[place] == shown.shares.max()
        )
        assert (changes < changes[place] - NOISE).sum() == 0 or near > 1

    def other_place(names: str, how: str, place: str) -> None:
        own = int(np.argmax(shown.shares))
        assert (changes < changes[own] - NOISE).sum() + 1 == int(re.match(r"\d+", place)[0])  # type: ignore[index]

    def tau(n: str, value: str) -> None:
        assert int(n) == len(shown.words)
        assert shown.order is not None
        assert is_two(value, shown.order.tau or 0)

    def pairs(one: str, other: str, both: str, alone: str) -> None:
        assert shown.pairs is not None
        beyond = np.abs(interaction(shown.pairs))
        i, j = np.unravel_index(beyond.argmax(), beyond.shape)
        assert beyond.max() >= 2 * NOISE
        assert abs(number(both) - shown.pairs[i, j]) < CLEAR
        assert abs(number(alone) - shown.pairs[i, i] - shown.pairs[j, j]) < CLEAR

    def no_pairs() -> None:
        assert shown.pairs is not None
        assert np.abs(interaction(shown.pairs)).max() < 2 * NOISE

    by = rf"\((?P<span>{SPAN}), to (?P<to>\S+(?: to \S+)?)\)\."
    read_back(
        bare(" ".join(reading_of(shown))),
        {
            r"There is no word to leave out\.": no_words,
            r"No word moves them by 0\.005 or more when it is left out\.": no_moves,
            r"No word holds them together: without any one of them the cosine rises, or falls by "
            r"less than 0\.005\.": no_lowering,
            rf"Leaving out (?P<names>{MANY}) lowers the cosine most {by}": lowering,
            rf"Leaving out (?P<names>{MANY}) raises the cosine most {by}": raising,
            rf"The shares put (?P<names>{WHO}) (?P<how>first|in front), and so does leaving "
            r"words out\.": both_first,
            rf"The shares put (?P<names>{WHO}) (?P<how>first|in front); leaving it out puts it "
            r"(?P<place>\d+(?:st|nd|rd|th)): shares are not causes\.": other_place,
            r"Over all (?P<n>\d+) words the two orders have a Kendall's tau of "
            r"(?P<value>-?\d\.\d\d) \(1 is the same order, 0 none\)\.": tau,
            rf"(?P<one>{WHO}) and (?P<other>{WHO}) do most together that they do not do alone: "
            rf"without both the cosine moves by (?P<both>{N}), and the two moves alone add up "
            rf"to (?P<alone>{N})\.": pairs,
            r"Two words left out together do what each does alone, to within 0\.01\.": no_pairs,
        },
    )
    check_left_out_title(shown)


def check_left_out_title(shown: LeftOut) -> None:
    title, sizes = title_of(shown), np.abs(shown.changes)
    if not len(sizes) or sizes.max() < NOISE:
        assert title == "No word alone moves them"
        return
    near = largest_at(sizes, 0.01)
    if len(near) > 1:
        assert title == f"{len(near)} words move them about equally"
        return
    word = shown.words[near[0]]
    does = "holds them together" if word.cosine < shown.score.cosine else "keeps them apart"
    letter = shown.score.sides[word.side].letter
    assert title == f"{word.unit.label} in {letter} {does} most"
