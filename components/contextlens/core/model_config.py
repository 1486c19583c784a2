"""A model's config.json: read, and refused with a reason unless it is one of a supported encoder.

A config is checked before any weights are fetched, and its sizes are never trusted:
`encoder.shapes` rejects those that differ from the weights'. Imports no torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contextlens.core.errors import CheckpointError, UnsupportedModelError
from contextlens.core.families import FAMILIES, Family
from contextlens.core.untrusted import read_json, shortened

__all__ = ["allowed_config", "family_of", "read_config"]

_LARGEST_CONFIG = 1_000_000  # bytes
_MAX_LISTED = 120  # characters of a list of languages
_COMPOSITES = {family.composite: family for family in FAMILIES.values() if family.composite}


def read_config(folder: Path) -> dict[str, Any]:
    """A model folder's config.json; of a model that also reads pictures, the part for texts.

    Raises:
        CheckpointError: the file is missing, too large, or contains JSON that no real model has.
    """
    try:
        config = read_json(
            folder / "config.json", title="The model's config.json", most_bytes=_LARGEST_CONFIG
        )
    except FileNotFoundError as exc:
        raise CheckpointError(
            "The model has no config.json, so its kind is not known. Choose another model."
        ) from exc
    family, text = _COMPOSITES.get(str(config.get("model_type"))), config.get("text_config")
    if family is None:
        return config
    return {**(text if isinstance(text, dict) else {}), "model_type": family.model_type}


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
    if family.has_positions and positions != "absolute":
        raise UnsupportedModelError(
            f"This model uses {shortened(positions)} positions, which the installed transformers "
            "no longer computes, so its numbers would be wrong. Choose one with absolute positions."
        )
    if family.sees_both_sides and config.get(family.sees_both_sides) is not True:
        raise UnsupportedModelError(
            f"In this {model_type} model each token sees only those before it, because its config "
            f"does not say that {family.sees_both_sides} is true. Contextlens shows encoders; "
            "choose one, such as EmbeddingGemma."
        )
    allowed_config(config)
    if family.has_languages:
        _check_language(model_type, config)
    return family


def _check_language(model_type: str, config: dict[str, Any]) -> None:
    """Check that a config names one of the languages that its layers have a part for."""
    languages, language = config.get("languages", ["en_XX"]), config.get("default_language")
    if language not in languages:
        listed = ", ".join(languages)
        if len(listed) > _MAX_LISTED:
            listed = listed[:_MAX_LISTED].rpartition(", ")[0] + ", ..."
        raise UnsupportedModelError(
            f"This {model_type} model has a part for each of its languages ({listed}), and its "
            f"config says default_language is {shortened(language)}. To choose one, write it into "
            f'config.json in a folder of your own, such as "default_language": "{languages[0]}".'
        )


_REASONS = {
    "new": "they need the program code of their repository, unless converted to the kind 'gte'",
    "big_bird": "they attend to blocks of tokens drawn at random",
    "fnet": "they mix tokens without attention",
    "yoso": "they estimate attention by random draws",
}
"""The reasons why well-known encoders are not shown."""
_EXAMPLES = f"bert, roberta, deberta-v2 or modernbert (docs/models.md has all {len(FAMILIES)})"


def _refusal(model_type: str, config: dict[str, Any]) -> str:
    supported = f"Choose a model of a supported family, such as {_EXAMPLES}."
    if model_type in _REASONS:
        return (
            f"Models of the kind {model_type!r} are not shown: {_REASONS[model_type]}. {supported}"
        )
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


def allowed_config(config: dict[str, Any]) -> dict[str, Any]:
    """The part of a config.json that a model is built from.

    Args:
        config: the config of a supported family, as its `model_type` says.

    Raises:
        CheckpointError: a value is of the wrong type or out of range.
    """
    family = FAMILIES[str(config["model_type"])]
    renamed = {name: config[other] for other, name in family.other_keys.items() if other in config}
    entries = config | renamed
    rules = {**family.keys, **family.old_keys}
    allowed = {name: entries[name] for name in rules if name in entries}
    for name, value in allowed.items():
        rule = rules[name]
        if not rule.allows(value):
            raise CheckpointError(
                f"The model's config.json says {name} is {shortened(value)}; it must be "
                f"{rule.says}. Choose another model."
            )
    if config.get("add_cross_attention"):
        raise CheckpointError(
            "The model's config.json asks for attention to a second network (add_cross_attention), "
            "which an encoder alone does not have. Choose another model."
        )
    n_dims, n_heads = allowed.get(family.dims), allowed.get(family.heads)
    if n_dims is not None and n_heads is not None and n_dims % n_heads:
        raise CheckpointError(
            f"The model's config.json says {n_heads} heads share {n_dims} dimensions, which does "
            "not come out even. Choose another model."
        )
    _check_widths(allowed, family)
    return allowed


def _check_widths(allowed: dict[str, Any], family: Family) -> None:
    """Check the sizes that have to fit the number of heads, of dimensions, or a rotation."""
    n_dims, n_heads = allowed.get(family.dims), allowed.get(family.heads)
    factor = allowed.get("adapter_reduction_factor")
    if n_dims is not None and factor is not None and factor > n_dims:
        raise CheckpointError(
            f"The model's config.json says adapter_reduction_factor is {factor}; it must be at "
            f"most the number of dimensions, {n_dims}. Choose another model."
        )
    if (
        (family.positions == "rotation" and "head_dim" not in family.keys)
        and (n_dims is not None and n_heads is not None)
        and n_dims // n_heads % 2
    ):
        raise CheckpointError(
            f"The model's config.json says {n_heads} heads share {n_dims} dimensions, which is "
            f"{n_dims // n_heads} each; it must be an even number, because pairs of dimensions are "
            "rotated. Choose another model."
        )
    by_layer = (allowed.get("per_layer_config") or {}).values()
    for sizes in (allowed, *by_layer):
        for name in ("head_dim", "global_head_dim"):
            if (sizes.get(name) or 0) % 2:
                raise CheckpointError(
                    f"The model's config.json says {name} is {sizes[name]}; it must be an even "
                    "number, because pairs of dimensions are rotated. Choose another model."
                )
        for name in ("num_key_value_heads", "num_global_key_value_heads"):
            if n_heads is not None and sizes.get(name) and n_heads % sizes[name]:
                raise CheckpointError(
                    f"The model's config.json says {name} is {sizes[name]}; it must divide the "
                    f"number of heads, {n_heads}, evenly. Choose another model."
                )
