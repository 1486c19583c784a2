"""The numbers of Padding & masks as rows and arrays, for its tables and downloads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.features.masks.measures.laboratory import Lab, LabRow

__all__ = ["arrays", "summary_rows", "token_rows"]


def summary_rows(row: LabRow, layer: int) -> dict[str, Any]:
    """One text at one layer: how much padding it has, and its similarity to its unpadded self."""
    damage = row.damage
    at = damage.layers.index(layer)
    return {
        "sentence": row.label,
        "tokens": row.n_real,
        "padding": row.n_padding,
        row.alone.tokens[0]: float(damage.first[at]),
        "mean of real tokens": float(damage.mean[at]),
        "mean with padding": float(damage.mean_all[at]),
        "most changed token": float(damage.tokens[at].min()),
        "pooler_output": damage.pooled,
    }


def token_rows(row: LabRow) -> list[dict[str, Any]]:
    """One row for each position: token, ID, mask, segment, cosine at each layer, vector length.

    Padding has no counterpart in the text alone, so it has a length but no cosine.
    """
    padded, damage, mask = row.padded, row.damage, row.mask
    return [
        {
            "sentence": row.label,
            "position": i,
            "token": padded.tokens[i],
            "token ID": int(padded.token_ids[i]),
            "mask": int(mask[i]),
            "segment": None if padded.token_type_ids is None else int(padded.token_type_ids[i]),
            **{
                f"layer {layer}": float(damage.tokens[at, i]) if i < row.n_real else None
                for at, layer in enumerate(damage.layers)
            },
            "length at the last layer": float(damage.lengths[-1, i]),
        }
        for i in range(padded.n_tokens)
    ]


def arrays(lab: Lab) -> dict[str, NDArray[Any]]:
    """Everything as arrays, a row for each text; NaN where padding has no cosine."""
    rows = lab.rows
    cosines = np.full((len(rows), len(lab.layers), lab.pad_to), np.nan, dtype=np.float32)
    for i, row in enumerate(rows):
        cosines[i, :, : row.n_real] = row.damage.tokens
    texts = [{"label": r.label, "text": r.alone.text, "pair": r.alone.pair} for r in rows]
    kinds = [r.padded.token_type_ids for r in rows]
    pooled = [np.nan if r.damage.pooled is None else r.damage.pooled for r in rows]
    return {
        "token_ids": np.stack([r.padded.token_ids for r in rows]),
        "attention_mask": np.stack([r.mask for r in rows]),
        **(
            {"token_type_ids": np.stack([k for k in kinds if k is not None])}
            if all(k is not None for k in kinds)
            else {}
        ),
        "token_cosines": cosines,
        "mean_cosines": np.stack([r.damage.mean for r in rows]),
        "mean_with_padding_cosines": np.stack([r.damage.mean_all for r in rows]),
        "pooler_output_cosines": np.array(pooled, dtype=np.float32),
        "vector_lengths": np.stack([r.damage.lengths for r in rows]),
        "layers": np.array(lab.layers),
        "texts": np.array(json.dumps(texts)),
    }
