"""One padded text over the layers: its means and tokens, as lines or as a heatmap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import two
from contextlens.core import ModelCard
from contextlens.features.masks.padded_batch import Masks, PaddedText, token_labels
from contextlens.figures.frames import end_label, layer_mark, spread
from contextlens.figures.theme import (
    CATEGORICAL,
    NEUTRAL,
    SEQUENTIAL,
    figure,
    plain,
    values,
)
from contextlens.ui.panel import Panel

_HEIGHT = 390
_ABOVE, _BELOW = 40, 70  # pixels of the margins above and below
_MAX_LINES = 24  # tokens that get a line each; more get a band
_MAX_NAMES = 21  # tokens whose names have room beside a heatmap

_Line = tuple[str, NDArray[Any], str]
"""A line's name, values and colour."""


@dataclass(frozen=True, eq=False)
class OverLayers(Panel):
    """A text's similarity to its unpadded self over the layers.

    Attributes:
        row: the text.
        layer: the chosen layer.
        scale: the ends of the scale.
        pooler: the name of `pooler_output`.
    """

    row: PaddedText
    layer: int
    scale: tuple[float, float]
    pooler: str

    def title(self) -> Claim:
        """Return the finding, based on the text's mean."""
        row, low = self.row, float(self.row.damage.mean.min())
        if not row.n_padding:
            return claim("masks.layers.none", label=row.label)
        key = "masks.layers.unchanged" if two(low) == two(1.0) else "masks.layers.changed"
        return claim(key, label=row.label, similarity=low)

    def alt(self) -> str:
        """Return a description of the lines."""
        return say("masks.page.lines_alt", title=str(self.title()))

    def heatmap_alt(self) -> str:
        """Return a description of the heatmap."""
        return say("masks.page.tokens_alt", title=str(self.title()))

    def figure(self) -> go.Figure:
        """Return lines of the first token, the means and the tokens; `pooler_output` as a point."""
        damage = self.row.damage
        x, lines = list(damage.layers), self._main_lines()
        pooled: list[_Line] = []
        traces = [*self._token_lines(), *(_line(x, *line) for line in lines)]
        if damage.pooled is not None:
            pooled = [(self.pooler, np.array([damage.pooled]), CATEGORICAL[4])]
            point = {"mode": "markers", "marker": {"size": 9, "symbol": "diamond"}}
            traces.append(_line([damage.layers[-1]], *pooled[0]) | point)
        layout = {
            "xaxis": {
                "title": {"text": say("masks.figure.layer")},
                "tickvals": _layer_ticks(x),
                "range": [x[0] - 0.15, x[-1] + 0.25],
                "zeroline": False,
                "showgrid": False,
            },
            "yaxis": {
                "title": {"text": say("masks.figure.similarity")},
                "range": [self.scale[0] - 0.02, self.scale[1] + 0.04],
                "zeroline": False,
            },
            "shapes": [layer_mark(self.layer)],
            "annotations": self._end_labels([*lines, *pooled, *self._faint_name()]),
            "margin": {"l": 80, "r": 160, "t": _ABOVE, "b": _BELOW},
            "hovermode": "closest",
        }
        return figure(traces, layout, title=str(self.title()), height=_HEIGHT)

    def heatmap(self) -> go.Figure:
        """Return each real token at each layer: its cosine with itself in the text alone."""
        names = [plain(name, 16) for name in token_labels(self.row.alone)]
        x, gap = list(self.row.damage.layers), len(names) <= _MAX_NAMES
        trace: dict[str, Any] = {
            "type": "heatmap",
            "x": x,
            "y": list(range(len(names))),
            "z": values(self.row.damage.tokens.T),
            "zmin": self.scale[0],
            "zmax": self.scale[1],
            "colorscale": SEQUENTIAL,
            "customdata": [[name] * len(x) for name in names],
            "hovertemplate": "%{customdata} at position %{y}<br>layer %{x}<br>similarity %{z:.4f}"
            "<extra></extra>",
            "xgap": 2 if gap else 0,
            "ygap": 1 if gap else 0,
            "colorbar": {"title": {"text": "similarity"}, "thickness": 8, "len": 0.9},
        }
        step = -(-len(names) // _MAX_NAMES)
        ticks = names if step == 1 else [f"{i}: {name}" for i, name in enumerate(names)]
        layout = {
            "xaxis": {"title": {"text": "layer"}, "tickvals": _layer_ticks(x), "ticks": ""},
            "yaxis": {
                "tickvals": list(range(0, len(names), step)),
                "ticktext": ticks[::step],
                "autorange": "reversed",
                "showgrid": False,
                "zeroline": False,
                "ticks": "",
            },
            "margin": {"l": 96, "r": 68, "t": _ABOVE, "b": _BELOW},
        }
        return figure([trace], layout, title=str(self.title()), height=_HEIGHT)

    def _main_lines(self) -> list[_Line]:
        row, damage = self.row, self.row.damage
        lines = [
            (row.alone.tokens[0], damage.first, CATEGORICAL[0]),
            (say("masks.line.mean"), damage.mean, CATEGORICAL[2]),
        ]
        if row.n_padding:
            name = say("masks.line.mean_all", pad=row.pad_token)
            lines.append((name, damage.mean_all, CATEGORICAL[3]))
        return lines

    def _token_lines(self) -> list[dict[str, Any]]:
        """Return the real tokens as faint lines, or as the band that they fill."""
        row, x = self.row, list(self.row.damage.layers)
        cosines = row.damage.tokens
        if row.n_real > _MAX_LINES:
            low, high = values(cosines.min(axis=1)), values(cosines.max(axis=1))
            area = {"fill": "toself", "fillcolor": "rgba(128,128,128,0.16)", "line": {"width": 0}}
            outline = {"x": [*x, *x[::-1]], "y": [*high, *low[::-1]], "hoverinfo": "skip"}
            return [{"type": "scatter", "mode": "lines", **outline, **area}]
        thin = {"color": NEUTRAL, "width": 1.2}
        faint = {"mode": "lines", "opacity": 0.45, "name": None, "line": thin}
        return [
            _line(x, say("masks.line.token", name=name, at=i), cosines[:, i], NEUTRAL) | faint
            for i, name in enumerate(token_labels(row.alone))
            if i > 0
        ]

    def _faint_name(self) -> list[_Line]:
        """Return a name for the faint lines (or for the band), at the lowest of them."""
        last = self.row.damage.tokens[-1]
        if self.row.n_real > _MAX_LINES:
            return [(say("masks.line.every"), last[[last.argmin()]], NEUTRAL)]
        others = last[1:]
        name = say("masks.line.others")
        return [(name, others[[others.argmin()]], NEUTRAL)] if others.size else []

    def _end_labels(self, lines: list[_Line]) -> list[dict[str, Any]]:
        """Return names at the right ends, each with a dot in its line's colour."""
        gap = (self.scale[1] - self.scale[0]) * 17 / (_HEIGHT - _ABOVE - _BELOW)
        heights = spread([float(array[-1]) for _, array, _ in lines], gap, self.scale)
        return [
            {
                **end_label(f'<span style="color:{color}">●</span> {plain(name)}', y),
                "xshift": 4,
            }
            for (name, _, color), y in zip(lines, heights, strict=True)
        ]


def over_layers(masks: Masks, card: ModelCard) -> OverLayers:
    """Return the text that the numbers are for, over the layers."""
    is_trained = card.provenance.pooler.state == "trained"
    pooler = say("masks.line.pooler" if is_trained else "masks.line.pooler_untrained")
    return OverLayers(masks.row, masks.layer, masks.scale, pooler)


def _line(x: list[int], name: str, array: NDArray[Any], color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(array),
        "name": plain(name),
        "text": plain(name),
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 6},
        "hovertemplate": "%{text}<br>layer %{x}<br>similarity %{y:.4f}<extra></extra>",
    }


def _layer_ticks(x: list[int]) -> list[int]:
    return x if len(x) <= 13 else x[:: 2 if len(x) <= 25 else 4]
