"""What is compared of a text: how much each token counts, and the vector that they make up.

A sentence vector, [CLS] and a word's vector are all the same thing with other weights: a weighted
sum of the hidden states of one layer. So all that follows is written once for the three of them.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from components.analysis.words import token_positions
from components.core.errors import RequestError
from components.core.schema import FloatArray, Tokens
from components.core.words import Span

__all__ = ["WHATS", "Doubles", "What", "cosine", "vector_of", "weights_of"]

Doubles = NDArray[np.float64]

What = Literal["mean", "cls", "word"]
"""The mean over all real tokens, special ones included; the first token; a word's tokens."""
WHATS: tuple[What, ...] = get_args(What)


def weights_of(tokens: Tokens, what: What, span: Span | None = None) -> Doubles:
    """(n_tokens,) float64 what each token counts; they sum to 1.

    Args:
        tokens: of the text.
        what: what is compared.
        span: of the chosen word in the text; only a word needs it.

    Raises:
        RequestError: no word is chosen, or the model does not read it.
    """
    if what == "word":
        if span is None:
            raise RequestError("No word of this sentence is chosen. Choose one.")
        return _even(token_positions(tokens, span), tokens.n_tokens)
    real = np.flatnonzero(tokens.attention_mask)
    return _even(real[:1] if what == "cls" else real, tokens.n_tokens)


def _even(positions: NDArray[np.int64], n_tokens: int) -> Doubles:
    weights = np.zeros(n_tokens)
    weights[positions] = 1 / len(positions)
    return weights


def vector_of(hidden: FloatArray, weights: Doubles) -> Doubles:
    """(..., n_dims) float64 of (..., n_tokens, n_dims) hidden states."""
    used = np.flatnonzero(weights)
    vector: Doubles = np.einsum("t,...td->...d", weights[used], hidden[..., used, :], dtype=float)
    return vector


def cosine(first: Doubles, second: Doubles) -> float:
    """The cosine of two vectors in [-1, 1]; 0 where one has no length."""
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return 0.0 if lengths == 0 else float(np.clip(first @ second / lengths, -1.0, 1.0))
