"""What Padding & masks computes of a view, and that all of it holds together."""

from __future__ import annotations

import ast
import json
from dataclasses import replace

import numpy as np
import pytest

from components.core import EncoderService
from components.features.masks.compute import Masks, color_of_cells, masks_of
from components.features.masks.controls import PAGE
from components.features.masks.figures import batch_grid, layer_lines, mask_range, token_heatmap
from components.features.masks.measures import summary_rows, token_rows
from components.features.masks.reading import (
    batch_title,
    layers_title,
    masks_reading,
    padding_note,
    problems,
)
from components.features.masks.snippet import masks_snippet
from components.ui.state.view import DEFAULT, Sentence, Value, ViewState

__all__ = ["assert_whole", "notes", "said", "shown", "view_of"]


def view_of(*texts: str, **controls: Value) -> ViewState:
    sentences = tuple(map(Sentence, texts)) if texts else DEFAULT.sentences
    return replace(DEFAULT, sentences=sentences, controls={PAGE: controls} if controls else {})


def shown(view: ViewState, service: EncoderService) -> Masks:
    return masks_of(view, service, service.load(view.model))


def said(masks: Masks) -> str:
    return " ".join(map(str, masks_reading(*masks.batch, masks.layer)))


def notes(masks: Masks) -> list[str]:
    limit = int(list(masks.padding.options)[-1])
    claims = problems(masks.lab, left_out=masks.left_out, unfit=masks.unfit, limit=limit)
    return list(map(str, claims))


def assert_whole(view: ViewState, service: EncoderService) -> Masks:
    """Everything that the page shows of a view can be made, and holds together."""
    card = service.load(view.model)
    masks = masks_of(view, service, card)
    lab, row = masks.batch
    scale, color = mask_range(lab), color_of_cells(view, card)
    title = str(batch_title(lab, row, masks.layer))
    grid = batch_grid(lab, masks.layer, color=color, scale=scale, title=title).to_plotly_json()
    cells = grid["data"][0]["z"]
    for column, each in enumerate(lab.rows):
        real = [line[column] for line in cells if line[column] is not None]
        assert len(real) == each.n_real
        if color == "cosine":
            np.testing.assert_allclose(real, each.damage.tokens[masks.layer], atol=1e-5)
        assert len(token_rows(each)) == lab.pad_to == each.padded.n_tokens
        assert summary_rows(each, masks.layer)["mean of real tokens"] == pytest.approx(
            each.damage.mean[masks.layer]
        )
    for figure in (
        layer_lines(row, masks.layer, scale=scale, pooler="p", title=str(layers_title(row))),
        token_heatmap(row, scale=scale, title=title),
    ):
        assert json.loads(figure.to_json())["data"]
    assert said(masks)
    assert (padding_note(lab, row, masks.layer) is None) == (lab.share == 0)
    texts = [(r.label, r.alone.text, r.alone.pair) for r in lab.rows]
    ast.parse(masks_snippet(card, texts, pad_to=lab.pad_to, masked=lab.masked))
    return masks
