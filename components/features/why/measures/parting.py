"""How far the senses of a word stand apart: the gap between cosines of one sense and of two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.features.why.measures.target import Doubles

__all__ = ["sense_gap"]


def sense_gap(vectors: Doubles, senses: Sequence[str]) -> float:
    """The mean cosine of pairs of one sense, less that of pairs of two senses.

    A continuous measure, which moves with every head; accuracies jump from sentence to sentence.

    Args:
        vectors: (n, n_dims) of one word in n sentences; at least two of one sense, and two senses.
        senses: (n,) what it means in each.

    Raises:
        ValueError: there are no pairs of one sense, or none of two.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    first, second = np.triu_indices(len(units), 1)
    names = np.array(senses)
    same = names[first] == names[second]
    if not same.any() or same.all():
        raise ValueError("A gap needs pairs of one sense and pairs of two senses.")
    cosines = (units @ units.T)[first, second]
    return float(cosines[same].mean() - cosines[~same].mean())
