"""Batches that no model gave, as odd as they come."""

from __future__ import annotations

import random

import numpy as np

from components.core.schema import Encoding, Passport
from components.features.masks.measures.laboratory import Damage, Lab, LabRow
from tests.support.true_words import odd_labels

__all__ = ["LAYERS", "odd_lab"]

LAYERS = (0, 1, 2, 3)


def encoding(labels: list[str], n_pad: int, *, mask: str, lost: int = 0, pair: str | None = None):
    n = len(labels) + n_pad
    row = np.zeros(n, np.int64)
    return Encoding(
        text="", pair=pair, tokens=(*labels, *["[PAD]"] * n_pad), token_ids=row,
        attention_mask=np.array([1] * len(labels) + [0] * n_pad), token_type_ids=None,
        special_tokens_mask=row, offsets=np.zeros((n, 2), np.int64), word_ids=row,
        text_ids=row - 1, n_truncated=lost, hidden=np.zeros((4, n, 1), np.float32), layers=LAYERS,
        pooler_output=None, attentions=None,
        passport=Passport("m", "", "", "exact", {}, {"mask": mask}),
    )  # fmt: skip


def cosines(chance: random.Random, draw: np.random.Generator, *shape: int) -> np.ndarray:
    """Cosines as they come: spread, within noise, all the same, just about 1, negative."""
    base = chance.choice((1.0, 0.95, 0.5, 0.3, -0.2))
    noise = chance.choice((0, 0.004, 0.02, 0.5))
    return np.clip(base + noise * draw.uniform(-1, 1, shape), -1, 1).astype(np.float32)


def odd_lab(chance: random.Random, draw: np.random.Generator) -> Lab:
    pad_to, masked = chance.choice((4, 9, 32)), chance.random() < 0.5
    rows = []
    for i in range(chance.choice((1, 2, 3, 8))):
        n = chance.choice((1, 2, 3, pad_to))
        labels, pair = odd_labels(chance, n), chance.choice((None, "x"))
        lost = chance.choice((0, 0, 1, 90))
        rows.append(LabRow(
            "ABCDEFGH"[i],
            encoding(labels, 0, mask="model", lost=lost, pair=pair),
            encoding(labels, pad_to - n, mask="model" if masked else "ones", lost=lost, pair=pair),
            Damage(LAYERS, cosines(chance, draw, 4, n), cosines(chance, draw, 4),
                   cosines(chance, draw, 4), None, draw.uniform(0, 9, (4, pad_to))),
        ))  # fmt: skip
    return Lab(tuple(rows), pad_to, masked)
