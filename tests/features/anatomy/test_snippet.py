"""The scripts under the hood give the page's counts and an array's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.presets import preset_config
from contextlens.features.anatomy.measures import build_tree, operations, totals, weight_statistics
from contextlens.features.anatomy.snippet import (
    anatomy_snippet,
    card_lines,
    config_lines,
    weights_snippet,
)
from tests.support.snippets import run


@pytest.mark.parametrize("model", [BUNDLED_ID, "folder:bert-without-pooler", "folder:albert"])
def test_the_script_gives_the_pages_counts(
    tiny_service: EncoderService, tiny_root: Path, model: str
) -> None:
    card, made = tiny_service.load(model), tiny_service.architecture(model)
    pooler = build_tree(made).find("pooler") is not None
    code = anatomy_snippet(card_lines(card), pooler=pooler, n_tokens=20)
    found = run(code.replace("path/to", str(tiny_root)))
    counted = totals(made.parameters)
    assert found["parameters"] == {p.name: p.shape for p in made.parameters}
    assert (found["total"], found["in_matrices"]) == (counted.n_values, counted.n_in_matrices)
    assert found["n_bytes"] == counted.n_bytes
    assert found["multiply_adds"] == operations(made, 20).total


@pytest.mark.parametrize("preset", ["google-bert/bert-large-cased", "FacebookAI/roberta-base"])
def test_the_script_builds_a_preset_without_weights(service: EncoderService, preset: str) -> None:
    made, config = service.architecture(preset), preset_config(preset)
    assert config is not None
    pooler = build_tree(made).find("pooler") is not None
    found = run(anatomy_snippet(config_lines(config), pooler=pooler, n_tokens=128))
    assert found["parameters"] == {p.name: p.shape for p in made.parameters}
    assert found["multiply_adds"] == operations(made, 128).total
    assert "multiply_adds" not in anatomy_snippet(config_lines(config), pooler=True, n_tokens=None)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("encoder.layer.2.attention.self.key.weight", 1),
        ("encoder.layer.0.attention.self.key.bias", 1),
        ("embeddings.word_embeddings.weight", 6),
    ],
)
def test_the_script_gives_an_arrays_numbers(service: EncoderService, name: str, step: int) -> None:
    card = service.load(BUNDLED_ID)
    if step > 1:
        array = service.word_rows(BUNDLED_ID, np.arange(0, card.vocabulary_size, step))
    else:
        array = service.matrix(BUNDLED_ID, name)
    stats = weight_statistics(array)
    found = run(weights_snippet(card, name, is_matrix=array.ndim == 2, step=step))
    np.testing.assert_array_equal(found["values"].numpy(), array)
    if array.ndim == 2:
        np.testing.assert_allclose(
            found["singular"].numpy(), stats.singular, rtol=0, atol=1e-4 * stats.singular[0]
        )
