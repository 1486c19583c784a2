"""The position table of a model: its rows in two dimensions, and beside the fixed formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contextlens.core import EncoderService
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import FloatArray
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum

_ROWS = "embeddings.position_embeddings.weight"
_MIN_FIXED = 0.99
"""The least mean cosine with the fixed formula at which a table counts as following it."""


@dataclass(frozen=True, eq=False)
class PositionStatistics:
    """The measurements of a position table.

    Attributes:
        first: the first row that a text uses; the rows before it (RoBERTa, MPNet) are left out.
        curve: (n_rows, 2) the rows on their first two principal components.
        explained: the share of the variance on each of the two.
        fixed: mean cosine of the rows with those of the fixed sine and cosine formula.
    """

    first: int
    curve: FloatArray
    explained: tuple[float, float]
    fixed: float

    @property
    def is_fixed(self) -> bool:
        """True if the table holds the fixed formula's rows, apart from their lengths."""
        return self.fixed >= _MIN_FIXED


def position_table(
    embedding: EmbeddingSum, service: EncoderService
) -> tuple[FloatArray, PositionStatistics] | None:
    """A model's position table (n_rows, n_embedding_dims), and its measurements.

    None for a model without such a table.

    Raises:
        RequestError: it has too many rows to be sent.
    """
    if embedding.parts.position_ids is None:
        return None
    rows = service.matrix(embedding.card.id, _ROWS)
    first = int(embedding.parts.position_ids[0])
    return rows, remembered(
        "position table",
        embedding.card.checksum,
        first,
        compute=lambda: compare_positions(rows, first),
    )


def compare_positions(table: FloatArray, first: int) -> PositionStatistics:
    """Measure a table's rows, from `first` on, and compare them with the formula."""
    rows = table[first:]
    formula = sinusoid(*table.shape)[first:]
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(formula, axis=1)
    fixed = float(((rows * formula).sum(axis=1) / np.maximum(lengths, 1e-12)).mean())
    curve, explained = _principal(rows)
    return PositionStatistics(first, curve, explained, fixed)


def sinusoid(n_rows: int, n_dims: int) -> FloatArray:
    """(n_rows, n_dims) the fixed position vectors of Vaswani et al. 2017, section 3.5."""
    dims = np.arange(n_dims)
    angles = np.arange(n_rows)[:, None] / 10_000 ** (2 * (dims // 2) / n_dims)
    table: FloatArray = np.where(dims % 2 == 0, np.sin(angles), np.cos(angles)).astype(np.float32)
    return table


def _principal(rows: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Coordinates on the first two principal components, and their share of the variance.

    Uses the matrix of inner products, of the rows or of the dimensions, whichever are fewer: same
    as PCA.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    is_tall = len(rows) > rows.shape[1]
    values, vectors = np.linalg.eigh(centred.T @ centred if is_tall else centred @ centred.T)
    top = np.maximum(values[::-1][:2], 0)
    axes = vectors[:, ::-1][:, :2]
    curve = centred @ axes if is_tall else axes * np.sqrt(top)
    if curve.shape[1] < 2:
        curve = np.pad(curve, ((0, 0), (0, 2 - curve.shape[1])))
        top = np.pad(top, (0, 2 - len(top)))
    variance = max(float(np.maximum(values, 0).sum()), 1e-24)
    return curve.astype(np.float32), (float(top[0]) / variance, float(top[1]) / variance)
