"""A padded text over the layers: lines, heatmap, and the finding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.features.masks.batch_grid import BatchGrid
from contextlens.features.masks.over_layers import OverLayers
from contextlens.features.masks.padded_batch import PaddedBatch, cosine_scale
from tests.features.masks.odd import odd_batches, reads_as_one, strings
from tests.support.claims import read, unreached
from tests.support.masks import lab_of

A, B = "I love my pet python", "Rain."


@pytest.fixture
def lab(service: EncoderService) -> PaddedBatch:
    return lab_of(service, A, B)


def over(lab: PaddedBatch, layer: int = 6) -> OverLayers:
    return OverLayers(lab.rows[0], layer, cosine_scale(lab), "pooler_output")


def lines(lab: PaddedBatch, layer: int = 6) -> dict[str, Any]:
    return over(lab, layer).figure().to_plotly_json()


def heatmap(lab: PaddedBatch) -> dict[str, Any]:
    return over(lab).heatmap().to_plotly_json()


def test_every_title_is_what_the_numbers_show_and_none_is_dead() -> None:
    keys = set()
    for masks in odd_batches():
        for row in masks.batch.rows:
            title, low = OverLayers(row, 0, (0, 1), "").title(), row.damage.mean.min()
            keys |= read([title])
            assert (title.key == "masks.layers.none") == (not row.n_padding)
            if row.n_padding:
                assert title.key.endswith(".unchanged") == reads_as_one(low)
                assert title.numbers["similarity"] == low
    assert not unreached("masks.layers", keys)


def test_the_lines_are_first_token_means_and_tokens(lab: PaddedBatch) -> None:
    drawn = lines(lab, layer=2)
    (mark,) = drawn["layout"]["shapes"]
    assert mark["x0"] == mark["x1"] == 2
    traces = drawn["data"]
    damage = lab.rows[0].damage
    named = {trace["name"]: trace for trace in traces if trace.get("name")}
    expected = {
        "[CLS]": damage.first,
        "mean of real tokens": damage.mean,
        "mean with [PAD]": damage.mean_all,
        "pooler_output": [damage.pooled],
    }
    assert named.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(named[name]["y"], values, atol=5.1e-6)
    faint = [trace for trace in traces if not trace.get("name")]
    assert len(faint) == 6
    np.testing.assert_allclose(faint[0]["y"], damage.tokens[:, 1], atol=5.1e-6)
    assert all("%{y:.4f}" in trace["hovertemplate"] for trace in traces)


def test_many_tokens_are_a_band_and_a_model_without_pooler_has_no_point(
    service: EncoderService, tiny_service: EncoderService
) -> None:
    bare = lab_of(tiny_service, "a python", pad_to=16, model="folder:electra")
    assert not any("pooler" in text for text in strings(lines(bare, layer=3)))
    lab = lab_of(service, "python " * 30, pad_to=64)
    (band,) = (trace for trace in lines(lab)["data"] if trace.get("fill"))
    low, high = lab.rows[0].damage.tokens.min(axis=1), lab.rows[0].damage.tokens.max(axis=1)
    np.testing.assert_allclose(band["y"], [*high, *low[::-1]], atol=5.1e-6)


def test_the_heatmap_has_every_token_at_every_layer(lab: PaddedBatch) -> None:
    (cells,) = heatmap(lab)["data"]
    np.testing.assert_allclose(cells["z"], lab.rows[0].damage.tokens.T, atol=5.1e-6)
    assert heatmap(lab)["layout"]["yaxis"]["ticktext"][5] == "python"


def test_all_pictures_share_one_scale(service: EncoderService) -> None:
    lab = lab_of(service, A)
    assert cosine_scale(lab) == (0.0, 1.0)
    damage = replace(lab.rows[0].damage, mean_all=np.full(7, -0.25, dtype=np.float32))
    lab = replace(lab, rows=(replace(lab.rows[0], damage=damage),))
    low, high = cosine_scale(lab)
    assert (low, high) == (pytest.approx(-0.4), 1.0)
    cells = heatmap(lab)["data"][0]
    assert (cells["zmin"], cells["zmax"]) == (low, high)
    grid = BatchGrid(lab, lab.rows[0], 6, 0.5).figure().to_plotly_json()["data"][0]
    assert (grid["zmin"], grid["zmax"]) == (0, 0.5)
    bottom, top = lines(lab)["layout"]["yaxis"]["range"]
    assert bottom <= low < high <= top
