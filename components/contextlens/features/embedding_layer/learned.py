"""A closer look: what the layer learned, with its position rows beside the fixed formula."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.families import FAMILIES, PROJECTIONS
from contextlens.core.schema import FloatArray, Parameter, PartState
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum, untrained_caution
from contextlens.features.embedding_layer.position_table import (
    PositionStatistics,
    position_table,
    sinusoid,
)
from contextlens.figures.frames import vector_strips
from contextlens.ui.panel import Panel, Rows

_LAYER_NAMES = (
    *{f"{family.tables or family.word_table}." for family in FAMILIES.values()},
    *(f"{name}." for name in PROJECTIONS.values()),
)
_WORD_TABLES = tuple(f"{family.word_name}.weight" for family in FAMILIES.values())
_STATES = {True: "in a trained layer", False: "in a layer that looks untrained", None: ""}
_N_STRIPS = 16
_MAX_DIMS = 64  # of a strip: up to this many can be told apart


@dataclass(frozen=True, eq=False)
class Learned(Panel):
    """The parameters of the embedding layer, and its position table.

    Attributes:
        parameters: those of the layer.
        state: the training state of the layer.
        table: (n_rows, n_dims) the position rows; None if they are too many to be sent.
        statistics: their measurements.
    """

    parameters: Sequence[Parameter]
    state: PartState
    table: FloatArray | None
    statistics: PositionStatistics | None

    def claims(self) -> list[Claim]:
        """The number of parameters, whether positions follow the formula, and any caution."""
        sizes = {p.name: int(np.prod(p.shape)) for p in self.parameters}
        words = sum(size for name, size in sizes.items() if name.endswith(_WORD_TABLES))
        n = sum(sizes.values())
        claims = [claim("embedding_layer.learned.count", n=n, share=words / n)]
        if self.statistics is not None:
            verdict, cosine = "fixed" if self.statistics.is_fixed else "free", self.statistics.fixed
            claims.append(claim(f"embedding_layer.learned.{verdict}", similarity=cosine))
        return [*claims, *untrained_caution(self.state)]

    def notes(self) -> list[Claim]:
        """A remark on a common error about positions, where it is one."""
        if self.state.state != "trained" or self.statistics is None or self.statistics.is_fixed:
            return []
        return [claim("embedding_layer.learned_note")]

    def rows(self) -> Rows:
        """The parameters."""
        return [
            {
                "parameter": parameter.name,
                "shape": " x ".join(map(str, parameter.shape)),
                "numbers": int(np.prod(parameter.shape)),
                "state": _STATES[parameter.trained],
            }
            for parameter in self.parameters
        ]

    def strips(self) -> dict[str, tuple[go.Figure, str]]:
        """The first rows that a text uses, and those of the formula; each with a description."""
        if self.table is None or self.statistics is None:
            return {}
        first = slice(self.statistics.first, self.statistics.first + _N_STRIPS)
        return {
            "own": _strips(self.table[first], say("embedding_layer.learned.own")),
            "formula": _strips(
                sinusoid(*self.table.shape)[first], say("embedding_layer.learned.formula")
            ),
        }


def learned(embedding: EmbeddingSum, service: EncoderService) -> Learned:
    """The layer's parameters, and its position table."""
    parameters = service.parameters(embedding.card.id)
    table, statistics = None, None
    with suppress(RequestError):  # a table with very many positions is not sent
        table, statistics = position_table(embedding, service) or (None, None)
    return Learned(
        parameters=[p for p in parameters if p.name.startswith(_LAYER_NAMES)],
        state=embedding.state,
        table=table,
        statistics=statistics,
    )


def _strips(rows: FloatArray, title: str) -> tuple[go.Figure, str]:
    names = [f"position {i}" for i in range(len(rows))]
    chart = vector_strips(rows[:, :_MAX_DIMS], names, title=title, height=340)
    return chart, say("embedding_layer.learned.alt", title=title, n=_MAX_DIMS)
