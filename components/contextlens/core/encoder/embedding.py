"""The steps of the embedding layer, and its word table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from contextlens.core.encoder.inputs import check_rows
from contextlens.core.encoder.layerwise import (
    position_ids,
    projection_of,
    table_of_positions,
    word_scale,
)
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.encoder.tokenizing import tokenize
from contextlens.core.errors import RequestError
from contextlens.core.schema import EmbeddingParts, FloatArray, IntArray

__all__ = ["embedding_parts", "nearest_rows", "word_rows"]


@torch.inference_mode()
def embedding_parts(loaded: LoadedModel, text: str, *, pair: str | None = None) -> EmbeddingParts:
    """The embedding layer's arithmetic for one input; see `schema.EmbeddingParts`."""
    tokens = tokenize(loaded.reader, [text], pairs=[pair])[0]
    check_rows(loaded, [tokens])
    family = loaded.family
    embeddings = loaded.model.get_submodule(family.tables)
    ids = loaded.device.put(torch.from_numpy(tokens.token_ids.copy()))
    word = loaded.model.get_input_embeddings()(ids)
    segment = _segment_rows(embeddings, tokens.token_type_ids, ids)
    total = word if segment is None else word + segment
    positions = position = None
    if (table := table_of_positions(embeddings)) is not None:
        positions = position_ids(table, ids)
        position = table(positions)
        total = total + position
    norm = None if family.norm is None else getattr(embeddings, family.norm)
    normalized = total if norm is None else norm(total)
    projection = projection_of(loaded.model, loaded.family)
    output = normalized if projection is None else projection(normalized)
    return EmbeddingParts(
        tokens=tokens,
        position_ids=None if positions is None else _read_only(positions),
        word=_read_only(word),
        word_scale=word_scale(loaded.model, family),
        position=None if position is None else _read_only(position),
        segment=None if segment is None else _read_only(segment),
        total=_read_only(total),
        normalized=_read_only(normalized),
        epsilon=None if norm is None else _epsilon(norm),
        projected=projection is not None,
        output=_read_only(output),
    )


@torch.inference_mode()
def word_rows(loaded: LoadedModel, token_ids: Sequence[int] | IntArray) -> FloatArray:
    """(len(token_ids), n_embedding_dims) float32 rows of the word table.

    Raises:
        RequestError: an ID is outside the table.
    """
    table = loaded.model.get_input_embeddings().weight
    requested = np.asarray(token_ids).reshape(-1)
    if requested.size and (
        requested.dtype.kind not in "iu" or requested.min() < 0 or requested.max() >= len(table)
    ):
        raise RequestError(
            f"Token IDs {str(token_ids)[:100]} were asked; they must be whole numbers from 0 to "
            f"{len(table) - 1}, the rows of the word table."
        )
    ids = requested.astype(np.int64)
    rows: FloatArray = _read_only(table[loaded.device.put(torch.from_numpy(ids))])
    return rows


@torch.inference_mode()
def nearest_rows(loaded: LoadedModel, vector: FloatArray, n: int) -> list[tuple[int, str, float]]:
    """The n rows of the word table with the highest cosine to a vector, best first.

    Raises:
        RequestError: the vector has the wrong shape, is all zeros or is not finite; or n < 1.
    """
    table = loaded.model.get_input_embeddings().weight
    target = np.array(vector, dtype=np.float32)
    if target.shape != (table.shape[1],) or not np.isfinite(target).all() or not target.any():
        raise RequestError(
            f"A vector of shape {target.shape} was given; it must have {table.shape[1]} finite "
            "values, not all zero."
        )
    if type(n) is not int or n < 1:
        raise RequestError(f"{n!r} neighbours were asked; ask for a whole number, at least 1.")
    query = torch.nn.functional.normalize(loaded.device.put(torch.from_numpy(target)), dim=0)
    cosines = (table @ query) / table.norm(dim=1).clamp_min(1e-12)
    best = torch.topk(cosines, min(n, len(table)))
    names = loaded.reader.tokenizer.convert_ids_to_tokens(best.indices.tolist())
    pairs = zip(best.indices.tolist(), names, best.values.tolist(), strict=True)
    return [(i, str(name), float(cosine)) for i, name, cosine in pairs]


def _epsilon(norm: Any) -> float:
    """The number that a LayerNorm adds to the variance; DeBERTa has a class of its own."""
    return float(getattr(norm, "eps", None) or norm.variance_epsilon)


def _segment_rows(
    embeddings: Any, token_type_ids: Any, token_ids: torch.Tensor
) -> torch.Tensor | None:
    """The segment table's row for each token, or None if the model has no such table."""
    if getattr(embeddings, "token_type_embeddings", None) is None:
        return None
    ids = np.zeros(len(token_ids), np.int64) if token_type_ids is None else token_type_ids.copy()
    rows: torch.Tensor = embeddings.token_type_embeddings(
        torch.from_numpy(ids).to(token_ids.device)
    )
    return rows


def _read_only(tensor: torch.Tensor) -> Any:
    """A read-only numpy copy."""
    array = tensor.cpu().numpy().copy()
    array.flags.writeable = False
    return array
