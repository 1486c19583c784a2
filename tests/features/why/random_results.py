"""Results with made-up numbers of all sizes, and an oracle of the words that lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.shares import Shares, by_unit, merged
from contextlens.content.language import Claim
from contextlens.features.why.edits import Edit, EditsResult, RankedEdit
from contextlens.features.why.inputs import InputShares, InputsResult
from contextlens.features.why.leave_out import LeaveOutResult, LeftOutWord, order_of
from contextlens.features.why.score import Score, Side
from contextlens.features.why.shares import SharesResult
from contextlens.features.why.swap_in import SwapInResult, align
from contextlens.features.why.switch_off import SwitchOffResult

N = 420
"""Seeds; each gives one result of every explanation."""
SIZES = (0.0, 0.004, 0.02, 0.1, 1.0)


class RandomResults:
    """Results with numbers of all sizes: tied, almost tied, all the same, none."""

    def __init__(self, scores: list[Score], seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.size = float(self.random.choice(SIZES))
        score = scores[seed % len(scores)]
        self.score = replace(score, cosines=np.clip(self.numbers(len(score.cosines)), -1, 1))

    def numbers(self, *shape: int) -> np.ndarray:
        values = self.random.normal(size=shape) * self.size
        how = self.random.integers(5)
        if how == 4:
            return self.size * (1 + 0.05 * self.random.random(shape))  # about the same
        if how == 0:
            return values.round(2)
        return np.where(self.random.random(shape) < 0.1, values, 0.0) if how == 1 else values

    def all(self) -> list[Any]:
        return [
            self.shares(),
            self.inputs(),
            self.left_out(),
            self.switched_off(),
            self.swapped_in(),
            self.edits(),
        ]

    def shares(self) -> SharesResult:
        first, second = self.score.sides
        numbers = self.numbers(first.encoding.n_tokens, second.encoding.n_tokens)
        if self.random.integers(2):  # special tokens have no part
            for side, tokens in ((first, numbers), (second, numbers.T)):
                tokens[side.encoding.special_tokens_mask == 1] = 0
        cells = Shares(numbers / max(1.0, abs(numbers.sum())))
        score = self.score
        if self.random.integers(2):
            score = replace(score, cosines=np.full_like(score.cosines, cells.total))
        return SharesResult(score, cells, merged(cells, first.units, second.units))

    def inputs(self) -> InputsResult:
        return InputsResult(self.score, *map(self._input_shares, self.score.sides))

    def _input_shares(self, side: Side) -> InputShares:
        shares = self.numbers(side.encoding.n_tokens)
        missed = float(self.random.choice([0, 1e-6, 0.0009, 0.0011, 0.3]))
        by_word = by_unit(shares, side.units)
        return InputShares(side, shares, by_word, 0.1, 0.5, 0.0, missed, 32, (0, 1))

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
            limits=(),
        )

    def swapped_in(self) -> SwapInResult:
        alignment = align(self.score.first.encoding, self.score.second.encoding)
        n = int(self.random.integers(2, 5))  # at layer 0 alone, equal tokens have no number
        fractions = self.numbers(n, len(alignment.pairs)) * float(self.random.choice([1, 60]))
        if not self.random.integers(3):
            fractions = fractions.round()
        fractions[0, alignment.equal] = np.nan
        return SwapInResult(self.score, "first", alignment, tuple(range(n)), fractions)

    def edits(self) -> EditsResult:
        kinds = self.random.permutation(["negation", "typo", "case", "name", "order"])
        kinds = kinds[: self.random.integers(6)].tolist()
        cosines = sorted(self.random.choice([0.5, 0.505, 0.9, 1.0], size=len(kinds)).tolist())
        edits = tuple(
            RankedEdit(Edit(kind, f"text {i}", "what"), value)
            for i, (kind, value) in enumerate(zip(kinds, cosines, strict=True))
        )
        return EditsResult(self.score, "mean", edits)


# An oracle of its own


def are_same(one: float, other: float) -> bool:
    """True if one of two numbers is at most 1.25 times the other, with the same sign."""
    low, high = sorted((one, other), key=abs)
    return bool(low * high >= 0 and abs(high) <= 1.25 * abs(low))


def near(values: Any, least: float = 0.01) -> list[int]:
    """Indices within 0.01 of the highest, and about the same, above `least`."""
    values = np.asarray(values, float)
    top = values.max()
    return [i for i, v in enumerate(values) if top - v <= 0.01 and v > least and are_same(v, top)]


def verdict(claim: Claim) -> str:
    """The last part of a claim's key."""
    return claim.key.rsplit(".", 1)[-1]


def verdicts(claims: Sequence[Claim]) -> list[str]:
    """The last parts of the keys of several claims."""
    return [verdict(claim) for claim in claims]


def assert_adds_up(claim: Claim, cosine: float, change: float) -> None:
    """Check that the two similarities of a claim differ by the change, in the digits shown."""
    before, after = (claim.numbers[name].replace("−", "-") for name in ("cosine", "without"))
    digits = len(before.partition(".")[2])
    assert digits == len(after.partition(".")[2])
    assert (float(before), float(after)) == (
        pytest.approx(round(cosine, digits), abs=1e-9),
        pytest.approx(round(cosine + change, digits), abs=1e-9),
    )
    difference = float(after) - float(before)
    assert digits == 3 or difference == pytest.approx(round(change, 2), abs=1e-9)


def leads_alone(side: Side, sums: np.ndarray, claim: Claim) -> bool:
    """Check the claim on one sentence; True if one of its words has the largest share."""
    values = np.array([v for v, u in zip(sums, side.units, strict=True) if u.span is not None])
    assert claim.numbers["letter"] == side.letter
    if len(values) < 2:
        assert verdict(claim) == ("only" if len(values) else "none")
        return False
    top, is_flat = near(values, -np.inf), are_same(values.min(), values.max())
    leads = not is_flat and len(top) == 1
    if round(values.max(), 2) <= 0:
        assert verdict(claim) == "small"
        return leads
    flat = "both" if len(values) == 2 else "equal"
    assert verdict(claim) == (flat if is_flat else "largest" if leads else "several")
    if leads:
        assert claim.numbers["share"] == values.max()
    else:
        assert claim.numbers["n"] == (len(values) if is_flat else len(top))
    return leads
