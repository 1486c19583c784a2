"""The similarities of all pairs at the selected layer, of either kind if a threshold parts them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.content.wording import two
from contextlens.core.schema import FloatArray
from contextlens.features.pairs.layer_chart import BLUE, color_key, keyed_figure, upright
from contextlens.features.pairs.pair_set import DIFFERENT, SAME
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.figures.theme import CATEGORICAL, INK, SMALLEST, values
from contextlens.ui.panel import Panel

_SAME, _DIFFERENT = CATEGORICAL[2], CATEGORICAL[3]
_RANDOM = "rgba(128,128,128,0.55)"
_N_BINS = 36


@dataclass(frozen=True, eq=False)
class Similarities(Panel):
    """The number of pairs by similarity at the layer."""

    pairs: PairsAtLayer

    def figure(self) -> go.Figure:
        """Return a histogram by kind, with the threshold and the range of random words."""
        compared, scale = self.pairs.compared_pairs, self.pairs.scale
        cosines, gold = self.pairs.cosines[compared], self.pairs.pairs.gold[compared]
        threshold, random_range = self.pairs.threshold, self.pairs.random_range
        edges = np.linspace(*scale, _N_BINS + 1)
        kinds = [("pairs", BLUE, cosines)]
        if threshold is not None:
            kinds = [
                (name, color, cosines[gold == kind])
                for name, color, kind in (
                    ("same", _SAME, SAME),
                    ("different", _DIFFERENT, DIFFERENT),
                )
            ]
        names = [(name, color) for name, color, _ in kinds]
        shapes, notes = [], []
        if random_range is not None:
            given = self.pairs.pairs.vectors is not None
            name = say("pairs.given.random_texts") if given else "random words"
            names.append((name, _RANDOM))
            shapes.append(_range(random_range))
        if threshold is not None:
            shapes.append(upright(threshold, color=INK, width=2, dash="solid"))
            notes.append(_above(f"threshold {two(threshold)}", threshold, scale))
        layout = {
            "margin": {"l": 73},
            "barmode": "overlay",
            "bargap": 0.04,
            "xaxis": {"title": {"text": "similarity"}, "range": list(scale), "zeroline": False},
            "yaxis": {"title": {"text": "pairs"}, "rangemode": "tozero"},
            "shapes": shapes,
            "annotations": [*([color_key(names)] if len(names) > 1 else []), *notes],
        }
        title = say("pairs.title.layer", layer=self.pairs.layer)
        if self.pairs.pairs.vectors is not None:
            title = say("pairs.given.similarities")
        return keyed_figure([_bars(*kind, edges) for kind in kinds], layout, title=title)

    def alt(self) -> str:
        """Return a description of the chart."""
        if self.pairs.pairs.vectors is not None:
            return say("pairs.given.similarities_alt")
        return say("pairs.alt.layer", layer=self.pairs.layer)


def _range(ends: tuple[float, float]) -> dict[str, Any]:
    """A grey range from bottom to top."""
    along = {"x0": ends[0], "x1": ends[1], "y0": 0, "y1": 1, "yref": "paper"}
    return {
        "type": "rect",
        **along,
        "line": {"width": 0},
        "layer": "below",
        "fillcolor": "rgba(128,128,128,0.16)",
    }


def _above(text: str, x: float, scale: tuple[float, float]) -> dict[str, Any]:
    """A text above the picture at a given x, extending towards the middle."""
    return {
        "text": text,
        "x": x,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if x > sum(scale) / 2 else "left",
        "showarrow": False,
        "font": {"size": SMALLEST},
    }


def _bars(name: str, color: str, cosines: FloatArray, edges: NDArray[np.float64]) -> dict[str, Any]:
    counts, _ = np.histogram(np.clip(cosines, edges[0], edges[-1]), edges)
    return {
        "type": "bar",
        "x": values((edges[1:] + edges[:-1]) / 2),
        "y": counts.tolist(),
        "width": float(edges[1] - edges[0]) * 0.96,
        "name": name,
        "marker": {"color": color, "opacity": 0.55},
        "customdata": [[two(a), two(b)] for a, b in pairwise(edges)],
        "hovertemplate": f"{name}<br>cosine %{{customdata[0]}} to %{{customdata[1]}}"
        "<br>%{y} pairs<extra></extra>",
    }
