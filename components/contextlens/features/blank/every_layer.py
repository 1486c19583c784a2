"""Closer look "Every layer": the probability of a few tokens at one blank, layer by layer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted
from contextlens.core import EncoderService
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.blank.controls import HIDE
from contextlens.features.blank.predictions import Answer, Predictions, share_text, token_name
from contextlens.figures.frames import end_label, layer_mark, spread
from contextlens.figures.margins import beside
from contextlens.figures.theme import INK, MUTED, NEUTRAL, SMALLEST, color_of, figure, plain, values
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState

_N_LINES = 5
_HEIGHT, _BELOW = 340, 70
_LEAST = 1e-6  # of a probability on the axis
_MAX_NAME = 16  # characters


@dataclass(frozen=True, eq=False)
class EveryLayer(Panel):
    """The read-out of one blank at every layer.

    Attributes:
        answer: what the model expects there at the shown layer.
        layers: all layers.
        ids: the tokens with a line, the final answer first.
        names: their texts.
        logs: (n_layers, n_tokens) natural log-probabilities.
        ranks: the same shape; 1 is the most probable.
        written: the index of what is written, or None.
        layer: the shown layer.
    """

    answer: Answer
    layers: tuple[int, ...]
    ids: tuple[int, ...]
    names: tuple[str, ...]
    logs: FloatArray
    ranks: IntArray
    written: int | None
    layer: int

    @property
    def first(self) -> int:
        """The first layer from which on the final answer is the most probable token."""
        others = np.flatnonzero(self.ranks[:, 0] != 1)
        return self.layers[min(int(others[-1]) + 1 if others.size else 0, len(self.layers) - 1)]

    @property
    def strong(self) -> int:
        """The index of the strong line: what is written, or else the final answer."""
        return 0 if self.written is None else self.written

    def title(self) -> Claim:
        """Return the finding, for the chart."""
        return self.claims()[0]

    def claims(self) -> list[Claim]:
        """Return from which layer on the final answer is first, and the way of the written word."""
        case = "last" if self.first == self.layers[-1] else "from"
        case = "always" if self.first == self.layers[0] else case
        place = self.answer.place
        where = "placed" if place else "alone"
        answer = quoted(self.names[0])
        claims = [
            claim(f"blank.layers.{case}.{where}", answer=answer, layer=self.first, place=place)
        ]
        if self.written is not None:
            start, end = (share_text(math.exp(self.logs[at, self.written])) for at in (0, -1))
            word = quoted(self.names[self.written])
            ends = {"low": self.layers[0], "high": self.layers[-1]}
            claims.append(claim("blank.layers.written", word=word, start=start, end=end, **ends))
        claims.append(claim("blank.caution"))
        return claims

    def alt(self) -> str:
        """Return the chart in words."""
        return say("blank.layers.alt", title=str(self.title()))

    def figure(self) -> go.Figure:
        """Return a line for each token over the layers, on a logarithmic scale."""
        logs10 = np.maximum(self.logs / math.log(10), math.log10(_LEAST))
        low = math.floor(float(logs10.min()))
        scale = (low, 0.08)
        own = color_of(self.answer.sentence.index)
        traces, order = [], [*(i for i in range(len(self.ids)) if i != self.strong), self.strong]
        names = [plain(name, _MAX_NAME) for name in self.names]
        for i in order:
            is_strong = i == self.strong
            line = {"color": own, "width": 4} if is_strong else {"color": NEUTRAL, "width": 1.5}
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers" if is_strong else "lines",
                    "x": list(self.layers),
                    "y": values(np.maximum(np.exp(self.logs[:, i]), _LEAST)),
                    "customdata": [
                        [share_text(math.exp(log)), f"{rank:,}"]
                        for log, rank in zip(self.logs[:, i], self.ranks[:, i], strict=True)
                    ],
                    "name": names[i],
                    "line": line,
                    "cliponaxis": False,
                    "hovertemplate": (
                        f"{names[i]}<br>layer %{{x}}: %{{customdata[0]}}, number %{{customdata[1]}}"
                        "<extra></extra>"
                    ),
                }
            )
        gap = (scale[1] - scale[0]) * 19 / (_HEIGHT - _BELOW - 20)
        heights = spread([float(logs10[-1, i]) for i in range(len(self.ids))], gap, scale)
        ends = []
        for i, height in enumerate(heights):
            text = f"{names[i]} {share_text(math.exp(self.logs[-1, i]))}"
            is_strong = i == self.strong
            label = end_label(f"<b>{text}</b>" if is_strong else text, height)
            font = {"size": SMALLEST, "color": INK if is_strong else MUTED}
            ends.append({**label, "xshift": 10, "font": font})
        ticks = list(range(low, 1))
        labels = [f"{100 * 10.0**tick:g}%" for tick in ticks]
        layout = {
            "xaxis": {
                "title": {"text": say("blank.layers.x")},
                "dtick": 1 + len(self.layers) // 14,
            },
            "yaxis": {
                "title": {"text": say("blank.layers.y")},
                "type": "log",
                "range": list(scale),
                "tickvals": [10.0**tick for tick in ticks],
                "ticktext": labels,
            },
            "annotations": ends,
            "shapes": [layer_mark(self.layer)],
            "margin": {"t": 20, "b": _BELOW, "r": beside(end["text"] for end in ends) + 10},
        }
        return figure(traces, layout, title="", height=_HEIGHT)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each layer, with each token's probability."""
        return [
            {
                "layer": layer,
                **{
                    name: math.exp(log) for name, log in zip(self.names, self.logs[at], strict=True)
                },
            }
            for at, layer in enumerate(self.layers)
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the lines."""
        return {
            "line_ids": np.array(self.ids),
            "line_log_probabilities": self.logs,
            "line_ranks": self.ranks,
        }


def every_layer(
    view: ViewState, service: EncoderService, predictions: Predictions, answer: Answer
) -> EveryLayer:
    """Return the read-out at every layer of one blank of the page."""
    sentence, blank = answer.sentence, answer.blank
    result = predictions.results[sentence.index]
    at = sentence.blanks.index(blank)
    ids = [int(token_id) for token_id in result.best_ids[-1, at, :_N_LINES]]
    if blank.written_id is not None and blank.written_id not in ids:
        ids = [*ids[: _N_LINES - 1], blank.written_id]
    (found,) = service.predict_tokens(
        view.model,
        [sentence.read.text],
        [sentence.places],
        pairs=[sentence.read.pair],
        masked=predictions.how == HIDE,
        layers=predictions.layers,
        n_best=1,
        candidates=ids,
    )
    return EveryLayer(
        answer=answer,
        layers=predictions.layers,
        ids=tuple(ids),
        names=tuple("".join(token_name(predictions.vocabulary, blank, one)) for one in ids),
        logs=found.candidates[:, at],
        ranks=found.candidate_ranks[:, at],
        written=ids.index(blank.written_id) if blank.written_id in ids else None,
        layer=predictions.layer,
    )
