"""The ROC curve, against scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import auc, roc_auc_score

from contextlens.features.pairs.pair_set import DIFFERENT, SAME, TEST, TRAIN, UNKNOWN
from contextlens.features.pairs.roc import roc_curve_of
from tests.features.pairs.examples import at_layer, separated, trace_of


def test_the_curve_is_above_its_area_and_the_threshold_lies_on_it() -> None:
    pairs = separated(train=False)
    curve = roc_curve_of(pairs)
    assert curve is not None
    expected = roc_auc_score(pairs.pairs.gold, pairs.cosines)
    assert auc(curve.false, curve.true) == pytest.approx(expected)
    assert curve.auc == pytest.approx(expected)
    assert (np.diff(curve.thresholds) < 0).all()
    assert curve.at == pytest.approx((1 / 20, 19 / 20))
    area = str(curve.claims()[0])
    assert area.endswith("of cases (guessing: 50%). This needs no threshold.")


def test_pairs_of_one_kind_have_no_curve() -> None:
    split = [TRAIN] * 8 + [TEST] * 4
    pairs = at_layer([[0.9, 0.1] * 6], [*[SAME, DIFFERENT] * 4, *[SAME] * 4], split)
    assert roc_curve_of(pairs) is None
    assert roc_curve_of(at_layer([[0.9, 0.1]], [UNKNOWN] * 2)) is None


def test_a_long_curve_is_thinned_and_keeps_its_ends() -> None:
    random = np.random.default_rng(0)
    gold = random.integers(0, 2, 20_000)
    cosines = random.normal(size=20_000) + gold
    curve = roc_curve_of(at_layer(cosines[None], gold.tolist()))
    assert curve is not None
    figure = curve.figure()
    line = trace_of(figure, "ROC")
    assert len(line.x) <= 600
    assert (line.x[0], line.y[0], line.x[-1], line.y[-1]) == (0, 0, 1, 1)
    assert len(json.dumps(figure.to_plotly_json(), default=list)) < 100_000
