"""Every sentence of the readings, read back against the numbers that it is about."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.content.examples import EXAMPLES
from components.core import BUNDLED_ID, EncoderService
from components.features.why.compute.edits import EditsShown, RankedEdit, edits_of
from components.features.why.compute.leave_out import LeftOut, LeftWord, leave_out
from components.features.why.compute.score import Score
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
from components.features.why.measures.effects import NOISE
from components.features.why.measures.order import order_of
from components.features.why.measures.shares import Shares, by_unit, merged
from components.features.why.reading.edits import edits_reading
from components.features.why.reading.score import score_reading
from components.features.why.reading.titles import reading_of, title_of
from components.ui.state.view import from_example
from tests.features.why.reading.part_effects import check_swapped_in, check_switched_off
from tests.features.why.reading.patterns import close, number
from tests.features.why.reading.word_effects import check_left_out, check_shares
from tests.features.why.scores import score_on, sentence
from tests.support.leading import NAMES, Numbers
from tests.support.true_words import bare, is_two, nothing, read_back


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
    first = score_on(service, what="cls")
    assert bare(score_reading(first, None)).startswith("The [CLS] vectors of A and B")
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
    rough = replace(own, remainder=-0.0011)
    assert title_of(Integrated(scores[0], own, rough)).startswith("Shares are rough")
    assert "after 16 steps they still miss more than 0.001" in " ".join(
        reading_of(Integrated(scores[0], own, rough))
    )
    assert "rough" not in title_of(Integrated(scores[0], own, replace(own, remainder=0.0009)))
    assert NAMES
    assert Numbers([0.5]).are_alike
