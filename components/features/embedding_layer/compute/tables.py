"""The position and segment tables looked at closer, and which parameters the layer has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.analysis.tokens import labels
from components.core import EncoderService
from components.core.byte_cache import remembered
from components.core.errors import RequestError
from components.core.schema import PROJECTIONS, EmbeddingParts, FloatArray, Parameter
from components.features.embedding_layer.compute.parts import EmbeddingView
from components.features.embedding_layer.compute.words import other_texts
from components.features.embedding_layer.controls import ALONE, FEW, POSITIONS, SEGMENT_ONLY
from components.features.embedding_layer.measures.parts import moved_by, rebuild
from components.features.embedding_layer.measures.positions import Positions, look_at_positions
from components.ui.state.view import Sentence, ViewState

__all__ = [
    "MAX_BARS",
    "Moved",
    "PositionTable",
    "drawn_positions",
    "moved_tokens",
    "own_parameters",
    "parameter_rows",
    "position_table",
    "position_table_or_none",
    "segment_rows",
]

MAX_BARS = 20
"""Tokens of each text that are drawn as bars."""
_MAX_CELLS = 128  # positions on each side of the matrix
_POSITION_ROWS = "embeddings.position_embeddings.weight"
_SEGMENT_ROWS = "embeddings.token_type_embeddings.weight"
_OWN = ("embeddings.", *(f"{name}." for name in PROJECTIONS.values()))


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A model's position table: (n_rows, n_embedding_dims), and what it looks like."""

    rows: FloatArray
    look: Positions


@dataclass(frozen=True, eq=False)
class Moved:
    """How far tokens moved at layer 0.

    Attributes:
        names: what is written on each token.
        text_ids: the text that each is of, 0 or 1, and -1 for added ones.
        shares: (n_tokens,) the length of the change over the vector's before.
    """

    names: list[str]
    text_ids: list[int]
    shares: FloatArray

    @property
    def drawn(self) -> list[int]:
        """The places of each text's first tokens: a long one leaves room for the next."""
        ids = self.text_ids
        return [i for i, own in enumerate(ids) if ids[:i].count(own) < MAX_BARS]

    @property
    def drawn_names(self) -> list[str]:
        """What is written on the tokens that are drawn."""
        return [self.names[i] for i in self.drawn]


def position_table(embedding: EmbeddingView, service: EncoderService) -> PositionTable:
    """The position table of a model.

    Raises:
        RequestError: it has so many rows that it is not sent.
    """
    rows = service.matrix(embedding.card.id, _POSITION_ROWS)
    first = int(embedding.parts.position_ids[0])
    look = remembered(
        "position table",
        embedding.card.checksum,
        first,
        compute=lambda: look_at_positions(rows, first),
    )
    return PositionTable(rows, look)


def position_table_or_none(
    embedding: EmbeddingView, service: EncoderService
) -> PositionTable | None:
    """The same, or None where it is too large to be had."""
    try:
        return position_table(embedding, service)
    except RequestError:
        return None


def drawn_positions(view: ViewState, n: int) -> range:
    """Which of n positions the matrix draws: the first few, or as many as have room."""
    if POSITIONS.of(view) == POSITIONS.default:
        return range(0, n, -(-n // _MAX_CELLS))
    return range(n)[:FEW]


def segment_rows(embedding: EmbeddingView, service: EncoderService) -> FloatArray | None:
    """The segment table; None where the model has none."""
    if embedding.parts.segment is None:
        return None
    return service.matrix(embedding.card.id, _SEGMENT_ROWS)


def moved_tokens(
    view: ViewState, embedding: EmbeddingView, service: EncoderService, change: str
) -> Moved:
    """What a second text, or the other segment row, changes at layer 0."""
    rows = segment_rows(embedding, service)
    if change == SEGMENT_ONLY and rows is not None:
        return _other_segment(embedding, service, rows)
    other = next(iter(other_texts(view, embedding).values()))
    moved = _second_text(embedding, other, service)
    still = np.zeros_like(moved.shares)
    return Moved(moved.names, moved.text_ids, still) if change == ALONE else moved


def own_parameters(embedding: EmbeddingView, service: EncoderService) -> list[Parameter]:
    """The embedding layer's parameters."""
    return [p for p in service.parameters(embedding.card.id) if p.name.startswith(_OWN)]


def parameter_rows(parameters: list[Parameter]) -> list[dict[str, str | int]]:
    """The table of parameters."""
    states = {True: "in a trained layer", False: "in a layer that looks untrained", None: ""}
    return [
        {
            "parameter": parameter.name,
            "shape": " x ".join(map(str, parameter.shape)),
            "numbers": int(np.prod(parameter.shape)),
            "state": states[parameter.trained],
        }
        for parameter in parameters
    ]


def _other_segment(embedding: EmbeddingView, service: EncoderService, rows: FloatArray) -> Moved:
    """The text alone, with segment row 1 in place of 0."""
    parts = service.embedding_parts(embedding.card.id, embedding.sentence.text)
    before, after = (
        rebuild([parts.word, parts.position, row[None]], embedding.norm) for row in rows[:2]
    )
    names = list(labels(parts.tokens, embedding.vocabulary))
    return Moved(names, parts.tokens.text_ids.tolist(), moved_by(before, after))


def _second_text(embedding: EmbeddingView, other: Sentence, service: EncoderService) -> Moved:
    """The text with its pair, or else another one, beside the two alone."""
    model, first = embedding.card.id, embedding.sentence
    second = first.pair or other.text
    both = service.embedding_parts(model, first.text, pair=second)
    alone = [service.embedding_parts(model, text) for text in (first.text, second)]
    return _against_alone(both, alone, labels(both.tokens, embedding.vocabulary))


def _against_alone(
    both: EmbeddingParts, alone: list[EmbeddingParts], names: tuple[str, ...]
) -> Moved:
    """Each text's own tokens in the pair, beside the same tokens where the text stood alone."""
    places: list[int] = []
    moved: list[FloatArray] = []
    for which, single in enumerate(alone):
        here = np.flatnonzero(both.tokens.text_ids == which)
        there = np.flatnonzero(single.tokens.text_ids == 0)[: len(here)]
        here = here[: len(there)]
        places += here.tolist()
        moved.append(moved_by(single.output[there], both.output[here]))
    text_ids = both.tokens.text_ids[places].tolist() if places else []
    return Moved([names[i] for i in places], text_ids, np.concatenate(moved))
