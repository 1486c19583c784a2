"""Pairs that stand in a file several times: they change no interval and no verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contextlens.core.schema import Passport
from contextlens.core.words import Span
from contextlens.features.pairs.comparison import evaluate
from contextlens.features.pairs.correlation import ScoredPairs
from contextlens.features.pairs.cosines import PairCosines
from contextlens.features.pairs.every_pair import PairRows
from contextlens.features.pairs.pair_set import SAME, UNKNOWN, WHOLE, PairSet, pair_set
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.features.pairs.roc import roc_curve_of
from contextlens.features.pairs.threshold import LabelledPairs


def made(
    texts: list[tuple[str, str]],
    gold: list[int],
    split: list[int] | None = None,
    grades: list[float] | None = None,
    spans: list[tuple[Span, Span]] | None = None,
) -> PairSet:
    n = len(texts)
    return pair_set(
        "mine", texts, spans=spans or [(WHOLE, WHOLE)] * n, rows=list(range(1, n + 1)), gold=gold,
        split=split, grades=grades,
    )  # fmt: skip


def judged(pairs: PairSet, cosines: np.ndarray) -> PairsAtLayer:
    layers = tuple(range(len(cosines)))
    passport = Passport("m", "", "0" * 64, "exact", {})
    of_pairs = PairCosines(cosines.astype(np.float32), layers, 0, pairs.n, passport, 0)
    return evaluate(pairs, of_pairs).at_layer(pairs, None)


def copy_of(pair: tuple[str, str], i: int) -> tuple[str, str]:
    """A copy in the other order, with other signs, or in capitals."""
    first, second = pair
    return [(first, second), (second, f"{first}!"), (first.upper(), f" {second} ")][i % 3]


@pytest.mark.parametrize("kind", ["folds", "split", "scores"])
def test_repeating_each_pair_changes_no_interval_and_no_verdict(kind: str) -> None:
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n, n_layers, k = int(rng.integers(6, 60)), int(rng.integers(1, 4)), int(rng.integers(2, 9))
        texts = [(f"one text {i}", f"another {i}") for i in range(n)]
        gold = rng.permutation(np.arange(n) % 2)
        cosines = rng.normal(size=(n_layers, n)) / 9 + rng.choice((0, 0.3)) * gold
        options: dict[str, Any] = {"gold": gold.tolist()}
        if kind == "split":
            options["split"] = rng.integers(0, 2, n).tolist()
        if kind == "scores":
            options = {"gold": [UNKNOWN] * n, "grades": (gold + rng.integers(0, 3, n)).tolist()}
        once = judged(made(texts, **options), cosines)
        copied = [copy_of(pair, i) for i in range(k) for pair in texts]
        options = {name: column * k for name, column in options.items()}
        again = judged(made(copied, **options), np.tile(cosines, k))
        assert again.title == once.title
        names = ("accuracy", "low", "high", "auc", "thresholds", "best", "is_clear")
        if kind == "scores":
            assert isinstance(once, ScoredPairs)
            assert isinstance(again, ScoredPairs)
            names = tuple(n for n in once.arrays() if n.startswith(("spearman", "pearson")))
            results = once.correlation, again.correlation
            assert results[1].n_distinct == n
            assert results[1].n_effective == pytest.approx(n)
        else:
            assert isinstance(once, LabelledPairs)
            assert isinstance(again, LabelledPairs)
            results = once.judgement, again.judgement  # type: ignore[assignment]
            assert [claim.key for claim in again.claims()] == [claim.key for claim in once.claims()]
            assert again.to_read("wrong").tolist() == once.to_read("wrong").tolist()
            verdicts = [row["verdict"] for row in PairRows(again)]
            assert verdicts == [row["verdict"] for row in PairRows(once)] * k
            curves = roc_curve_of(once), roc_curve_of(again)
            assert (curves[0] is None) == (curves[1] is None)
        for name in names:
            first, second = (getattr(result, name) for result in results)
            np.testing.assert_allclose(second, first, atol=1e-9)


def test_an_interval_of_copies_of_one_pair_is_not_that_of_many_pairs() -> None:
    texts = [(f"one text {i}", f"another {i}") for i in range(12)]
    rng = np.random.default_rng(0)
    grades = rng.permutation(np.arange(12.0))
    cosines = (grades + rng.normal(size=12))[None] / 20
    rows = [*range(12), *[3] * 988]
    pairs = made([texts[i] for i in rows], [UNKNOWN] * 1000, grades=grades[rows].tolist())
    found = judged(pairs, cosines[:, rows])
    assert isinstance(found, ScoredPairs)
    assert found.claims()[0].key == "pairs.scores.unclear"
    assert "988 pairs repeat others, so the intervals are wider" in found.remarks()[0]


def test_copies_are_said_and_those_of_training_pairs_too() -> None:
    texts = [(f"one text {i}", f"another {i}") for i in range(6)]
    gold = [SAME, 0] * 3
    cosines = np.array([[0.9, 0.1] * 3])
    copied = [*texts, texts[0], texts[0]]
    found = judged(made(copied, [*gold, SAME, 0]), cosines[:, [*range(6), 0, 0]])
    assert isinstance(found, LabelledPairs)
    assert found.judgement.n == 7  # a pair with both labels counts with either
    assert found.remarks()[0].endswith(" · 1 pair repeats another one and does not count")
    split = [0] * 6 + [1, 1]
    found = judged(made(copied, [*gold, SAME, 0], split), cosines[:, [*range(6), 0, 0]])
    assert found.remarks()[0].endswith(" · 2 tested pairs are also training pairs")
    plain = judged(made([*texts, texts[0]], [UNKNOWN] * 7), cosines[:, [*range(6), 0]])
    assert plain.remarks()[0].endswith(" · 1 pair repeats another one")


@pytest.mark.parametrize(
    ("first", "second", "are_copies"),
    [
        (("A dog runs", "A puppy"), ("a puppy.", "A dog, runs"), True),
        (("The dog bites the man", "x"), ("The man bites the dog", "x"), False),
        (("\N{SLEEPING FACE}", "x"), ("\N{PILE OF POO}", "x"), False),
        (("A", "A"), ("A", "B"), False),
        (("दिन", "x"), ("दान", "x"), False),
    ],
)
def test_copies_have_the_same_words_in_order(
    first: tuple[str, str], second: tuple[str, str], are_copies: bool
) -> None:
    contents = made([first, second], [UNKNOWN] * 2).contents
    assert contents.tolist() == ([0, 0] if are_copies else [0, 1])


def test_only_pairs_that_share_a_text_are_said_to() -> None:
    for texts, n_claims in (
        ([(f"text {i}", f"text {i}") for i in range(12)], 0),
        ([(f"text {i}", f"other {i}") for i in range(12)] * 2, 0),
        ([("text", f"other {i}") for i in range(12)], 1),
    ):
        pairs = made(texts, [SAME, 0] * (len(texts) // 2))
        found = judged(pairs, np.linspace(0, 1, len(texts))[None])
        assert len(found.repeated_texts(np.arange(pairs.n))) == n_claims


def test_another_word_of_the_same_texts_makes_another_pair() -> None:
    texts = [("the bank and the bank", "the bank")] * 3
    spans = [((4, 8), (4, 8)), ((17, 21), (4, 8)), ((4, 8), (4, 8))]
    assert made(texts, [UNKNOWN] * 3, spans=spans).contents.tolist() == [0, 1, 0]
