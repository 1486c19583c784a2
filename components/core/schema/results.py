"""What a model says of a text: frozen, shapes stated once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.schema.requests import FloatArray, IntArray, Precision

__all__ = [
    "Attribution",
    "EmbeddingParts",
    "Encoding",
    "Passport",
    "Tokens",
]


@dataclass(frozen=True)
class Passport:
    """Everything behind a result that someone needs to get the same numbers again."""

    model: str
    revision: str
    checksum: str
    precision: Precision
    versions: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The passport as plain JSON-ready values."""
        return {
            "model": self.model,
            "revision": self.revision,
            "checksum": self.checksum,
            "precision": self.precision,
            "versions": dict(self.versions),
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, eq=False)
class Tokens:
    """One text (or pair) as a model's tokenizer cuts it.

    Attributes:
        text: the text as given.
        pair: the second text, or None.
        tokens: the tokenizer's pieces, special tokens and padding included.
        token_ids: (n_tokens,) int64.
        attention_mask: (n_tokens,) int64, 1 for real tokens and 0 for padding.
        token_type_ids: (n_tokens,) int64 segment of each token, or None where the model has none.
        special_tokens_mask: (n_tokens,) int64, 1 where the tokenizer added the token.
        offsets: (n_tokens, 2) int64, start and end in code points of the text that the token
            came from; (0, 0) for added tokens.
        word_ids: (n_tokens,) int64, index of the token's word in `words.split_words` of the text
            that it came from; -1 for added tokens.
        text_ids: (n_tokens,) int64, 0 for `text`, 1 for `pair`, -1 for added tokens.
        n_truncated: tokens of the text(s) that did not fit the model.
    """

    text: str
    pair: str | None
    tokens: tuple[str, ...]
    token_ids: IntArray
    attention_mask: IntArray
    token_type_ids: IntArray | None
    special_tokens_mask: IntArray
    offsets: IntArray
    word_ids: IntArray
    text_ids: IntArray
    n_truncated: int

    @property
    def n_tokens(self) -> int:
        """How many tokens there are, special ones and padding included."""
        return len(self.tokens)


@dataclass(frozen=True, eq=False, kw_only=True)
class Encoding(Tokens):
    """Everything a model says about one input.

    Attributes:
        hidden: (len(layers), n_tokens, n_dims) float32 hidden states.
        layers: the layer of each row of `hidden`; 0 is the embedding layer's output.
        pooler_output: (n_dims,) float32 of the model's own pooler, or None where it has none.
        attentions: (n_layers, n_heads, n_tokens, n_tokens) float32 with row 0 for layer 1; or
            (n_asked, n_tokens, n_tokens) in the order asked; or None. Rows are queries.
        passport: how to get the same numbers again.
    """

    hidden: FloatArray
    layers: tuple[int, ...]
    pooler_output: FloatArray | None
    attentions: FloatArray | None
    passport: Passport

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        arrays = (self.hidden, self.pooler_output, self.attentions, self.token_ids, self.offsets)
        return sum(a.nbytes for a in arrays if a is not None) + 5 * self.token_ids.nbytes

    def layer(self, layer: int) -> FloatArray:
        """(n_tokens, n_dims) hidden states of one layer by its number.

        Raises:
            ValueError: the layer was not asked for when encoding.
        """
        if layer not in self.layers:
            raise ValueError(f"Layer {layer} was not encoded; there are layers {self.layers}.")
        rows: FloatArray = self.hidden[self.layers.index(layer)]
        return rows


@dataclass(frozen=True, eq=False)
class EmbeddingParts:
    """The embedding layer's arithmetic for one input, step by step.

    word + position (+ segment) = total -> LayerNorm -> normalized (-> projection) -> output.

    Attributes:
        tokens: the input as tokenized.
        position_ids: (n_tokens,) int64 rows of the position table.
        word, position: (n_tokens, n_embedding_dims) float32 table rows.
        segment: the same of the segment table, or None where the model has none.
        total: their sum.
        normalized: LayerNorm of `total`.
        epsilon: what LayerNorm adds to the variance before it takes the root.
        projected: whether a linear layer follows (ALBERT; ELECTRA where sizes differ).
        output: (n_tokens, n_dims) float32, our layer 0.
    """

    tokens: Tokens
    position_ids: IntArray
    word: FloatArray
    position: FloatArray
    segment: FloatArray | None
    total: FloatArray
    normalized: FloatArray
    epsilon: float
    projected: bool
    output: FloatArray


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each token of an input adds to a cosine, by integrated gradients on layer 0.

    Attributes:
        tokens: the input as tokenized.
        layer: whose states were weighed and compared.
        shares: (n_tokens,) float64, what each token adds on the way from the start to the input;
            0 for tokens that are the same at both ends (special ones).
        start: cosine where each token that is not special has the word vector of [PAD].
        end: cosine of the input itself.
        steps: points of the way at which the gradient was taken, as many on each piece of it.
        cuts: ends of the pieces, in order: 0, places between, 1.
        passport: how to get the same numbers again.
    """

    tokens: Tokens
    layer: int
    shares: NDArray[np.float64]
    start: float
    end: float
    steps: int
    cuts: tuple[float, ...]
    passport: Passport

    @property
    def remainder(self) -> float:
        """What the shares leave unexplained: 0 where infinitely many steps are taken."""
        return self.end - self.start - float(self.shares.sum())
