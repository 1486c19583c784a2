"""Every sentence of the readings, read back against the numbers that it is about."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.content.examples import EXAMPLES
from components.core import BUNDLED_ID, EncoderService
from components.features.why.compute.edits import EditsShown, RankedEdit, edits_of
from components.features.why.compute.leave_out import LeftOut, LeftWord, leave_out
from components.features.why.compute.score import Score, Side
from components.features.why.compute.shares import (
    Integrated,
    IntegratedSide,
    SharesShown,
    integrated_of,
    shares_at,
)
from components.features.why.compute.swap_in import SwappedIn, swap_in
from components.features.why.compute.switch_off import SwitchedOff, switch_off
from components.features.why.edits.edit import Edit
from components.features.why.measures.alignment import align
from components.features.why.measures.effects import NOISE, interaction
from components.features.why.measures.order import order_of
from components.features.why.measures.shares import Shares, by_unit, merged
from components.features.why.measures.units import is_word
from components.features.why.reading.edits import edits_reading
from components.features.why.reading.score import score_reading
from components.features.why.reading.titles import reading_of, title_of
from components.ui.state.view import from_example
from tests.support.leading import NAMES, Numbers
from tests.support.true_words import bare, is_two, nothing, read_back
from tests.support.why import score_on, sentence

N = r"[−+]?\d+\.\d\d"
SPAN = rf"{N}(?: to {N})?"
WHO = r"(?:“[^”]*”(?: in place of “[^”]*”)?(?: at position \d+)? in [A-H])"
MANY = rf"{WHO}(?: and {WHO}| and \d+ others)?"
CLEAR = 0.005001


def number(said: str) -> float:
    return float(said.replace("−", "-").replace("+", ""))


def size(names: str) -> int:
    """How many are named: one, two, or the first and how many others."""
    many = re.search(r" and (\d+) others$", names)
    return int(many[1]) + 1 if many else len(re.findall(rf"{WHO}", names))


def first_at(names: str, sides: tuple[Side, Side], which: int | None = None) -> tuple[int, int]:
    """The side and unit that a name stands for."""
    found = re.match(r"“([^”]*)”(?: at position (\d+))? in ([A-H])", names)
    assert found, names
    side = next(i for i, s in enumerate(sides) if s.letter == found[3] and which in (None, i))
    own = [i for i, u in enumerate(sides[side].units) if u.label == found[1]]
    if found[2] is not None:
        own = [i for i in own if sides[side].units[i].positions[0] == int(found[2])]
    assert len(own) == 1, names
    return side, own[0]


def close(span: str, low: float, high: float) -> None:
    ends = [number(end) for end in span.split(" to ")]
    assert abs(ends[0] - low) < CLEAR, (span, low, high)
    assert abs(ends[-1] - high) < CLEAR, (span, low, high)


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


# Switch off


def check_switched_off(shown: SwitchedOff) -> None:
    sizes = np.abs(shown.heads)

    def holds(
        head: str, layer: str, held: str, cosine: str, without: str, same: str | None
    ) -> None:
        change = shown.heads[shown.layers.index(int(layer)), int(head)]
        assert abs(change) == sizes.max() >= NOISE
        assert change < 0
        assert is_two(held, -change)
        assert is_two(cosine, shown.cosine)
        assert is_two(without, shown.cosine + change)
        agrees(int(layer), int(head), same)

    def keeps(head: str, layer: str, held: str, without: str, same: str | None) -> None:
        change = shown.heads[shown.layers.index(int(layer)), int(head)]
        assert change == sizes.max() >= NOISE
        assert is_two(held, change)
        assert is_two(without, shown.cosine + change)
        agrees(int(layer), int(head), same)

    def agrees(layer: int, head: int, same: str | None) -> None:
        own = shown.each[:, layer - 1, head]
        alike = int((np.sign(own) == np.sign(own.mean())).sum())
        assert (same is None) == (len(own) == 1)
        if same is not None:
            assert int(same) == alike

    def several_heads(head: str, layer: str, more: str, span: str) -> None:
        near = shown.heads[sizes.max() - sizes <= NOISE]
        assert len(near) > 1
        assert sizes[shown.layers.index(int(layer)), int(head)] == sizes.max()
        close(span, near.min(), near.max())

    def no_head() -> None:
        assert sizes.max() < NOISE

    def many(n: str, of: str) -> None:
        assert (int(n), int(of)) == ((sizes >= NOISE).sum(), sizes.size)

    def part(kind: str, layer: str, more: str | None, span: str) -> None:
        own = {"attention": shown.attention, "feed-forward": shown.feed_forward}
        both = np.concatenate(list(own.values()))
        top = np.abs(both).max()
        assert abs(own[kind][shown.layers.index(int(layer))]) == top
        near = both[top - np.abs(both) <= NOISE]
        assert (len(near) > 1) == bool(more)
        close(span, near.min(), near.max())

    def no_part() -> None:
        assert max(np.abs(shown.attention).max(), np.abs(shown.feed_forward).max()) < NOISE

    def layer_0() -> None:
        assert shown.score.layer == 0

    what = r"the (?:mean )?cosine"
    alike = r"(?:, and it goes the same way in (?:all )?(?P<same>\d+)(?: of the \d+)? pairs)?"
    read_back(
        bare(" ".join(reading_of(shown))),
        {
            rf"Head (?P<head>\d+) of layer (?P<layer>\d+) alone holds (?P<held>\S+) of {what}, "
            rf"(?P<cosine>\S+): without it {what} is (?P<without>-?\d+\.\d\d){alike}\.": holds,
            r"Head (?P<head>\d+) of layer (?P<layer>\d+) keeps them apart by (?P<held>\S+): "
            rf"without it {what} is (?P<without>-?\d+\.\d\d){alike}\.": keeps,
            rf"Head (?P<head>\d+) of layer (?P<layer>\d+)(?P<more> and .*?) move {what} most "
            rf"\((?P<span>{SPAN})\)\.": several_heads,
            rf"No head alone moves {what} by 0\.005 or more\.": no_head,
            r"(?P<n>\d+) of (?P<of>\d+) heads moves? it by 0\.005 or more, each alone\.": many,
            r"Of whole parts, the (?P<kind>attention|feed-forward) of layer "
            rf"(?P<layer>\d+)(?P<more> and .*?)? moves? it most \((?P<span>{SPAN})\)\.": part,
            r"No layer's attention or feed-forward moves it by 0\.005 or more\.": no_part,
            r"At layer 0 no layer has run .*? Choose a higher one\.": layer_0,
        },
    )
    check_switched_off_title(shown)


# Swap in


def check_swapped_in(shown: SwappedIn) -> None:
    if shown.problem:
        assert reading_of(shown) == [shown.problem]
        return
    own, ids = shown.fractions, (shown.receiver.encoding.token_ids, shown.donor.encoding.token_ids)
    same = [k for k, (i, j) in enumerate(shown.alignment.pairs) if ids[0][i] == ids[1][j]]

    def first(names: str, span: str, top: str | None) -> None:
        near = [k for k in range(own.shape[1]) if own[0].max() - own[0, k] <= 0.01]
        assert own[0].max() >= 0.05
        assert size(names) == len(near)
        close(span, min(own[0, near]), max(own[0, near]))
        if top is not None:
            close(top, min(own[-1, near]), max(own[-1, near]))

    def none() -> None:
        assert own[0].max() < 0.05

    def carries(names: str, here: str, layer: str, below: str) -> None:
        column = next(k for k in same if own[:, k].max() == own[:, same].max())
        assert is_two(here, own[int(layer), column])
        assert own[int(layer), column] == own[:, same].max()
        assert is_two(below, own[0, column])

    def equal(n: str, equal: str) -> None:
        assert shown.alignment.same_length
        assert (int(n), int(equal)) == (own.shape[1], len(same))

    def partly(n: str, ours: str, theirs: str, equal: str) -> None:
        lengths = [len(i) for i in ids]
        assert [int(ours), int(theirs)] == lengths
        assert (int(n), int(equal)) == (own.shape[1], len(same))

    read_back(
        bare(" ".join(reading_of(shown))),
        {
            rf"Swapped in at layer 0, (?P<names>{MANY}) brings? most: (?P<span>\S+(?: to \S+)?) "
            r"of the way from \w to \w(?:; at layer \d+, (?P<top>\S+(?: to \S+)?\d))?\.": first,
            r"At layer 0 no token alone brings 0\.05 of the way from \w to \w or more\.": none,
            rf"Of the tokens that are the same in both, (?P<names>{WHO}) comes to carry most: "
            r"(?P<here>\S+) at layer (?P<layer>\d+), (?P<below>\S+) at layer 0\.": carries,
            r"Both have (?P<n>\d+) tokens, and each stands for the one at its place; "
            r"(?P<equal>\d+) of these pairs are the same token\.": equal,
            r"(?P<n>\d+) of \w's (?P<ours>\d+) tokens stand for one of \w's (?P<theirs>\d+); "
            r"(?P<equal>\d+) of these pairs are the same token, and the others are not "
            r"swapped\.": partly,
        },
    )
    check_swapped_in_title(shown)


# Titles


def largest_at(values: np.ndarray, margin: float) -> list[int]:
    return [k for k, value in enumerate(values) if values.max() - value <= margin]


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


def check_switched_off_title(shown: SwitchedOff) -> None:
    title = title_of(shown)
    if not shown.layers:
        assert title == "Nothing has run at layer 0"
        return
    sizes = np.abs(shown.heads).ravel()
    if sizes.max() < NOISE:
        assert title == "No head alone moves them"
        return
    near = largest_at(sizes, NOISE)
    if len(near) > 1:
        assert title == f"{len(near)} heads move them about equally"
        return
    row, head = divmod(near[0], shown.heads.shape[1])
    does = "holds them together" if shown.heads[row, head] < 0 else "keeps them apart"
    assert title == f"Head {head} of layer {row + 1} {does} most"


def check_swapped_in_title(shown: SwappedIn) -> None:
    title, bottom = title_of(shown), shown.fractions[0]
    if bottom.max() < 0.05:
        assert title == "No token alone makes the difference"
        return
    near = largest_at(bottom, 0.01)
    if len(near) > 1:
        assert title == f"{len(near)} tokens bring about as much of the difference"
        return
    i, j = shown.alignment.pairs[near[0]]
    ours, theirs = shown.receiver.labels[i], shown.donor.labels[j]
    own = f"“{ours}”" if ours == theirs else f"“{theirs}” in place of “{ours}”"
    assert title == f"{own} brings the most"


CHECKS: Mapping[type, Callable[..., None]] = {
    SharesShown: check_shares,
    LeftOut: check_left_out,
    SwitchedOff: check_switched_off,
    SwappedIn: check_swapped_in,
}


@pytest.mark.slow
@pytest.mark.parametrize("key", ["python", "bank", "negation", "order"])
def test_readings_of_the_ready_examples_are_true(service: EncoderService, key: str) -> None:
    view = from_example(next(example for example in EXAMPLES if example.key == key))
    score = score_on(service, *view.sentences)
    check_shares(shares_at(score))
    check_left_out(leave_out(score, service, pairs=True))
    check_switched_off(switch_off(view, score, service, over="all"))
    check_swapped_in(swap_in(score, service))


@pytest.fixture(scope="module")
def scores(tiny_service: EncoderService) -> list[Score]:
    """Scores of odd texts; their numbers are made up by the tests."""
    texts = [
        "the bank the bank",
        "A python slept.",
        "I",
        "",
        "…",
        "我喜欢 python python",
        "*a_ `b`",
    ]
    both = [(texts[i], texts[j]) for i, j in ((0, 1), (1, 0), (2, 5), (4, 2), (5, 6), (0, 0))]
    how = {"model": "folder:bert"}
    return [score_on(tiny_service, *map(sentence, pair), **how) for pair in both]


@pytest.mark.parametrize("seed", range(40))
def test_readings_of_made_up_numbers_are_true(scores: list[Score], seed: int) -> None:
    chance = np.random.default_rng(seed)
    score = scores[seed % len(scores)]
    scale = float(chance.choice([0.0, 0.004, 0.05, 1.0]))

    def odd(*shape: int) -> np.ndarray:
        values = chance.normal(size=shape) * scale
        return values.round(2) if chance.integers(2) else values

    one, other = score.sides
    cells = odd(one.encoding.n_tokens, other.encoding.n_tokens)
    score = replace(score, cosines=np.full_like(score.cosines, cells.sum()))
    by_token = Shares(cells)
    check_shares(SharesShown(score, by_token, merged(by_token, one.units, other.units)))

    units = [(i, unit) for i, side in enumerate(score.sides) for unit in side.words]
    changes = odd(len(units))
    pairs = odd(len(units), len(units))
    pairs = pairs + pairs.T
    np.fill_diagonal(pairs, changes)
    words = tuple(
        LeftWord(i, unit, score.cosine + float(change), float(change))
        for (i, unit), change in zip(units, changes, strict=True)
    )
    shares = odd(len(units))
    order = order_of(shares, changes, margin=NOISE)
    check_left_out(LeftOut(score, "taken", words, pairs, shares, order, ()))

    each = odd(int(chance.choice([1, 3])), 3, 4)
    n = int(chance.integers(4))
    off = SwitchedOff(
        score=replace(score, layer=n),
        to="zero",
        sides=score.sides,
        cosine=0.5,
        layers=tuple(range(1, n + 1)),
        heads=each.mean(axis=0)[:n],
        attention=odd(3)[:n],
        feed_forward=odd(3)[:n],
        each=each[:, :n],
        notes=(),
    )
    check_switched_off(off)

    alignment = align(one.encoding, other.encoding)
    fractions = odd(n + 1, len(alignment.pairs))
    check_swapped_in(SwappedIn(score, "first", alignment, tuple(range(n + 1)), fractions))


def test_input_shares_are_told_with_what_is_left_over(tiny_service: EncoderService) -> None:
    both = sentence("A python slept"), sentence("The bank lends money")
    shown = integrated_of(score_on(tiny_service, *both, model="folder:bert"), tiny_service)
    said = bare(" ".join(reading_of(shown)))
    for own in shown.sides:
        found = re.search(
            rf"From (\S+), with padding in place of {own.side.letter}'s own tokens, to (\S+): "
            r"their shares add up to (\S+), and the (\d+) steps leave "
            r"(less than 0.0001|−?\d\.\d{4})\.",
            said,
        )
        assert found
        values = own.start, own.end, own.shares.sum()
        assert all(is_two(s, float(v)) for s, v in zip(found.groups()[:3], values, strict=True))
        assert int(found[4]) == own.n_steps
        left = 0.0 if found[5].startswith("less") else number(found[5])
        assert abs(left - own.remainder) < 1e-4
    assert title_of(shown)


def test_a_score_is_held_against_random_pairs(service: EncoderService) -> None:
    score = score_on(service)
    low, mean, high = (np.full(7, value, np.float32) for value in (0.1, 0.2, 0.5))
    said = bare(score_reading(score, Band(low, mean, high, "English sentences")))
    assert "have a cosine of 0.59 at layer 6, above what random pairs of English" in said
    assert "(mean 0.20; 90 of 100 lie from 0.10 to 0.50)" in said
    assert "within what" in score_reading(score, Band(low, mean, low + 0.8, "x"))
    assert "below what" in score_reading(score, Band(low + 0.6, mean, high + 0.4, "x"))
    assert bare(score_reading(score, None)) == "A and B have a cosine of 0.59 at layer 6."
    same = score_on(service, sentence("My cat"), sentence("My cat"))
    assert "the model reads the same in both" in score_reading(same, None)
    word = score_on(service, what="word")
    assert score_reading(word, None).startswith("“python” in A and “python” in B")


@pytest.mark.parametrize("seed", range(20))
def test_edits_are_told_by_their_cosines(scores: list[Score], seed: int) -> None:
    chance = random.Random(seed)
    kinds = ["negation", "typo", "case", "name", "order"]
    drawn = chance.sample(kinds, chance.randint(0, 5))
    cosines = sorted(chance.choice([0.5, 0.505, 0.9, 1.0]) for _ in drawn)
    edits = tuple(
        RankedEdit(Edit(kind, f"text {i}", "what"), c)  # type: ignore[arg-type]
        for i, (kind, c) in enumerate(zip(drawn, cosines, strict=True))
    )
    shown = EditsShown(scores[0], "mean", edits)
    own = {each.edit.kind: each.cosine for each in edits}

    def ends(n: str, first: str, low: str, near: str | None, last: str) -> None:
        assert int(n) == len(edits)
        assert is_two(low, cosines[0])
        assert cosines[-1] - cosines[0] > 0.01
        count = sum(cosines[-1] - c <= 0.01 for c in cosines)
        assert int(near or 1) == count
        close(last, cosines[-count], cosines[-1])

    def negated(value: str, how: str | None, typo: str | None) -> None:
        assert is_two(value, own["negation"])
        gap = own["negation"] - own.get("typo", 9)
        expected = (
            "about as much as" if abs(gap) <= 0.01 else "more than" if gap > 0 else "less than"
        )
        assert how == (expected if "typo" in own else None)

    read_back(
        bare(" ".join(edits_reading(shown, None))),
        {
            r"No ready edit fits this sentence\.": nothing,
            r"(?:The one edit leaves|All \d edits leave) a cosine of \S+ with the "
            r"sentence\.": nothing,
            r"Of (?P<n>\d) edits, the one furthest away is “(?P<first>text \d)” "
            r"\((?P<low>\S+)\); (?:(?P<near>\d) are nearest|nearest is “text \d”) "
            r"\((?P<last>\S+(?: to \S+)?)\)\.": ends,
            r"Its negation, “text \d”, has (?P<value>\d\.\d\d)(?:, (?P<how>.*?) a typing error "
            r"leaves \((?P<typo>\S+)\))?\.": negated,
        },
    )
    band = Band(*(np.full(4, 0.1, np.float32) for _ in range(3)), "English sentences")
    if edits:
        assert edits_reading(shown, band)[-1].endswith("have 0.10 on average.")


def test_edits_of_a_real_sentence_are_told(service: EncoderService) -> None:
    shown = edits_of(score_on(service), service)
    said = " ".join(edits_reading(shown, None))
    assert "Its negation, “I do not love my pet python”" in said
    assert shown.score.card.id == BUNDLED_ID


def test_there_is_no_reading_of_anything_else(scores: list[Score]) -> None:
    for ask in (title_of, reading_of):
        with pytest.raises(TypeError):
            ask("python")
    side = scores[0].first
    shares = np.zeros(side.encoding.n_tokens)
    own = IntegratedSide(side, shares, by_unit(shares, side.units), 0.5, 0.5, 0.0, 16)
    assert reading_of(Integrated(scores[0], own, own))
    assert NAMES
    assert Numbers([0.5]).are_alike
