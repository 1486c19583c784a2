"""What Pairs says in words, where the expected story fails too."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from components.content.language import Claim, say
from components.core.schema import Passport
from components.features.pairs.compute import (
    PairRows,
    PairsAtLayer,
    PairsResult,
    layer_rows,
    pair_arrays,
    pair_table,
    to_read,
)
from components.features.pairs.files import WHOLE, PairSet, pair_set
from components.features.pairs.measures import (
    DIFFERENT,
    NEITHER,
    SAME,
    TEST,
    TRAIN,
    UNKNOWN,
    Scores,
    judged,
)
from components.features.pairs.reading import (
    notes,
    pairs_claims,
    pairs_sure,
    pairs_title,
    roc_claim,
)
from tests.support.odd import Said, assert_plain, assert_said, odd_names

PASSPORT = Passport("m", "", "0" * 64, "exact", {})


def pairs_of(gold: list[int], split: list[int] | None = None, **more: Any) -> PairSet:
    n = len(gold)
    texts = [(f"text {i}", f"other {i}") for i in range(n)]
    own = {"spans": [(WHOLE, WHOLE)] * n, "rows": list(range(1, n + 1))}
    return pair_set("mine", texts, gold=gold, split=split, **{**own, **more})


def shown_of(
    cosines: list[list[float]] | np.ndarray, gold: list[int], split: list[int] | None = None,
    *, row: int = -1, **more: Any
) -> PairsAtLayer:  # fmt: skip
    values = np.array(cosines, np.float32)
    pairs = pairs_of(gold, split, **more)
    scores = judged(values, pairs.gold, pairs.split)
    compared = PairsResult(
        cosines=values,
        layers=tuple(range(len(values))),
        scores=scores if isinstance(scores, Scores) else None,
        why_not="" if isinstance(scores, Scores) else scores,
        n_cut=0,
        n_encoded=2 * pairs.n,
        passport=PASSPORT,
    )
    return PairsAtLayer(pairs, compared, range(len(values))[row])


def parted(n: int = 40, *, train: bool = True) -> PairsAtLayer:
    """Layer 0 is noise; layer 1 tells all but two apart."""
    gold = [SAME, DIFFERENT] * (n // 2)
    noise = np.random.default_rng(0).uniform(0, 1, n)
    clear = np.where(np.array(gold) == SAME, 0.8, 0.2) + noise / 100
    clear[-1], clear[-4] = 0.9, 0.1
    split = [TRAIN] * (n // 2) + [TEST] * (n // 2) if train else None
    return shown_of(np.stack([noise, clear]), gold, split)


def test_what_is_said_of_pairs_is_so() -> None:
    said = Said()
    for seed in range(620):
        chance, rng = random.Random(seed), np.random.default_rng(seed)
        n, n_layers = chance.choice((1, 2, 5, 12, 40)), chance.choice((1, 2, 7))
        gold = [chance.choice((SAME, DIFFERENT)) for _ in range(n)]
        if seed % 4 == 0:
            gold = [UNKNOWN] * n
        cosines = np.clip(rng.normal(0.5, chance.choice((0, 1e-4, 0.2)), (n_layers, n)), -1, 1)
        if seed % 3 == 0:  # told apart by the similarity
            cosines[0] = np.where(np.array(gold) == SAME, 0.8, 0.2)
        split = None
        if seed % 5 == 0:
            split = [chance.choice((TRAIN, TEST, NEITHER)) for _ in range(n)]
        if seed % 25 == 0:  # training pairs teach what is wrong of the others
            cosines[0] = np.where((np.array(gold) == SAME) == (np.array(split) == TRAIN), 0.8, 0.2)
        first = shown_of(cosines, gold, split, notes=tuple(odd_names(chance, 1)))
        assert_plain([pairs_title(first), *notes(first)[:1]])
        assert len(pairs_title(first)) <= 80
        for row in range(n_layers):
            assert_so(said, PairsAtLayer(first.pairs, first.result, row))
    said.assert_all("pairs.claim", "pairs.sure", without=("pairs.claim.caution",))


def assert_so(said: Said, shown: PairsAtLayer) -> None:
    """What is said of the pairs at one layer."""
    row, gold, title = shown.row, shown.pairs.gold.tolist(), pairs_title(shown)
    claims, sure = said(pairs_claims(shown)), said(pairs_sure(shown))
    scores = shown.scores
    if scores is None:
        assert_unlabelled(title, claims, shown)
        assert sure == []
        return
    known = scores.rows.tolist()
    right = int((scores.called_same[row] == scores.same).sum())
    low, high = binomtest(right, len(known)).proportion_ci(method="wilson")
    most = max(scores.same.mean(), 1 - scores.same.mean())
    base = round(100 * most)
    case = "better" if round(100 * low) > base else "unclear"
    case = "worse" if round(100 * high) < base else case
    numbers = {"accuracy": right / len(known), "baseline": float(most), "layer": row}
    assert_said(claims, f"pairs.claim.{case}", **numbers)
    assert_said(sure, "pairs.sure.interval", n=len(known))
    assert abs(sure[0].numbers["low"] - low) < 1e-6
    wrong = [i for i, own in zip(known, scores.called_same[row], strict=True)
             if bool(own) != (gold[i] == SAME)]  # fmt: skip
    if wrong:
        missed = sum(gold[i] == SAME for i in wrong)
        errors = {"n": len(wrong), "missed": missed, "called": len(wrong) - missed}
        assert_said(sure, "pairs.sure.errors", **errors)
    else:
        assert_said(sure, "pairs.sure.no_errors")
    assert_said(sure, f"pairs.sure.{scores.how}", n=scores.n_train)


def assert_unlabelled(title: str, claims: list[Claim], shown: PairsAtLayer) -> None:
    """Quartiles at the layer, and the layers with the highest and the lowest median."""
    own = np.array(shown.cosines, float)
    low, median, high = np.quantile(own, [0.25, 0.5, 0.75])
    assert_said(claims, "pairs.unlabelled", n=len(own), median=median, low=low, high=high)
    medians = np.median(np.array(shown.result.cosines), axis=1)
    high, low = medians.max(), medians.min()
    if high - low >= 0.01 and f"{high:.2f}" != f"{low:.2f}":
        ends = {"high_layer": int(medians.argmax()), "low_layer": int(medians.argmin())}
        assert title == say("pairs.title.spread", high=high, low=low, **ends)
    else:
        assert title == say("pairs.title.alike", median=float(medians[shown.row]))


def test_the_title_is_the_finding_of_the_layer_that_is_best_in_training() -> None:
    assert pairs_title(parted()) == "Layer 1, best in training: 90% right"
    assert pairs_title(parted(train=False)) == "Layer 1 gets 95% right (guessing: 50%)"


def test_a_finding_that_may_be_chance_is_none() -> None:
    noise = np.random.default_rng(3).uniform(0, 1, (2, 40))
    shown = shown_of(noise, [SAME, DIFFERENT] * 20)
    assert pairs_title(shown) == "No layer clearly beats guessing"


def test_shuffled_labels_seldom_make_a_layer_clear() -> None:
    """The best of 13 layers is corrected for having been chosen: at most 2.5% is meant."""
    rng = np.random.default_rng(7)
    n_clear = 0
    for _ in range(120):
        cosines = rng.normal(size=(13, 60)).astype(np.float32)
        scores = judged(cosines, rng.permutation([SAME, DIFFERENT] * 30), None)
        assert isinstance(scores, Scores)
        n_clear += scores.is_clear
    assert n_clear <= 6


def test_the_reading_is_one_claim_and_the_rest_is_folded() -> None:
    assert list(map(str, pairs_claims(parted()))) == [
        (
            "Layer 1 judges **90%** of the pairs correctly (always saying “different”: 50%). It "
            "calls two uses “same” if their similarity reaches a threshold."
        )
    ]
    assert list(map(str, pairs_sure(parted()))) == [
        (
            "We tested 20 pairs; with many more, the share judged right would probably be between "
            "70% and 97% (95% interval)."
        ),
        (
            "The threshold was learned from 20 training pairs: a similarity (cosine) of 0.50 or "
            "more counts as “same”."
        ),
        "2 errors. “Different” pairs called “same”: 1; “same” pairs called “different”: 1.",
    ]
    shown = shown_of([[0.0, 0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8, 0.9]], [UNKNOWN] * 5)
    assert pairs_title(shown) == (
        "The pairs are most similar at layer 1 (median 0.70), least at layer 0 (0.20)"
    )
    assert str(pairs_claims(shown)[0]) == (
        "At layer 1, half of the 5 pairs have a similarity (cosine) of 0.60 to 0.80; the median is "
        "**0.70**."
    )
    one = shown_of([[0.5], [0.25]], [SAME])
    assert str(pairs_claims(one)[0]) == (
        "At layer 1, the one pair has a similarity (cosine) of **0.25**."
    )
    area = roc_claim(0.9)
    assert str(area).endswith("in **90%** of cases (guessing: 50%). This needs no threshold.")


def test_the_notes_say_what_was_left_out_and_why_there_is_no_accuracy() -> None:
    assert notes(parted()) == ["mine: 40 pairs of whole texts"]
    gold = [SAME, DIFFERENT] * 20
    split = [TRAIN] * 20 + [TEST] * 15 + [NEITHER] * 5
    cosines = np.random.default_rng(0).uniform(0, 1, (1, 40))
    cosines[:, 0] = np.nan
    said = notes(shown_of(cosines, gold, split, notes=("A note.",)))
    assert said[0].endswith(
        "5 labelled pairs belong to neither train nor test · 1 pair cannot be compared: the model "
        "does not read its word"
    )
    assert said[1] == "A note."
    assert "accuracy cannot be tested" in notes(shown_of([[0.1, 0.2]], [SAME, SAME]))[-1]
    assert "Only one labelled pair" in notes(shown_of([[0.1, 0.2]], [SAME, DIFFERENT]))[-1]
    half = shown_of([[0.9, 0.1] * 4], [SAME, DIFFERENT] * 4, [TRAIN] * 8)
    assert "accuracy is cross-validated" in notes(half)[-1]


# Pairs to read


def test_wrong_pairs_come_with_the_furthest_first() -> None:
    shown = parted()
    every, called_same = to_read(shown, "wrong"), to_read(shown, "called_same")
    called_different = to_read(shown, "called_different")
    assert sorted(every.tolist()) == [36, 39]
    assert called_same.tolist() == [39]
    assert called_different.tolist() == [36]
    cut = shown.threshold
    assert cut is not None
    beyond = np.abs(shown.cosines[every] - cut)
    assert (np.diff(beyond) <= 0).all()


def test_most_and_least_alike_leave_out_what_has_no_cosine() -> None:
    shown = shown_of([[0.3, np.nan, 0.9, 0.1]], [UNKNOWN] * 4)
    assert to_read(shown, "most").tolist() == [2, 0, 3]
    assert to_read(shown, "least").tolist() == [3, 0, 2]


# Tables and files


def test_every_pair_is_a_row_with_its_cosines_label_and_verdict() -> None:
    shown = parted()
    rows = PairRows(shown)
    assert len(rows) == len(list(rows)) == 40
    assert rows[39] == {
        "pair": 40,
        "text 1": "text 39",
        "text 2": "other 39",
        "label": "different",
        "split": "test",
        "verdict": "same",
        "layer 0": pytest.approx(float(shown.result.cosines[0, 39])),
        "layer 1": pytest.approx(0.9),
    }
    assert rows[-1] == rows[39]
    assert [row["pair"] for row in rows[:3]] == [1, 2, 3]
    with pytest.raises(IndexError):
        rows[40]
    assert pair_table(shown, 7).shape[0] == 7


def test_a_pair_without_cosine_has_no_verdict() -> None:
    cosines = np.array([[0.9, 0.1] * 6])
    cosines[0, 0] = np.nan
    shown = shown_of(cosines, [SAME, DIFFERENT] * 6)
    assert PairRows(shown)[0]["verdict"] == ""
    assert PairRows(shown)[2]["verdict"] == "same"


def test_the_layers_table_is_what_was_measured() -> None:
    shown = parted()
    assert shown.scores is not None
    rows = layer_rows(shown)
    assert [row["accuracy"] for row in rows] == shown.scores.accuracy.tolist()
    assert {"threshold", "majority", "AUC"} <= set(rows[0])
    plain = layer_rows(shown_of([[0.1, 0.2, 0.3]], [UNKNOWN] * 3))
    assert plain[0]["median"] == pytest.approx(0.2)


def test_the_arrays_tell_the_whole() -> None:
    own = pair_arrays(parted())
    assert own["cosines"].shape == (2, 40)
    assert set(own["split"].tolist()) == {TRAIN, TEST}
    assert own["says"].shape == (2, 20)
    assert "says" not in pair_arrays(shown_of([[0.1]], [UNKNOWN]))
