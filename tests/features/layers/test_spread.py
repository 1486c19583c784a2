"""Anisotropy and variance: beside scikit-learn, in words, as lines and as a script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim
from contextlens.content.wording import listed
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.layers.spread import Spread, spread_of, variance_shares
from contextlens.features.layers.word_vectors import words_of
from contextlens.ui.state.view import DEFAULT
from contextlens.ui.widgets.export import to_npz
from tests.features.layers.odd import (
    Chance,
    Draw,
    keys_of,
    odd_values,
    states_of,
    tied,
    view_of,
)
from tests.support.claims import unreached
from tests.support.snippets import run

RANDOM = np.random.default_rng(0)


def vectors(n_layers: int, n_words: int, n_dims: int) -> np.ndarray:
    return RANDOM.normal(size=(n_layers, n_words, n_dims)).astype(np.float32)


@pytest.mark.parametrize(("n_words", "n_dims"), [(50, 12), (12, 50)])
def test_variance_shares_are_scikit_learn_s(n_words: int, n_dims: int) -> None:
    own = vectors(2, n_words, n_dims)
    shares = variance_shares(own, 10)
    for found, layer in zip(shares, own, strict=True):
        expected = PCA(n_components=10).fit(layer.astype(float)).explained_variance_ratio_.cumsum()
        np.testing.assert_allclose(found, expected, atol=1e-5)
    line = np.outer(np.arange(5), np.ones(4))[None].astype(np.float32)
    np.testing.assert_allclose(variance_shares(line, 3), 1, atol=1e-6)


@pytest.mark.parametrize("own", [vectors(2, 0, 4), vectors(2, 1, 4), np.ones((2, 3, 4))])
def test_what_does_not_vary_has_no_shares(own: np.ndarray) -> None:
    assert np.isnan(variance_shares(own.astype(np.float32), 3)).all()


def test_the_spread_is_of_the_sample_and_remembered(service: EncoderService) -> None:
    result = spread_of(states_of(DEFAULT, service), service)
    assert result.shares.shape == (7, 10)
    assert (np.diff(result.shares, axis=1) > 0).all()
    other = spread_of(states_of(view_of("another text"), service), service)
    assert other.vectors is result.vectors
    shares = [row["first 3 of the variance"] for row in result.rows()]
    np.testing.assert_array_equal(shares, result.shares[:, 2])
    assert "random pairs, average" not in result.rows()[0]


def check_spread(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n_layers = chance.choice((1, 2, 7))
    mean, low, high = (odd_values(draw, n_layers) * chance.choice((1, 0.2)) for _ in range(3))
    band = Band(low, mean, high) if chance.random() < 0.7 else None
    shares = np.sort(odd_values(draw, n_layers, 3), axis=1)
    shares[draw.random(n_layers) < chance.choice((0, 0.3, 1))] = np.nan
    layer = chance.randrange(n_layers)
    result = Spread(range(n_layers), layer, band, np.zeros((n_layers, 50, 2), np.float32), shares)
    claims, titles = result.claims(), (result.random_title(), result.variance_title())
    yield from [*titles, *claims]
    rows = [i for i in range(n_layers) if np.isfinite(shares[i, 0])]
    series = [None if band is None else (list(range(n_layers)), mean), (rows, shares[rows, 0])]
    for title, own in zip(titles, series, strict=True):
        if own is None or not len(own[0]):
            assert title.key.endswith("pending" if own is None else "none")
            continue
        layers, values = own
        best = tied(values)
        assert title.key.endswith("even" if best is None else "top")
        if best is not None:
            assert title.numbers["layers"] == listed([layers[i] for i in best])
            assert title.numbers["value"] == max(values)
    rest = list(claims)
    if band is not None:
        assert rest[0].numbers["similarity"] == mean[layer]
        verdict = "common" if float(mean[layer]) > 0.1 else "apart"
        assert rest.pop(0).key == f"layers.spread.{verdict}"
    assert len(rest) == np.isfinite(shares[layer]).all()
    for each in rest:
        numbers = each.numbers
        assert (numbers["first"], numbers["all_of"]) == (shares[layer, 0], shares[layer, -1])
        assert (numbers["n_words"], numbers["n_components"]) == (50, 3)


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    assert not unreached("layers.spread", keys_of(check_spread, 300))


def test_the_lines_are_the_numbers() -> None:
    mean = np.array([0.1, 0.4, 0.2], np.float32)
    shares = np.tile(np.array([[0.1], [0.2], [0.1]], np.float32), 10)
    shares[:, 2] += 0.01
    shares[:, 9] = 0.6
    band = Band(mean - 0.1, mean, mean + 0.1)
    result = Spread((0, 1, 2), 1, band, np.zeros((3, 5, 2), np.float32), shares)
    np.testing.assert_allclose(result.random_figure().data[1].y, mean, atol=1e-5)
    for name, values in (("random pairs, average", mean), ("95th percentile", band.high)):
        np.testing.assert_allclose([row[name] for row in result.rows()], values)
    assert not replace(result, band=None).random_figure().data
    right = result.variance_figure()
    for line, i in zip(right.data, (0, 2, 9), strict=True):
        np.testing.assert_allclose(line.y, shares[:, i], atol=1e-5)
    heights = [note.y for note in right.layout.annotations]
    assert min(np.diff(heights)) >= 0.08 - 1e-9


def test_the_script_takes_the_vectors_from_the_page_s_npz(
    service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = service.encode(BUNDLED_ID, ["One word, many meanings; one meaning, many words"])[0]
    own = words_of([encoding]).vectors
    result = Spread(encoding.layers, 6, None, own, variance_shares(own, 5))
    npz = to_npz(result.arrays(), encoding.passport)
    (tmp_path / "layer-by-layer.npz").write_bytes(npz)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_allclose(run(result.snippet())["shares"].numpy(), result.shares, atol=1e-5)
