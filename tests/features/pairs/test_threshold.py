"""Thresholds and their accuracy, against scikit-learn, SciPy and brute force; and their words."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, roc_auc_score

from contextlens.analysis.separation import wilson
from contextlens.content.language import Claim, say
from contextlens.core.schema import Passport
from contextlens.features.pairs.controls import PAIR
from contextlens.features.pairs.one_pair import shown_pair
from contextlens.features.pairs.pair_set import DIFFERENT, NEITHER, SAME, TEST, TRAIN, UNKNOWN
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.features.pairs.threshold import (
    ACCURACY_PICTURE,
    Judgement,
    LabelledPairs,
    accuracy_snippet,
    best_threshold,
    judge,
)
from contextlens.ui.state.view import DEFAULT
from contextlens.ui.widgets.export import to_npz
from tests.features.pairs.examples import at_layer, separated, trace_of
from tests.support.odd import Said, assert_plain, assert_said, odd_names
from tests.support.snippets import drawn, run

PASSPORT = Passport("m", "", "0" * 64, "exact", {})
pairs_of_both = st.lists(
    st.tuples(st.sampled_from([-0.5, -0.1, 0.0, 0.2, 0.2000001, 0.5, 0.9]), st.booleans()),
    min_size=1,
    max_size=20,
)


def separable(n: int = 60, n_layers: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Cosines that tell more of the labels at each layer, and the labels."""
    random = np.random.default_rng(0)
    gold = random.permutation(np.arange(n) % 2)
    noise = random.normal(size=(n_layers, n))
    strength = np.arange(n_layers)[:, None] * gold
    return np.tanh((noise + strength) / 4).astype(np.float32), gold


def judgement_of(cosines: np.ndarray, gold: np.ndarray, split: object = None) -> Judgement:
    found = judge(cosines, gold, None if split is None else np.array(split))
    assert isinstance(found, Judgement), found
    return found


# Thresholds


@given(pairs_of_both, st.permutations(range(20)))
def test_no_threshold_gets_more_right_in_any_order(
    pairs: list[tuple[float, bool]], order: list[int]
) -> None:
    cosines, same = (np.array(column) for column in zip(*pairs, strict=True))
    cut = best_threshold(cosines, same)
    right = accuracy_score(same, cosines >= cut)
    others = [*cosines, cosines.max() + 1]
    assert right == max(accuracy_score(same, cosines >= other) for other in others)
    shuffled = [i for i in order if i < len(pairs)]
    assert best_threshold(cosines[shuffled], same[shuffled]) == cut


def test_a_threshold_lies_midway_between_neighbours_and_in_the_middle_of_those_alike() -> None:
    cosines = np.array([0.1, 0.3, 0.5, 0.9])
    assert best_threshold(cosines, np.array([0, 0, 1, 1], bool)) == pytest.approx(0.4)
    assert best_threshold(cosines, np.ones(4, bool)) == pytest.approx(0.1)
    assert best_threshold(cosines, np.zeros(4, bool)) == math.nextafter(0.9, 1)
    neighbours = np.array([0.5, np.nextafter(0.5, 1)])
    cut = best_threshold(neighbours, np.array([False, True]))
    assert (neighbours >= cut).tolist() == [False, True]


# Judging on a split


def test_a_split_is_held_out() -> None:
    cosines, gold = separable()
    split = np.arange(60) % 3 - 1  # neither, train, test
    found = judgement_of(cosines, gold, split)
    train, test = split == TRAIN, split == TEST
    assert (found.how, found.n_train, found.n, found.n_left_out) == ("split", 20, 20, 20)
    assert found.rows.tolist() == np.flatnonzero(test).tolist()
    for i, own in enumerate(cosines):
        cut = best_threshold(own[train], gold[train] == SAME)
        assert found.thresholds[i] == cut
        assert found.accuracy[i] == accuracy_score(gold[test] == SAME, own[test] >= cut)
        assert found.train_accuracy[i] == accuracy_score(gold[train] == SAME, own[train] >= cut)
        assert found.auc[i] == pytest.approx(roc_auc_score(gold[test], own[test]))
        bounds = wilson(round(found.accuracy[i] * 20), 20)
        assert (found.low[i], found.high[i]) == pytest.approx(bounds)
        wrong = found.rows[(own[test] >= cut) != (gold[test] == SAME)]
        assert found.wrong(i).tolist() == wrong.tolist()
    assert found.majority == max(np.mean(gold[test]), 1 - np.mean(gold[test]))
    assert found.best == int(np.argmax(found.train_accuracy))


def test_test_labels_have_no_part_in_thresholds_nor_in_the_choice_of_a_layer() -> None:
    cosines, gold = separable()
    split = np.arange(60) % 2
    first = judgement_of(cosines, gold, split)
    second = judgement_of(cosines, np.where(split == TEST, 1 - gold, gold), split)
    np.testing.assert_array_equal(first.thresholds, second.thresholds)
    np.testing.assert_array_equal(first.called_same, second.called_same)
    assert first.best == second.best
    np.testing.assert_allclose(first.accuracy + second.accuracy, 1)


def test_pairs_without_label_or_cosine_are_not_judge() -> None:
    cosines, gold = separable()
    gold[:5] = UNKNOWN
    cosines[:, 5:9] = np.nan
    found = judgement_of(cosines, gold)
    assert found.rows.tolist() == list(range(9, 60))
    assert not np.isnan(found.accuracy).any()


@pytest.mark.parametrize(
    ("split", "note"),
    [
        ([TRAIN] * 60, "no labelled pair to test on"),
        (np.where(separable()[1] == SAME, TRAIN, TEST), "no labelled training pairs of both kinds"),
    ],
    ids=["only train", "train of one kind"],
)
def test_half_a_split_gives_way_to_cross_validation(split: object, note: str) -> None:
    found = judgement_of(*separable(), split)
    assert (found.how, found.n) == ("folds", 60)
    assert note in found.note
    np.testing.assert_array_equal(found.accuracy, judgement_of(*separable()).accuracy)


def test_a_test_part_of_one_kind_has_accuracy_and_no_auc() -> None:
    cosines, gold = separable()
    split = np.full(60, TRAIN)
    split[np.flatnonzero(gold == SAME)[:9]] = TEST
    found = judgement_of(cosines, gold, split)
    assert (found.how, found.n, found.majority) == ("split", 9, 1.0)
    assert np.isnan(found.auc).all()
    assert not np.isnan(found.accuracy).any()


# Cross-validation


def test_in_cross_validation_each_pair_is_judged_by_a_threshold_of_others() -> None:
    cosines, gold = separable(40, 1)
    found = judgement_of(cosines, gold)
    assert (found.how, found.n_folds, found.n, found.n_train) == ("folds", 5, 40, 40)
    assert found.thresholds[0] == best_threshold(cosines[0], gold == SAME)
    noise = np.random.default_rng(1).normal(size=(1, 400)).astype(np.float32)
    labels = np.random.default_rng(2).integers(0, 2, 400)
    honest = judgement_of(noise, labels)
    assert honest.low[0] < 0.5 < honest.high[0] + 0.05
    assert honest.train_accuracy[0] > honest.accuracy[0]
    np.testing.assert_array_equal(honest.called_same, judgement_of(noise, labels).called_same)


def test_folds_are_no_more_than_the_rarer_kind_has_pairs() -> None:
    gold = np.array([SAME] * 3 + [DIFFERENT] * 27)
    assert judgement_of(separable(30)[0], gold).n_folds == 3


# What cannot be judged


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ([UNKNOWN] * 4, ""),
        ([DIFFERENT, UNKNOWN, DIFFERENT, DIFFERENT], "Every labelled pair is “different”"),
        ([SAME, DIFFERENT, DIFFERENT, DIFFERENT], "Only one labelled pair is “same”"),
    ],
    ids=["none", "all different", "one"],
)
def test_what_cannot_be_judged_is_said(gold: list[int], reason: str) -> None:
    cosines = np.linspace(0, 1, len(gold), dtype=np.float32)[None]
    found = judge(cosines, np.array(gold), None)
    assert isinstance(found, str)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


# Labelled pairs at one layer


@pytest.mark.slow
def test_what_is_said_of_pairs_is_so() -> None:
    said = Said()
    for seed in range(620):
        chance, rng = random.Random(seed), np.random.default_rng(seed)
        n, n_layers = chance.choice((1, 2, 5, 12, 40)), chance.choice((1, 2, 7))
        gold = [chance.choice((SAME, DIFFERENT)) for _ in range(n)]
        if seed % 6 == 0:
            gold[0] = UNKNOWN
        if seed % 4 == 0:
            gold = [UNKNOWN] * n
        cosines = np.clip(rng.normal(0.5, chance.choice((0, 1e-4, 0.2)), (n_layers, n)), -1, 1)
        if seed % 3 == 0:  # told apart by the similarity
            cosines[0] = np.where(np.array(gold) == SAME, 0.8, 0.2)
        split = None
        if seed % 5 == 0:
            split = [chance.choice((TRAIN, TEST, NEITHER)) for _ in range(n)]
        if seed % 25 == 0:  # training pairs teach what is wrong for the others
            cosines[0] = np.where((np.array(gold) == SAME) == (np.array(split) == TRAIN), 0.8, 0.2)
        pairs = at_layer(cosines, gold, split, notes=tuple(odd_names(chance, 1)))
        assert_plain([pairs.title, *pairs.remarks()[:1]])
        assert len(pairs.title) <= 80
        for row in range(n_layers):
            assert_so(said, replace(pairs, row=row))
    said.assert_all(
        "pairs.verdict.texts",
        "pairs.claim",
        "pairs.sure",
        without=("pairs.claim.caution", "pairs.verdict.texts.twins"),
    )


def assert_so(said: Said, pairs: PairsAtLayer) -> None:
    """The claims about one layer are true."""
    row, gold = pairs.row, pairs.pairs.gold
    claims, sure = said(pairs.claims()), said(pairs.sure())
    assert_verdicts_so(said, pairs)
    if not isinstance(pairs, LabelledPairs):
        assert_unlabelled(claims, pairs)
        assert sure == []
        return
    judgement = pairs.judgement
    n = len(judgement.rows)
    right = int((judgement.called_same[row] == judgement.same).sum())
    low, high = binomtest(right, n).proportion_ci(method="wilson")
    most = float(max(judgement.same.mean(), 1 - judgement.same.mean()))
    case = "better" if round(100 * low) > round(100 * most) else "unclear"
    case = "worse" if round(100 * high) < round(100 * most) else case
    if n == 1:
        assert_said(claims, "pairs.claim.one")
    else:
        assert_said(claims, f"pairs.claim.{case}", accuracy=right / n, baseline=most)
    assert_said(sure, "pairs.sure.interval", n=n, low=low, high=high)
    wrong = judgement.rows[judgement.called_same[row] != (gold[judgement.rows] == SAME)]
    if len(wrong):
        missed = int((gold[wrong] == SAME).sum())
        errors = {"n": len(wrong), "missed": missed, "called": len(wrong) - missed}
        assert_said(sure, "pairs.sure.errors", **errors)
    else:
        assert_said(sure, "pairs.sure.no_errors")
    assert_said(sure, f"pairs.sure.{judgement.how}", n=judgement.n_train)


def assert_verdicts_so(said: Said, pairs: PairsAtLayer) -> None:
    """The claim about each pair is true, and so is the threshold that it names."""
    cosines, gold = np.array(pairs.cosines, float), pairs.pairs.gold
    for i, cosine in enumerate(cosines.tolist()):
        claims = said(pairs.pair_claims(i))
        if not isinstance(pairs, LabelledPairs):
            n, n_lower = len(cosines) - 1, (cosines < cosine).sum()
            case = "highest" if n_lower == n else "place"
            case = "lowest" if (cosines > cosine).sum() == n else case
            case = case if n else "alone"
            key, share = f"pairs.verdict.texts.{case}", n_lower / max(n, 1)
            assert_said(claims, key, cosine=cosine, share=share, n=n)
            continue
        judgement, is_same = pairs.judgement, cosine >= pairs.pair_thresholds[i]
        if i in judgement.rows:
            assert is_same == judgement.called_same[pairs.row, judgement.rows.tolist().index(i)]
        right = "right" if is_same == (gold[i] == SAME) else "wrong"
        names = {True: "the same", False: "different"}
        case = f"pairs.verdict.texts.{'unlabelled' if gold[i] == UNKNOWN else right}"
        assert_said(claims, case, called=names[is_same], label=names[bool(gold[i] == SAME)])


def assert_unlabelled(claims: list[Claim], pairs: PairsAtLayer) -> None:
    """Quartiles at the layer, and the layers with the highest and the lowest median."""
    low, median, high = np.quantile(np.array(pairs.cosines, float), [0.25, 0.5, 0.75])
    if 1 < (n := pairs.pairs.n) < 4:
        low, high = min(pairs.cosines), max(pairs.cosines)
        assert_said(claims, "pairs.unlabelled_few", n=n, low=low, high=high)
    else:
        numbers = {"n": n, "median": median, "low": low, "high": high}
        assert_said(claims, "pairs.unlabelled", **numbers)
    medians = np.median(np.array(pairs.every_layer.values), axis=1)
    high, low = medians.max(), medians.min()
    expected = say("pairs.title.alike", median=float(medians[pairs.row]))
    if high - low >= 0.01 and f"{high:.2f}" != f"{low:.2f}":
        ends = {"high_layer": int(medians.argmax()), "low_layer": int(medians.argmin())}
        expected = say("pairs.title.spread", high=high, low=low, **ends)
    assert pairs.title == expected


def test_the_opening_pair_is_the_clearest_error_at_the_best_layer() -> None:
    pairs = separated()
    clearest = replace(pairs, row=1).to_read("wrong")[0]
    for row in (0, 1):
        at_row = replace(pairs, row=row)
        assert shown_pair(DEFAULT, at_row).number == clearest
        assert shown_pair(PAIR.put(DEFAULT, 7), at_row).number == 6
        assert shown_pair(PAIR.put(DEFAULT, 99), at_row).number == clearest
    right = at_layer([[0.9, 0.1] * 8], [SAME, DIFFERENT] * 8)
    assert shown_pair(DEFAULT, right).number == right.to_read("most")[0]
    plain = at_layer([[np.nan, 0.3, 0.9]], [UNKNOWN] * 3)
    assert shown_pair(PAIR.put(DEFAULT, 1), plain).number == 2
    assert shown_pair(DEFAULT, plain).number == 2


def test_the_title_is_the_finding_of_the_layer_that_is_best_in_training() -> None:
    assert separated().title == "Layer 1, best in training: 90% right"
    assert separated(train=False).title == "Layer 1 gets 95% right (guessing: 50%)"
    noise = np.random.default_rng(3).uniform(0, 1, (2, 40))
    assert at_layer(noise, [SAME, DIFFERENT] * 20).title == "No layer clearly beats guessing"


@pytest.mark.slow
def test_shuffled_labels_seldom_make_a_layer_clear() -> None:
    """Corrected for choosing the best of 13 layers: by design, 2.5% at most are clear."""
    rng, n_clear = np.random.default_rng(7), 0
    for _ in range(120):
        cosines = rng.normal(size=(13, 60)).astype(np.float32)
        judgement = judge(cosines, rng.permutation([SAME, DIFFERENT] * 30), None)
        assert isinstance(judgement, Judgement)
        n_clear += judgement.is_clear
    assert n_clear <= 6


def test_the_reading_is_one_claim_and_the_rest_is_folded() -> None:
    assert list(map(str, separated().claims())) == [
        "Similarity alone gets **90%** of the 20 tested pairs right (guessing: 50%)."
    ]
    assert str(separated().sure()[3]) == (
        "2 errors. “Different” pairs called “same”: 1; “same” pairs called “different”: 1."
    )
    assert str(at_layer([[0.5], [0.25]], [SAME]).claims()[0]) == (
        "At layer 1, the one pair has a similarity (cosine) of **0.25**."
    )


def test_the_remarks_say_what_was_left_out_and_why_there_is_no_accuracy() -> None:
    assert separated().remarks() == [
        "mine: 40 pairs of whole texts · mean of all tokens · 20 are used to set the threshold"
    ]
    split = [TRAIN] * 20 + [TEST] * 15 + [NEITHER] * 5
    cosines = np.random.default_rng(0).uniform(0, 1, (1, 40))
    cosines[:, 0] = np.nan
    lines = at_layer(cosines, [SAME, DIFFERENT] * 20, split, notes=("A note.",)).remarks()
    assert lines[0].endswith(
        "5 labelled pairs belong to neither train nor test · 1 pair cannot be compared: the model "
        "does not read its word"
    )
    assert lines[1] == "A note."
    assert "accuracy cannot be tested" in at_layer([[0.1, 0.2]], [SAME, SAME]).remarks()[-1]
    half = at_layer([[0.9, 0.1] * 4], [SAME, DIFFERENT] * 4, [TRAIN] * 8)
    assert "accuracy is cross-validated" in half.remarks()[-1]


def test_pairs_to_read_come_by_their_cosine_or_the_furthest_on_the_wrong_side_first() -> None:
    pairs = separated()
    beyond = {i: abs(pairs.cosines[i] - pairs.threshold) for i in (36, 39)}
    assert pairs.to_read("wrong").tolist() == sorted(beyond, key=lambda i: -beyond[i])
    assert pairs.to_read("called_same").tolist() == [39]
    assert pairs.to_read("called_different").tolist() == [36]
    plain = at_layer([[0.3, np.nan, 0.9, 0.1]], [UNKNOWN] * 4)
    assert plain.to_read("most").tolist() == [2, 0, 3]
    assert plain.to_read("least").tolist() == [3, 0, 2]


def test_the_chart_has_the_accuracy_of_each_layer_and_the_share_of_guessing() -> None:
    pairs = separated()
    figure, judgement = pairs.figure(), pairs.judgement
    np.testing.assert_allclose(trace_of(figure, "accuracy").y, judgement.accuracy, atol=1e-5)
    assert {shape.y0 for shape in figure.layout.shapes} >= {judgement.majority}
    assert {shape.x0 for shape in figure.layout.shapes} >= {1}
    low, high = figure.layout.yaxis.range
    assert low < judgement.low.min() < judgement.high.max() < high


@pytest.mark.parametrize("how", ["split", "folds"])
def test_the_script_gives_the_pages_accuracy(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    gold = random.integers(-1, 2, 90)
    cosines = (random.normal(size=(3, 90)) + 0.8 * (gold == SAME)).round(1).astype(np.float32)
    cosines[:, :4] = np.nan
    split = random.choice([NEITHER, TRAIN, TEST], 90)
    contents = random.integers(0, 60, 90)
    judgement = judge(cosines, gold, split if how == "split" else None, contents)
    assert isinstance(judgement, Judgement)
    assert judgement.how == how
    assert judgement.n_copies > 0
    monkeypatch.chdir(tmp_path)
    arrays = {"cosines": cosines, "gold": gold, "split": split, "contents": contents}
    (tmp_path / "pairs.npz").write_bytes(to_npz(arrays, PASSPORT))
    names = run(accuracy_snippet(how))
    np.testing.assert_allclose(names["accuracy"], judgement.accuracy)
    np.testing.assert_allclose(drawn(ACCURACY_PICTURE, names).data[0].y, judgement.accuracy)
    np.testing.assert_allclose(names["auc"], judgement.auc)
