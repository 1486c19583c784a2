"""The snippets under the hood are run as a reader would run them, and must give our numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contextlens.analysis.correlation import correlated
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Passport
from contextlens.features.pairs.compute import compare
from contextlens.features.pairs.files import WHOLE, bundled_pairs, pair_set
from contextlens.features.pairs.measures import NEITHER, SAME, TEST, TRAIN, Scores, judged
from contextlens.features.pairs.snippet import (
    ACCURACY_PICTURE,
    CORRELATION_PICTURE,
    COSINES_PICTURE,
    SnippetPair,
    accuracy_snippet,
    correlation_snippet,
    cosines_snippet,
)
from contextlens.ui.widgets.export import to_npz
from tests.support.snippets import drawn, run

PASSPORT = Passport("m", "", "0" * 64, "exact", {})


@pytest.mark.slow
def test_the_first_snippet_gives_the_pages_cosines(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    ready = bundled_pairs()
    own = [SnippetPair(ready.text(i, 0), ready.span(i, 0), ready.text(i, 1), ready.span(i, 1))
           for i in range(2)]  # fmt: skip
    own.append(SnippetPair('A "python"\n', None, "Whole texts", None))
    pairs = pair_set(
        "mine",
        [(p.text1, p.text2) for p in own],
        spans=[(p.span1 or WHOLE, p.span2 or WHOLE) for p in own],
        rows=[1, 2, 3],
        gold=[-1] * 3,
        split=None,
    )
    expected = compare(pairs, card, service).values
    names = run(cosines_snippet(card, own))
    left = names["cosines"]
    assert len(drawn(COSINES_PICTURE, names).data) == 3
    assert len(left) == 3
    for i, values in enumerate(left):
        np.testing.assert_allclose(values.numpy(), expected[:, i], atol=1e-5)


@pytest.mark.parametrize("how", ["split", "folds"])
def test_the_second_snippet_gives_the_pages_accuracy(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    gold = random.integers(-1, 2, 90)
    cosines = (random.normal(size=(3, 90)) + 0.8 * (gold == SAME)).round(1).astype(np.float32)
    cosines[:, :4] = np.nan
    split = random.choice([NEITHER, TRAIN, TEST], 90)
    found = judged(cosines, gold, split if how == "split" else None)
    assert isinstance(found, Scores)
    assert found.how == how
    monkeypatch.chdir(tmp_path)
    arrays = {"cosines": cosines, "gold": gold, "split": split}
    (tmp_path / "pairs.npz").write_bytes(to_npz(arrays, PASSPORT))
    left = run(accuracy_snippet(how, file="pairs.npz"))
    np.testing.assert_allclose(left["accuracy"], found.accuracy)
    np.testing.assert_allclose(drawn(ACCURACY_PICTURE, left).data[0].y, found.accuracy)
    np.testing.assert_allclose(left["auc"], found.auc)


def test_the_third_snippet_gives_the_pages_correlations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    grades = random.integers(0, 6, 90).astype(float)
    cosines = ((random.normal(size=(3, 90)) + grades / 2) / 6).astype(np.float32)
    cosines[:, :4], grades[4:7] = np.nan, np.nan
    found = correlated(cosines, grades)
    monkeypatch.chdir(tmp_path)
    arrays = {"cosines": cosines, "scores": grades}
    (tmp_path / "pairs.npz").write_bytes(to_npz(arrays, PASSPORT))
    left = run(correlation_snippet(file="pairs.npz"))
    np.testing.assert_allclose(drawn(CORRELATION_PICTURE, left).data[0].y, found.spearman)
    for name in ("spearman", "pearson"):
        ends = [getattr(found, f"{name}{end}") for end in ("", "_low", "_high")]
        np.testing.assert_allclose(np.array(left[name]).T, ends, atol=1e-6)
