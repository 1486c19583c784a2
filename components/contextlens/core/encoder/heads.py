"""The heads that a checkpoint has on top of its encoder, run by transformers' own classes.

A head is used only if the checkpoint has all of its weights and they look trained: transformers
gives a missing one random numbers. Its class runs unchanged around a stand-in for the encoder,
which hands on the hidden states that it is given, so no family needs code of its own here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from safetensors import safe_open
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

from contextlens.core.encoder.layerwise import pooled
from contextlens.core.encoder.shapes import own_names
from contextlens.core.families import ACTIVATION, Family
from contextlens.core.schema import MAX_LABELS, Labels, PartState
from contextlens.core.untrusted import Rule

__all__ = ["KINDS", "Head", "HeadKind", "read_heads", "read_labels"]

_REPLACED = (
    "The checkpoint was trained to tell replaced words from others (mask_predictions), not to "
    "predict hidden ones."
)
_MAX_LABEL_LENGTH = 80  # characters
_MAX_VALUES = 16_000_000  # logits computed at once: 64 MB
_tie_weights = transformers.PreTrainedModel.tie_weights
"""`from_pretrained` of another thread may have replaced it on the class by a function that does
nothing, and two of them at once may leave that there for good."""


@dataclass(frozen=True)
class HeadKind:
    """A kind of head.

    Attributes:
        suffix: what the names of its classes in transformers have in place of "Model".
        title: the head in words, for sentences.
        has_labels: True if the checkpoint's authors chose its answers; these heads have names in
            common, so a checkpoint has the one that its config's `architectures` says.
    """

    suffix: str
    title: str
    has_labels: bool = False


KINDS: Mapping[str, HeadKind] = {
    "token_head": HeadKind("ForMaskedLM", "a head that predicts hidden words"),
    "next_head": HeadKind("ForNextSentencePrediction", "a head for the next sentence"),
    "text_head": HeadKind("ForSequenceClassification", "a head that labels texts", has_labels=True),
    "label_head": HeadKind("ForTokenClassification", "a head that labels tokens", has_labels=True),
}
"""The kinds of heads, by their names in `schema.Provenance`."""

_YES_OR_NO = Rule("true or false", lambda value: type(value) is bool)
_HEAD_KEYS: Mapping[str, Rule] = {
    "tie_word_embeddings": _YES_OR_NO,
    "classifier_activation": ACTIVATION,
    "classifier_bias": _YES_OR_NO,
    "decoder_bias": _YES_OR_NO,
    "legacy": _YES_OR_NO,
    "pooler_hidden_act": ACTIVATION,
}
"""The entries of a config.json that change a head and not the encoder."""


class Head:
    """One trained head. Thread-safe.

    Args:
        model: transformers' model of the head's class; its encoder is replaced.
    """

    def __init__(self, model: Any) -> None:
        self._encoder = (model.base_model,)  # not as a part of the head
        shared, names = self._shared(), model.named_parameters()
        self.modules = frozenset(n.split(".")[0] for n, v in names if id(v) not in shared)
        """The names of its own modules in a checkpoint."""
        setattr(model, model.base_model_prefix, _Given(model.base_model))
        self._model = model.eval().requires_grad_(requires_grad=False)

    def _shared(self) -> set[int]:
        return {id(value) for value in self._encoder[0].parameters()}

    @property
    def n_bytes(self) -> int:
        """Bytes of its weights, without those that it shares with the encoder's word table."""
        shared = self._shared()
        own = [value for value in self._model.parameters() if id(value) not in shared]
        return sum(value.numel() * value.element_size() for value in own)

    def logits(self, states: torch.Tensor) -> Iterator[torch.Tensor]:
        """Each batch's logits, (n_batch, [n_tokens,] n_classes) float32, in the order given.

        Args:
            states: (n, n_tokens, n_dims) the encoder's output, on the head's device: whole texts,
                or as much as the head reads of them.
        """
        at_once = max(1, _MAX_VALUES // max(1, int(self._model.config.vocab_size)))
        with torch.inference_mode():
            for batch in torch.split(states, at_once):
                yield self._model(inputs_embeds=batch).logits

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """The logits of states as `logits` takes them, all at once and with their gradients."""
        result: torch.Tensor = self._model(inputs_embeds=states).logits
        return result

    def to(self, device: str) -> None:
        """Move its weights to a device; those that it shares are there already."""
        self._model.to(device)


class _Given(torch.nn.Module):
    """Stands for an encoder: its output is its input, pooled by the encoder's own pooler."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self._encoder = (encoder,)  # not as a module of this one

    @property
    def embeddings(self) -> Any:
        """The encoder's tables: DeBERTa's head reads its word table."""
        return self._encoder[0].embeddings

    def forward(self, *_: Any, inputs_embeds: torch.Tensor, **__: Any) -> Any:
        (encoder,) = self._encoder
        has_pooler = getattr(encoder, "pooler", None) is not None
        return BaseModelOutputWithPoolingAndCrossAttentions(
            last_hidden_state=inputs_embeds,
            pooler_output=pooled(encoder, inputs_embeds) if has_pooler else None,
        )


def read_heads(
    model: Any, family: Family, given: Mapping[str, Any], paths: list[Path]
) -> tuple[dict[str, Head], dict[str, PartState]]:
    """Return the trained heads of a checkpoint, and the state of every kind, by `KINDS`.

    Args:
        model: the checkpoint's encoder, with its weights.
        family: its family.
        given: the checkpoint's whole config.json.
        paths: its safetensors files.
    """
    heads, states = {}, {}
    names = _names(paths, model.base_model_prefix, family) - set(model.state_dict())
    modules = {name.partition(".")[0] for name in names}
    if "lm_predictions" in modules:  # DeBERTa's own; transformers reads it if `legacy` is false
        given = {"legacy": "mask_predictions" in modules, **given}
    for name, kind in KINDS.items():
        cls = getattr(transformers, family.class_name.removesuffix("Model") + kind.suffix, None)
        if cls is None:
            states[name] = PartState(
                "absent", f"The {family.model_type} architecture does not have {kind.title}."
            )
            continue
        is_named = any(str(one).endswith(kind.suffix) for one in given.get("architectures") or ())
        if not names or (kind.has_labels and not is_named):
            states[name] = _absent(kind)
            continue
        built, states[name] = _read(cls, kind, model, family, given, paths)
        if states[name].state == "trained":
            heads[name] = Head(built)
        elif kind.suffix == "ForMaskedLM" and "mask_predictions" in modules:
            states[name] = PartState("absent", _REPLACED)
    return heads, states


def _read(
    cls: Any,
    kind: HeadKind,
    model: Any,
    family: Family,
    given: Mapping[str, Any],
    paths: list[Path],
) -> tuple[Any, PartState]:
    """The model of a head's class around an encoder, and the state of the head."""
    prefix = f"{cls.base_model_prefix}."
    settings = cls.config_class.from_dict(model.config.to_dict())
    rules = {"classifier_pooling": Rule("", lambda value: value in family.poolings), **_HEAD_KEYS}
    for name, rule in rules.items():
        if name in given and rule.allows(given[name]):
            setattr(settings, name, given[name])
    if kind.has_labels:
        settings.num_labels = len(read_labels(given).names)
    with torch.device("meta"):
        built = cls(settings)
    reads_pooler = getattr(built.base_model, "pooler", None) is not None
    setattr(built, cls.base_model_prefix, model)
    wanted = {n: v.shape for n, v in built.state_dict().items() if not n.startswith(prefix)}
    weights = _stored(paths, cls.base_model_prefix, family, wanted)
    if not weights:
        return None, _absent(kind)
    if reads_pooler and model.pooler is None:
        return None, PartState("absent", f"The checkpoint lacks the pooler for {kind.title}.")
    missing = set(wanted) - set(weights)
    built.load_state_dict(weights, strict=False, assign=True)
    _tie_weights(built, missing_keys=missing, recompute_mapping=False)
    parameters = dict(built.named_parameters(remove_duplicate=False))
    if missing or any(v.is_meta for n, v in parameters.items() if not n.startswith(prefix)):
        return None, _absent(kind)
    if not all(bool(value.isfinite().all()) for value in weights.values()):
        return None, PartState(
            "untrained", f"The weights for {kind.title} have values that are NaN or infinite."
        )
    biases = [value for name, value in weights.items() if name.endswith("bias")]
    if biases and not any(bool(bias.any()) for bias in biases):
        return None, PartState(
            "untrained",
            f"The checkpoint has {kind.title}, and every bias of it is exactly 0, as before any "
            "training.",
        )
    reason = "; its biases are not 0" if biases else ""
    return built, PartState("trained", f"The checkpoint has {kind.title}{reason}.")


def read_labels(given: Mapping[str, Any]) -> Labels:
    """The labels that a checkpoint's head gives, from its config.json.

    A label without a name is LABEL_0, LABEL_1, ..., as in transformers.
    """
    names = given.get("id2label")
    names = names if isinstance(names, dict) else {}
    n = len(names) or given.get("num_labels", 2)
    n = n if type(n) is int and 1 <= n <= MAX_LABELS else 0
    problem = given.get("problem_type")
    scores: Literal["softmax", "sigmoid", "none"] = "softmax" if n > 1 else "sigmoid"
    if problem in {"regression", "multi_label_classification"}:
        scores = "none" if problem == "regression" else "sigmoid"
    found = (names.get(str(i), names.get(i, f"LABEL_{i}")) for i in range(n))
    return Labels(tuple(str(name)[:_MAX_LABEL_LENGTH] for name in found), scores)


def _absent(kind: HeadKind) -> PartState:
    return PartState("absent", f"The checkpoint has no weights for {kind.title}.")


def _names(paths: list[Path], prefix: str, family: Family) -> set[str]:
    names = set[str]()
    for path in paths:
        with safe_open(path, framework="pt") as file:
            for stored in file.keys():  # noqa: SIM118 - it has no iterator
                names.update(own_names(stored, prefix, family))
    return names


def _stored(
    paths: list[Path], prefix: str, family: Family, wanted: Mapping[str, torch.Size]
) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint with the wanted names and shapes, in float32."""
    weights = {}
    for path in paths:
        with safe_open(path, framework="pt") as file:
            for stored in file.keys():  # noqa: SIM118 - it has no iterator
                name = own_names(stored, prefix, family)[0]  # no head's weight is cut
                if name in wanted and file.get_slice(stored).get_shape() == list(wanted[name]):
                    weights[name] = file.get_tensor(stored).float()
    return weights
