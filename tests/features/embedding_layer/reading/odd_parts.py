"""Odd rows that an embedding layer adds, and what each part's share is, computed anew."""

from __future__ import annotations

import random

import numpy as np

from components.core.schema import EmbeddingParts, PartState, Tokens
from components.features.embedding_layer.measures.parts import Norm

__all__ = ["TRAINED", "UNTRAINED", "expected", "odd_parts", "tokens"]

TRAINED = PartState("trained", "The checkpoint has weights.")
UNTRAINED = PartState("untrained", "Every bias is exactly 0.")


def odd_parts(chance: random.Random, draw: np.random.Generator) -> tuple[EmbeddingParts, Norm]:
    """Rows that are added, as models have them or not: equal ones, opposite ones, zeros."""
    n, d = chance.choice((1, 2, 3, 7, 12)), chance.choice((2, 4, 8))
    word, position = draw.normal(size=(2, n, d))
    segment = np.repeat(draw.normal(size=(1, d)), n, axis=0)
    how = chance.randrange(7)
    if how == 1:
        position = word.copy()  # a tie
    elif how == 2:
        position = -word * chance.choice((0.5, 1, 2))
    elif how == 3:
        word, position, segment = np.zeros((3, n, d))
    elif how == 4:
        position = word * (1 + draw.uniform(-0.05, 0.05, size=(n, 1)))  # within noise
    elif how == 5:
        word = np.repeat(word[:1], n, axis=0)
    rows = [part.astype(np.float32) for part in (word, position, segment)]
    total = rows[0] + rows[1]
    if two := chance.random() < 0.3:
        rows[2] = None
    else:
        total = total + rows[2]
    norm = Norm(*draw.normal(size=(2, d)).astype(np.float32), epsilon=1e-12)
    parts = EmbeddingParts(
        tokens=tokens(n), position_ids=np.arange(n), word=rows[0], position=rows[1],
        segment=None if two else rows[2], total=total, normalized=total, epsilon=1e-12,
        projected=False, output=total,
    )  # fmt: skip
    return parts, norm


def tokens(n: int, *, lost: int = 0, pair: str | None = None) -> Tokens:
    ones = np.ones(n, np.int64)
    return Tokens("", pair, ("x",) * n, ones, ones, None, 0 * ones, np.zeros((n, 2), np.int64),
                  0 * ones, 0 * ones, lost)  # fmt: skip


def expected(parts: EmbeddingParts, norm: Norm) -> dict[str, list[np.ndarray]]:
    """Share, distance and 1 - cosine of each part, computed another way than the page does."""
    own = {"word": parts.word, "position": parts.position}
    own |= {} if parts.segment is None else {"segment": parts.segment}
    wide = {name: rows.astype(np.float64) for name, rows in own.items()}
    total = np.sum(list(wide.values()), axis=0)

    def after(rows: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            z = (rows - rows.mean(1)[:, None]) / np.sqrt(rows.var(1) + norm.epsilon)[:, None]
        return z * norm.scale + norm.shift

    found = {}
    for name, rows in wide.items():
        share, moved, turned = np.zeros((3, len(total)))
        for i, (row, x) in enumerate(zip(rows, total, strict=True)):
            length = np.linalg.norm(x)
            share[i] = 0 if not x.any() else np.dot(row, x / length) / length
            here, there = after(total[i : i + 1])[0], after((x - row)[None])[0]
            moved[i] = np.linalg.norm(there - here) / np.linalg.norm(here)
            both = np.linalg.norm(here) * np.linalg.norm(there)
            turned[i] = 1 - here @ there / both
        found[name] = [share, moved, turned]
    return found
