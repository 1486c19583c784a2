"""Senses' claims on odd words: each verdict and number against an independent oracle."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np

from contextlens.analysis.separation import Separation, trial_of
from contextlens.content.wording import quoted
from contextlens.features.senses.compute import Concordance, InTable, Senses
from contextlens.features.senses.reading import (
    groups_claims,
    groups_sure,
    sentence_claims,
    sentence_sure,
    side_names,
    sides_claims,
    sides_sure,
    table_claims,
    uses_claim,
)
from contextlens.features.senses.words import Course, Grouping, OwnSentence, SenseMatch, UseGroup
from tests.support.odd import Said, assert_said, odd_names
from tests.support.senses import HALF, found_of

NAN = float("nan")
NOTHING = np.zeros(0, np.float32)


# Groups


def grouping(sizes: tuple[int, ...] = (16, 14), **own: Any) -> Grouping:
    return Grouping(
        **{
            "n_requested": 0,
            "method": "dense",
            "groups": np.zeros(30, int),
            "descriptions": tuple(UseGroup(i, n, (), (), ()) for i, n in enumerate(sizes)),
            "n_none": 0,
            "silhouette": NAN,
            "rand": NAN,
            "shuffled": NAN,
            **own,
        }
    )


def test_what_is_said_of_groups_is_so() -> None:
    said = Said()
    for seed in range(700):
        chance = random.Random(seed)
        n, none = chance.randint(1, 8), chance.choice((0, 1, 9))
        method, asked = chance.choice((("dense", 0), ("k", 0), ("k", 8)))
        rand, shuffled = (round(chance.uniform(-0.1, 0.3), 3) for _ in range(2))
        rand = chance.choice((rand, NAN, shuffled))
        own = grouping((5,) * n, method=method, n_requested=asked, n_none=none, rand=rand,
                       shuffled=shuffled)  # fmt: skip
        claims, sure = said(groups_claims(own, 5)), said(groups_sure(own))
        case = "dense" if method == "dense" else "asked" if asked else "kmeans"
        assert_said(claims, f"senses.groups.{case}", n=n, layer=5)
        if none:
            assert_said(claims, "senses.groups.outside", n=none)
        if not math.isnan(rand):
            is_more = float(f"{rand:.2f}") > float(f"{shuffled:.2f}")
            case = "match" if is_more else "no_match"
            assert_said(claims, f"senses.groups.{case}")
            assert_said(sure, "senses.groups.agreement", rand=rand, shuffled=shuffled)
        assert len(sure) == (not math.isnan(rand))
        assert len(claims) == 1 + bool(none) + (not math.isnan(rand))
    said.assert_all("senses.groups")


def test_how_often_a_word_occurs_is_told() -> None:
    assert str(uses_claim(HALF)) == r"“python” occurs **32** times in the corpus “Some \*texts\*”."
    assert (
        str(uses_claim(found_of(["a"]))) == r"“python” occurs once in the corpus “Some \*texts\*”."
    )


# The word's own sentence


def test_what_is_said_of_an_own_sentence_is_so() -> None:
    said = Said()
    for seed in range(900):
        chance = random.Random(seed)
        labels = chance.choice((["a"] * 8 + ["b"] * 8, [""] * 16))
        near = tuple(chance.sample(range(16), 10))
        cosines = np.array([chance.uniform(-1, 1) for _ in range(16)])
        kind = chance.choice(("sense", "group"))
        verdict = chance.choice(("in", "between", "unlike", *(["unclear"] * (kind == "sense"))))
        a, b, low = (chance.uniform(-1, 1) for _ in range(3))
        names = tuple(odd_names(chance, 3))
        fall = SenseMatch(kind, names, (0, 1, 2), (a, b, b), a - b, 0.03, low, verdict)
        own = OwnSentence("x", (0, 1), chance.choice((0, 1, 5)), cosines, near, fall, NOTHING)
        own = replace(own, match=chance.choice((fall, None)))
        found = found_of(labels)
        claims = said(sentence_claims(own, found, 3))
        case = "nearest_labelled" if labels[near[0]] else "nearest"
        assert_said(claims, f"senses.own.{case}", cosine=float(cosines[near[0]]))
        if own.match is None:
            assert len(claims) == 1
        elif verdict == "unclear":
            assert_said(claims, "senses.own.unclear", layer=3)
        else:
            first = quoted(names[0])
            assert_said(claims, f"senses.own.{kind}.{verdict}", first=first, a=a, b=b, low=low)
        sure = said(sentence_sure(own))
        is_told = own.match is not None and verdict in {"in", "between"}
        assert len(sure) == is_told + bool(own.n_more)
        if is_told:
            assert_said(sure, "senses.own.margin", margin=a - b, low_margin=0.03)
    said.assert_all("senses.own", without=("senses.own.empty", "senses.own.mark"))


def test_a_sentence_s_sense_is_told_as_it_is_read() -> None:
    fall = SenseMatch("sense", ("animal", "language"), (0, 1), (0.8, 0.7), 0.1, 0.03, 0.5, "in")
    cosines = np.linspace(0.9, 0.1, 32).astype(np.float32)
    own = OwnSentence("a python", (2, 8), 0, cosines, tuple(range(10)), fall, NOTHING)
    assert list(map(str, sentence_claims(own, HALF, 3))) == [
        "Your sentence is closest to the sense “animal” (similarity **0.80**), ahead of "
        "“language” (0.70).",
        "The most similar use is “a python”, labelled “animal”: similarity (cosine) **0.90**.",
    ]
    assert str(sentence_sure(own)[0]) == (
        "The two similarities differ by 0.100. For 9 in 10 labelled uses, this difference "
        "is at least 0.030."
    )


# Two sides


def side(word: str, layer: int, right: int, n: int, *, low: float, high: float) -> Senses:
    """One side's word, tested with this result; untested where n is 0."""
    found = replace(HALF, word=word, trial=trial_of(["a"] * 3 + ["b"] * (1 + n)))
    tested = Separation(
        layer, right, n, (low, high), NOTHING, NOTHING, np.zeros((2, 2), int), NAN, 0.1, 0.2
    )
    course = Course((layer,), (), (tested,) if n else ())
    concordance = Concordance((), NOTHING, "text", 1, 1)
    return Senses(found, layer, course, grouping(), None, None, None, "", concordance, ())


def test_what_is_said_of_two_sides_is_so() -> None:
    said = Said()
    for seed in range(600):
        chance = random.Random(seed)
        words = [name.strip() or "x" for name in odd_names(chance, 2, few=2)]
        sides = []
        for word in words:
            n = chance.choice((0, 4, 40))
            right, ends = chance.randint(0, n), sorted(chance.random() for _ in range(2))
            low, high = ends
            sides.append(side(word, chance.randint(0, 1), right, n, low=low, high=high))
        one, other = sides
        claims = said(sides_claims(one, other))
        sure = said(sides_sure(one, other))
        first, second = one.separation, other.separation
        if first is None or second is None:
            assert (claims[0].key, sure) == ("senses.sides.untested", [])
            continue
        assert [own.numbers["low"] for own in sure] == [first.interval[0], second.interval[0]]
        is_apart = max(first.interval[0], second.interval[0]) > min(
            first.interval[1], second.interval[1]
        )
        case = "better" if is_apart else "unclear"
        shares = {claims[0].numbers[f"{letter}_share"] for letter in "ab"}
        assert claims[0].key == f"senses.sides.{case}"
        assert shares == {first.accuracy, second.accuracy}
        if is_apart:
            assert claims[0].numbers["a_share"] >= claims[0].numbers["b_share"]
        baselines = {claims[0].numbers[f"{letter}_baseline"] for letter in "ab"}
        assert baselines == {one.uses.trial.chance, other.uses.trial.chance}
        assert "senses.sides.interval" in {own.key for own in sure}
    others = ("empty", "no_second_model", "curves", "curves_alt")
    said.assert_all("senses.sides", without=tuple(f"senses.sides.{name}" for name in others))
    same = [side("x", layer, 3, 4, low=0.2, high=0.9) for layer in (0, 6)]
    assert side_names(*same) == ("layer 0", "layer 6")


# The word table


def test_what_is_said_of_the_word_table_is_so() -> None:
    said = Said()
    for seed in range(300):
        chance = random.Random(seed)
        n, pieces = chance.choice((0, 1, 2, 5)), ("py",) * chance.choice((1, 2))
        spread = chance.choice((0.0, 0.01, 0.5))
        cosines = np.array([0.4 + chance.random() * spread for _ in range(n)])
        average = chance.uniform(-1, 1)
        senses = tuple(odd_names(chance, n, few=min(n, 5) or 1))
        own = InTable("python", pieces, senses, cosines, np.eye(n), average)
        claims = said(table_claims(own))
        assert_said(claims, "senses.table.rows", n=len(pieces), average=average)
        if n < 2:
            assert len(claims) == 1
        elif np.ptp(cosines) <= 0.02:
            assert_said(claims, "senses.table.alike", low=cosines.min(), high=cosines.max())
        else:
            best, worst = (quoted(senses[i]) for i in (cosines.argmax(), cosines.argmin()))
            assert_said(claims, "senses.table.apart", best=best, worst=worst)
            assert_said(claims, "senses.table.apart", high=cosines.max(), low=cosines.min())
    said.assert_all("senses.table", without=("senses.table.caption",))
