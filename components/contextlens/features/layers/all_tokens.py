"""All tokens: a measure of every token at every layer, as a heatmap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import listed, placed, several
from contextlens.core.schema import FloatArray, PartState
from contextlens.features.layers.heatmap import (
    BARE_AXIS,
    MAX_NUMBERS,
    TOKEN_AXIS,
    heatmap_traces,
    token_names,
)
from contextlens.features.layers.hidden_states import (
    MAX_TICKS,
    HiddenStates,
    Measure,
    text_cautions,
    training_cautions,
)
from contextlens.figures.theme import CATEGORICAL, figure
from contextlens.ui.panel import Panel

_MAX_GAPS = 64  # the most columns that are wide enough for a gap between them


@dataclass(frozen=True, eq=False)
class AllTokens(Panel):
    """A measure of every token at every layer.

    Attributes:
        measure: the numbers.
        labels: the text written on each token.
        layer: the chosen layer.
        training: the training state of the encoder.
        random_cosines: the average similarity of random pairs at each layer from 0 on, if known.
        picked: the position of the token with a frame; None for no frame.
        name: the name of the measure.
        scale: the ends of the colour scale.
    """

    measure: Measure
    labels: Sequence[str]
    layer: int
    training: PartState
    random_cosines: FloatArray | None = None
    picked: int | None = None
    name: str = ""
    scale: tuple[float, float] = (0.0, 1.0)

    def title(self) -> Claim:
        """Return the finding, from the averages over the text's own tokens."""
        measure, layers = self.measure, self.measure.layers
        averages = measure.averages.tolist()
        if not layers:
            return claim("layers.title.none")
        if measure.kind == "start":
            return claim("layers.title.start", layer=layers[-1], average=averages[-1])
        if measure.are_even(averages):
            average = float(np.mean(averages))
            key = f"layers.title.{measure.kind}.even"
            return claim(key, average=average, first=placed(self.labels[0], 0, self.labels))
        best = measure.leaders(averages, measure.peak_sign)
        return claim(
            f"layers.title.{measure.kind}",
            n=len(best),
            Layers=listed(sorted(layers[i] for i in best)).capitalize(),
            average=averages[best[0]],
            first=placed(self.labels[0], 0, self.labels),
        )

    def claims(self) -> list[Claim]:
        """Return the tokens with the highest and lowest measure, a yardstick, and a caution."""
        measure, layer = self.measure, self.layer
        claims = text_cautions(measure, self.labels)
        if layer not in measure.layers:
            return [*claims, claim("layers.no_layer_before")]
        claims.append(self._extremes())
        if measure.kind == "first" and self.random_cosines is not None:
            similarity = float(self.random_cosines[layer])
            claims.append(claim("layers.yardstick.first", similarity=similarity))
        if measure.chance is not None and layer > 0:
            chance = float(measure.chance.mean[measure.row(layer)])
            kind = "start" if measure.kind == "start" else "before"
            claims.append(claim(f"layers.yardstick.{kind}", similarity=chance))
        return claims + training_cautions(self.training)

    def _extremes(self) -> Claim:
        """Return the tokens with the highest and the lowest measure at the layer."""
        measure, layer, labels = self.measure, self.layer, self.labels
        counted = measure.counted
        values = measure.values[measure.row(layer), counted].tolist()
        if measure.kind == "start" and layer == 0:
            return claim("layers.unchanged")
        numbers: dict[str, Any] = {"layer": layer, "first": placed(labels[0], 0, labels)}
        if measure.are_even(values):
            average = float(np.mean(values))
            key = f"layers.even.{measure.kind}"
            return claim(key, n=len(counted), average=average, **numbers)
        for end, number, sign in (("most", "high", 1), ("least", "low", -1)):
            best = measure.leaders(values, sign)
            numbers[end] = several([placed(labels[i], i, labels) for i in counted[best]])
            numbers[number] = values[best[0]]
        return claim(f"layers.ends.{measure.kind}", **numbers)

    def alt(self) -> str:
        """Return a description of the heatmap."""
        return say("layers.alt", title=str(self.title()).replace("**", ""), measure=self.name)

    def figure(self) -> go.Figure:
        """Return the heatmap, with frames around the chosen layer and token."""
        measure, names = self.measure, token_names(self.labels)
        n_rows, n_columns = len(measure.layers), len(names)
        shapes = []
        if self.picked is not None:
            shapes.append(_frame(self.picked - 0.5, self.picked + 0.5, -0.5, n_rows - 0.5))
        if self.layer in measure.layers:
            row = measure.layers.index(self.layer)
            shapes.append(_frame(-0.5, n_columns - 0.5, row - 0.5, row + 0.5))
        trace: dict[str, Any] = {
            "x": names,
            "y": list(range(n_rows)),
            "xgap": int(n_columns <= _MAX_GAPS),
            "ygap": 1,
            "customdata": [[n] * n_columns for n in measure.layers],
            "hovertemplate": (
                f"%{{x}}, layer %{{customdata}}<br>{self.name} %{{z:.4f}}<extra></extra>"
            ),
        }
        layout = {
            "xaxis": TOKEN_AXIS,
            "yaxis": _layer_axis(measure.layers),
            "shapes": shapes,
            "margin": {"l": 64, "r": 74, "b": 40 if n_columns <= MAX_NUMBERS else 72},
        }
        scale_name = "length" if measure.kind == "length" else "cosine"
        traces = heatmap_traces(trace, measure.values, scale=self.scale, name=scale_name)
        return figure(traces, layout, title="", height=400)


def all_tokens(states: HiddenStates, *, picked: int | None) -> AllTokens:
    """Return the picture of all tokens of a sentence.

    Args:
        states: the sentence's hidden states.
        picked: the position of the token with a frame, if any.
    """
    return AllTokens(
        measure=states.measure,
        labels=states.labels,
        layer=states.layer,
        training=states.card.provenance.encoder,
        random_cosines=states.random_cosines,
        picked=picked,
        name=states.measure_name,
        scale=states.scale,
    )


def _layer_axis(layers: Sequence[int]) -> dict[str, Any]:
    """Return an axis with the layers' numbers, thinned out if they would touch."""
    thinned = slice(None, None, max(1, ceil(len(layers) / MAX_TICKS)))
    return {
        "tickvals": list(range(len(layers)))[thinned],
        "ticktext": [f"layer {n}" for n in layers][thinned],
        "autorange": "reversed",
        **BARE_AXIS,
    }


def _frame(x0: float, x1: float, y0: float, y1: float) -> dict[str, Any]:
    line = {"color": CATEGORICAL[3], "width": 2}
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line}
