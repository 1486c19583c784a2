"""Graded scores: what is said of them, the order of pairs, the charts and the script."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from contextlens.analysis.correlation import FEWEST, correlated
from contextlens.core.schema import Passport
from contextlens.features.pairs.correlation import (
    CORRELATION_PICTURE,
    CORRELATION_SNIPPET,
    ScoredPairs,
)
from contextlens.features.pairs.every_pair import EveryPair
from contextlens.features.pairs.one_pair import shown_pair
from contextlens.ui.state.view import DEFAULT
from contextlens.ui.widgets.export import to_npz
from tests.features.pairs.examples import scored, trace_of
from tests.support.odd import Said, assert_plain, assert_said
from tests.support.snippets import drawn, run

PASSPORT = Passport("m", "", "0" * 64, "exact", {})


@pytest.mark.slow
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
        assert_plain([pairs.title, *pairs.remarks()[:1]])
        assert len(pairs.title) <= 80
        for row in range(n_layers):
            assert_scores_so(said, replace(pairs, row=row))
    said.assert_all("pairs.scores", "pairs.scores_sure", "pairs.standing")


def assert_scores_so(said: Said, pairs: ScoredPairs) -> None:
    """The verdict on a layer follows from SciPy's coefficient and the interval that is said."""
    grades, cosines = pairs.grades, np.array(pairs.cosines, float)
    rows = np.flatnonzero(~np.isnan(grades))
    claims, sure = said(pairs.claims()), said(pairs.sure())
    for pair in {0, shown_pair(DEFAULT, pairs).number}:
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
    words = pairs.correlation.shared_words
    case = "unknown" if np.isnan(words) or case == "unclear" else (
        "fewer" if words < low else "more" if words > high else "about"
    )  # fmt: skip
    assert_said(claims, f"pairs.scores.words.{case}")


def assert_standing_so(said: Said, pairs: ScoredPairs, pair: int) -> None:
    """The places of a pair in both orders are its percentile ranks, by counting."""
    grades, cosines = pairs.grades, np.array(pairs.cosines)
    claims = said(pairs.pair_claims(pair))
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
    assert " ".join(map(str, pairs.claims())) == (
        "The cosine at layer 0 follows your scores: Spearman **0.84** (0.82 to 0.86) over 1,379 "
        "pairs. Counting shared words gets **0.49**, no relation 0. Spearman compares orders: it "
        "does not say which cosine means which score."
    )
    assert pairs.title == "Layer 0 follows best: Spearman 0.84"
    assert pairs.remarks() == [
        "mine: 1,379 pairs of whole texts · mean of all tokens · 1,379 have a score (0 to 5)"
    ]


def test_pairs_whose_orders_differ_most_are_listed_first() -> None:
    grades = [0.0, 1.0, 2.0, 3.0, 4.0, np.nan]
    pairs = scored(grades, [[0.9, 0.2, 0.3, 0.4, 0.1, 0.5]])
    assert pairs.to_read("disagree").tolist() == [0, 4]
    assert pairs.to_read("score_high").tolist() == [4]
    assert pairs.to_read("score_low").tolist() == [0]
    assert pairs.to_read("most").tolist() == [0, 5, 3, 2, 1, 4]
    assert shown_pair(DEFAULT, pairs).number == 0
    assert pairs.standings.tolist() == [-1, 0, 0, 0, 1, 0]
    rows = EveryPair(pairs).rows()
    by_score = [row["percentile by score"] for row in rows]
    assert by_score[:5] == pytest.approx([10, 30, 50, 70, 90])
    assert [row["score"] is None for row in rows] == [False] * 5 + [True]


def test_of_very_many_scored_pairs_some_are_drawn_and_the_shown_one_is_among_them() -> None:
    rng = np.random.default_rng(0)
    pairs = scored(rng.uniform(size=4000).tolist(), rng.uniform(size=(1, 4000)))
    for pair in (0, 17, 3999):
        drawn = pairs.drawn_pairs(pair)
        assert pair in drawn
        assert len(set(drawn.tolist())) == len(drawn) <= 1_500
    assert scored([1.0, 2.0], [[0.1, 0.2]]).drawn_pairs(0).tolist() == [0, 1]


def test_every_scored_pair_is_a_point_with_its_number() -> None:
    cosines = [[0.1, 0.9, 0.2, 0.8, 0.3, 0.7]]
    pairs = scored([0.0, 1.0, 5.0, 2.0, np.nan, 3.0], cosines)
    figure = pairs.scatter(1)
    points = [trace for trace in figure.data if trace.customdata is not None]
    numbers = {n[0]: (x, y) for t in points for n, x, y in zip(t.customdata, t.x, t.y, strict=True)}
    assert set(numbers) == {1, 2, 3, 4, 6}
    assert numbers[2] == (1, pytest.approx(0.9, abs=1e-5))
    assert len({trace.marker.color for trace in points}) == len(points) == 3
    ring = trace_of(figure, "this pair")
    assert (ring.x, ring.y) == ((1,), (pytest.approx(0.9),))
    assert figure.layout.xaxis.range[0] < 0 < 5 < figure.layout.xaxis.range[1]
    assert "this pair" not in [trace.name for trace in pairs.scatter(4).data]


def test_correlations_are_lines_with_the_words_as_yardstick() -> None:
    grades, random = np.arange(200.0), np.random.default_rng(0)
    cosines = random.normal(size=(4, 200)) / 5
    cosines[1] = 0.5
    pairs = scored(grades.tolist(), cosines, grades**2)
    figure, correlation = pairs.figure(), pairs.correlation
    np.testing.assert_allclose(trace_of(figure, "Spearman").y, correlation.spearman, atol=1e-5)
    np.testing.assert_allclose(trace_of(figure, "Pearson").y, correlation.pearson, atol=1e-5)
    assert {shape.y0 for shape in figure.layout.shapes} >= {0, correlation.shared_words}
    low, high = figure.layout.yaxis.range
    assert low < np.nanmin(correlation.spearman_low)
    assert high > 1
    assert len(scored([0.0, 1.0], cosines[:, :2]).figure().data) == 3


def test_the_script_gives_the_pages_correlations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    grades = random.integers(0, 6, 90).astype(float)
    cosines = ((random.normal(size=(3, 90)) + grades / 2) / 6).astype(np.float32)
    cosines[:, :4], grades[4:7] = np.nan, np.nan
    contents = random.integers(0, 70, 90)
    correlation = correlated(cosines, grades, contents=contents)
    monkeypatch.chdir(tmp_path)
    arrays = {"cosines": cosines, "scores": grades, "contents": contents}
    (tmp_path / "pairs.npz").write_bytes(to_npz(arrays, PASSPORT))
    names = run(CORRELATION_SNIPPET)
    np.testing.assert_allclose(drawn(CORRELATION_PICTURE, names).data[0].y, correlation.spearman)
    for name in ("spearman", "pearson"):
        ends = [getattr(correlation, f"{name}{end}") for end in ("", "_low", "_high")]
        np.testing.assert_allclose(np.array(names[name]).T, ends, atol=1e-6)
