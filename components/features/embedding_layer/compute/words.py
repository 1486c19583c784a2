"""Word rows looked at closer: those that two texts share, and the nearest to a token's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from components.analysis.tokens import labels
from components.content.examples import EXAMPLES
from components.core import EncoderService, ModelCard
from components.core.byte_cache import remembered
from components.core.schema import EmbeddingParts, FloatArray, Vocabulary
from components.features.embedding_layer.compute.parts import EmbeddingView
from components.features.embedding_layer.measures.words import (
    Band,
    Shared,
    random_band,
    row_cosines,
    shared_tokens,
)
from components.ui.state.view import Sentence, ViewState, letter

__all__ = ["MAX_TOKENS", "NearRows", "TwoTexts", "near_rows", "other_texts", "two_texts"]

MAX_TOKENS = 24
"""Tokens of each text that are drawn in the matrix."""
_N_NEIGHBOURS = 10
_N_RANDOM = 2000  # rows behind the random-row band
_SEED = 0


@dataclass(frozen=True, eq=False)
class TwoTexts:
    """The word rows of two texts beside each other.

    Attributes:
        parts: the embedding layer of the one text and the other.
        labels: what is written on the tokens of each.
        shared: the tokens in both.
        band: how alike random rows are.
    """

    parts: tuple[EmbeddingParts, EmbeddingParts]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    shared: list[Shared]
    band: Band

    @property
    def share_own(self) -> bool:
        """Whether any token stands in both texts without being added by the tokenizer."""
        one, other = (p.tokens.token_ids[p.tokens.text_ids >= 0] for p in self.parts)
        return bool(np.isin(one, other).any())

    @property
    def drawn_labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels of the tokens that are drawn."""
        one, other = self.labels
        return one[:MAX_TOKENS], other[:MAX_TOKENS]

    @property
    def drawn_cosines(self) -> FloatArray:
        """Cosines of the rows that are drawn."""
        one, other = self.parts
        return row_cosines(one.word[:MAX_TOKENS], other.word[:MAX_TOKENS])

    @property
    def drawn_equal(self) -> list[Shared]:
        """The equal rows among those that are drawn."""
        return [s for s in self.shared if s.word == 0 and max(s.first, s.second) < MAX_TOKENS]

    @property
    def is_cut(self) -> bool:
        """Whether some tokens are not drawn."""
        return max(map(len, self.labels)) > MAX_TOKENS

    def rows(self) -> list[dict[str, Any]]:
        """The table of the tokens in both."""
        return [
            {
                "token": self.labels[0][shared.first],
                "ID": shared.token_id,
                "position here": shared.first,
                "position there": shared.second,
                "word rows differ by": shared.word,
                "layer 0 differs by": shared.output,
            }
            for shared in self.shared
        ]


@dataclass(frozen=True, eq=False)
class NearRows:
    """The rows of the word table that are nearest to one, nearest first.

    Attributes:
        token_ids: which rows they are.
        pieces: what the vocabulary calls them.
        names: what is written on them.
        cosines: (n_rows,).
        band: how alike random rows are.
    """

    token_ids: tuple[int, ...]
    pieces: tuple[str, ...]
    names: tuple[str, ...]
    cosines: tuple[float, ...]
    band: Band

    def rows(self) -> list[dict[str, Any]]:
        """The table of these rows."""
        each = zip(self.token_ids, self.pieces, self.cosines, strict=True)
        return [{"ID": i, "token": piece, "cosine": cosine} for i, piece, cosine in each]


def other_texts(view: ViewState, embedding: EmbeddingView) -> dict[str, Sentence]:
    """Texts to compare with: the other sentences, and a ready one so that there always is one."""
    own = embedding.sentence.text.strip()
    others = {letter(i): s for i, s in enumerate(view.sentences) if i != embedding.index}
    ready = next(s.text for s in EXAMPLES[0].sentences[::-1] if s.text.strip() != own)
    return {**others, "Example": Sentence(ready)}


def two_texts(embedding: EmbeddingView, other: Sentence, service: EncoderService) -> TwoTexts:
    """The page's text beside another one."""
    theirs = service.embedding_parts(embedding.card.id, other.text, pair=other.pair)
    return TwoTexts(
        parts=(embedding.parts, theirs),
        labels=(embedding.labels, labels(theirs.tokens, embedding.vocabulary)),
        shared=shared_tokens(embedding.parts, theirs),
        band=_random_rows(service, embedding.card),
    )


def near_rows(embedding: EmbeddingView, position: int, service: EncoderService) -> NearRows | None:
    """The nearest rows to a token's but its own; None where it is all zeros."""
    row, own = embedding.parts.word[position], int(embedding.parts.tokens.token_ids[position])
    if not row.any():
        return None
    nearest = service.nearest_rows(embedding.card.id, row, _N_NEIGHBOURS + 1)
    found = [each for each in nearest if each[0] != own][:_N_NEIGHBOURS]
    return NearRows(
        token_ids=tuple(i for i, _, _ in found),
        pieces=tuple(piece for _, piece, _ in found),
        names=tuple(_written(embedding.vocabulary, i, piece) for i, piece, _ in found),
        cosines=tuple(cosine for _, _, cosine in found),
        band=_random_rows(service, embedding.card),
    )


def _written(vocabulary: Vocabulary, token_id: int, piece: str) -> str:
    """A piece as it is written, or its text where pieces are coded."""
    known = token_id < len(vocabulary.texts) and vocabulary.method != "WordPiece"
    return (vocabulary.texts[token_id] if known else "") or piece


def _random_rows(service: EncoderService, card: ModelCard) -> Band:
    """How alike rows of a model's word table are that have nothing to do with each other."""

    def measured() -> Band:
        ids = np.random.default_rng(_SEED).integers(card.vocabulary_size, size=_N_RANDOM)
        return random_band(service.word_rows(card.id, ids))

    return remembered("random word rows", card.checksum, compute=measured)
