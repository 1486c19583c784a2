"""A model run layer by layer, whose parts can be changed while it runs.

transformers has no hook inside a layer, so two linear modules of each layer (`families.Parts`) pass
their data to a tap, which each running thread sets for itself. The modules are a copy around the
same weights that only `Layerwise` runs, so other encoding work sees no tap.
"""

from __future__ import annotations

import threading
from operator import attrgetter
from typing import Any, Protocol

import torch

from contextlens.core.errors import UnsupportedModelError
from contextlens.core.families import Family

__all__ = [
    "HiddenStateHook",
    "Layerwise",
    "distance_terms",
    "local_layers",
    "pooled",
    "position_ids",
    "projection_of",
    "table_of_positions",
    "window_of",
    "word_scale",
]


def projection_of(model: Any, family: Family) -> Any:
    """The linear layer before layer 0 (ALBERT, RemBERT; ELECTRA where sizes differ), or None."""
    part = model
    for name in (family.projection or "").split("."):
        part = getattr(part, name, None) if name else None
    return part


def pooled(model: Any, hidden: torch.Tensor) -> torch.Tensor:
    """(n_batch, n_dims) from a model's own pooler, applied to (n_batch, n_tokens, n_dims)."""
    if hasattr(model, "pooler_activation"):  # ALBERT's pooler is not a module of its own
        result: torch.Tensor = model.pooler_activation(model.pooler(hidden[:, 0]))
    else:
        result = model.pooler(hidden)
    return result


def word_scale(model: Any, family: Family) -> float:
    """The number by which the rows of the word table are multiplied; 1 in most families."""
    return float(model.config.hidden_size) ** 0.5 if family.scales_words else 1.0


def local_layers(config: Any) -> tuple[int, ...]:
    """The layers (from 1) in which a token attends only to its neighbours, within `window_of`."""
    kinds = getattr(config, "layer_types", None) or ()
    return tuple(i for i, kind in enumerate(kinds, start=1) if kind == "sliding_attention")


def window_of(config: Any, family: Family) -> int | None:
    """The most positions between two tokens that see each other in a local layer, if any is."""
    return int(config.sliding_window) + family.window_end if local_layers(config) else None


def distance_terms(config: Any) -> int:
    """The parts of an attention score that read a table of distances: 0 to 2, in DeBERTa."""
    terms = {"c2p", "p2c"} & {*(getattr(config, "pos_att_type", None) or ())}
    return len(terms) if getattr(config, "relative_attention", False) else 0


def table_of_positions(embeddings: Any) -> Any:
    """A model's position table, or None if it has none."""
    return getattr(embeddings, "position_embeddings", None)


def position_ids(table: Any, ids: torch.Tensor) -> torch.Tensor:
    """Rows of the position table. RoBERTa and MPNet count real tokens from padding_idx + 1."""
    if table.padding_idx is None:
        return torch.arange(ids.shape[-1], device=ids.device).expand_as(ids)
    start = int(table.padding_idx)
    real = (ids != start).long()
    return torch.cumsum(real, dim=-1) * real + start


class HiddenStateHook(Protocol):
    """Sees, and may change in place, the outputs of one layer's parts for one batch."""

    def heads(self, outputs: torch.Tensor) -> None:
        """(n_batch, n_tokens, n_dims): all heads' outputs, side by side."""

    def attention(self, outputs: torch.Tensor) -> None:
        """(n_batch, n_tokens, n_dims): the attention's output."""

    def feed_forward(self, outputs: torch.Tensor) -> None:
        """(n_batch, n_tokens, n_dims): the feed-forward's output."""


class Layerwise:
    """The layers of one model, run one at a time. Thread-safe.

    Args:
        model: a copy that nothing else runs.
        family: its family.

    Raises:
        UnsupportedModelError: a layer consists of several inner ones (ALBERT's inner_group_num).
    """

    def __init__(self, model: Any, family: Family) -> None:
        if getattr(model.config, "inner_group_num", 1) != 1:
            raise UnsupportedModelError(
                "Each layer of this model is made of several (inner_group_num is "
                f"{model.config.inner_group_num}); parts can be switched off where it is 1. Choose "
                "another model."
            )
        self._model = model
        self._family = family
        self._projection = projection_of(model, family)
        self._local = threading.local()
        self._layers = model.get_submodule(family.parts.layers)
        self._local_layers, self._window = (
            local_layers(model.config),
            window_of(model.config, family),
        )
        name = family.parts.convolution
        self._convolution = None if name is None else attrgetter(name)(model)
        for layer in self._layers:
            mixing = layer.get_submodule(family.parts.mixing)
            mixing.register_forward_pre_hook(self._heads)
            outputs = layer.get_submodule(family.parts.attention or family.parts.mixing)
            outputs.register_forward_hook(self._attention)
            layer.get_submodule(family.parts.feed_forward).register_forward_hook(self._feed_forward)

    @property
    def word_table(self) -> torch.Tensor:
        """(vocabulary size, n_embedding_dims): the word vectors."""
        table: torch.Tensor = self._model.get_input_embeddings().weight
        return table

    @property
    def n_layers(self) -> int:
        """The number of layers after the embedding layer."""
        return int(self._model.config.num_hidden_layers)

    def embed(
        self,
        ids: torch.Tensor,
        segments: torch.Tensor | None,
        *,
        words: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Layer 0, (n_batch, n_tokens, n_dims).

        Args:
            ids: (n_batch, n_tokens).
            segments: the same shape; None if the model has no segments.
            words: (n_batch, n_tokens, n_embedding_dims) to use in place of the word table's rows;
                the positions still come from the IDs.
        """
        if not self._family.tables:
            table = self._model.get_input_embeddings()
            return table(ids) if words is None else words * word_scale(self._model, self._family)
        tables = self._model.get_submodule(self._family.tables)
        more: dict[str, Any] = {} if segments is None else {"token_type_ids": segments}
        if words is not None:
            more["inputs_embeds"] = words
            if table_of_positions(tables) is not None:
                more["position_ids"] = position_ids(tables.position_embeddings, ids)
        embedded: torch.Tensor = tables(input_ids=ids if words is None else None, **more)
        return embedded if self._projection is None else self._projection(embedded)

    def layer_inputs(self, first: torch.Tensor) -> torch.Tensor | None:
        """What each layer reads besides the layer before it; None in most families.

        Args:
            first: layer 0, (n_batch, n_tokens, n_dims).
        """
        name = self._family.parts.layer_inputs
        return None if name is None else self._model.get_submodule(name)(first)

    def through(self, hidden: torch.Tensor, last: int) -> torch.Tensor:
        """The hidden states of layer `last` from those of layer 0; each position sees all."""
        inputs = self.layer_inputs(hidden)
        for layer in range(1, last + 1):
            hidden = self.step(layer, hidden, None, inputs)
        return hidden

    def step(
        self,
        layer: int,
        hidden: torch.Tensor,
        visible: torch.Tensor | None,
        inputs: torch.Tensor | None,
        tap: HiddenStateHook | None = None,
    ) -> torch.Tensor:
        """The hidden states of a layer from those of the layer before it.

        Args:
            layer: 1 to n.
            hidden: (n_batch, n_tokens, n_dims).
            visible: bool, (n_batch, 1, n_tokens or 1, n_tokens): True if a position (third axis)
                may attend to another (fourth axis); None if all may. In a local layer, the window
                limits it further.
            inputs: `layer_inputs` of the same texts.
            tap: sees, and may change, the outputs of this layer's parts.
        """
        module = self._layers[int((layer - 1) / (self.n_layers / len(self._layers)))]
        if layer in self._local_layers:
            visible = self._within_window(visible, hidden)
        more = {} if inputs is None else {"per_layer_input": inputs[:, :, layer - 1]}
        if (told := self._family.parts.places) is not None:
            places = torch.arange(hidden.shape[1], device=hidden.device)[None]
            more |= told(self._model, layer, hidden, places)
        self._local.tap = tap
        try:
            out = module(hidden, attention_mask=self._mask(visible, hidden), **more)
        finally:
            self._local.tap = None
        states: torch.Tensor = out[0] if isinstance(out, tuple) else out
        if layer == 1 and self._convolution is not None:
            everywhere = torch.ones(hidden.shape[:2], dtype=torch.long, device=hidden.device)
            states = self._convolution(hidden, states, everywhere)
        if layer == self.n_layers and self._family.parts.final_norm is not None:
            states = self._model.get_submodule(self._family.parts.final_norm)(states)
        return states

    def pooled(self, hidden: torch.Tensor) -> torch.Tensor:
        """(n_batch, n_dims) from the model's own pooler, applied to the last layer."""
        return pooled(self._model, hidden)

    def _mask(self, visible: torch.Tensor | None, hidden: torch.Tensor) -> torch.Tensor | None:
        """The mask in transformers' format: boolean for sdpa, additive for eager attention."""
        if self._family.parts.takes_booleans:
            everything = torch.ones((1, 1, 1, 1), dtype=torch.bool, device=hidden.device)
            return everything if visible is None else visible
        if visible is None or self._model.config._attn_implementation == "sdpa":
            return visible
        least = torch.finfo(hidden.dtype).min
        return torch.zeros_like(visible, dtype=hidden.dtype).masked_fill_(~visible, least)

    def _within_window(
        self, visible: torch.Tensor | None, hidden: torch.Tensor
    ) -> torch.Tensor | None:
        """What a local layer sees of the visible positions."""
        n, window = hidden.shape[1], self._window
        if window is None or n <= window + 1:
            return visible
        places = torch.arange(n, device=hidden.device)
        near = ((places[:, None] - places).abs() <= window)[None, None]
        return near if visible is None else visible & near

    def _heads(self, _: Any, inputs: tuple[torch.Tensor, ...]) -> None:
        if tap := self._tap:
            tap.heads(inputs[0])

    def _attention(self, _: Any, __: Any, outputs: torch.Tensor) -> None:
        if tap := self._tap:
            tap.attention(outputs)

    def _feed_forward(self, _: Any, __: Any, outputs: torch.Tensor) -> None:
        if tap := self._tap:
            tap.feed_forward(outputs)

    @property
    def _tap(self) -> HiddenStateHook | None:
        return getattr(self._local, "tap", None)
