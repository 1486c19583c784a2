"""The entries of config.json that are read: a short list for each family, each with its range.

transformers turns every name of a config into an attribute, and some into work: `num_labels` builds
two tables of that many labels, `attn_implementation` and `quantization_config` choose other code,
`transformers_weights` and `tokenizer_class` other files. It is therefore given a config with these
names only. Entries that affect neither the network nor any number (labels, heads, dtype) are
ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import CheckpointError

__all__ = ["KEYS", "Rule", "allowed_config", "read_bytes", "read_json", "shortened"]

_ACTIVATION = re.compile(
    r"gelu(_(10|accurate|fast|new|python|python_tanh|pytorch_tanh))?|quick_gelu|hardswish|laplace|"
    r"(leaky_)?relu|relu[26]|linear|mish|sigmoid|silu|swish|tanh"
)
"""transformers' names for activations that have no weights of their own."""


@dataclass(frozen=True)
class Rule:
    """The condition that a value from an untrusted file must meet, in words and as a check."""

    says: str
    allows: Callable[[Any], bool]


def _whole(least: int, most: int, *, or_none: bool = False) -> Rule:
    def allows(value: Any) -> bool:
        return (or_none and value is None) or (type(value) is int and least <= value <= most)

    return Rule(f"a whole number from {least} to {most:,}", allows)


_LAYERS, _HEADS = _whole(1, 256), _whole(1, 1024)
_DIMS, _INNER = _whole(1, 65_536), _whole(1, 1_000_000)
_DROPOUT = Rule("a number from 0 to 1", lambda v: type(v) in {int, float} and 0 <= v <= 1)
_EPSILON = Rule("a number above 0 and at most 1", lambda v: type(v) is float and 0 < v <= 1)
_ACT = Rule(
    "an activation such as gelu, gelu_new, relu, silu or tanh",
    lambda v: isinstance(v, str) and _ACTIVATION.fullmatch(v) is not None,
)
_PAD_ROW = {"pad_token_id": _whole(0, 10_000_000)}  # positions are counted from it
_SHARED = {
    "vocab_size": _whole(1, 10_000_000),
    "max_position_embeddings": _whole(1, 1_000_000),
    "pad_token_id": _whole(0, 10_000_000, or_none=True),
}
_BERT = _SHARED | {
    "num_hidden_layers": _LAYERS,
    "hidden_size": _DIMS,
    "num_attention_heads": _HEADS,
    "intermediate_size": _INNER,
    "hidden_act": _ACT,
    "layer_norm_eps": _EPSILON,
    "hidden_dropout_prob": _DROPOUT,
    "attention_probs_dropout_prob": _DROPOUT,
}
_SEGMENTS, _PROJECTED = {"type_vocab_size": _whole(1, 1024)}, {"embedding_size": _DIMS}

KEYS: dict[str, dict[str, Rule]] = {
    "bert": _BERT | _SEGMENTS,
    "distilbert": _SHARED
    | {
        "n_layers": _LAYERS,
        "dim": _DIMS,
        "n_heads": _HEADS,
        "hidden_dim": _INNER,
        "activation": _ACT,
        "dropout": _DROPOUT,
        "attention_dropout": _DROPOUT,
    },
    "roberta": _BERT | _SEGMENTS | _PAD_ROW,
    "xlm-roberta": _BERT | _SEGMENTS | _PAD_ROW,
    "mpnet": _BERT | _PAD_ROW | {"relative_attention_num_buckets": _whole(4, 4096)},
    "albert": _BERT
    | _SEGMENTS
    | _PROJECTED
    | {"num_hidden_groups": _whole(1, 64), "inner_group_num": _whole(1, 4)},
    "electra": _BERT | _SEGMENTS | _PROJECTED,
}
"""The entries that are read for each family, with the values allowed."""

_OTHER_NAMES = {
    "distilbert": {
        "num_hidden_layers": "n_layers",
        "hidden_size": "dim",
        "num_attention_heads": "n_heads",
    }
}
"""Alternative names that transformers accepts for a family's entries, and prefers."""


def allowed_config(config: dict[str, Any]) -> dict[str, Any]:
    """The part of a config.json that a model is built from.

    Args:
        config: the config of a supported family, as its `model_type` says.

    Raises:
        CheckpointError: a value is of the wrong type or out of range.
    """
    family = str(config["model_type"])
    others = _OTHER_NAMES.get(family, {})
    given = config | {own: config[name] for name, own in others.items() if name in config}
    chosen = {name: given[name] for name in KEYS[family] if name in given}
    for name, value in chosen.items():
        rule = KEYS[family][name]
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
    for dims, heads in (("hidden_size", "num_attention_heads"), ("dim", "n_heads")):
        if dims in chosen and heads in chosen and chosen[dims] % chosen[heads]:
            raise CheckpointError(
                f"The model's config.json says {chosen[heads]} heads share {chosen[dims]} "
                "dimensions, which does not come out even. Choose another model."
            )
    return chosen


def read_json(path: Path, *, title: str, most_bytes: int) -> dict[str, Any]:
    """The object in a JSON file of a model's folder.

    Args:
        path: the file.
        title: the file's name at the start of a sentence: "The model's config.json".
        most_bytes: the size limit.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is too large or not a JSON object.
    """
    data = read_bytes(path, title=title, most_bytes=most_bytes)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise _unreadable(title, exc) from exc
    if not isinstance(value, dict):
        raise CheckpointError(
            f"{title} is not a JSON object. Fetch it again, or choose another model."
        )
    return value


def read_bytes(path: Path, *, title: str, most_bytes: int) -> bytes:
    """The content of a file of a model's folder.

    Raises:
        FileNotFoundError, CheckpointError: as `read_json`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise
    except OSError as exc:
        raise _unreadable(title, exc) from exc
    if len(data) > most_bytes:
        raise CheckpointError(
            f"{title} has more than the {most_bytes:,} bytes that are read. Choose another model."
        )
    return data


def _unreadable(title: str, exc: Exception) -> CheckpointError:
    return CheckpointError(
        f"{title} cannot be read ({ascii(str(exc))[1:100]}). Fetch the model again, or choose "
        "another model."
    )


def shortened(value: object, longest: int = 40) -> str:
    """An untrusted value, truncated, quoted if it is a text, with unusual characters escaped."""
    if type(value) is int and abs(value) >= 10**15:
        return "a number of more than 15 digits"
    text = ascii(value[:longest] if isinstance(value, str) else value)
    return text if len(text) <= longest else text[: longest - 1] + "..."
