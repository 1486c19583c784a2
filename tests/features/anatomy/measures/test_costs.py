"""What a model costs, against the operations that torch counts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

from components.core import EncoderService
from components.core.presets import preset_config
from components.core.registry import PRESETS
from components.features.anatomy.measures import comparison_row, memory, operations
from tests.features.anatomy.measures.models import MODELS, direct, made
from tests.features.anatomy.shown import BASE

by_model = pytest.mark.parametrize("model", MODELS)
by_preset = pytest.mark.parametrize("preset", [spec.id for spec in PRESETS])


@cache
def on_meta(preset: str) -> Any:
    given_config = dict(preset_config(preset) or {})
    config = transformers.AutoConfig.for_model(given_config.pop("model_type"), **given_config)
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    if "roberta" in preset:
        model.pooler = None
    return model


def multiply_adds(model: Any, n_tokens: int) -> int:
    ids = torch.ones(1, n_tokens, dtype=torch.long, device=model.device)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(input_ids=ids)
    return counter.get_total_flops() // 2


@by_model
@pytest.mark.parametrize("n_tokens", [1, 64])
def test_operations_are_those_that_torch_counts(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str, n_tokens: int
) -> None:
    theirs = multiply_adds(direct(model, tiny_root, bundled_folder), n_tokens)
    assert operations(made(tiny_service, model), n_tokens).total == theirs


@pytest.mark.slow
@by_preset
def test_operations_of_a_preset_are_those_that_torch_counts(
    service: EncoderService, preset: str
) -> None:
    assert operations(service.architecture(preset), 128).total == multiply_adds(
        on_meta(preset), 128
    )


@by_preset
def test_operations_follow_the_formula_on_the_page(service: EncoderService, preset: str) -> None:
    a = service.architecture(preset)
    n, d, f = 50, a.n_dims, a.n_inner
    counted = operations(a, n)
    assert counted.linear == n * a.n_layers * (4 * d * d + 2 * d * f)
    assert counted.attention == 2 * a.n_layers * n * n * d
    assert counted.pooler in (0, d * d)
    assert counted.total == counted.linear + counted.attention + counted.pooler


def test_memory_follows_from_the_number_of_parameters(service: EncoderService) -> None:
    a = service.architecture(BASE)
    sizes = [memory(a, name) for name in ("float32", "float16", "int8")]
    assert sizes == [4 * 109_482_240, 2 * 109_482_240, 109_482_240]


def test_a_text_that_does_not_fit_has_no_operations(tiny_service: EncoderService) -> None:
    a = made(tiny_service, "folder:bert")
    assert comparison_row(a, 64)["billion multiply-adds"] == operations(a, 64).total / 1e9
    assert comparison_row(a, 65)["billion multiply-adds"] is None
