"""Plain transformers with hand-written hooks, one text at a time, without any of our code.

The places of each family's parts are written out a second time here, on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from tests.support.oracle import Oracle

Vector = np.ndarray | float

GEMMAS = ("gemma3_text", "embedding_gemma2_text")
MIXING = {
    "distilbert": lambda layer: layer.attention.out_lin,
    "mpnet": lambda layer: layer.attention.attn.o,
    "albert": lambda layer: layer.albert_layers[0].attention.dense,
    "modernbert": lambda layer: layer.attn.Wo,
    "eurobert": lambda layer: layer.self_attn.o_proj,
    "nomic_bert": lambda layer: layer.self_attn.o_proj,
    "gte": lambda layer: layer.self_attn.o_proj,
    "jina_embeddings_v3": lambda layer: layer.self_attn.o_proj,
    **dict.fromkeys(GEMMAS, lambda layer: layer.self_attn.o_proj),
}
ATTENTION = {**MIXING, **dict.fromkeys(GEMMAS, lambda layer: layer.post_attention_layernorm)}
FEED_FORWARD = {
    "distilbert": lambda layer: layer.ffn.lin2,
    "albert": lambda layer: layer.albert_layers[0].ffn_output,
    "modernbert": lambda layer: layer.mlp.Wo,
    "eurobert": lambda layer: layer.mlp.down_proj,
    "nomic_bert": lambda layer: layer.mlp.down_proj,
    "gte": lambda layer: layer.mlp.down_proj,
    "jina_embeddings_v3": lambda layer: layer.mlp.fc2,
    **dict.fromkeys(GEMMAS, lambda layer: layer.post_feedforward_layernorm),
}

BOOLEAN = {"deberta", "deberta-v2"}
"""Families whose attention takes its mask as booleans."""


@dataclass(frozen=True)
class Edits:
    """The vectors to set: heads by (layer, head), parts by layer, states by (layer, position);
    and positions to hide (third) from one of them (second, None: all) in a layer
    (first, None: all)."""

    heads: Mapping[tuple[int, int], Vector] = field(default_factory=dict)
    attention: Mapping[int, Vector] = field(default_factory=dict)
    feed_forward: Mapping[int, Vector] = field(default_factory=dict)
    states: Mapping[tuple[int, int], Vector] = field(default_factory=dict)
    hidden: Sequence[tuple[int | None, int | None, int]] = ()


@dataclass(frozen=True)
class Run:
    """All that passed through the model."""

    hidden: np.ndarray  # (n_layers + 1, n_tokens, n_dims)
    heads: Sequence[np.ndarray]  # of each layer, (n_tokens, n heads' dims), side by side
    attention: np.ndarray  # (n_layers, n_tokens, n_dims)
    feed_forward: np.ndarray


@torch.inference_mode()
def run(oracle: Oracle, text: str, pair: str | None = None, edits: Edits | None = None) -> Run:
    """Run a text through the model, with edits in hooks."""
    edits, model = edits or Edits(), oracle.model
    family, n_layers = model.config.model_type, model.config.num_hidden_layers
    seen: dict[str, list[torch.Tensor]] = {k: [] for k in ("in", "heads", "attention", "ff")}

    def states(tensor: torch.Tensor, layer: int) -> torch.Tensor:
        tensor = tensor.clone()
        for (where, position), value in edits.states.items():
            if where == layer:
                tensor[0, position] = torch.as_tensor(value)
        return tensor

    def enter(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        layer = len(seen["in"])  # the layer whose output comes in
        hidden = states(args[0], layer)
        seen["in"].append(hidden)
        if hasattr(model, "ple"):  # layer 0 is read again, as it was changed
            args = (hidden, model.ple(seen["in"][0])[:, :, layer])
        n = hidden.shape[1]
        mask = torch.zeros(1, 1, n, n)
        for where, by, position in edits.hidden:
            if where in {None, layer + 1}:
                mask[0, 0, slice(None) if by is None else by, position] = -torch.inf
        if not edits.hidden:
            return (hidden, *args[1:]), kwargs
        if family in BOOLEAN:
            return (hidden, mask == 0, *args[2:]), kwargs
        if "attention_mask" not in kwargs:
            return (hidden, mask, *args[2:]), kwargs
        if family in GEMMAS:
            window = (module.self_attn.sliding_window or n + 1) - 1  # it leaves the last one out
        else:
            is_local = "sliding" in getattr(module, "attention_type", "")
            window = model.config.sliding_window if is_local else n
        if window < n:
            places = torch.arange(n)
            mask.masked_fill_((places[:, None] - places).abs() > window, -torch.inf)
        return (hidden, *args[1:]), {**kwargs, "attention_mask": mask}

    def mix(module: Any, args: tuple[torch.Tensor]) -> Any:
        mixed, layer = args[0].clone(), len(seen["in"])
        size = mixed.shape[-1] // model.config.num_attention_heads
        for (where, head), value in edits.heads.items():
            if where == layer:
                mixed[..., head * size : (head + 1) * size] = torch.as_tensor(value)
        seen["heads"].append(mixed)
        return (mixed,)

    def give(name: str, values: Mapping[int, Vector]) -> Any:
        def hook(module: Any, args: Any, output: torch.Tensor) -> torch.Tensor:
            layer = len(seen["in"])
            if layer in values:
                output = torch.as_tensor(values[layer], dtype=torch.float32).expand_as(output)
            seen[name].append(output)
            return output

        return hook

    with ExitStack() as hooks:
        if convolution := getattr(getattr(model, "encoder", None), "conv", None):
            read = convolution.register_forward_pre_hook(lambda _, args: (seen["in"][0], *args[1:]))
            hooks.callback(read.remove)
        for layer in layers_of(model):
            mixing = MIXING.get(family, lambda each: each.attention.output.dense)(layer)
            output = ATTENTION.get(family, lambda each: each.attention.output.dense)(layer)
            second = FEED_FORWARD.get(family, lambda each: each.output.dense)(layer)
            for handle in (
                layer.register_forward_pre_hook(enter, with_kwargs=True),
                mixing.register_forward_pre_hook(mix),
                output.register_forward_hook(give("attention", edits.attention)),
                second.register_forward_hook(give("ff", edits.feed_forward)),
            ):
                hooks.callback(handle.remove)
        out = model(**inputs_of(oracle, text, pair))
    hidden = [*seen["in"], states(out.last_hidden_state, n_layers)]  # after a final LayerNorm
    kept = (torch.cat(tensors).numpy() for tensors in (hidden, seen["attention"], seen["ff"]))
    states, attention, feed_forward = kept
    return Run(states, [one[0].numpy() for one in seen["heads"]], attention, feed_forward)


def layers_of(model: Any) -> Any:
    """The list of layers; ALBERT runs its groups repeatedly."""
    family = model.config.model_type
    if family == "distilbert":
        return model.transformer.layer
    if hasattr(model, "layers"):
        return model.layers
    return model.encoder.albert_layer_groups if family == "albert" else model.encoder.layer


def inputs_of(oracle: Oracle, text: str, pair: str | None) -> Any:
    """The tokenizer's input to the model."""
    return oracle.tokenizer(
        text,
        pair,
        return_tensors="pt",
        truncation=True,
        max_length=oracle.max_length,
        return_token_type_ids=getattr(oracle.model.config, "type_vocab_size", 0) > 1,
    )
