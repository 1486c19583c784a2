"""The pictures of Padding & masks hold the exact numbers, and nothing typed becomes markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.features.masks.figures import (
    batch_grid,
    cases_grid,
    layer_lines,
    limit_bar,
    mask_range,
    token_heatmap,
)
from contextlens.features.masks.measures import FourCases, PaddedBatch
from tests.support.masks import lab_of

A, B = "I love my pet python", "Rain."
RUDE = "<b>%{y}</b> & <a href='x'>y</a>"
OURS = re.compile(r'<br>|<extra></extra>|</?(span|b)( style="color:#[0-9A-Fa-f]{6}")?>')


@pytest.fixture
def lab(service: EncoderService) -> PaddedBatch:
    return lab_of(service, A, B)


def grid(lab: PaddedBatch, layer: int = 6, *, averaged: bool = False) -> dict[str, Any]:
    scale = mask_range(lab)
    return batch_grid(lab, layer, averaged=averaged, scale=scale, title="T").to_plotly_json()


def lines(lab: PaddedBatch, row: int = 0, layer: int = 6) -> dict[str, Any]:
    how = {"scale": mask_range(lab), "pooler": "pooler_output", "title": "T"}
    return layer_lines(lab.rows[row], layer, **how).to_plotly_json()


def tokens(lab: PaddedBatch, row: int = 0) -> dict[str, Any]:
    return token_heatmap(lab.rows[row], scale=mask_range(lab), title="T").to_plotly_json()


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


@pytest.mark.parametrize("layer", [0, 6])
def test_each_cell_has_its_tokens_cosine_and_says_it_to_four_decimals(
    lab: PaddedBatch, layer: int
) -> None:
    cells = grid(lab, layer)["data"][0]
    for column, row in enumerate(lab.rows):
        found = [line[column] for line in cells["z"][: row.n_real]]
        np.testing.assert_allclose(found, row.damage.tokens[layer], atol=5.1e-6)
        for i, value in enumerate(row.damage.tokens[layer]):
            hover = cells["customdata"][i][column]
            assert hover.endswith(f"layer {layer}: similarity {value:.4f}")
            assert f"position {i} · ID {row.padded.token_ids[i]} · mask 1 · segment 0" in hover


def test_padding_is_one_hatched_bar_that_tells_its_positions(lab: PaddedBatch) -> None:
    whole = replace(lab, rows=lab.rows[:1], pad_to=7)
    unpadded = replace(whole.rows[0], padded=whole.rows[0].alone)
    assert [t["type"] for t in grid(replace(whole, rows=(unpadded,)))["data"]] == [
        "heatmap",
        "scatter",
    ]
    _, bar, _ = grid(lab)["data"]
    assert bar["marker"]["pattern"]["shape"] == "/"
    assert bar["base"] == [7, 4]
    ends = {base + y for base, y in zip(bar["base"], bar["y"], strict=True)}
    assert len(ends) == 1
    assert f"positions 4 to 31 · ID 0 · mask {int(not lab.masked)}" in bar["customdata"][1]
    length = lab.rows[1].damage.lengths[6, 4:].mean()
    assert f"vectors of length {length:.4f} on average, for no word" in bar["customdata"][1]


def test_ticks_are_positions_and_a_column_is_empty_below_its_text(lab: PaddedBatch) -> None:
    figure = grid(lab)
    cells, axis = figure["data"][0], figure["layout"]["yaxis"]
    assert [line[1] is None for line in cells["z"]] == [False] * 4 + [True] * 3
    assert [line[1] for line in cells["text"]][4:] == ["", "", ""]
    assert axis["ticktext"] == [*map(str, range(7)), "31"]
    assert axis["range"][1] == 0


@pytest.mark.parametrize("masked", [True, False])
def test_each_position_has_its_bit_of_the_mask(service: EncoderService, masked: bool) -> None:
    lab = lab_of(service, A, B, masked=masked)
    bits = next(t for t in grid(lab)["data"] if t.get("mode") == "text")
    found = [re.sub("<[^>]*>", "", text) for text in bits["text"]]
    pad = str(int(not masked))
    assert found == [*"1111111", pad, *"1111", *[pad] * 4]  # the rest of the padding has one
    assert bits["y"][:7] == [i + 0.5 for i in range(7)]
    assert grid(lab)["layout"]["xaxis"]["ticktext"][2:] == ["mask", "mask"]


def test_a_label_tells_that_padding_is_averaged_in(lab: PaddedBatch) -> None:
    texts = [note["text"] for note in grid(lab, averaged=True)["layout"]["annotations"]]
    assert texts == ["25 × [PAD]<br>averaged, too", "28 × [PAD]<br>averaged, too"]


def test_a_model_without_segments_has_a_picture_too(tiny_service: EncoderService) -> None:
    lab = lab_of(tiny_service, "a python", pad_to=16, model="folder:roberta")
    figure = grid(lab, layer=3)
    assert "segment" not in "".join(strings(figure["data"]))
    assert "&lt;pad&gt;" in figure["layout"]["annotations"][0]["text"]


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("averaged", [True, False])
def test_the_present_one_of_the_four_cases_is_strong(masked: bool, averaged: bool) -> None:
    cases = FourCases("<b>", on=(1.0, 0.795), off=(0.86, -0.1))
    how = {"masked": masked, "averaged": averaged, "scale": (-0.2, 1.0), "title": "T"}
    figure = cases_grid(cases, **how).to_plotly_json()
    faint, strong, points = figure["data"]
    y, x = int(not masked), int(averaged)
    expected = np.array([cases.on, cases.off])
    assert strong["z"][y][x] == expected[y, x]
    assert np.isnan(np.array(strong["z"])).sum() == 3
    assert np.isnan(faint["z"][y][x])
    assert faint["opacity"] < 0.5
    numbers = [re.sub("<[^>]*>", " ", note["text"]) for note in figure["layout"]["annotations"]]
    assert [text.split()[0] for text in numbers] == ["1.000", "0.795", "0.860", "-0.100"]
    for j, i, (is_on, with_padding, value) in zip(
        points["x"], points["y"], points["customdata"], strict=True
    ):
        assert (is_on, with_padding) == (i == 0, j == 1)
        assert value == expected[i, j]
    assert "&lt;b&gt;" in points["hovertemplate"]


def test_many_or_long_texts_keep_the_scale_instead_of_numbers(service: EncoderService) -> None:
    eight = grid(lab_of(service, *[A] * 8))["data"][0]
    assert eight["showscale"] is True
    assert "0." not in eight["text"][1][0]
    long = grid(lab_of(service, "python " * 100, pad_to=128))["data"][0]
    assert long["showscale"] is True
    assert "text" not in long


def test_eight_full_texts_are_light_enough_to_send(service: EncoderService) -> None:
    (row,) = lab_of(service, "python " * 600, pad_to=512).rows
    lab = PaddedBatch(tuple(replace(row, label=label) for label in "ABCDEFGH"), 512, False)
    size = sum(len(json.dumps(draw(lab), default=int)) for draw in (grid, lines, tokens))
    assert size < 1_500_000


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
    (cells,) = tokens(lab)["data"]
    np.testing.assert_allclose(cells["z"], lab.rows[0].damage.tokens.T, atol=5.1e-6)
    assert tokens(lab)["layout"]["yaxis"]["ticktext"][5] == "python"


def test_all_pictures_share_one_scale(service: EncoderService) -> None:
    lab = lab_of(service, A)
    assert mask_range(lab) == (0.0, 1.0)
    damage = replace(lab.rows[0].damage, mean_all=np.full(7, -0.25, dtype=np.float32))
    lab = replace(lab, rows=(replace(lab.rows[0], damage=damage),))
    low, high = mask_range(lab)
    assert (low, high) == (pytest.approx(-0.4), 1.0)
    for cells in (grid(lab)["data"][0], tokens(lab)["data"][0]):
        assert (cells["zmin"], cells["zmax"]) == (low, high)
    bottom, top = lines(lab)["layout"]["yaxis"]["range"]
    assert bottom <= low < high <= top


def test_what_was_typed_cannot_become_markup(service: EncoderService) -> None:
    lab = lab_of(service, RUDE, RUDE)
    for draw in (grid, lines, tokens):
        for text in strings(draw(lab)):
            assert "<" not in OURS.sub("", text), text
    for trace in [*grid(lab)["data"], *tokens(lab)["data"], *lines(lab)["data"]]:
        assert "&lt;" not in trace.get("hovertemplate", "")


def test_the_limit_is_a_bar_of_what_fits_and_what_does_not() -> None:
    figure = limit_bar(512, 90, limit=512, title="T").to_plotly_json()
    kept, cut = figure["data"]
    assert (kept["x"], cut["x"], cut["base"]) == ([512], [90], [512])
    assert figure["layout"]["shapes"][0]["x0"] == 512
    assert len(limit_bar(5, 0, limit=512, title="T").data) == 1
