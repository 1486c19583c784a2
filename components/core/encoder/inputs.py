"""Tokens as the arrays that a network takes, once it is known to have a row for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from components.core.encoder.devices import Device
from components.core.encoder.loading import LoadedModel
from components.core.errors import CheckpointError
from components.core.schema import IntArray, Tokens

__all__ = ["check_rows", "network_inputs"]


def check_rows(loaded: LoadedModel, tokens: Sequence[Tokens]) -> None:
    """Pass where the model has a row for whatever its tokenizer gave: not each file fits."""
    segments = getattr(loaded.model.config, "type_vocab_size", 0)
    for each in tokens:
        _check_below("ID", each.token_ids, loaded.card.vocabulary_size, loaded.card.title)
        if each.token_type_ids is not None:
            _check_below("segment", each.token_type_ids, segments, loaded.card.title)


def _check_below(what: str, given: IntArray, limit: int, title: str) -> None:
    most = int(given.max(initial=0))
    if most >= limit:
        raise CheckpointError(
            f"The tokenizer of {title} gives the {what} {most}, and the model knows {what}s below "
            f"{limit}: its files do not belong together. Choose another model."
        )


def network_inputs(
    loaded: LoadedModel, batch: Sequence[Tokens], device: Device | None = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """IDs, attention mask and, where the model has any, segments: (n_batch, n_tokens) int64.

    Args:
        loaded: the model.
        batch: the texts.
        device: where they are to be; by default where the model is.
    """
    device = device or loaded.device
    shape = len(batch), max(tokens.n_tokens for tokens in batch)
    ids = np.full(shape, loaded.reader.tokenizer.pad_token_id, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    segments = np.zeros(shape, dtype=np.int64) if loaded.family.has_segments else None
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
