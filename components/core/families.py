"""What differs between the seven supported families, and which configs are let in. No torch.

A config is read and judged before any weights are fetched, and its sizes are never trusted: what is
out of range is refused here, what is not the weights' own is refused by `encoder.shapes`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import CheckpointError, UnsupportedModelError
from components.core.schema import PROJECTIONS

__all__ = ["FAMILIES", "Family", "family_of", "read_config"]


@dataclass(frozen=True)
class Family:
    """One architecture: its transformers class and what that class has."""

    model_type: str
    class_name: str
    has_segments: bool
    has_pooler: bool
    tables: str = "embeddings"  # attribute that holds the embedding tables and LayerNorm
    skips_positions: bool = False  # positions start after the pad ID
    projection: str | None = None  # dotted name of the linear layer before layer 0
    layers: str = "num_hidden_layers"  # the config's own names of these three
    dims: str = "hidden_size"
    heads: str = "num_attention_heads"


FAMILIES: dict[str, Family] = {
    family.model_type: family
    for family in (
        Family("bert", "BertModel", has_segments=True, has_pooler=True),
        Family(
            "distilbert",
            "DistilBertModel",
            has_segments=False,
            has_pooler=False,
            layers="n_layers",
            dims="dim",
            heads="n_heads",
        ),
        Family(
            "roberta", "RobertaModel", has_segments=False, has_pooler=True, skips_positions=True
        ),
        Family(
            "xlm-roberta",
            "XLMRobertaModel",
            has_segments=False,
            has_pooler=True,
            skips_positions=True,
        ),
        Family("mpnet", "MPNetModel", has_segments=False, has_pooler=True, skips_positions=True),
        Family(
            "albert",
            "AlbertModel",
            has_segments=True,
            has_pooler=True,
            projection=PROJECTIONS["albert"],
        ),
        Family(
            "electra",
            "ElectraModel",
            has_segments=True,
            has_pooler=False,
            projection=PROJECTIONS["electra"],
        ),
    )
}

_LARGEST = {
    **dict.fromkeys(("num_hidden_layers", "n_layers"), 256),
    **dict.fromkeys(("num_attention_heads", "n_heads", "type_vocab_size"), 1024),
    **dict.fromkeys(("hidden_size", "dim", "embedding_size"), 65_536),
    **dict.fromkeys(("intermediate_size", "hidden_dim", "max_position_embeddings"), 1_000_000),
    "vocab_size": 10_000_000,
    "relative_attention_num_buckets": 4096,
    "num_hidden_groups": 64,
    "inner_group_num": 4,
}
"""The sizes in a config that decide what is built, each with the largest that is believed."""


def read_config(folder: Path) -> dict[str, Any]:
    """A model folder's config.json.

    Raises:
        CheckpointError: it is missing or not JSON.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise CheckpointError(
            "The model has no config.json, so its kind is not known. Choose another model."
        ) from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise CheckpointError(
            f"The model's config.json cannot be read ({str(exc)[:100]}). Fetch the model again, "
            "or choose another model."
        ) from exc
    if not isinstance(config, dict):
        raise CheckpointError("The model's config.json is not a JSON object. Fetch it again.")
    return config


def family_of(config: dict[str, Any]) -> Family:
    """The family that a config names.

    Raises:
        UnsupportedModelError: it is not an encoder of a supported family, with the reason.
        CheckpointError: it gives a size that no model has.
    """
    model_type = str(config.get("model_type", ""))[:60]
    family = FAMILIES.get(model_type)
    if family is None:
        raise UnsupportedModelError(_refusal(model_type, config))
    if config.get("is_decoder") or config.get("is_encoder_decoder"):
        raise UnsupportedModelError(
            f"This {model_type} model is set up as a decoder (each token sees only those before "
            "it). Contextlens shows encoders; choose one without is_decoder in its config."
        )
    positions = config.get("position_embedding_type") or "absolute"
    if positions != "absolute":
        raise UnsupportedModelError(
            f"This model uses {_cut(positions)} positions, which the installed transformers no "
            "longer computes, so its numbers would be wrong. Choose one with absolute positions."
        )
    _check_sizes(config, family)
    return family


def _check_sizes(config: dict[str, Any], family: Family) -> None:
    """Pass where every size is a whole number in range and the heads share the dimensions out."""
    for name, largest in _LARGEST.items():
        value = config.get(name, 1)
        if type(value) is not int or not 1 <= value <= largest:
            raise CheckpointError(
                f"The model's config.json says {name} is {_cut(value)}; it must be a whole number "
                f"from 1 to {largest:,}. Choose another model."
            )
    dims, heads = config.get(family.dims), config.get(family.heads)
    if dims is not None and heads is not None and dims % heads:
        raise CheckpointError(
            f"The model's config.json says {heads} heads share {dims} dimensions, which does not "
            "come out even. Choose another model."
        )


def _cut(value: object) -> str:
    """A value from a config, at most 40 characters of it."""
    if type(value) is int and abs(value) >= 10**15:
        return "a number of more than 15 digits"
    text = ascii(value)
    return text if len(text) <= 40 else text[:39] + "..."


def _refusal(model_type: str, config: dict[str, Any]) -> str:
    supported = f"Supported families: {', '.join(FAMILIES)}. Choose a model of one of these."
    kinds = str(config.get("architectures"))
    if config.get("auto_map"):
        return (
            f"This model ({model_type or 'no model_type'}) brings its own program code, which "
            f"Contextlens does not run. {supported}"
        )
    if config.get("is_encoder_decoder"):
        return f"This is an encoder-decoder model ({model_type}), not an encoder. {supported}"
    if "CausalLM" in kinds or "LMHead" in kinds:
        return f"This is a decoder ({model_type}), not an encoder. {supported}"
    return f"Models of the kind {model_type or 'unknown'!r} are not supported. {supported}"
