"""The picture of the batch: its exact numbers, its words, and no markup from what is typed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.features.masks.batch_grid import BatchGrid, batch_grid
from contextlens.features.masks.over_layers import OverLayers
from contextlens.features.masks.padded_batch import Masks, PaddedBatch, cosine_scale
from tests.features.masks.odd import described, odd_batches, reads_as_one, strings
from tests.support.claims import read, unreached
from tests.support.masks import lab_of

A, B = "I love my pet python", "Rain."
RUDE = "<b>%{y}</b> & <a href='x'>y</a>"
OURS = re.compile(r'<br>|<extra></extra>|</?(span|b)( style="color:#[0-9A-Fa-f]{6}")?>')


@pytest.fixture
def lab(service: EncoderService) -> PaddedBatch:
    return lab_of(service, A, B)


def grid(lab: PaddedBatch, layer: int = 6, *, averaged: bool = False) -> dict[str, Any]:
    result = BatchGrid(lab, lab.rows[0], layer, 1.0, averaged)
    return result.figure().to_plotly_json()


def over_layers(lab: PaddedBatch) -> list[dict[str, Any]]:
    result = OverLayers(lab.rows[0], 6, cosine_scale(lab), "pooler_output")
    return [result.figure().to_plotly_json(), result.heatmap().to_plotly_json()]


# The words


def assert_true(masks: Masks) -> list[Claim]:
    """All claims of a batch, each checked against its rows."""
    batch, layer, row = masks.batch, masks.layer, described(masks)
    result = batch_grid(masks)
    title, claims, sure, notes = result.title(), result.claims(), result.sure(), result.notes()
    padded = [each for each in batch.rows if each.n_padding]
    if not padded:
        assert [title.key, *(c.key for c in claims)] == ["masks.title.none", "masks.share.none"]
        assert claims[0].numbers["n"] == len(batch.rows) * batch.pad_to
        assert (sure, notes) == ([], [])
        return [title, *claims]
    switch = "on" if batch.masked else "off"
    assert (title.key, claims) == (f"masks.title.{switch}", [])
    assert [note.key for note in notes] == [f"masks.note.{switch}"]
    means = {each.label: each.damage.mean[layer] for each in padded}
    share, effect, _, lengths, *rest = sure
    n_real = sum(each.n_real for each in batch.rows)
    assert share.numbers["share"] == pytest.approx(1 - n_real / (len(batch.rows) * batch.pad_to))
    tokens = row.damage.tokens[layer]
    unchanged = reads_as_one([means[row.label], tokens.min()])
    assert (effect.numbers["lowest"], effect.numbers["label"]) == (tokens.min(), row.label)
    case = effect.key.rpartition(".")[2]
    assert (case in ("on", "off")) != unchanged
    assert case.startswith("on") == batch.masked
    assert (case == "embedding") == (unchanged and not batch.masked and layer == 0)
    if case in ("on", "off"):
        assert effect.numbers["similarity"] == means[row.label]
        ties = [i for i, c in enumerate(tokens) if f"{c:.2f}" == f"{tokens.min():.2f}"]
        assert effect.numbers["n"] == len(ties)
    vectors = row.damage.lengths[layer]
    assert lengths.numbers["length"] == pytest.approx(vectors[row.n_real :].mean())
    assert lengths.numbers["real"] == pytest.approx(vectors[: row.n_real].mean())
    worst = min(padded, key=lambda each: means[each.label]).label
    differs = f"{means[worst]:.2f}" != f"{means[row.label]:.2f}"
    expected = [{"label": worst, "similarity": means[worst]}] if differs else []
    assert [each.numbers for each in rest] == expected
    return [title, *sure, *notes]


def test_the_words_that_change_most_are_named(lab: PaddedBatch) -> None:
    def most(*cosines: float) -> str:
        tokens = np.tile(np.array(cosines, np.float32), (7, 1))
        row = replace(lab.rows[0], damage=replace(lab.rows[0].damage, tokens=tokens))
        return " ".join(map(str, BatchGrid(lab, row, 6).most()))

    # [CLS] i love my pet python [SEP]
    assert most(0.1, 0.5, 0.9, 0.8, 0.9, 0.9, 0.2) == "Of the words, “i” changes most."
    assert most(1, 0.5, 0.9, 0.501, 0.9, 0.9, 1) == "Of the words, “i” and “my” change most."
    assert not most(1, 0.5, 0.5, 0.5, 0.9, 0.9, 1)
    assert not most(0.1, 1, 1, 1, 1, 1, 0.1)


@pytest.mark.slow
def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    keys = set().union(*(read(assert_true(masks)) for masks in odd_batches()))
    tables = ("title", "share", "effect", "sure", "note")
    assert not [key for name in tables for key in unreached(f"masks.{name}", keys)]


def test_no_other_sentence_of_the_page_is_dead() -> None:
    """The parts of the page read their own; of the others, code has the keys."""
    read_here = ("title", "share", "effect", "sure", "note", "case", "layers", "problem", "most")
    elsewhere = (*read_here, "headline", "example", "saving", "limit", "column")
    assert not [key for key in unreached("masks", ()) if key.split(".")[1] not in elsewhere]


# The picture


@pytest.mark.parametrize("layer", [0, 6])
def test_each_cell_has_its_tokens_cosine_and_says_it_to_four_decimals(
    lab: PaddedBatch, layer: int
) -> None:
    cells = grid(lab, layer)["data"][0]
    for column, row in enumerate(lab.rows):
        found = [line[column] for line in cells["z"][: row.n_real]]
        np.testing.assert_allclose(found, 1 - row.damage.tokens[layer], atol=5.1e-6)
        for i, value in enumerate(row.damage.tokens[layer]):
            hover = cells["customdata"][i][column]
            assert hover.endswith(f"layer {layer}: similarity {value:.4f}")
            assert f"position {i} · ID {row.padded.token_ids[i]} · mask 1 · segment 0" in hover


def test_only_changed_tokens_have_numbers(service: EncoderService) -> None:
    for masked in (True, False):
        lab = lab_of(service, A, B, masked=masked)
        cells = grid(lab)["data"][0]
        assert cells["zmin"] == 0
        for i, value in enumerate(lab.rows[0].damage.tokens[6]):
            is_changed = f"{value:.2f}" != "1.00"
            assert (f"<b>{value:.2f}</b>" in cells["text"][i][0]) == is_changed == (not masked)


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
    size = sum(len(json.dumps(figure, default=int)) for figure in (grid(lab), *over_layers(lab)))
    assert size < 1_500_000


def test_what_was_typed_cannot_become_markup(service: EncoderService) -> None:
    lab = lab_of(service, RUDE, RUDE)
    for figure in (grid(lab), *over_layers(lab)):
        for text in strings(figure):
            assert "<" not in OURS.sub("", text), text
        for trace in figure["data"]:
            assert "&lt;" not in trace.get("hovertemplate", "")
