"""A closer look: the segment rows, and the effect of a second text on layer 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.tokens import labels
from contextlens.content.language import Claim, claim, say
from contextlens.core import EncoderService
from contextlens.core.schema import FloatArray
from contextlens.features.embedding_layer.arithmetic import moved_by, rebuild, summands
from contextlens.features.embedding_layer.controls import (
    ALONE,
    MAX_MOVED_TOKENS,
    PAIR,
    SEGMENT_ONLY,
)
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum
from contextlens.figures.frames import vector_strips
from contextlens.figures.theme import CATEGORICAL, figure, plain, values
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import Sentence

_MAX_NUMBERS = 16  # bars with room for a number above each
_ROWS = "embeddings.token_type_embeddings.weight"


@dataclass(frozen=True, eq=False)
class Segments(Panel):
    """The segment rows, and the distance that each token's vector moves at layer 0.

    Attributes:
        table: the segment rows; None if the model has none.
        change: the chosen option of `controls.CHANGE`.
        names: the text written on each token.
        text_ids: the text of each token, 0 or 1, and -1 for added ones.
        moved: (n_tokens,) the length of the change divided by the vector's length before.
    """

    table: FloatArray | None
    change: str
    names: Sequence[str]
    text_ids: Sequence[int]
    moved: FloatArray

    @property
    def drawn(self) -> list[int]:
        """The indices of each text's first `MAX_MOVED_TOKENS` tokens, so that both are drawn."""
        ids = self.text_ids
        return [i for i, text_id in enumerate(ids) if ids[:i].count(text_id) < MAX_MOVED_TOKENS]

    def claims(self) -> list[Claim]:
        """The movement of both texts' tokens, and the distance between two segment rows."""
        return [self._movement(), self._rows_claim()]

    def notes(self) -> list[Claim]:
        """The number of bars, if tokens are left out."""
        all_drawn = len(self.drawn) == len(self.names)
        return [] if all_drawn else [claim("embedding_layer.moved.drawn", n=MAX_MOVED_TOKENS)]

    def title(self) -> Claim:
        """The largest movement."""
        largest = float(self.moved.max(initial=0))
        case = "moved" if largest else "still"
        return claim(f"embedding_layer.moved.title.{case}", most=largest)

    def figure(self) -> go.Figure:
        """The distance that each token's vector moved, as bars."""
        drawn = self.drawn
        names, moved = [self.names[i] for i in drawn], self.moved[drawn]
        axis = "tokens of the first text, then of the second" if 1 in self.text_ids else "token"
        trace = {
            "type": "bar",
            "x": list(range(len(names))),
            "y": values(moved),
            "marker": {"color": CATEGORICAL[0]},
            "text": [f"{share:.0%}" for share in moved] if len(names) <= _MAX_NUMBERS else None,
            "textposition": "outside",
            "cliponaxis": False,
            "hovertemplate": "%{x}<br>moved by %{y:.2%} of its length<extra></extra>",
        }
        layout = {
            "xaxis": {
                "showgrid": False,
                "zeroline": False,
                "ticks": "",
                "tickvals": list(range(len(names))),
                "ticktext": [plain(name, 12) for name in names],
                "automargin": True,
                "title": {"text": axis},
            },
            "yaxis": {
                "title": {"text": "moved, of its length"},
                "tickformat": ".0%",
                "range": [0, max(0.1, 1.15 * float(moved.max(initial=0)))],
            },
            "margin": {"l": 68, "r": 8, "b": 72},
        }
        return figure([trace], layout, title=str(self.title()), height=280)

    def alt(self) -> str:
        """A description of the bars."""
        return say("embedding_layer.moved.alt", title=str(self.title()))

    def strips(self) -> go.Figure | None:
        """The rows of segments 0 and 1 and their difference; None if there are not two."""
        if self.table is None or len(self.table) < 2:
            return None
        return vector_strips(
            np.vstack([self.table[:2], self.table[1:2] - self.table[:1]]),
            ["segment 0", "segment 1", "difference"],
            title=say("embedding_layer.segments.title"),
            height=220,
        )

    def _movement(self) -> Claim:
        if self.change == ALONE:
            return claim("embedding_layer.moved.alone")
        if not self.moved.size:
            return claim("embedding_layer.moved.empty")
        if self.change == SEGMENT_ONLY:
            return claim("embedding_layer.moved.segment", share=float(self.moved.mean()))
        ids = np.asarray(self.text_ids)
        texts = {"first": self.moved[ids == 0], "second": self.moved[ids == 1]}
        means = {name: float(shares.mean()) for name, shares in texts.items() if shares.size}
        verdict = "both" if len(means) > 1 else "first" if "first" in means else "second"
        return claim(f"embedding_layer.moved.{verdict}", **means)

    def _rows_claim(self) -> Claim:
        table = self.table
        if table is None or len(table) < 2:
            has_row = table is not None and len(table)
            return claim(f"embedding_layer.segments.{'one' if has_row else 'none'}")
        lengths = np.linalg.norm([table[0] - table[1], table[0], table[1]], axis=1).tolist()
        numbers = dict(zip(("apart", "first", "second"), lengths, strict=True))
        verdict = "apart" if lengths[0] else "equal"
        return claim(f"embedding_layer.segments.{verdict}", **numbers)


def segment_table(embedding: EmbeddingSum, service: EncoderService) -> FloatArray | None:
    """The segment rows of a model; None if it has none."""
    return None if embedding.parts.segment is None else service.matrix(embedding.card.id, _ROWS)


def segments(
    embedding: EmbeddingSum,
    other: Sentence,
    service: EncoderService,
    *,
    table: FloatArray | None,
    change: str,
) -> Segments:
    """The effect of a second text, or of the other segment row, on layer 0.

    Args:
        embedding: the first text.
        other: the second text, if the sentence has no pair.
        service: computes the embedding layer.
        table: the result of `segment_table`.
        change: an option of `controls.change_in`.
    """
    if change == SEGMENT_ONLY and table is not None:
        return _other_segment(embedding, service, table)
    result = _second_text(embedding, other, service, table)
    if change == ALONE:
        return replace(result, change=change, moved=np.zeros_like(result.moved))
    return replace(result, change=change)


def _other_segment(embedding: EmbeddingSum, service: EncoderService, table: FloatArray) -> Segments:
    """The movement of the text alone if it gets segment row 1 instead of 0."""
    parts = service.embedding_parts(embedding.card.id, embedding.sentence.text)
    rows = [summand for name, summand in summands(parts).items() if name != "segment"]
    before, after = (rebuild([*rows, row[None]], embedding.normalization) for row in table[:2])
    return Segments(
        table=table,
        change=SEGMENT_ONLY,
        names=labels(parts.tokens, embedding.vocabulary),
        text_ids=parts.tokens.text_ids.tolist(),
        moved=moved_by(before, after),
    )


def _second_text(
    embedding: EmbeddingSum, other: Sentence, service: EncoderService, table: FloatArray | None
) -> Segments:
    """The movement of each text's tokens from the text alone to the pair."""
    model, first = embedding.card.id, embedding.sentence
    second = first.pair or other.text
    joined = service.embedding_parts(model, first.text, pair=second)
    names = labels(joined.tokens, embedding.vocabulary)
    positions: list[int] = []
    moved: list[FloatArray] = []
    for text_id, text in enumerate((first.text, second)):
        alone = service.embedding_parts(model, text)
        in_pair = np.flatnonzero(joined.tokens.text_ids == text_id)
        in_alone = np.flatnonzero(alone.tokens.text_ids == 0)[: len(in_pair)]
        in_pair = in_pair[: len(in_alone)]
        positions += in_pair.tolist()
        moved.append(moved_by(alone.output[in_alone], joined.output[in_pair]))
    return Segments(
        table=table,
        change=PAIR,
        names=[names[i] for i in positions],
        text_ids=joined.tokens.text_ids[positions].tolist() if positions else [],
        moved=np.concatenate(moved),
    )
