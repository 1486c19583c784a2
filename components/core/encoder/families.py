"""What differs between the seven supported families, in one table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import CheckpointError, UnsupportedModelError

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


FAMILIES: dict[str, Family] = {
    family.model_type: family
    for family in (
        Family("bert", "BertModel", has_segments=True, has_pooler=True),
        Family("distilbert", "DistilBertModel", has_segments=False, has_pooler=False),
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
            projection="encoder.embedding_hidden_mapping_in",
        ),
        Family(
            "electra",
            "ElectraModel",
            has_segments=True,
            has_pooler=False,
            projection="embeddings_project",
        ),
    )
}


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
    except (OSError, ValueError) as exc:
        raise CheckpointError(
            f"The model's config.json cannot be read ({exc}). Fetch the model again."
        ) from exc
    if not isinstance(config, dict):
        raise CheckpointError("The model's config.json is not a JSON object. Fetch it again.")
    return config


def family_of(config: dict[str, Any]) -> Family:
    """The family that a config names.

    Raises:
        UnsupportedModelError: it is not an encoder of a supported family, with the reason.
    """
    model_type = str(config.get("model_type", ""))
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
            f"This model uses {positions} positions, which the installed transformers no longer "
            "computes, so its numbers would be wrong. Choose a model with absolute positions."
        )
    return family


def _refusal(model_type: str, config: dict[str, Any]) -> str:
    supported = f"Supported families: {', '.join(FAMILIES)}. Choose a model of one of these."
    kinds = " ".join(map(str, config.get("architectures") or ()))
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
