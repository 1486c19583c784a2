"""The parts of models, with their weights and without."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import UnknownModelError
from contextlens.core.families import FAMILIES
from contextlens.core.presets import preset_config
from contextlens.core.registry import PRESETS
from contextlens.core.schema import Architecture
from tests.support.tiny_models import ALL, build

BASE = "google-bert/bert-base-uncased"
by_preset = pytest.mark.parametrize("preset", [spec.id for spec in PRESETS])


DROP_WEIGHTS_ALONE = {"eurobert", "gemma3_text", "embedding_gemma2_text"}
DROPS_BY_FUNCTION = {"nomic_bert", "gte", "jina_embeddings_v3"} | DROP_WEIGHTS_ALONE


def total(architecture: Architecture) -> int:
    return sum(math.prod(p.shape) for p in architecture.parameters if p.tied_to is None)


@by_preset
def test_every_preset_is_known_without_its_weights(service: EncoderService, preset: str) -> None:
    architecture = service.architecture(preset)
    assert preset_config(preset) is not None
    assert not any(spec.loaded for spec in service.models() if spec.id == preset)
    assert {p.trained for p in architecture.parameters} == {None}
    size = next(spec.download_bytes for spec in PRESETS if spec.id == preset)
    assert total(architecture) * 4 == pytest.approx(size, rel=0.02)


def test_the_measured_parameters_of_bert_base(
    service: EncoderService, facts: dict[str, Any]
) -> None:
    known, architecture = facts["parameters"], service.architecture(BASE)
    shapes = {p.name: list(p.shape) for p in architecture.parameters}
    assert len(shapes) == known["named_parameters"] == 199
    assert total(architecture) == known["all_total"] == 109_482_240
    matrices = [p for p in architecture.parameters if len(p.shape) == 2]
    assert sum(math.prod(p.shape) for p in matrices) == known["two_dimensional_total"]
    assert dict(list(shapes.items())[:5]) == known["embedding_layer"]
    first = dict(list(shapes.items())[5:21])
    assert all(name.startswith("encoder.layer.0.") for name in first)
    assert known["first_encoder_starts"].items() <= first.items()
    assert [name.split(".")[0] for name in list(shapes)[-2:]] == ["pooler", "pooler"]


@by_preset
def test_sizes_are_those_of_the_config_as_transformers_reads_it(
    service: EncoderService, preset: str
) -> None:
    ours, given = service.architecture(preset), dict(preset_config(preset) or {})
    config = transformers.AutoConfig.for_model(given.pop("model_type"), **given)
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config)
    shapes = {n: tuple(p.shape) for n, p in model.named_parameters() if "roberta" not in preset}
    assert not shapes or shapes == {p.name: p.shape for p in ours.parameters}
    assert (ours.n_layers, ours.n_dims, ours.n_heads, ours.vocabulary_size) == (
        config.num_hidden_layers,
        config.hidden_size,
        config.num_attention_heads,
        config.vocab_size,
    )
    assert ours.max_length == (8192 if "ModernBERT" in preset else 512)


@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in ALL)])
def test_a_loaded_models_architecture_is_its_own(tiny_service: EncoderService, model: str) -> None:
    card, architecture = tiny_service.load(model), tiny_service.architecture(model)
    assert architecture.parameters == tiny_service.parameters(model)
    assert total(architecture) == card.n_parameters
    assert architecture.n_layers == card.n_layers
    assert architecture.max_length >= card.max_length


@pytest.mark.parametrize("family", FAMILIES)
def test_dropout_is_that_of_the_config(
    family: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    names = FAMILIES[family].dropout, FAMILIES[family].attention_dropout
    folder = build(family, tmp_path / "model", **dict(zip(names, (0.3, 0.2), strict=True)))
    shares = {
        module.p
        for module in transformers.AutoModel.from_pretrained(folder).modules()
        if isinstance(module, torch.nn.Dropout)
    }
    architecture = open_with(model_folder=tmp_path).architecture("folder:model")
    dropout = 0.0 if family in DROP_WEIGHTS_ALONE else 0.3
    assert (architecture.dropout, architecture.attention_dropout) == (dropout, 0.2)
    # ModernBERT has a third share, for layer 0; attention's own is not always a module.
    assert shares - {0.0} == ({dropout} - {0.0} if family in DROPS_BY_FUNCTION else {0.3, 0.2})


def test_a_model_that_is_not_allowed_has_no_architecture(open_with: Any) -> None:
    with pytest.raises(UnknownModelError, match="not among those allowed"):
        open_with(models=(BUNDLED_ID,)).architecture(BASE)
