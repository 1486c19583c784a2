"""The snippet and the shapes of Padding & masks, run as a reader would, must give our numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.features.masks.compute import encode_both
from contextlens.features.masks.measures import shape_steps
from contextlens.features.masks.snippet import masks_snippet
from tests.support.snippets import run
from tests.support.texts import AWKWARD
from tests.support.tiny_models import MAX_LENGTH

Texts = Sequence[tuple[str, str, str | None]]
TEXTS: Texts = (
    ("A", "I love my pet python", None),
    ("B", "Which snake is it?", "A python, I think."),
    ("C", "", None),
)
MODELS = ("bert", "distilbert", "roberta", "albert", "bert-without-pooler")
"""With and without segments, segments given only when asked for, with and without a pooler."""


def assert_same_numbers(
    code: str, service: EncoderService, model: str, texts: Texts, *, pad_to: int, masked: bool
) -> None:
    """The snippet's results are ours, name by name."""
    results = run(code)["results"]
    assert list(results) == [name for name, _, _ in texts]
    _, plain, pairs = zip(*texts, strict=True)
    both = encode_both(service, model, plain, pairs=pairs, pad_to=pad_to, masked=masked)
    for found, (_, _, damage) in zip(results.values(), both, strict=True):
        ours = {
            "tokens": damage.tokens,
            "mean": damage.mean,
            "mean with padding": damage.mean_all,
            **({} if damage.pooled is None else {"pooler_output": damage.pooled}),
        }
        assert found.keys() == ours.keys()
        for name, values in ours.items():
            np.testing.assert_allclose(found[name].numpy(), values, rtol=0, atol=2e-5, err_msg=name)


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


@pytest.mark.parametrize(("pad_to", "masked"), [(14, True), (64, False)])
def test_the_snippet_gives_the_pages_cosines(
    service: EncoderService, card: ModelCard, pad_to: int, masked: bool
) -> None:
    code = masks_snippet(card, TEXTS, pad_to=pad_to, masked=masked)
    assert_same_numbers(code, service, BUNDLED_ID, TEXTS, pad_to=pad_to, masked=masked)
    assert "contextlens" not in code
    assert max(map(len, code.splitlines())) <= 100


@pytest.mark.slow
def test_awkward_and_long_texts_are_read_back(service: EncoderService, card: ModelCard) -> None:
    texts = [(name, text, None) for name, text in [*AWKWARD.items(), ("long", "word " * 600)]]
    code = masks_snippet(card, texts, pad_to=512, masked=False)
    assert_same_numbers(code, service, BUNDLED_ID, texts, pad_to=512, masked=False)
    assert all(character.isprintable() or character == "\n" for character in code)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_has_a_snippet_that_gives_our_numbers(
    tiny_service: EncoderService, tiny_root: Path, name: str
) -> None:
    card = tiny_service.load(f"folder:{name}")
    code = masks_snippet(card, TEXTS, pad_to=MAX_LENGTH, masked=False)
    code = code.replace(f"path/to/{name}", str(tiny_root / name))
    how = {"pad_to": MAX_LENGTH, "masked": False}
    assert_same_numbers(code, tiny_service, card.id, TEXTS, **how)


# Shapes


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
