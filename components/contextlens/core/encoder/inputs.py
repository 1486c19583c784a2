"""Requests to the encoder, validated, and the tensors that the network takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from contextlens.core.encoder.devices import Device
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.errors import CheckpointError, RequestError, TextError
from contextlens.core.schema import AttentionRequest, IntArray, Mask, ModelCard, Precision, Tokens

__all__ = ["Request", "check_rows", "checked_layers", "is_index", "network_inputs", "one_of"]


# --- Tokens as the arrays that a network takes


def check_rows(loaded: LoadedModel, tokens: Sequence[Tokens]) -> None:
    """Check that texts have tokens, and that the model has a row for every ID and segment.

    Some tokenizers add no special tokens, and some belong to another model.

    Raises:
        TextError: a text has no tokens.
        CheckpointError: the model lacks a row.
    """
    if not all(text.attention_mask.any() for text in tokens):
        raise TextError(
            f"The tokenizer of {loaded.card.title} adds no token of its own, so an empty text has "
            "none, and there is nothing to compute. Write a text, or choose another model."
        )
    segments = getattr(loaded.model.config, "type_vocab_size", 0)
    for text in tokens:
        _check_below("ID", text.token_ids, loaded.card.vocabulary_size, loaded.card.title)
        if text.token_type_ids is not None:
            _check_below("segment", text.token_type_ids, segments, loaded.card.title)


def _check_below(kind: str, numbers: IntArray, limit: int, title: str) -> None:
    most = int(numbers.max(initial=0))
    if most >= limit:
        raise CheckpointError(
            f"The tokenizer of {title} gives the {kind} {most}, and the model knows {kind}s below "
            f"{limit}: its files do not belong together. Choose another model."
        )


def network_inputs(
    loaded: LoadedModel, batch: Sequence[Tokens], device: Device | None = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """IDs, attention mask and, if the model has them, segments: (n_batch, n_tokens) int64.

    Args:
        loaded: the model.
        batch: the texts.
        device: where to put the tensors; by default the model's device.
    """
    device = device or loaded.device
    shape = len(batch), max(tokens.n_tokens for tokens in batch)
    ids = np.full(shape, loaded.reader.tokenizer.pad_token_id, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    segments = np.zeros(shape, dtype=np.int64) if loaded.card.has_segments else None
    for row, tokens in enumerate(batch):
        ids[row, : tokens.n_tokens] = tokens.token_ids
        mask[row, : tokens.n_tokens] = tokens.attention_mask
        if segments is not None and tokens.token_type_ids is not None:
            segments[row, : tokens.n_tokens] = tokens.token_type_ids
    return (
        device.put(torch.from_numpy(ids)),
        device.put(torch.from_numpy(mask)),
        None if segments is None else device.put(torch.from_numpy(segments)),
    )


# --- Requests, checked against the model before anything runs


@dataclass(frozen=True)
class Request:
    """The computation requested for each text, checked against the model by `checked`."""

    pad_to: int | None = None
    max_length: int | None = None
    mask: Mask = "model"
    layers: tuple[int, ...] | None = None
    attentions: bool | tuple[tuple[int, int], ...] = False
    precision: Precision = "exact"  # the precision that is actually used
    why_exact: str | None = None  # the reason, if another precision was requested

    @classmethod
    def checked(
        cls,
        card: ModelCard,
        *,
        pad_to: int | None,
        max_length: int | None = None,
        mask: Mask,
        layers: Sequence[int] | None,
        attentions: AttentionRequest,
        precision: Precision,
    ) -> Request:
        """Return a request that fits this model.

        Raises:
            RequestError: the model does not support a layer, head, mask or precision.
        """
        one_of("mask", mask, ("model", "ones"))
        one_of("precision", precision, ("exact", "fast"))
        chosen = range(card.n_layers + 1) if layers is None else checked_layers(layers, card)
        heads = attentions if isinstance(attentions, bool) else _checked_heads(attentions, card)
        why_exact = None
        if precision == "fast" and card.fast.dtype == "float32":
            precision, why_exact = "exact", card.fast.reason
        return cls(pad_to, max_length, mask, tuple(chosen), heads, precision, why_exact)


def one_of(name: str, given: object, allowed: tuple[str, ...]) -> None:
    """Check that a value is among the allowed ones."""
    if given not in allowed:
        raise RequestError(f"{name} is {given!r}; it must be one of {', '.join(allowed)}.")


def is_index(number: object, low: int, high: int) -> bool:
    """True if the value is a whole number from `low` to `high`, both included."""
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    return is_whole and bool(low <= number <= high)  # type: ignore[operator]


def checked_layers(layers: Sequence[int], card: ModelCard) -> list[int]:
    """The layer numbers, checked against the model.

    Raises:
        RequestError: there are none, or the model does not have one of them.
    """
    try:
        chosen = list(layers)
    except TypeError:
        chosen = []
    if not chosen or not all(is_index(n, 0, card.n_layers) for n in chosen):
        raise RequestError(
            f"Layers {layers!r} were asked; {card.title} has layers 0 (the embedding layer) to "
            f"{card.n_layers}. Give a list of at least one of these."
        )
    return [int(n) for n in chosen]


def _checked_heads(
    heads: Sequence[tuple[int, int]], card: ModelCard
) -> tuple[tuple[int, int], ...]:
    try:
        pairs = [(layer, head) for layer, head in heads]
    except (TypeError, ValueError):
        pairs = []
    layers, numbers = (1, card.n_layers), (0, card.n_heads - 1)
    if not pairs or not all(is_index(a, *layers) and is_index(b, *numbers) for a, b in pairs):
        raise RequestError(
            f"Attentions {heads!r} were asked; give True for all, or a list of (layer, head) with "
            f"layers 1 to {card.n_layers} (layer 0, the embedding layer, has no attention) and "
            f"heads 0 to {card.n_heads - 1}."
        )
    return tuple((int(layer), int(head)) for layer, head in pairs)
