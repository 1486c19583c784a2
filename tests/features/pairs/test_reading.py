"""What Pairs says in words, where the expected story fails too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from components.core.schema import Passport
from components.features.pairs.compute.pair_set import WHOLE, PairSet, pair_set
from components.features.pairs.compute.shown import PairsShown, to_read
from components.features.pairs.compute.tables import PairRows, layer_rows, pair_arrays, pair_table
from components.features.pairs.compute.task import Compared
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
    pairs_reading,
    pairs_sure,
    pairs_title,
    roc_reading,
)

RUDE = "<b>x</b> **y** $z$"
PASSPORT = Passport("m", "", "0" * 64, "exact", {})


def pairs_of(gold: list[int], split: list[int] | None = None, **more: Any) -> PairSet:
    n = len(gold)
    texts = [(f"text {i}", f"other {i}") for i in range(n)]
    own = {"spans": [(WHOLE, WHOLE)] * n, "rows": list(range(1, n + 1))}
    return pair_set("mine", texts, gold=gold, split=split, **{**own, **more})


def shown_of(
    cosines: list[list[float]] | np.ndarray, gold: list[int], split: list[int] | None = None,
    *, row: int = -1, **more: Any
) -> PairsShown:  # fmt: skip
    values = np.array(cosines, np.float32)
    pairs = pairs_of(gold, split, **more)
    scores = judged(values, pairs.gold, pairs.split)
    compared = Compared(
        cosines=values,
        layers=tuple(range(len(values))),
        scores=scores if isinstance(scores, Scores) else None,
        why_not="" if isinstance(scores, Scores) else scores,
        n_cut=0,
        n_encoded=2 * pairs.n,
        passport=PASSPORT,
    )
    return PairsShown(pairs, compared, range(len(values))[row])


def parted(n: int = 40, *, train: bool = True) -> PairsShown:
    """Layer 0 is noise; layer 1 tells all but two apart."""
    gold = [SAME, DIFFERENT] * (n // 2)
    noise = np.random.default_rng(0).uniform(0, 1, n)
    clear = np.where(np.array(gold) == SAME, 0.8, 0.2) + noise / 100
    clear[-1], clear[-4] = 0.9, 0.1
    split = [TRAIN] * (n // 2) + [TEST] * (n // 2) if train else None
    return shown_of(np.stack([noise, clear]), gold, split)


def test_the_title_is_the_finding_of_the_layer_that_is_best_in_training() -> None:
    said = "Layer 1 gets {} right (guessing 50%)"
    assert pairs_title(parted()) == said.format("90%")
    assert pairs_title(parted(train=False)) == said.format("95%")


def test_a_finding_that_may_be_chance_is_none() -> None:
    noise = np.random.default_rng(3).uniform(0, 1, (2, 40))
    shown = shown_of(noise, [SAME, DIFFERENT] * 20)
    assert pairs_title(shown) == "No layer does clearly better than always giving the same answer"
    assert "too close to that one answer to call it better" in " ".join(pairs_reading(shown))


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


def test_the_reading_says_accuracy_and_majority_and_folds_the_rest() -> None:
    assert pairs_reading(parted()) == [
        "At layer 1, one threshold on the similarity gets **90%** of the pairs right (always "
        "saying “different”: 50%)."
    ]
    assert pairs_sure(parted()) == [
        "20 test pairs were judged: “same” from a similarity (cosine) of 0.50 on. The true share "
        "lies between 70% and 97% (95% interval).",
        "2 judged wrong: 1 different ones called “same”, 1 same ones called “different”.",
    ]


def test_worse_than_the_majority_is_said() -> None:
    """What the training pairs teach is wrong for the test pairs."""
    cosines = [[0.8, 0.2] * 10 + [0.1, *[0.9] * 59]]
    gold = [SAME, DIFFERENT] * 10 + [SAME] + [DIFFERENT] * 59
    (said,) = pairs_reading(shown_of(cosines, gold, [TRAIN] * 20 + [TEST] * 60))
    assert "gets **0%** of the pairs right (always saying “different”: 98%): worse than" in said


def test_all_right_is_said() -> None:
    shown = shown_of([[0.9, 0.1] * 6], [SAME, DIFFERENT] * 6)
    assert "**100%** of the pairs" in pairs_reading(shown)[0]
    assert pairs_sure(shown)[-1] == "No pair is judged wrong."


def test_without_labels_the_reading_is_how_cosines_lie() -> None:
    shown = shown_of([[0.0, 0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8, 0.9]], [UNKNOWN] * 5)
    assert pairs_title(shown) == "Most alike at layer 1 (0.70), least at 0 (0.20)"
    assert pairs_reading(shown) == [
        "At layer **1** half of the **5** pairs have a cosine between **0.60** and **0.80**; the "
        "median is **0.70**.",
        "The most alike have **0.90**, the least alike **0.50**.",
    ]


def test_layers_alike_are_not_told_apart_and_one_pair_is_one() -> None:
    assert pairs_title(shown_of([[0.5], [0.5001]], [UNKNOWN])) == "The median cosine is 0.50"
    shown = shown_of([[0.5], [0.25]], [SAME])
    assert pairs_reading(shown) == ["At layer **1** the one pair has a cosine of **0.25**."]
    assert notes(shown)[0] == "mine: 1 pair of whole texts"


def test_the_notes_say_what_the_figures_rest_on() -> None:
    assert notes(parted()) == [
        "mine: 40 pairs of whole texts · threshold from 20 training pairs, judged on 20 · of the "
        "training pairs layer 1 gets most right"
    ]
    assert "5-fold cross-validation" in notes(parted(train=False))[0]
    gold = [SAME, DIFFERENT] * 20
    split = [TRAIN] * 20 + [TEST] * 15 + [NEITHER] * 5
    cosines = np.random.default_rng(0).uniform(0, 1, (1, 40))
    cosines[:, 0] = np.nan
    said = " ".join(notes(shown_of(cosines, gold, split, notes=("A note.",))))
    assert "5 are in neither part" in said
    assert "1 have no cosine" in said
    assert said.endswith("A note.")


def test_why_there_is_no_accuracy_is_said() -> None:
    assert "nothing to tell apart" in notes(shown_of([[0.1, 0.2]], [SAME, SAME]))[-1]
    half = shown_of([[0.9, 0.1] * 4], [SAME, DIFFERENT] * 4, [TRAIN] * 8)
    assert "accuracy is by cross-validation" in notes(half)[-1]


def test_the_area_is_told_as_a_share_of_comparisons() -> None:
    said = roc_reading(0.9, 20)
    assert "in **90%** of such cases" in said
    assert "(AUC 0.9000, 20 pairs judged)" in said


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
        "layer 0": pytest.approx(float(shown.compared.cosines[0, 39])),
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
