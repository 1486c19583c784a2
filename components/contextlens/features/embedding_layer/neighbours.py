"""A closer look: the rows of the whole word table nearest to one token's row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, several, two
from contextlens.core import EncoderService
from contextlens.core.schema import PartState, Vocabulary
from contextlens.features.embedding_layer.controls import N_NEAREST_ROWS
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum
from contextlens.features.embedding_layer.word_rows import RandomBand, random_rows
from contextlens.figures.theme import CATEGORICAL, figure, plain, values
from contextlens.ui.panel import Panel, Rows

FORMULA = """
**Random rows.** The grey band of the neighbours runs from the 5th to the 95th percentile of the
cosines of pairs of rows drawn from the word table at random, with a fixed seed.
""".strip()


@dataclass(frozen=True, eq=False)
class Neighbours(Panel):
    """The rows of the word table nearest to a token's row, nearest first.

    Attributes:
        label: the text written on the token; not escaped.
        token_ids: the rows' numbers.
        pieces: their names in the vocabulary.
        names: the text written on them.
        cosines: one for each row.
        band: the cosines of random rows.
        n_rows: the number of rows in the table.
        state: the training state of the embedding layer.
    """

    formula: ClassVar[str] = FORMULA

    label: str
    token_ids: Sequence[int]
    pieces: Sequence[str]
    names: Sequence[str]
    cosines: Sequence[float]
    band: RandomBand
    n_rows: int
    state: PartState

    def claims(self) -> list[Claim]:
        """The row nearest to the token's row, the similarity expected by chance, any caution.

        Of n normally distributed similarities, the highest is about sqrt(2 log n) standard
        deviations above the mean, and the 95th percentile is 1.645 above it.
        """
        token, band = quoted(self.label), self.band
        if not self.names:
            return [claim("embedding_layer.near.alone", token=token)]
        best = self.cosines[0]
        nearest = several(
            [
                quoted(name)
                for name, cosine in zip(self.names, self.cosines, strict=True)
                if two(cosine) == two(best)
            ]
        )
        deviation = (band.high - band.mean) / 1.645
        expected = min(1.0, band.mean + deviation * math.sqrt(2 * math.log(max(self.n_rows, 1))))
        numbers = {"similarity": best, "expected": expected, "n_rows": self.n_rows}
        claims = [claim("embedding_layer.near.first", token=token, nearest=nearest, **numbers)]
        if self.state.state != "trained":
            claims.append(claim("embedding_layer.near.untrained"))
        elif best <= expected:
            claims.append(claim("embedding_layer.near.far", token=token))
        return claims

    def sure(self) -> list[Claim]:
        """The similarities of random rows, and how the chance value is estimated."""
        return [self.band.claim(), claim("embedding_layer.near.best_of")] if self.names else []

    def title(self) -> Claim:
        """The title of the bars."""
        n = len(self.names)
        return claim("embedding_layer.near.title", n=n, n_rows=self.n_rows, token=self.label)

    def figure(self) -> go.Figure:
        """The rows as bars, in front of the band of random rows."""
        cosines = np.array(self.cosines, np.float32)
        positions = list(range(len(cosines)))
        trace = {
            "type": "bar",
            "orientation": "h",
            "x": values(cosines),
            "y": positions,
            "marker": {"color": CATEGORICAL[0]},
            "text": [two(value) for value in cosines],
            "textposition": "outside",
            "hovertemplate": "%{y}<br>cosine %{x:.4f}<extra></extra>",
        }
        band = {
            "type": "rect",
            "x0": self.band.low,
            "x1": self.band.high,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "fillcolor": "rgba(128,128,128,0.22)",
            "line": {"width": 0},
            "layer": "below",
        }
        names = zip(self.names, self.token_ids, strict=True)
        layout = {
            "xaxis": {
                "title": {"text": "cosine · grey: random rows"},
                "range": [min(-0.1, self.band.low - 0.05), 1.08],
                "zeroline": False,
            },
            "yaxis": {
                "showgrid": False,
                "zeroline": False,
                "ticks": "",
                "tickvals": positions,
                "ticktext": [plain(f"{name}  {token_id}", 22) for name, token_id in names],
                "autorange": "reversed",
            },
            "shapes": [band],
            "margin": {"l": 150, "b": 48},
            "bargap": 0.3,
        }
        return figure([trace], layout, title=str(self.title()), height=360)

    def alt(self) -> str:
        """A description of the bars."""
        return say("embedding_layer.near.alt", title=str(self.title()))

    def rows(self) -> Rows:
        """The nearest rows."""
        columns = zip(self.token_ids, self.pieces, self.cosines, strict=True)
        return [{"ID": i, "token": piece, "cosine": cosine} for i, piece, cosine in columns]


def neighbours(
    embedding: EmbeddingSum, position: int, service: EncoderService
) -> Neighbours | None:
    """The rows nearest to a token's row, without itself; None if that row is all zeros."""
    parts, card = embedding.parts, embedding.card
    row, own_id = parts.word[position], int(parts.tokens.token_ids[position])
    if not row.any():
        return None
    nearest = service.nearest_rows(card.id, row, N_NEAREST_ROWS + 1)
    others = [(i, piece, cosine) for i, piece, cosine in nearest if i != own_id][:N_NEAREST_ROWS]
    return Neighbours(
        label=embedding.labels[position],
        token_ids=[i for i, _, _ in others],
        pieces=[piece for _, piece, _ in others],
        names=[_written(embedding.vocabulary, i, piece) for i, piece, _ in others],
        cosines=[cosine for _, _, cosine in others],
        band=random_rows(service, card),
        n_rows=card.vocabulary_size,
        state=embedding.state,
    )


def _written(vocabulary: Vocabulary, token_id: int, piece: str) -> str:
    """The text shown for a piece: the piece itself, or its decoded text if pieces are encoded."""
    is_encoded = token_id < len(vocabulary.texts) and vocabulary.method != "WordPiece"
    return (vocabulary.texts[token_id] if is_encoded else "") or piece
