"""The cosines of pairs of either kind at one layer, and what every threshold on them does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from components.core.schema import FloatArray, IntArray
from components.features.pairs.figures.marks import above, key, note, span, upright
from components.features.pairs.measures import DIFFERENT, SAME
from components.figures.theme import CATEGORICAL, NEUTRAL, figure, values

__all__ = ["cosine_histogram", "cosine_scale", "roc_figure"]

_SAME, _DIFFERENT, _ALL = CATEGORICAL[2], CATEGORICAL[3], CATEGORICAL[0]
_RANDOM = "rgba(128,128,128,0.55)"
_TITLE = 14  # pixels from the top to the middle of a title, as where it stands alone
_N_BINS = 36
_MOST_STEPS = 600  # points of a ROC curve that are drawn


def cosine_scale(cosines: FloatArray, lowest: float = 1.0) -> tuple[float, float]:
    """One scale for all layers, to 1: from a round number below the lowest cosine or `lowest`."""
    least = float(np.nanmin(cosines)) if not np.isnan(cosines).all() else 1.0
    return float(np.floor(min(least, lowest, 0.6) * 5) / 5), 1.0


def cosine_histogram(
    cosines: FloatArray,
    gold: IntArray,
    *,
    threshold: float | None,
    scale: tuple[float, float],
    band: tuple[float, float] | None = None,
    title: str = "",
    height: int = 340,
) -> go.Figure:
    """How many pairs have which cosine, by kind; the threshold and the random pairs' range.

    Args:
        cosines: (n,) of the pairs at a layer, none missing.
        gold: (n,) what is known of each.
        threshold: the cut between the kinds, if there is one.
        scale: the lowest and highest cosine of the page.
        band: 5th and 95th percentile of random pairs of words at the layer.
        title: the finding.
        height: in pixels.
    """
    edges = np.linspace(*scale, _N_BINS + 1)
    kinds = [
        (name, color, cosines[gold == kind])
        for name, color, kind in (("same", _SAME, SAME), ("different", _DIFFERENT, DIFFERENT))
    ]
    if threshold is None:
        kinds = [("pairs", _ALL, cosines)]
    traces = [_bars(name, color, own, edges) for name, color, own in kinds]
    keys = [(name, color) for name, color, _ in kinds]
    keys += [] if band is None else [("random words", _RANDOM)]
    lines = [] if threshold is None else [upright(threshold, color="#000037", width=2)]
    notes = [] if threshold is None else [above(f"threshold {threshold:.2f}", threshold, scale)]
    layout = {
        "margin": {"l": 73, "t": 72},  # below the title stand key and threshold
        "barmode": "overlay",
        "bargap": 0.04,
        "xaxis": {"title": {"text": "similarity"}, "range": list(scale), "zeroline": False},
        "yaxis": {"title": {"text": "pairs"}, "rangemode": "tozero"},
        "shapes": [*([] if band is None else [span(band)]), *lines],
        "annotations": [*([] if len(keys) == 1 else [key(keys)]), *notes],
    }
    drawn = figure(traces, layout, title=title, height=height)
    drawn.layout.title.update(y=1 - _TITLE / height, yref="container", yanchor="middle")
    return drawn


def roc_figure(
    false: FloatArray,
    true: FloatArray,
    cuts: FloatArray,
    *,
    at: tuple[float, float] | None,
    title: str,
    height: int = 380,
) -> go.Figure:
    """True against false positives for every threshold, and where the page's own one lies."""
    step = np.unique(np.linspace(0, len(false) - 1, min(len(false), _MOST_STEPS)).astype(int))
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": values(false[step]),
        "y": values(true[step]),
        "name": "ROC",
        "line": {"color": _ALL, "width": 2.5},
        "customdata": [f"{cut:.4f}" if np.isfinite(cut) else "none" for cut in cuts[step]],
        "hovertemplate": (
            "threshold %{customdata}<br>same, called same %{y:.1%}"
            "<br>different, called same %{x:.1%}<extra></extra>"
        ),
    }
    even = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 1],
        "y": [0, 1],
        "hoverinfo": "skip",
        "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
    }
    here = [] if at is None else [_spot(*at)]
    layout = {
        "xaxis": {
            "title": {"text": "different, called same"},
            "range": [-0.01, 1.01],
            "tickformat": ".0%",
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": "same, called same"},
            "range": [-0.01, 1.02],
            "tickformat": ".0%",
            "zeroline": False,
        },
        "annotations": [note("guessing", 0.97, 0.85)],
    }
    return figure([even, curve, *here], layout, title=title, height=height)


def _spot(x: float, y: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "name": "this threshold",
        "marker": {"size": 12, "color": _DIFFERENT, "line": {"width": 2, "color": "white"}},
        "hovertemplate": "this page's threshold<br>same, called same %{y:.1%}"
        "<br>different, called same %{x:.1%}<extra></extra>",
    }


def _bars(name: str, color: str, own: FloatArray, edges: NDArray[np.float64]) -> dict[str, Any]:
    counts, _ = np.histogram(np.clip(own, edges[0], edges[-1]), edges)
    return {
        "type": "bar",
        "x": values((edges[1:] + edges[:-1]) / 2),
        "y": counts.tolist(),
        "width": float(edges[1] - edges[0]) * 0.96,
        "name": name,
        "marker": {"color": color, "opacity": 0.55},
        "customdata": [[f"{a:.2f}", f"{b:.2f}"] for a, b in pairwise(edges)],
        "hovertemplate": f"{name}<br>cosine %{{customdata[0]}} to %{{customdata[1]}}"
        "<br>%{y} pairs<extra></extra>",
    }
