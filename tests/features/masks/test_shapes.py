"""The shapes from texts to one vector each: each step's code, run, must have the step's shape."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.features.masks.shapes import shape_steps

MODELS = ("bert", "distilbert", "roberta", "albert", "bert-without-pooler")
"""With and without segments, segments given only when asked for, with and without a pooler."""


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


@pytest.mark.parametrize("name", MODELS)
def test_every_step_has_the_shape_that_transformers_gives(
    tiny_service: EncoderService, tiny_root: Path, name: str
) -> None:
    card = tiny_service.load(f"folder:{name}")
    assert_shapes(card, tiny_root / name)


def test_the_bundled_models_steps_too(card: ModelCard, bundled_folder: Path) -> None:
    assert_shapes(card, bundled_folder)
    said = {step.code: step.meaning for step in shape_steps(card, 3, 16)}
    assert "linear layer and tanh" in said["output[1]"]
    assert "no sign that it was trained" in said["output[1]"]


def assert_shapes(card: ModelCard, folder: Path) -> None:
    """Each step's code, run, has the step's shape and one length for each axis."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    batch: Any = tokenizer(
        ["a python", "rain", "the bank of the river"],
        padding="max_length",
        max_length=16,
        return_tensors="pt",
        **({"return_token_type_ids": True} if card.has_segments else {}),
    )
    with torch.inference_mode():
        output = model(**batch, output_hidden_states=True)
    names = {"batch": batch, "output": output, "mask": batch["attention_mask"][..., None]}
    steps = shape_steps(card, 3, 16)
    assert len(steps) == 9
    for step in steps:
        if step.shape is None:
            assert step.axes == "none"
            continue
        assert tuple(eval(step.code, names).shape) == step.shape
        assert step.axes.count(",") + 1 == len(step.shape)
    without = {step.code for step in steps if step.shape is None}
    assert ('batch["token_type_ids"]' in without) != card.has_segments
    assert ("output[1]" in without) == (card.provenance.pooler.state == "absent")


def test_a_trained_pooler_is_not_called_untrained(card: ModelCard) -> None:
    part = replace(card.provenance.pooler, state="trained", reason="As it is.")
    trained = replace(card, provenance=replace(card.provenance, pooler=part))
    (said,) = (s.meaning for s in shape_steps(trained, 1, 8) if s.code == "output[1]")
    assert "no sign" not in said
