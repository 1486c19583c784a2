"""Pairs in words, also where the expected story fails; its lists and downloads."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr

from contextlens.analysis.correlation import FEWEST, correlated
from contextlens.content.language import Claim, say
from contextlens.core.schema import Passport
from contextlens.features.pairs.compute import (
    PairRows,
    PairsAtLayer,
    PairsResult,
    drawn_pairs,
    layer_rows,
    pair_arrays,
    pair_table,
    shown_pair,
    standings,
    to_read,
)
from contextlens.features.pairs.controls import PAIR
from contextlens.features.pairs.files import WHOLE, pair_set
from contextlens.features.pairs.measures import (
    DIFFERENT,
    NEITHER,
    SAME,
    TEST,
    TRAIN,
    UNKNOWN,
    Scores,
    judged,
)
from contextlens.features.pairs.reading import (
    notes,
    pair_claims,
    pairs_claims,
    pairs_sure,
    pairs_title,
    roc_claim,
)
from contextlens.ui.state.view import DEFAULT
from tests.support.odd import Said, assert_plain, assert_said, odd_names


def at_layer(
    cosines: Any,
    gold: list[int],
    split: list[int] | None = None,
    notes: tuple[str, ...] = (),
    grades: list[float] | None = None,
    shared: Any = None,
) -> PairsAtLayer:
    """Pairs of whole texts at the last layer."""
    values, n = np.array(cosines, np.float32), len(gold)
    texts = [(f"text {i}", f"other {i}") for i in range(n)]
    pairs = pair_set("mine", texts, spans=[(WHOLE, WHOLE)] * n, rows=list(range(1, n + 1)),
                     gold=gold, split=split, grades=grades, notes=notes)  # fmt: skip
    scores = judged(values, pairs.gold, pairs.split)
    result = PairsResult(
        cosines=values,
        layers=tuple(range(len(values))),
        scores=scores if isinstance(scores, Scores) else None,
        why_not="" if isinstance(scores, Scores) else scores,
        n_cut=0,
        n_encoded=2 * n,
        passport=Passport("m", "", "0" * 64, "exact", {}),
        correlation=None if grades is None else correlated(values, np.array(grades), shared=shared),
    )
    return PairsAtLayer(pairs, result, len(values) - 1)


def parted(n: int = 40, *, train: bool = True) -> PairsAtLayer:
    """Layer 0 is noise; layer 1 tells all but two apart."""
    gold = [SAME, DIFFERENT] * (n // 2)
    noise = np.random.default_rng(0).uniform(0, 1, n)
    clear = np.where(np.array(gold) == SAME, 0.8, 0.2) + noise / 100
    clear[-1], clear[-4] = 0.9, 0.1
    split = [TRAIN] * (n // 2) + [TEST] * (n // 2) if train else None
    return at_layer(np.stack([noise, clear]), gold, split)


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
        assert_plain([pairs_title(pairs), *notes(pairs)[:1]])
        assert len(pairs_title(pairs)) <= 80
        for row in range(n_layers):
            assert_so(said, PairsAtLayer(pairs.pairs, pairs.result, row))
    said.assert_all(
        "pairs.verdict.texts",
        "pairs.claim",
        "pairs.sure",
        without=("pairs.claim.caution", "pairs.verdict.texts.twins"),
    )


def assert_so(said: Said, pairs: PairsAtLayer) -> None:
    """The claims about one layer are true."""
    row, gold, scores = pairs.row, pairs.pairs.gold, pairs.scores
    claims, sure = said(pairs_claims(pairs)), said(pairs_sure(pairs))
    assert_verdicts_so(said, pairs)
    if scores is None:
        assert_unlabelled(claims, pairs)
        assert sure == []
        return
    n = len(scores.rows)
    right = int((scores.called_same[row] == scores.same).sum())
    low, high = binomtest(right, n).proportion_ci(method="wilson")
    most = float(max(scores.same.mean(), 1 - scores.same.mean()))
    case = "better" if round(100 * low) > round(100 * most) else "unclear"
    case = "worse" if round(100 * high) < round(100 * most) else case
    assert_said(claims, f"pairs.claim.{case}", accuracy=right / n, baseline=most, layer=row)
    assert_said(sure, "pairs.sure.interval", n=n, low=low, high=high)
    wrong = scores.rows[scores.called_same[row] != (gold[scores.rows] == SAME)]
    if len(wrong):
        missed = int((gold[wrong] == SAME).sum())
        errors = {"n": len(wrong), "missed": missed, "called": len(wrong) - missed}
        assert_said(sure, "pairs.sure.errors", **errors)
    else:
        assert_said(sure, "pairs.sure.no_errors")
    assert_said(sure, f"pairs.sure.{scores.how}", n=scores.n_train)


def assert_verdicts_so(said: Said, pairs: PairsAtLayer) -> None:
    """The claim about each pair is true, and so is the threshold that it names."""
    cosines, gold, scores = np.array(pairs.cosines, float), pairs.pairs.gold, pairs.scores
    for i, cosine in enumerate(cosines.tolist()):
        claims = said(pair_claims(pairs, i))
        if scores is None:
            n = len(cosines) - 1
            case = "place" if n else "alone"
            share = (cosines < cosine).sum() / max(n, 1)
            assert_said(claims, f"pairs.verdict.texts.{case}", cosine=cosine, share=share, count=n)
            continue
        cut = pairs.cut_of(i)
        assert cut is not None
        is_same = cosine >= cut
        if i in scores.rows:
            assert is_same == scores.called_same[pairs.row, scores.rows.tolist().index(i)]
        right = "right" if is_same == (gold[i] == SAME) else "wrong"
        names = {True: "the same", False: "different"}
        case = f"pairs.verdict.texts.{'unlabelled' if gold[i] == UNKNOWN else right}"
        assert_said(claims, case, called=names[is_same], label=names[bool(gold[i] == SAME)])


def test_the_opening_pair_is_the_clearest_error_at_the_best_layer() -> None:
    pairs = parted()
    best = PairsAtLayer(pairs.pairs, pairs.result, 1)
    for row in (0, 1):
        shown = PairsAtLayer(pairs.pairs, pairs.result, row)
        assert shown_pair(DEFAULT, shown) == to_read(best, "wrong")[0]
        assert shown_pair(PAIR.put(DEFAULT, 7), shown) == 6
        assert shown_pair(PAIR.put(DEFAULT, 99), shown) == to_read(best, "wrong")[0]
    right = at_layer([[0.9, 0.1] * 8], [SAME, DIFFERENT] * 8)
    assert shown_pair(DEFAULT, right) == to_read(right, "most")[0]
    plain = at_layer([[np.nan, 0.3, 0.9]], [UNKNOWN] * 3)
    assert shown_pair(PAIR.put(DEFAULT, 1), plain) == shown_pair(DEFAULT, plain) == 2


def assert_unlabelled(claims: list[Claim], pairs: PairsAtLayer) -> None:
    """Quartiles at the layer, and the layers with the highest and the lowest median."""
    low, median, high = np.quantile(np.array(pairs.cosines, float), [0.25, 0.5, 0.75])
    numbers = {"n": pairs.pairs.n, "median": median, "low": low, "high": high}
    assert_said(claims, "pairs.unlabelled", **numbers)
    medians = np.median(np.array(pairs.result.cosines), axis=1)
    high, low = medians.max(), medians.min()
    expected = say("pairs.title.alike", median=float(medians[pairs.row]))
    if high - low >= 0.01 and f"{high:.2f}" != f"{low:.2f}":
        ends = {"high_layer": int(medians.argmax()), "low_layer": int(medians.argmin())}
        expected = say("pairs.title.spread", high=high, low=low, **ends)
    assert pairs_title(pairs) == expected


def test_the_title_is_the_finding_of_the_layer_that_is_best_in_training() -> None:
    assert pairs_title(parted()) == "Layer 1, best in training: 90% right"
    assert pairs_title(parted(train=False)) == "Layer 1 gets 95% right (guessing: 50%)"
    noise = np.random.default_rng(3).uniform(0, 1, (2, 40))
    pairs = at_layer(noise, [SAME, DIFFERENT] * 20)
    assert pairs_title(pairs) == "No layer clearly beats guessing"


def test_shuffled_labels_seldom_make_a_layer_clear() -> None:
    """Corrected for choosing the best of 13 layers: by design, 2.5% at most are clear."""
    rng, n_clear = np.random.default_rng(7), 0
    for _ in range(120):
        cosines = rng.normal(size=(13, 60)).astype(np.float32)
        scores = judged(cosines, rng.permutation([SAME, DIFFERENT] * 30), None)
        assert isinstance(scores, Scores)
        n_clear += scores.is_clear
    assert n_clear <= 6


def test_the_reading_is_one_claim_and_the_rest_is_folded() -> None:
    assert list(map(str, pairs_claims(parted()))) == [
        "Layer 1 judges **90%** of the 20 tested pairs correctly (always saying “different”: 50%)."
    ]
    assert str(pairs_sure(parted())[2]) == (
        "2 errors. “Different” pairs called “same”: 1; “same” pairs called “different”: 1."
    )
    assert str(pairs_claims(at_layer([[0.5], [0.25]], [SAME]))[0]) == (
        "At layer 1, the one pair has a similarity (cosine) of **0.25**."
    )
    area = str(roc_claim(0.9))
    assert area.endswith("in **90%** of cases (guessing: 50%). This needs no threshold.")


def test_the_notes_say_what_was_left_out_and_why_there_is_no_accuracy() -> None:
    assert notes(parted()) == ["mine: 40 pairs of whole texts · mean of all tokens"]
    split = [TRAIN] * 20 + [TEST] * 15 + [NEITHER] * 5
    cosines = np.random.default_rng(0).uniform(0, 1, (1, 40))
    cosines[:, 0] = np.nan
    lines = notes(at_layer(cosines, [SAME, DIFFERENT] * 20, split, notes=("A note.",)))
    assert lines[0].endswith(
        "5 labelled pairs belong to neither train nor test · 1 pair cannot be compared: the model "
        "does not read its word"
    )
    assert lines[1] == "A note."
    assert "accuracy cannot be tested" in notes(at_layer([[0.1, 0.2]], [SAME, SAME]))[-1]
    half = at_layer([[0.9, 0.1] * 4], [SAME, DIFFERENT] * 4, [TRAIN] * 8)
    assert "accuracy is cross-validated" in notes(half)[-1]


# Graded scores


def scored(grades: list[float], cosines: Any, shared: Any = None) -> PairsAtLayer:
    return at_layer(cosines, [UNKNOWN] * len(grades), grades=grades, shared=shared)


def test_what_is_said_of_scores_is_so() -> None:
    said = Said()
    for seed in range(400):
        chance, rng = random.Random(seed), np.random.default_rng(seed)
        n, n_layers = chance.choice((1, 3, 9, 10, 40, 200)), chance.choice((1, 4))
        grades = rng.integers(0, chance.choice((1, 3, 6, 50)), n) / 2
        strength = chance.choice((-2, 0, 0.1, 0.4, 2)) * (grades - grades.mean())
        cosines = np.clip((strength + rng.normal(size=(n_layers, n))) / 9, -1, 1)
        if seed % 7 == 0:
            cosines[0] = 0.5
        if seed % 5 == 0:
            grades[0] = np.nan
        shared = [None, grades, -grades, rng.uniform(size=n)][seed % 4]
        pairs = scored(grades.tolist(), cosines, shared)
        assert_plain([pairs_title(pairs), *notes(pairs)[:1]])
        assert len(pairs_title(pairs)) <= 80
        for row in range(n_layers):
            assert_scores_so(said, PairsAtLayer(pairs.pairs, pairs.result, row))
    said.assert_all(
        "pairs.scores", "pairs.scores_sure", "pairs.standing",
        without=("pairs.scores_sure.repeated",),
    )  # fmt: skip


def assert_scores_so(said: Said, pairs: PairsAtLayer) -> None:
    """The verdict on a layer follows from SciPy's coefficient and the interval that is said."""
    grades, cosines = pairs.pairs.grades, np.array(pairs.cosines, float)
    assert grades is not None
    rows = np.flatnonzero(~np.isnan(grades))
    claims, sure = said(pairs_claims(pairs)), said(pairs_sure(pairs))
    for pair in {0, shown_pair(DEFAULT, pairs)}:
        assert_standing_so(said, pairs, pair)
    if len(rows) < FEWEST:
        assert_said(claims, "pairs.scores.few", n=len(rows), least=FEWEST)
        assert sure == []
        return
    if len(set(grades[rows])) == 1 or len(set(cosines[rows])) == 1:
        kind = "scores" if len(set(grades[rows])) == 1 else "cosines"
        assert_said(claims, f"pairs.scores.equal_{kind}", n=len(rows))
        return
    r = spearmanr(cosines[rows], grades[rows]).statistic
    half = 1.959964 * np.sqrt((1 + r**2 / 2) / (len(rows) - 3))
    low, high = np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)
    case = "follows" if r >= 0.4 else "loosely" if r > 0 else "against"
    case = case if round(low, 2) > 0 or round(high, 2) < 0 else "unclear"
    assert_said(claims, f"pairs.scores.{case}", spearman=r, low=low, high=high, n=len(rows))
    assert_said(sure, "pairs.scores_sure.interval", low=low, high=high)
    words = pairs.correlation.shared_words if pairs.correlation else 0
    case = "unknown" if np.isnan(words) or case == "unclear" else (
        "fewer" if words < low else "more" if words > high else "about"
    )  # fmt: skip
    assert_said(claims, f"pairs.scores.words.{case}")


def assert_standing_so(said: Said, pairs: PairsAtLayer, pair: int) -> None:
    """The places of a pair in both orders are its percentile ranks, by counting."""
    grades, cosines = pairs.pairs.grades, np.array(pairs.cosines)
    assert grades is not None
    claims = said(pair_claims(pairs, pair))
    if np.isnan(grades[pair]):
        assert_said(claims, "pairs.standing.unscored", cosine=float(cosines[pair]))
        return
    rows = np.flatnonzero(~np.isnan(grades))
    (standing,) = claims
    lows, highs = zip(*(
        (100 * ((own[rows] < own[pair]).mean() + 0.5 / len(rows)),
         100 * ((own[rows] <= own[pair]).mean() - 0.5 / len(rows)))
        for own in (grades, cosines)
    ), strict=True)  # fmt: skip
    for name, low, high in zip(("by_score", "by_cosine"), lows, highs, strict=True):
        ends = [float(end) for end in standing.numbers[name].split(" to ")]
        assert (ends[0], ends[-1]) == pytest.approx((low, high), abs=0.501)
    gap = max(lows[0] - highs[1], 0) - max(lows[1] - highs[0], 0)
    case = "high" if gap >= 19.5 else "low" if gap <= -19.5 else "near"
    assert standing.key == f"pairs.standing.{case}"


def test_the_headline_names_layer_coefficient_interval_number_and_yardstick() -> None:
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 6, 1379).astype(float)
    cosines = (grades + rng.normal(size=1379) * 1.1)[None] / 10
    pairs = scored(grades.tolist(), cosines, grades + 3 * rng.normal(size=1379))
    assert " ".join(map(str, pairs_claims(pairs))) == (
        "The cosine at layer 0 follows your scores: Spearman **0.84** (0.82 to 0.86) over 1,379 "
        "pairs. Counting shared words gets **0.49**, no relation 0. Spearman compares orders: it "
        "does not say which cosine means which score."
    )
    assert pairs_title(pairs) == "Layer 0 follows best: Spearman 0.84"
    assert notes(pairs) == [
        "mine: 1,379 pairs of whole texts · mean of all tokens · 1,379 have a score (0 to 5)"
    ]


def test_pairs_whose_orders_differ_most_are_listed_first() -> None:
    grades = [0.0, 1.0, 2.0, 3.0, 4.0, np.nan]
    pairs = scored(grades, [[0.9, 0.2, 0.3, 0.4, 0.1, 0.5]])
    assert to_read(pairs, "disagree").tolist() == [0, 4]
    assert to_read(pairs, "score_high").tolist() == [4]
    assert to_read(pairs, "score_low").tolist() == [0]
    assert to_read(pairs, "most").tolist() == [0, 5, 3, 2, 1, 4]
    assert shown_pair(DEFAULT, pairs) == 0
    assert standings(pairs).tolist() == [-1, 0, 0, 0, 1, 0]
    rows = pair_table(pairs, 9)
    assert rows["percentile by score"].tolist()[:5] == pytest.approx([10, 30, 50, 70, 90])
    assert rows["score"].isna().tolist() == [False] * 5 + [True]


def test_of_very_many_scored_pairs_some_are_drawn_and_the_shown_one_is_among_them() -> None:
    rng = np.random.default_rng(0)
    pairs = scored(rng.uniform(size=4000).tolist(), rng.uniform(size=(1, 4000)))
    for pair in (0, 17, 3999):
        drawn = drawn_pairs(pairs, pair)
        assert pair in drawn
        assert len(set(drawn.tolist())) == len(drawn) <= 1_500
    assert drawn_pairs(scored([1.0, 2.0], [[0.1, 0.2]]), 0).tolist() == [0, 1]


def test_correlations_are_in_tables_and_arrays() -> None:
    rng = np.random.default_rng(0)
    pairs = scored(rng.uniform(size=20).tolist(), rng.uniform(size=(3, 20)))
    assert pairs.correlation is not None
    rows, arrays = layer_rows(pairs), pair_arrays(pairs)
    assert [row["Spearman"] for row in rows] == pairs.correlation.spearman.tolist()
    assert [row["Pearson to (95%)"] for row in rows] == pairs.correlation.pearson_high.tolist()
    np.testing.assert_array_equal(arrays["scores"], pairs.pairs.grades)
    np.testing.assert_array_equal(arrays["spearman_low"], pairs.correlation.spearman_low)
    assert PairRows(pairs)[3]["score"] == pairs.pairs.grades[3]


# Lists, tables and files


def test_pairs_to_read_come_by_their_cosine_or_the_furthest_on_the_wrong_side_first() -> None:
    pairs = parted()
    assert pairs.threshold is not None
    beyond = {i: abs(pairs.cosines[i] - pairs.threshold) for i in (36, 39)}
    assert to_read(pairs, "wrong").tolist() == sorted(beyond, key=lambda i: -beyond[i])
    assert to_read(pairs, "called_same").tolist() == [39]
    assert to_read(pairs, "called_different").tolist() == [36]
    plain = at_layer([[0.3, np.nan, 0.9, 0.1]], [UNKNOWN] * 4)
    assert to_read(plain, "most").tolist() == [2, 0, 3]
    assert to_read(plain, "least").tolist() == [3, 0, 2]


def test_every_pair_is_a_row_with_its_cosines_label_and_verdict() -> None:
    pairs = parted()
    rows = PairRows(pairs)
    assert len(rows) == len(list(rows)) == 40
    assert rows[39] == {
        "pair": 40,
        "text 1": "text 39",
        "text 2": "other 39",
        "label": "different",
        "split": "test",
        "verdict": "same",
        "layer 0": pytest.approx(float(pairs.result.cosines[0, 39])),
        "layer 1": pytest.approx(0.9),
    }
    assert rows[-1] == rows[39]
    assert [row["pair"] for row in rows[:3]] == [1, 2, 3]
    with pytest.raises(IndexError):
        rows[40]
    assert pair_table(pairs, 7).shape[0] == 7
    lost = at_layer([[np.nan, 0.1, *[0.9, 0.1] * 5]], [SAME, DIFFERENT] * 6)
    assert [PairRows(lost)[i]["verdict"] for i in (0, 2)] == ["", "same"]


def test_tables_and_arrays_are_what_was_measured() -> None:
    pairs, plain = parted(), at_layer([[0.1, 0.2, 0.3]], [UNKNOWN] * 3)
    assert pairs.scores is not None
    rows = layer_rows(pairs)
    assert [row["accuracy"] for row in rows] == pairs.scores.accuracy.tolist()
    assert {"threshold", "majority", "AUC"} <= set(rows[0])
    assert layer_rows(plain)[0]["median"] == pytest.approx(0.2)
    arrays = pair_arrays(pairs)
    assert (arrays["cosines"].shape, arrays["says"].shape) == ((2, 40), (2, 20))
    assert set(arrays["split"].tolist()) == {TRAIN, TEST}
    assert "says" not in pair_arrays(plain)
