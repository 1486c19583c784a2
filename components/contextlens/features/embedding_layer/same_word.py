"""A closer look: the word rows of two texts side by side, with identical ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.tokens import labels
from contextlens.content.language import Claim, claim, say
from contextlens.core import EncoderService
from contextlens.core.schema import EmbeddingParts, FloatArray, IntArray
from contextlens.features.embedding_layer.controls import MAX_MATRIX_TOKENS
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum
from contextlens.features.embedding_layer.word_rows import RandomBand, random_rows, row_cosines
from contextlens.figures.theme import SIGNED, figure, plain
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.view import Sentence

_MAX_ROUNDING = 1e-5  # differences of layer 0 up to this one can come from rounding


@dataclass(frozen=True)
class SharedToken:
    """A token that two texts share, at its first position in each.

    Attributes:
        first, second: its position in the first text and in the second.
        token_id: its row of the word table.
        word: the largest difference between its word rows, 0 if they are identical.
        output: the largest difference between its vectors at layer 0.
    """

    first: int
    second: int
    token_id: int
    word: float
    output: float


@dataclass(frozen=True, eq=False)
class SameWord(Panel):
    """The word rows of two texts beside each other.

    Attributes:
        names: the names of the two texts.
        parts: the embedding layer of the first text and of the second.
        labels: the text written on the tokens of each.
        shared: the tokens that occur in both.
        band: the cosines of random rows.
    """

    names: tuple[str, str]
    parts: tuple[EmbeddingParts, EmbeddingParts]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    shared: Sequence[SharedToken]
    band: RandomBand

    @property
    def drawn_cosines(self) -> FloatArray:
        """(n_first, n_second) cosines of the rows in the matrix."""
        one, other = (parts.word[:MAX_MATRIX_TOKENS] for parts in self.parts)
        return row_cosines(one, other)

    @property
    def drawn_equal(self) -> list[SharedToken]:
        """The tokens in the matrix whose word rows are identical."""
        return [
            token
            for token in self.shared
            if token.word == 0 and max(token.first, token.second) < MAX_MATRIX_TOKENS
        ]

    def claims(self) -> list[Claim]:
        """The number of tokens that two texts share, and how many of these differ at layer 0."""
        if not self.shared:
            return [claim("embedding_layer.same.none")]
        n, equal = len(self.shared), self._n_equal()
        moved = sum(token.output > _MAX_ROUNDING for token in self.shared)
        claims = [
            claim(f"embedding_layer.same.{'rows' if equal == n else 'differ'}", n=n, equal=equal),
            claim(f"embedding_layer.same.{'moved' if moved else 'still'}", moved=moved, n_shared=n),
        ]
        one, other = (p.tokens.token_ids[p.tokens.text_ids >= 0] for p in self.parts)
        is_in_text = np.isin(one, other).any()  # and not only added by the tokenizer
        return claims if is_in_text else [*claims, claim("embedding_layer.same.added")]

    def notes(self) -> list[Claim]:
        """The number of tokens in the matrix, if it leaves some out."""
        if max(map(len, self.labels)) <= MAX_MATRIX_TOKENS:
            return []
        return [claim("embedding_layer.cut_rows", n=MAX_MATRIX_TOKENS)]

    def title(self) -> Claim:
        """The number of tokens with identical rows in both texts."""
        n = self._n_equal()
        return claim("embedding_layer.same.title" if n else "embedding_layer.same.title_none", n=n)

    def figure(self) -> go.Figure:
        """The cosines of the word rows on a scale from -1 to 1; "=" marks identical rows."""
        equal_cells = {(token.first, token.second) for token in self.drawn_equal}
        down, across = (
            [plain(label, 12) for label in side[:MAX_MATRIX_TOKENS]] for side in self.labels
        )
        trace: dict[str, Any] = {
            "type": "heatmap",
            "z": np.round(self.drawn_cosines, 5).astype(np.float32),
            "zmin": -1,
            "zmax": 1,
            **SIGNED,
            "xgap": 1,
            "ygap": 1,
            "text": [
                ["=" if (i, j) in equal_cells else "" for j in range(len(across))]
                for i in range(len(down))
            ],
            "texttemplate": "%{text}",
            "hovertemplate": "%{y} ~ %{x}<br>cosine %{z:.4f}<extra></extra>",
            "colorbar": {"title": {"text": "cosine"}, "thickness": 8, "len": 0.9},
        }
        layout = {
            "xaxis": {**_axis(across, self.names[1]), "automargin": True},
            "yaxis": {**_axis(down, self.names[0]), "autorange": "reversed"},
            "margin": {"l": 104, "r": 74},
        }
        return figure([trace], layout, title=str(self.title()), height=360)

    def alt(self) -> str:
        """A description of the matrix."""
        return say("embedding_layer.same.alt", title=str(self.title()))

    def rows(self) -> Rows:
        """The tokens that occur in both texts."""
        return [
            {
                "token": self.labels[0][token.first],
                "ID": token.token_id,
                "position here": token.first,
                "position there": token.second,
                "word rows differ by": token.word,
                "layer 0 differs by": token.output,
            }
            for token in self.shared
        ]

    def _n_equal(self) -> int:
        return sum(token.word == 0 for token in self.shared)


def same_word(
    embedding: EmbeddingSum, other: Sentence, names: tuple[str, str], service: EncoderService
) -> SameWord:
    """Compare the word rows of the page's text with those of another text."""
    other_parts = service.embedding_parts(embedding.card.id, other.text, pair=other.pair)
    return SameWord(
        names=names,
        parts=(embedding.parts, other_parts),
        labels=(embedding.labels, labels(other_parts.tokens, embedding.vocabulary)),
        shared=shared_tokens(embedding.parts, other_parts),
        band=random_rows(service, embedding.card),
    )


def shared_tokens(one: EmbeddingParts, other: EmbeddingParts) -> list[SharedToken]:
    """The tokens that two texts share, in the order of the first."""
    other_positions = _first_positions(other.tokens.token_ids)
    shared = []
    for token_id, i in _first_positions(one.tokens.token_ids).items():
        j = other_positions.get(token_id)
        if j is not None:
            word = float(np.abs(one.word[i] - other.word[j]).max())
            output = float(np.abs(one.output[i] - other.output[j]).max())
            shared.append(SharedToken(i, j, token_id, word, output))
    return shared


def _first_positions(ids: IntArray) -> dict[int, int]:
    """Each ID with its first position, in the order of the text."""
    positions: dict[int, int] = {}
    for i, token_id in enumerate(ids.tolist()):
        positions.setdefault(token_id, i)
    return positions


def _axis(names: Sequence[str], title: str) -> dict[str, Any]:
    return {
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "title": {"text": title},
        "tickvals": list(range(len(names))),
        "ticktext": names,
    }
