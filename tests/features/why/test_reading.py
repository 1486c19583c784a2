"""The claims of Why alike? on any numbers, checked against those numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import Shares, by_unit, merged
from contextlens.content.language import Claim, say
from contextlens.core import EncoderService
from contextlens.features.why.compute import (
    EditsResult,
    InputShares,
    InputsResult,
    LeaveOutResult,
    LeftOutWord,
    RankedEdit,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
    edits_of,
    leave_out,
    swap_in,
    switch_off,
)
from contextlens.features.why.edits import Edit
from contextlens.features.why.measures import align, order_of
from contextlens.features.why.reading import (
    Reading,
    edits_reading,
    reading_of,
    score_claim,
    title_of,
)
from contextlens.features.why.score import Score, Side
from contextlens.ui.state.view import Sentence
from tests.features.why.scores import score_on, sentence, view_on
from tests.support.claims import read, unreached

N = 420  # seeds; each gives one result of every look
SIZES = (0.0, 0.004, 0.02, 0.1, 1.0)
TEXTS = (
    "the bank the bank",
    "A python slept.",
    "I",
    "…",
    "我喜欢 python",
    "*a_ `b` <i>",
    "a b",
    "\u200b",
)
PAIRS = ((0, 1), (1, 0), (2, 4), (3, 2), (4, 5), (0, 0), (5, 6), (6, 0), (7, 1), (7, 7))
ORDERS = {"same", "opposite", "unrelated", "cannot tell"}
BAND = Band(*(np.full(9, 0.1, np.float32) for _ in range(3)), "English sentences")


@pytest.fixture(scope="module")
def scores(tiny_service: EncoderService) -> list[Score]:
    """Scores of odd texts; their numbers are made up."""
    words = sentence("A python slept", "python"), sentence("the bank", "bank")
    return [
        *(score_on(tiny_service, Sentence(TEXTS[i]), Sentence(TEXTS[j]), model="folder:bert")
          for i, j in PAIRS),
        *(score_on(tiny_service, *words, model="folder:bert", what=kind)
          for kind in ("word", "cls")),
    ]  # fmt: skip


class Chance:
    """Results of every look with numbers of all sizes: tied, almost tied, all the same, none."""

    def __init__(self, scores: list[Score], seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.size = float(self.random.choice(SIZES))
        score = scores[seed % len(scores)]
        self.score = replace(score, cosines=np.clip(self.numbers(len(score.cosines)), -1, 1))

    def numbers(self, *shape: int) -> np.ndarray:
        values = self.random.normal(size=shape) * self.size
        how = self.random.integers(4)
        if how == 0:
            return values.round(2)
        return np.where(self.random.random(shape) < 0.1, values, 0.0) if how == 1 else values

    def results(self) -> list[Any]:
        return [
            self.shares(),
            InputsResult(self.score, *map(self.inputs, self.score.sides)),
            self.left_out(),
            self.switched_off(),
            self.swapped_in(),
            self.edits(),
        ]

    def shares(self) -> SharesResult:
        first, second = self.score.sides
        cells = Shares(self.numbers(first.encoding.n_tokens, second.encoding.n_tokens))
        return SharesResult(self.score, cells, merged(cells, first.units, second.units))

    def inputs(self, side: Side) -> InputShares:
        shares = self.numbers(side.encoding.n_tokens)
        rest = float(self.random.choice([0, 1e-6, -0.0009, 0.0011, -0.3]))
        return InputShares(side, shares, by_unit(shares, side.units), 0.1, 0.5, rest, 32, (0, 1))

    def left_out(self) -> LeaveOutResult:
        units = [(i, unit) for i, side in enumerate(self.score.sides) for unit in side.words]
        n = len(units)
        changes, shares, pairs = self.numbers(n), self.numbers(n), self.numbers(n, n)
        pairs = pairs + pairs.T
        np.fill_diagonal(pairs, changes)
        return LeaveOutResult(
            self.score,
            "hidden" if self.random.integers(2) else "taken",
            tuple(
                LeftOutWord(i, unit, self.score.cosine + float(change), float(change))
                for (i, unit), change in zip(units, changes, strict=True)
            ),
            pairs if self.random.integers(2) else None,
            shares,
            order_of(shares, changes) if self.score.vector_kind == "mean" else None,
            (),
        )

    def switched_off(self) -> SwitchOffResult:
        n, by_pair = int(self.random.integers(4)), self.numbers(self.random.choice([1, 3]), 3, 4)
        return SwitchOffResult(
            score=replace(self.score, layer=n),
            to="zero",
            sides=self.score.sides,
            cosine=0.5,
            layers=tuple(range(1, n + 1)),
            heads=by_pair.mean(axis=0)[:n],
            attention=self.numbers(3)[:n],
            feed_forward=self.numbers(3)[:n],
            by_pair=by_pair[:, :n],
            notes=(),
        )

    def swapped_in(self) -> SwapInResult:
        alignment = align(self.score.first.encoding, self.score.second.encoding)
        n = int(self.random.integers(1, 5))
        fractions = self.numbers(n, len(alignment.pairs)) * float(self.random.choice([1, 60]))
        if not self.random.integers(3):
            fractions = fractions.round()
        return SwapInResult(self.score, "first", alignment, tuple(range(n)), fractions)

    def edits(self) -> EditsResult:
        kinds = self.random.permutation(["negation", "typo", "case", "name", "order"])
        kinds = kinds[: self.random.integers(6)].tolist()
        cosines = sorted(self.random.choice([0.5, 0.505, 0.9, 1.0], size=len(kinds)).tolist())
        edits = tuple(
            RankedEdit(Edit(kind, f"text {i}", "what"), value)
            for i, (kind, value) in enumerate(zip(kinds, cosines, strict=True))
        )
        is_english = bool(edits) or bool(self.random.integers(2))
        return EditsResult(self.score, "mean", edits, is_english=is_english)


@pytest.fixture(scope="module")
def results(scores: list[Score]) -> list[Any]:
    return [result for seed in range(N) for result in Chance(scores, seed).results()]


def said_of(results: list[Any], kind: type) -> list[tuple[Any, str, Claim, Reading]]:
    """Each result of a look: itself, its title's verdict, its title and its reading."""
    of_kind = [result for result in results if isinstance(result, kind)]
    return [(r, verdict(title_of(r)), title_of(r), reading_of(r)) for r in of_kind]


# An oracle of its own


def near(values: Any, least: float = 0.01) -> list[int]:
    """Indices within 0.01 of the highest, above `least`."""
    values = np.asarray(values, float)
    return [i for i, v in enumerate(values) if values.max() - v <= 0.01 and v > least]


def verdict(claim: Claim) -> str:
    return claim.key.rsplit(".", 1)[-1]


def verdicts(claims: tuple[Claim, ...]) -> list[str]:
    return [verdict(claim) for claim in claims]


def test_shares_name_the_largest_alone(results: list[Any]) -> None:
    for result, title, _, reading in said_of(results, SharesResult):
        score, claims = result.score, reading.sure
        if score.vector_kind != "mean":
            assert (verdicts(reading.sentences), title) == ([score.vector_kind], "neither")
            continue
        assert_summary(result, reading.sentences[0])
        sums = (result.by_word.rows, result.by_word.columns)
        leads = [leads_alone(*both) for both in zip(score.sides, sums, claims, strict=False)]
        assert title == ("both" if all(leads) else "neither")


def assert_summary(result: SharesResult, claim: Claim) -> None:
    """The one or two words that stand out: above an even split, and above the next word."""
    shares: dict[str, float] = {}
    evens: dict[str, float] = {}
    score = result.score
    for side, sums in zip(score.sides, (result.by_word.rows, result.by_word.columns), strict=True):
        for unit, share in zip(side.units, sums, strict=True):
            if unit.span is not None:
                word = unit.label.casefold()
                shares[word] = shares.get(word, 0) + share / 2
                evens[word] = evens.get(word, 0) + score.cosine / len(side.units) / 2
    order = sorted(shares, key=lambda word: -shares[word])
    leading = [
        n
        for n in (1, 2)
        if n <= len(order)
        and all(shares[w] >= 1.2 * evens[w] and two(shares[w]) > two(evens[w]) for w in order[:n])
        and shares[order[n - 1]] - max([shares[w] for w in order[n:]], default=-9.0) > 0.01
    ]
    if any(side.is_unread for side in score.sides):
        assert verdict(claim) == "unread"
        return
    if score.are_equal or two(score.cosine) <= 0:
        assert verdict(claim) == ("same" if score.are_equal else "unlike")
        return
    if not leading:
        assert verdict(claim) == "even"
        assert claim.numbers["share"] == pytest.approx(shares[order[0]])
        return
    n = leading[-1]
    together = sum(shares[word] for word in order[:n])
    beyond = "_beyond" if two(together) > two(score.cosine) else ""
    assert verdict(claim) == ("one", "two")[n - 1] + beyond
    assert claim.numbers["share"] == pytest.approx(together)
    assert claim.numbers["even"] == pytest.approx(sum(evens[word] for word in order[:n]))


def two(value: float) -> float:
    return round(float(value), 2)


def test_no_word_makes_sentences_alike_that_are_as_alike_as_random_ones(
    scores: list[Score],
) -> None:
    random = Chance(scores, 0)
    for cosine, expected in ((0.1, "usual"), (0.104, "usual"), (0.11, None), (-0.2, "usual")):
        score = replace(random.score, cosines=np.full(9, cosine))
        result = replace(random.shares(), score=score)
        claim = reading_of(result, BAND).sentences[0]
        alone = verdict(reading_of(result).sentences[0])
        assert verdict(claim) == (expected or alone)


def leads_alone(side: Side, sums: np.ndarray, claim: Claim) -> bool:
    """Check the claim on one sentence; True if one of its words has the largest share."""
    values = np.array([v for v, u in zip(sums, side.units, strict=True) if u.span is not None])
    assert claim.numbers["letter"] == side.letter
    if len(values) < 2:
        assert verdict(claim) == ("only" if len(values) else "none")
        return False
    top, is_flat = near(values, -np.inf), values.max() - values.min() <= 0.02
    expected = "equal" if is_flat else "largest" if len(top) == 1 else "several"
    assert verdict(claim) == expected
    if expected == "largest":
        assert claim.numbers["share"] == values.max()
    else:
        assert claim.numbers["n"] == (len(values) if is_flat else len(top))
    return expected == "largest"


def test_shares_of_inputs_that_did_not_add_up_are_called_rough(results: list[Any]) -> None:
    for result, title, _, reading in said_of(results, InputsResult):
        rough = [abs(inputs.remainder) > 0.001 for inputs in result.sides]
        assert (title == "rough") == any(rough)
        for inputs, claim, is_rough in zip(result.sides, reading.sentences, rough, strict=True):
            assert (verdict(claim) == "rough") == is_rough
            if not is_rough:
                leads_alone(inputs.side, inputs.by_word, claim)
        sums = [claim.numbers.get("sum") for claim in reading.sure[1::2]]
        assert sums == [inputs.shares.sum() for inputs in result.sides]


def test_leaving_out_tells_nothing_within_the_noise(results: list[Any]) -> None:
    for result, title, title_claim, reading in said_of(results, LeaveOutResult):
        changes = np.array([word.change for word in result.words])
        strongest = near(np.abs(changes)) if len(changes) else []
        if len(strongest) == 1:
            way = "lowers" if changes[strongest[0]] < 0 else "raises"
            assert title == f"{way}_{result.how}"
        else:
            assert title == ("several" if strongest else "none")
            assert title_claim.numbers["n"] == len(strongest)
        both = {"lowers": -changes, "raises": changes} if len(changes) else {}
        moved = {way: len(near(values)) for way, values in both.items() if near(values)}
        assert verdicts(reading.sentences) == ([*moved, "alone"] if moved else ["none"])
        for claim, n in zip(reading.sentences, moved.values(), strict=False):
            assert (claim.numbers["n"], claim.numbers["cosine"]) == (n, result.score.cosine)
        sure = verdicts(reading.sure)
        assert bool(ORDERS & set(sure[:1])) == (result.score.vector_kind == "mean")
        expected = None
        if result.pairs is not None and len(changes) > 1:
            beyond = result.pairs - changes[:, None] - changes[None, :]
            np.fill_diagonal(beyond, 0)
            expected = "additive" if np.abs(beyond).max() < 0.02 else "together"
        assert [own for own in sure if own not in ORDERS] == ([expected] if expected else [])


def test_heads_are_told_above_the_noise_alone(results: list[Any]) -> None:
    for result, title, _, reading in said_of(results, SwitchOffResult):
        if not result.layers:
            assert (title, *verdicts(reading.sentences)) == ("empty", "empty")
            continue
        changes, (heads, layers, alone) = result.heads.ravel(), reading.sentences
        strongest = near(np.abs(changes))
        expected = "several" if strongest else "none"
        if len(strongest) == 1:
            change = changes[strongest[0]]
            expected = "lowers" if change < 0 else "raises"
            assert heads.numbers["without"] == pytest.approx(result.cosine + change)
            place = heads.numbers["layer"] - 1, heads.numbers["head"]
            assert place == divmod(strongest[0], 4)
        else:
            assert heads.numbers["n"] == len(strongest)
        assert title == verdict(heads) == expected
        assert alone.numbers["n"] == len(result.by_pair)
        assert reading.sure[0].numbers["n"] == (np.abs(changes) > 0.01).sum()
        parts = [*result.attention, *result.feed_forward]
        most = near(np.abs(parts))
        expected = "several" if most else "none"
        if len(most) == 1:
            expected = "attention" if most[0] < len(result.layers) else "feed_forward"
            assert layers.numbers["change"] == parts[most[0]]
        assert verdict(layers) == expected


def test_swapping_in_speaks_of_tokens_that_were_tried_and_never_of_61_ways(
    results: list[Any],
) -> None:
    for result, title, _, reading in said_of(results, SwapInResult):
        bottom, n = result.fractions[0], len(result.alignment.pairs)
        furthest = near(bottom, 0.0) if bottom.max() >= 0.05 else []
        first, *carried, alone = reading.sentences
        expected = "none" if not furthest else "one" if len(furthest) == 1 else "several"
        is_whole = result.alignment.same_length
        assert title == expected + ("_tried" if expected == "one" and not is_whole else "")
        beyond = "_beyond" if furthest and bottom.max() >= 1.005 else ""
        assert (verdict(first), verdict(alone)) == (expected + beyond, "alone")
        if expected == "several":
            assert (first.numbers["n"], first.numbers["tried"]) == (len(furthest), n)
        if furthest:
            assert first.numbers["share"] == bottom.max()
        ours, theirs = (side.encoding.token_ids for side in (result.receiver, result.donor))
        same = [k for k, (i, j) in enumerate(result.alignment.pairs) if ours[i] == theirs[j]]
        for claim in carried:
            share, row = claim.numbers["share"], result.fractions[int(claim.numbers["layer"])]
            column = next(k for k in same if result.fractions[:, k].max() == share)
            assert row[column] == share
            assert claim.key.endswith("_beyond") == (share >= 1.005)
        assert verdict(reading.sure[0]) == ("all" if is_whole else "partly")
        n_away = int((bottom < -0.005).sum())
        assert [claim.numbers["n"] for claim in reading.sure[1:]] == ([n_away] if n_away else [])


def test_edits_are_told_by_their_similarity(results: list[Any]) -> None:
    for result in (result for result in results if isinstance(result, EditsResult)):
        claims = edits_reading(result, BAND).sentences
        if not result.edits:
            assert verdicts(claims) == ["none" if result.is_english else "foreign"]
            continue
        cosines: dict[str, float] = {e.edit.kind: e.cosine for e in result.edits}
        low, high = min(cosines.values()), max(cosines.values())
        expected = ["apart" if high - low > 0.01 else "equal"]
        expected += ["negation"] if {"negation", "typo"} <= cosines.keys() else []
        assert verdicts(claims) == [*expected, "random"]
        if "apart" in expected:
            assert (claims[0].numbers["low"], claims[0].numbers["high"]) == (low, high)
        if "negation" in expected:
            numbers = claims[1].numbers
            assert (numbers["cosine"], numbers["typo"]) == (cosines["negation"], cosines["typo"])


def test_a_score_is_held_against_random_pairs_of_english(scores: list[Score]) -> None:
    for seed in range(N // 10):
        random, score = np.random.default_rng(seed), scores[seed % len(scores)]
        ends = (
            np.sort(random.uniform(-1, 1, 3)).astype(np.float32).round(int(random.integers(1, 4)))
        )
        band = Band(*(np.full(9, value, np.float32) for value in ends), "English sentences")
        value = float(random.choice([*ends, random.uniform(-1, 1)]))
        score = replace(score, cosines=np.full_like(score.cosines, value))
        where = "above" if round(value, 2) > round(float(ends[2]), 2) else "within"
        where = "below" if round(value, 2) < round(float(ends[0]), 2) else where
        for given, is_english, expected in (
            (band, True, where), (None, True, "unknown"), (band, False, "foreign"),
        ):  # fmt: skip
            claim = score_claim(score, given, is_english=is_english)
            expected = "equal" if score.are_equal else expected
            is_unread = any(side.is_unread for side in score.sides)
            assert verdict(claim) == ("unread" if is_unread else expected)
            assert claim.numbers["cosine"] == value
            assert str(claim)


def test_every_sentence_is_reached_and_whole(results: list[Any], scores: list[Score]) -> None:
    claims: list[Claim] = []
    equal = replace(scores[0], second=scores[0].first)
    swapped = Chance(scores, 0).swapped_in()
    stuck = [
        replace(swapped, score=score, problem=Claim(f"why.swap_in.{key}", {"a": "A", "b": "B"}))
        for score, key in ((equal, "equal"), (scores[0], "stuck"))
    ]
    for result in (*results, *stuck):
        is_edits = isinstance(result, EditsResult)
        reading = edits_reading(result, BAND) if is_edits else reading_of(result)
        if isinstance(result, SharesResult):
            claims.append(reading_of(result, BAND).sentences[0])
        claims += [*reading.sentences, *reading.sure, *([] if is_edits else [title_of(result)])]
    assert [key for key in unreached("why", read(claims)) if not key.startswith("why.score.")] == []


def test_the_opening_sentences_are_explained_in_these_words(service: EncoderService) -> None:
    score, view = score_on(service), view_on()
    edits = edits_of(score, service)
    assert str(title_of(leave_out(score, service))) == (
        "Removing “python” from A lowers the similarity most"
    )
    assert str(title_of(swap_in(score, service))) == (
        "Swapping in “in” for “pet” moves A furthest towards B"
    )
    assert str(title_of(switch_off(view, score, service))) == (
        "Switching off head 3 of layer 6 lowers the similarity most"
    )
    assert "“I do not love my pet python”" in str(edits_reading(edits, None).sentences[1])
    assert say("why.edits.foreign").endswith("it is not clearly English.")


def test_equal_sentences_are_said_to_be_equal(service: EncoderService) -> None:
    result = swap_in(score_on(service, Sentence("My cat"), Sentence("my CAT")), service)
    assert str(title_of(result)) == "To the model, both sentences are the same"
    assert "To the model, A and B are the same" in str(reading_of(result).sentences[0])
