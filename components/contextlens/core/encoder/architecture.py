"""Architectures without weights: built from a config on the meta device, which holds no data."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from contextlens.core.encoder.layerwise import distance_terms
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.encoder.parameters import list_parameters
from contextlens.core.families import FAMILIES
from contextlens.core.model_config import allowed_config, family_of
from contextlens.core.schema import Architecture, Parameter

__all__ = ["architecture_of", "build_architecture"]


def architecture_of(loaded: LoadedModel) -> Architecture:
    """The architecture of a loaded model, with its parameters as they are in memory."""
    return _architecture(
        loaded.card.id, loaded.card.title, loaded.model.config, list_parameters(loaded)
    )


def build_architecture(model: str, title: str, config: dict[str, Any]) -> Architecture:
    """The architecture that a config describes; its parameters take no memory.

    Raises:
        UnsupportedModelError: the config is not that of an encoder of a supported family.
    """
    family = family_of(config)
    kind = getattr(transformers, family.class_name)
    settings = kind.config_class(**allowed_config(config))
    with torch.device("meta"):
        built = kind(settings)
    if not family.publishes_pooler:
        built.pooler = None
    parameters = tuple(
        Parameter(
            name=name,
            shape=tuple(value.shape),
            dtype=str(value.dtype).removeprefix("torch."),
            n_bytes=value.numel() * value.element_size(),
            tied_to=None,
            trained=None,
        )
        for name, value in built.named_parameters()
    )
    return _architecture(model, title, settings, parameters)


def _architecture(
    model: str, title: str, config: Any, parameters: tuple[Parameter, ...]
) -> Architecture:
    family = FAMILIES[config.model_type]
    n_skipped = config.pad_token_id + 1 if family.skips_positions else 0
    return Architecture(
        id=model,
        title=title,
        family=config.model_type,
        n_layers=config.num_hidden_layers,
        n_dims=config.hidden_size,
        n_heads=config.num_attention_heads,
        n_head_dims=tuple(
            getattr(layer, "head_dim", None) or config.hidden_size // config.num_attention_heads
            for layer in config.per_layer_config
        ),
        n_inner=getattr(config, family.inner),
        vocabulary_size=config.vocab_size,
        max_length=config.max_position_embeddings - n_skipped,
        dropout=float(getattr(config, family.dropout, 0.0)),
        attention_dropout=float(getattr(config, family.attention_dropout)),
        parameters=parameters,
        n_distance_terms=distance_terms(config),
    )
