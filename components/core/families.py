"""The differences between the seven supported families, and the configs that are accepted.

A config is read and checked before any weights are fetched, and its sizes are never trusted:
`config_keys` rejects values out of range, `encoder.shapes` sizes that differ from the weights'.
Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.config_keys import allowed_config, read_json, shortened
from components.core.errors import CheckpointError, UnsupportedModelError
from components.core.schema import PROJECTIONS

__all__ = ["FAMILIES", "Family", "Parts", "family_of", "read_config"]


@dataclass(frozen=True)
class Parts:
    """The location of a family's layers, and the linear modules in a layer that expose its parts.

    Dotted names, the first from the model and the others from a layer. A list shorter than the
    number of layers is shared among them (ALBERT).

    Attributes:
        layers: the list of layers.
        mixing: takes all heads side by side and gives the attention's output. This output and
            that of `feed_forward` are those before the residual connection.
        feed_forward: gives the feed-forward's output.
        position_bias: computes the attention's bias from a layer's input (MPNet).
    """

    layers: str
    mixing: str
    feed_forward: str
    position_bias: str | None = None


_LIKE_BERT = Parts("encoder.layer", "attention.output.dense", "output.dense")


@dataclass(frozen=True)
class Family:
    """One architecture: its transformers class and what that class has."""

    model_type: str
    class_name: str
    has_segments: bool
    has_pooler: bool
    parts: Parts = _LIKE_BERT
    tables: str = "embeddings"  # attribute that holds the embedding tables and LayerNorm
    skips_positions: bool = False  # positions start after the pad ID
    projection: str | None = None  # dotted name of the linear layer before layer 0
    layers: str = "num_hidden_layers"  # the config's own names for these three
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
            parts=Parts("transformer.layer", "attention.out_lin", "ffn.lin2"),
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
        Family(
            "mpnet",
            "MPNetModel",
            has_segments=False,
            has_pooler=True,
            parts=Parts(
                "encoder.layer",
                "attention.attn.o",
                "output.dense",
                position_bias="encoder.compute_position_bias",
            ),
            skips_positions=True,
        ),
        Family(
            "albert",
            "AlbertModel",
            has_segments=True,
            has_pooler=True,
            parts=Parts(
                "encoder.albert_layer_groups",
                "albert_layers.0.attention.dense",
                "albert_layers.0.ffn_output",
            ),
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

_LARGEST_CONFIG = 1_000_000  # bytes


def read_config(folder: Path) -> dict[str, Any]:
    """A model folder's config.json.

    Raises:
        CheckpointError: the file is missing, too large, or contains JSON that no real model has.
    """
    try:
        return read_json(
            folder / "config.json", title="The model's config.json", most_bytes=_LARGEST_CONFIG
        )
    except FileNotFoundError as exc:
        raise CheckpointError(
            "The model has no config.json, so its kind is not known. Choose another model."
        ) from exc


def family_of(config: dict[str, Any]) -> Family:
    """The family that a config names.

    Raises:
        UnsupportedModelError: the model is not an encoder of a supported family.
        CheckpointError: the config has a value that no real model has.
    """
    model_type = ascii(str(config.get("model_type", ""))[:60])[1:-1][:60]
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
            f"This model uses {shortened(positions)} positions, which the installed transformers "
            "no longer computes, so its numbers would be wrong. Choose one with absolute positions."
        )
    allowed_config(config)
    return family


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
