"""What is read of a config.json: a short list of names for each family, each with its range.

transformers turns every name of a config into an attribute, and some into work: `num_labels` builds
two tables of that many labels, `attn_implementation` and `quantization_config` choose other code,
`transformers_weights` and `tokenizer_class` other files. So it is given a config of these names
only. What decides neither the network nor a number (labels, heads, dtype) is left out unread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from components.core.errors import CheckpointError

__all__ = ["ACTIVATIONS", "KEYS", "allowed_config", "shortened"]

ACTIVATIONS = frozenset(
    [
        "gelu",
        "gelu_10",
        "gelu_accurate",
        "gelu_fast",
        "gelu_new",
        "gelu_python",
        "gelu_python_tanh",
        "gelu_pytorch_tanh",
        "hardswish",
        "laplace",
        "leaky_relu",
        "linear",
        "mish",
        "quick_gelu",
        "relu",
        "relu2",
        "relu6",
        "sigmoid",
        "silu",
        "swish",
        "tanh",
    ]
)
"""transformers' names of activations that have no weights of their own."""


class _Rule(Protocol):
    @property
    def said(self) -> str:
        """What a value must be, in words."""

    def allows(self, value: object) -> bool:
        """Whether a value may pass."""


@dataclass(frozen=True)
class _Whole:
    least: int
    most: int
    or_none: bool = False

    @property
    def said(self) -> str:
        return f"a whole number from {self.least} to {self.most:,}"

    def allows(self, value: object) -> bool:
        if value is None:
            return self.or_none
        return type(value) is int and self.least <= value <= self.most


@dataclass(frozen=True)
class _Share:
    """A number from 0 to 1; 0 itself only where nothing is divided by it."""

    with_zero: bool

    @property
    def said(self) -> str:
        return "a number from 0 to 1" if self.with_zero else "a number above 0 and at most 1"

    def allows(self, value: object) -> bool:
        if type(value) is float or (self.with_zero and type(value) is int):
            return 0 <= value <= 1 and (self.with_zero or value > 0)
        return False


@dataclass(frozen=True)
class _OneOf:
    names: frozenset[str]

    @property
    def said(self) -> str:
        return f"one of {', '.join(sorted(self.names))}"

    def allows(self, value: object) -> bool:
        return isinstance(value, str) and value in self.names


_LAYERS, _HEADS = _Whole(1, 256), _Whole(1, 1024)
_DIMS, _INNER = _Whole(1, 65_536), _Whole(1, 1_000_000)
_PAD_ROW = {"pad_token_id": _Whole(0, 10_000_000)}  # positions are counted from it
_SHARED: dict[str, _Rule] = {
    "vocab_size": _Whole(1, 10_000_000),
    "max_position_embeddings": _Whole(1, 1_000_000),
    "pad_token_id": _Whole(0, 10_000_000, or_none=True),
}
_BERT: dict[str, _Rule] = {
    **_SHARED,
    "num_hidden_layers": _LAYERS,
    "hidden_size": _DIMS,
    "num_attention_heads": _HEADS,
    "intermediate_size": _INNER,
    "hidden_act": _OneOf(ACTIVATIONS),
    "layer_norm_eps": _Share(with_zero=False),
    "hidden_dropout_prob": _Share(with_zero=True),
    "attention_probs_dropout_prob": _Share(with_zero=True),
}
_SEGMENTS: dict[str, _Rule] = {"type_vocab_size": _Whole(1, 1024)}
_PROJECTED: dict[str, _Rule] = {"embedding_size": _DIMS}

KEYS: dict[str, dict[str, _Rule]] = {
    "bert": _BERT | _SEGMENTS,
    "distilbert": _SHARED
    | {
        "n_layers": _LAYERS,
        "dim": _DIMS,
        "n_heads": _HEADS,
        "hidden_dim": _INNER,
        "activation": _OneOf(ACTIVATIONS),
        "dropout": _Share(with_zero=True),
        "attention_dropout": _Share(with_zero=True),
    },
    "roberta": _BERT | _SEGMENTS | _PAD_ROW,
    "xlm-roberta": _BERT | _SEGMENTS | _PAD_ROW,
    "mpnet": _BERT | _PAD_ROW | {"relative_attention_num_buckets": _Whole(4, 4096)},
    "albert": _BERT
    | _SEGMENTS
    | _PROJECTED
    | {"num_hidden_groups": _Whole(1, 64), "inner_group_num": _Whole(1, 4)},
    "electra": _BERT | _SEGMENTS | _PROJECTED,
}
"""By family: the names that are read, each with what it may be."""

_OTHER_NAMES = {
    "distilbert": {
        "num_hidden_layers": "n_layers",
        "hidden_size": "dim",
        "num_attention_heads": "n_heads",
    }
}
"""Names that transformers takes for a family's own, and prefers to them."""

_SHARING = (("hidden_size", "num_attention_heads"), ("dim", "n_heads"))


def allowed_config(config: dict[str, Any]) -> dict[str, Any]:
    """The part of a config.json that a model is built from.

    Args:
        config: of a supported family, as `model_type` names it.

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
                f"{rule.said}. Choose another model."
            )
    if config.get("add_cross_attention"):
        raise CheckpointError(
            "The model's config.json asks for attention to a second network (add_cross_attention), "
            "which an encoder alone does not have. Choose another model."
        )
    _check_heads(chosen)
    return chosen


def _check_heads(config: dict[str, Any]) -> None:
    for dims, heads in _SHARING:
        if dims in config and heads in config and config[dims] % config[heads]:
            raise CheckpointError(
                f"The model's config.json says {config[heads]} heads share {config[dims]} "
                "dimensions, which does not come out even. Choose another model."
            )


def shortened(value: object) -> str:
    """A value from a file, at most 40 characters of it."""
    if type(value) is int and abs(value) >= 10**15:
        return "a number of more than 15 digits"
    text = ascii(value)
    return text if len(text) <= 40 else text[:39] + "..."
