"""The one door to a model: the `EncoderService` protocol, and the local service behind it.

Importing this module does not import torch: the encoder package is imported when a model is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from components.core.schema import (
    AttentionRequest,
    EmbeddingParts,
    Encoding,
    FloatArray,
    Mask,
    ModelCard,
    ModelSpec,
    Parameter,
    Precision,
    Progress,
    Tokens,
)


class EncoderService(Protocol):
    """What any source of encodings offers: local, cached or remote, callers cannot tell."""

    def models(self) -> tuple[ModelSpec, ...]:
        """The models that can be loaded, the default first."""
        ...

    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """The card of a model, after its files are fetched, checked and loaded."""
        ...

    def tokenize(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
    ) -> list[Tokens]:
        """Each text's tokens, in the order given; nothing is computed by the network."""
        ...

    def encode(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
        mask: Mask = "model",
        layers: Sequence[int] | None = None,
        attentions: AttentionRequest = False,
        precision: Precision = "exact",
    ) -> list[Encoding]:
        """Each text's encoding, in the order given."""
        ...

    def embedding_parts(
        self, model: str, text: str, *, pair: str | None = None
    ) -> EmbeddingParts:
        """The embedding layer's arithmetic for one text."""
        ...

    def word_rows(self, model: str, token_ids: Sequence[int]) -> FloatArray:
        """(len(token_ids), n_embedding_dims) float32 rows of the word-embedding table."""
        ...

    def nearest_rows(
        self, model: str, vector: FloatArray, n: int
    ) -> list[tuple[int, str, float]]:
        """The n rows of the word table nearest to a vector: (token ID, token, cosine)."""
        ...

    def parameters(self, model: str) -> tuple[Parameter, ...]:
        """Every parameter of the model, in its own order."""
        ...

    def matrix(self, model: str, name: str) -> FloatArray:
        """One parameter as float32; too large a one is refused."""
        ...
