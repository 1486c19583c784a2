"""A closer look: the rows of the position table, compared with each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.core import EncoderService
from contextlens.core.schema import FloatArray, PartState
from contextlens.features.embedding_layer.controls import N_FIRST_POSITIONS, POSITIONS
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum, untrained_caution
from contextlens.features.embedding_layer.position_table import PositionStatistics, position_table
from contextlens.features.embedding_layer.word_rows import row_cosines, unit_rows
from contextlens.figures.theme import SEQUENTIAL, SIGNED, figure, values
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState

FORMULA = """
**Positions** are called more or less alike where two mean cosines are at least 0.1 apart.
""".strip()

_MAX_CELLS = 128  # positions on each side of the matrix
_FAR = 50  # positions apart
_MIN_POSITIONS = 3  # that can be compared
_MIN_DIFFERENCE = 0.1  # from which one mean similarity is called higher
_LABELLED = (0, 1, 10, 50, 100, 200, 300, 400)  # positions on the curve; the last one, too
_HEIGHT = 400


@dataclass(frozen=True, eq=False)
class Positions(Panel):
    """The similarity of position rows, and their curve in two dimensions.

    Attributes:
        table: (n_rows, n_embedding_dims) all usable rows.
        statistics: their measurements.
        drawn: the positions in the matrix, in equal steps; the curve has each one up to their end.
        state: the training state of the embedding layer.
    """

    formula: ClassVar[str] = FORMULA

    table: FloatArray
    statistics: PositionStatistics
    drawn: range
    state: PartState

    def claims(self) -> list[Claim]:
        """The similarity of near and far positions, the variance in the curve, and any caution."""
        n = len(self.table)
        if n < _MIN_POSITIONS:
            return [claim("embedding_layer.positions.few", n=n)]
        near, far = self._near_and_far
        verdict = "nearer" if near > far else "farther"
        verdict = "even" if abs(near - far) < _MIN_DIFFERENCE else verdict
        share, distance = self._share(), min(_FAR, n - 1)
        return [
            claim(f"embedding_layer.positions.{verdict}", near=near, far=far, distance=distance),
            claim(f"embedding_layer.positions.curve.{'some' if share else 'none'}", share=share),
            *untrained_caution(self.state),
        ]

    def sure(self) -> list[Claim]:
        """The first row that a text uses, if it is not row 0."""
        first = self.statistics.first
        if not first or len(self.table) < _MIN_POSITIONS:
            return []
        return [claim("embedding_layer.positions.first", first=first)]

    def notes(self) -> list[Claim]:
        """The positions that the matrix leaves out, if any."""
        step, n = self.drawn.step, len(self.table)
        if step == 1:
            return []
        return [claim("embedding_layer.positions.thinned", step=step, n=n, few=N_FIRST_POSITIONS)]

    def title(self) -> Claim:
        """The similarity of near and far positions."""
        if len(self.table) < _MIN_POSITIONS:
            return claim("embedding_layer.positions.title.few")
        near, far = self._near_and_far
        return claim("embedding_layer.positions.title.compared", near=near, far=far)

    def figure(self) -> go.Figure:
        """The cosines of the rows with each other, on a colour scale from -1 to 1."""
        drawn, rows = self.drawn, self.table[self.drawn]
        bare = {"showgrid": False, "zeroline": False, "ticks": "", "title": {"text": "position"}}
        trace: dict[str, Any] = {
            "type": "heatmap",
            "z": np.round(row_cosines(rows, rows), 5),
            "x0": drawn.start,
            "dx": drawn.step,
            "y0": drawn.start,
            "dy": drawn.step,
            "zmin": -1,
            "zmax": 1,
            **SIGNED,
            "hovertemplate": "positions %{y} and %{x}<br>cosine %{z:.4f}<extra></extra>",
            "colorbar": {"title": {"text": "cosine"}, "thickness": 8, "len": 0.9},
        }
        layout = {"xaxis": bare, "yaxis": {**bare, "autorange": "reversed"}}
        return figure([trace], layout, title=str(self.title()), height=_HEIGHT)

    def alt(self) -> str:
        """A description of the matrix."""
        return say("embedding_layer.positions.alt", title=str(self.title()))

    def curve_title(self) -> Claim:
        """The share of the variance that the curve shows."""
        share = self._share()
        verdict = "some" if share else "none"
        return claim(f"embedding_layer.positions.curve_title.{verdict}", share=share)

    def curve(self) -> go.Figure:
        """The rows on two principal components, joined in order and coloured by position."""
        explained, curve = self.statistics.explained, self.statistics.curve[: self.drawn.stop]
        positions = list(range(len(curve)))
        trace = {
            "type": "scatter",
            "mode": "lines+markers",
            "x": values(curve[:, 0]),
            "y": values(curve[:, 1]),
            "line": {"color": "rgba(128,128,128,0.35)", "width": 1},
            "marker": {
                "size": 5,
                "color": positions,
                "colorscale": SEQUENTIAL,
                "colorbar": {"title": {"text": "position"}, "thickness": 8, "len": 0.9},
            },
            "text": list(map(str, positions)),
            "hovertemplate": "position %{text}<br>%{x:.4f}, %{y:.4f}<extra></extra>",
        }
        layout = {
            "xaxis": {"title": {"text": f"component 1 ({explained[0]:.0%} of variance)"}},
            "yaxis": {"title": {"text": f"component 2 ({explained[1]:.0%})"}},
            "annotations": [
                {
                    "x": float(curve[position, 0]),
                    "y": float(curve[position, 1]),
                    "text": str(position),
                    "showarrow": False,
                    "yshift": 12,
                }
                for position in sorted({*_LABELLED, len(curve) - 1})
                if position < len(curve)
            ],
        }
        return figure([trace], layout, title=str(self.curve_title()), height=_HEIGHT)

    def curve_alt(self) -> str:
        """A description of the curve."""
        return say("embedding_layer.positions.alt_curve", title=str(self.curve_title()))

    @cached_property
    def _near_and_far(self) -> tuple[float, float]:
        """The mean similarity of adjacent rows, and of rows far apart."""
        far = min(_FAR, len(self.table) - 1)
        return mean_cosine(self.table, 1), mean_cosine(self.table, far)

    def _share(self) -> float:
        return min(1.0, sum(self.statistics.explained))


def positions(
    view: ViewState, embedding: EmbeddingSum, service: EncoderService
) -> Positions | None:
    """Compare the rows of the position table; None for a model without such a table.

    Raises:
        RequestError: the table has too many rows to be sent.
    """
    found = position_table(embedding, service)
    if found is None:
        return None
    rows, statistics = found
    table = rows[statistics.first :]
    return Positions(table, statistics, drawn_positions(view, len(table)), embedding.state)


def drawn_positions(view: ViewState, n: int) -> range:
    """The positions in the matrix: the first of n, or every kth so that they fit."""
    if POSITIONS.of(view) == POSITIONS.default:
        return range(0, n, -(-n // _MAX_CELLS))
    return range(n)[:N_FIRST_POSITIONS]


def mean_cosine(table: FloatArray, distance: int) -> float:
    """Return the mean cosine of the rows that are so many positions apart."""
    units = unit_rows(table)
    return float(np.einsum("nd,nd->n", units[:-distance], units[distance:]).mean())
