"""The figures of the Pairs page: accuracies, correlations and cosines, an ROC curve, scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.correlation import Correlation, Float64Array
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.pairs.measures import DIFFERENT, SAME, Scores
from contextlens.figures.theme import CATEGORICAL, INK, NEUTRAL, SMALLEST, figure, values

# --- Lines, ranges and notes that several pictures share


def upright(x: float, *, color: str, width: int, dash: str = "solid") -> dict[str, Any]:
    """A vertical line from bottom to top at a given x."""
    along = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **along, "line": {"color": color, "width": width, "dash": dash}}


def level(y: float, layers: list[int]) -> dict[str, Any]:
    """A dotted horizontal line across all layers."""
    along = {"x0": layers[0] - 0.2, "x1": layers[-1] + 0.2, "y0": y, "y1": y}
    return {"type": "line", **along, "line": {"color": NEUTRAL, "width": 1.5, "dash": "dot"}}


def span(band: tuple[float, float]) -> dict[str, Any]:
    """A grey range from bottom to top."""
    along = {"x0": band[0], "x1": band[1], "y0": 0, "y1": 1, "yref": "paper"}
    return {
        "type": "rect",
        **along,
        "line": {"width": 0},
        "layer": "below",
        "fillcolor": "rgba(128,128,128,0.16)",
    }


def note(text: str, x: float, y: float) -> dict[str, Any]:
    """A text whose upper right corner is at a point in the picture."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xanchor": "right",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": SMALLEST},
    }


def key(colors: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The legend of the colours, above the picture."""
    text = "   ".join(f'<span style="color:{color}">■</span> {name}' for name, color in colors)
    return {
        "text": text,
        "x": 0,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 18,  # leaves a line for notes above a point
        "font": {"size": SMALLEST},
    }


def above(text: str, x: float, scale: tuple[float, float]) -> dict[str, Any]:
    """A text above the picture at a given x, extending towards the middle."""
    is_right = x > sum(scale) / 2
    return {
        "text": text,
        "x": x,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if is_right else "left",
        "showarrow": False,
        "font": {"size": SMALLEST},
    }


# --- The cosines of pairs of either kind at one layer

_SAME, _DIFFERENT, _ALL = CATEGORICAL[2], CATEGORICAL[3], CATEGORICAL[0]
SAME_TINT, DIFFERENT_TINT = "rgba(0,158,115,0.35)", "rgba(213,94,0,0.25)"
"""The colours of either kind behind a value."""
_RANDOM = "rgba(128,128,128,0.55)"
_PEARSON = CATEGORICAL[1]
_TITLE = 14  # pixels from the top to the middle of a title, as for a title without a key
_N_BINS = 36
_MOST_STEPS = 600  # points of an ROC curve that are drawn


def cosine_scale(cosines: FloatArray, lowest: float = 1.0) -> tuple[float, float]:
    """One scale for all layers: from a round number below all cosines and `lowest` to 1."""
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
    """The distribution of the pairs' cosines by kind; the threshold and the random pairs' range.

    Args:
        cosines: (n,) of the pairs at a layer, none missing.
        gold: (n,) the label of each.
        threshold: the threshold between the kinds, if any.
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
    traces = [_bars(name, color, kind_cosines, edges) for name, color, kind_cosines in kinds]
    keys = [(name, color) for name, color, _ in kinds]
    keys += [] if band is None else [("random words", _RANDOM)]
    lines = [] if threshold is None else [upright(threshold, color=INK, width=2)]
    notes = [] if threshold is None else [above(f"threshold {threshold:.2f}", threshold, scale)]
    layout = {
        "margin": {"l": 73, "t": 72},  # key and threshold are below the title
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
    """True against false positives for every threshold, and the point of the page's threshold."""
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
    own_threshold = [] if at is None else [_spot(*at)]
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
    return figure([even, curve, *own_threshold], layout, title=title, height=height)


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


def _bars(name: str, color: str, cosines: FloatArray, edges: NDArray[np.float64]) -> dict[str, Any]:
    counts, _ = np.histogram(np.clip(cosines, edges[0], edges[-1]), edges)
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


# --- Graded scores and cosines at one layer

_SCORE_HIGHER = ("score ranks higher", CATEGORICAL[1])
_COSINE_HIGHER = ("cosine higher", CATEGORICAL[4])
_ROOM = 0.04  # of an axis, beyond the first and the last score


def score_scatter(
    grades: Float64Array,
    cosines: FloatArray,
    groups: IntArray,
    *,
    numbers: IntArray,
    texts: Sequence[str],
    shown: tuple[float, float] | None,
    ends: tuple[float, float],
    scale: tuple[float, float],
    title: str,
    height: int,
) -> go.Figure:
    """Each pair by its score and its cosine; a click on one gives its number.

    Args:
        grades: (n,) the scores.
        cosines: (n,) the cosines at a layer.
        groups: (n,) 1 if the score stands far above the cosine, -1 if far below, else 0.
        numbers: (n,) the numbers of the pairs.
        texts: what hovering over each shows.
        shown: score and cosine of the pair beside the picture; None if it has no score.
        ends: the lowest and the highest score of all.
        scale: the lowest and highest cosine of the page.
        title: what is shown.
        height: in pixels.
    """
    colors = ((0, _ALL), (1, _SCORE_HIGHER[1]), (-1, _COSINE_HIGHER[1]))
    traces = [
        _points(grades[own], cosines[own], numbers[own], [texts[i] for i in own.tolist()], color)
        for group, color in colors
        if len(own := np.flatnonzero(groups == group))
    ]
    room = _ROOM * (ends[1] - ends[0]) or 1.0
    layout = {
        "margin": {"t": 72},  # the key is below the title
        "xaxis": {
            "title": {"text": "your score"},
            "range": [ends[0] - room, ends[1] + room],
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": "cosine"},
            "range": [scale[0] - 0.02, scale[1] + 0.02],
            "zeroline": False,
        },
        "annotations": [key([_SCORE_HIGHER, _COSINE_HIGHER])],
    }
    drawn = figure(
        [*traces, *([] if shown is None else [_ring(*shown)])], layout, title=title, height=height
    )
    drawn.layout.title.update(y=1 - _TITLE / height, yref="container", yanchor="middle")
    return drawn


def _points(
    grades: Float64Array, cosines: FloatArray, numbers: IntArray, texts: Sequence[str], color: str
) -> dict[str, Any]:
    steady = {"marker": {"opacity": 0.75}}  # a click on one must not fade the others
    return {
        "type": "scatter",
        "mode": "markers",
        "x": values(grades),
        "y": values(cosines),
        "customdata": [[number] for number in numbers.tolist()],
        "hovertext": list(texts),
        "hovertemplate": "%{hovertext}<br>score %{x}, cosine %{y:.4f}<extra></extra>",
        "marker": {"size": 8, "color": color, "opacity": 0.75},
        "selected": steady,
        "unselected": steady,
    }


def _ring(grade: float, cosine: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [grade],
        "y": [cosine],
        "name": "this pair",
        "hoverinfo": "skip",
        "cliponaxis": False,
        "marker": {"size": 18, "color": "rgba(0,0,0,0)", "line": {"width": 3, "color": INK}},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


# --- The results at each layer


def correlation_lines(
    layers: Sequence[int], correlation: Correlation, *, row: int, title: str, height: int = 340
) -> go.Figure:
    """Spearman with its interval, and Pearson, at each layer; and that of the shared words."""
    x = list(layers)
    spearman, low, high = (
        correlation.spearman,
        correlation.spearman_low,
        correlation.spearman_high,
    )
    known = np.flatnonzero(~np.isnan(spearman))
    places = [x[i] for i in known.tolist()]
    band = {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "hoverinfo": "skip",
        "x": [*places, *places[::-1]],
        "y": [*values(high[known]), *values(low[known])[::-1]],
        "fillcolor": "rgba(0,114,178,0.16)",
        "line": {"width": 0},
    }
    both = (
        ("Spearman", _ALL, "solid", spearman, low, high),
        ("Pearson", _PEARSON, "dash", correlation.pearson, correlation.pearson_low,
         correlation.pearson_high),
    )  # fmt: skip
    lines = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": x,
            "y": values(line),
            "name": name,
            "line": {"color": color, "width": 2.5, "dash": dash},
            "marker": {"size": 7},
            "customdata": np.stack([line_low, line_high], axis=1).tolist(),
            "hovertemplate": (
                f"layer %{{x}}<br>{name} %{{y:.4f}}<br>95 of 100: %{{customdata[0]:.4f}} to "
                "%{customdata[1]:.4f}<extra></extra>"
            ),
        }
        for name, color, dash, line, line_low, line_high in both
    ]
    words = correlation.shared_words
    least = float(np.nanmin([0.0, words, *low[known], *correlation.pearson[known]]))
    layout = {
        "margin": {"t": 72},
        "xaxis": _layer_axis(x),
        "yaxis": {
            "title": {"text": "correlation"},
            "range": [math.floor(least * 5) / 5 - 0.02, 1.02],
            "zeroline": False,
        },
        "shapes": [
            level(0.0, x),
            *([] if math.isnan(words) else [level(words, x)]),
            upright(layers[row], color=NEUTRAL, width=1, dash="dot"),
        ],
        "annotations": [
            key([(name, color) for name, color, *_ in both]),
            *([] if math.isnan(words) else [note(f"shared words {words:.2f}", x[-1], words)]),
        ],
    }
    drawn = figure([band, *lines], layout, title=title, height=height)
    drawn.layout.title.update(y=1 - _TITLE / height, yref="container", yanchor="middle")
    return drawn


def accuracy_lines(
    layers: Sequence[int], scores: Scores, *, row: int, title: str, height: int = 340
) -> go.Figure:
    """The accuracy at each layer, with its interval, and the accuracy of always guessing."""
    x = list(layers)
    low = min(0.4, float(np.floor(min(scores.low.min(), scores.majority) * 10) / 10))
    band = {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "hoverinfo": "skip",
        "x": [*x, *x[::-1]],
        "y": [*values(scores.high), *values(scores.low)[::-1]],
        "fillcolor": "rgba(0,114,178,0.16)",
        "line": {"width": 0},
    }
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(scores.accuracy),
        "name": "accuracy",
        "line": {"color": _ALL, "width": 2.5},
        "marker": {"size": 7},
        "customdata": np.stack(
            [scores.low, scores.high, scores.thresholds, scores.auc], axis=1
        ).tolist(),
        "hovertemplate": (
            "layer %{x}<br>accuracy %{y:.4f}<br>95 of 100: %{customdata[0]:.4f} to "
            "%{customdata[1]:.4f}<br>threshold %{customdata[2]:.4f}"
            "<br>AUC %{customdata[3]:.4f}<extra></extra>"
        ),
    }
    layout = {
        "margin": {"l": 92},  # "100%" in any font, so that nothing is drawn twice
        "xaxis": _layer_axis(x),
        "yaxis": {"title": {"text": "judged right"}, "range": [low, 1.02], "tickformat": ".0%"},
        "shapes": [
            level(scores.majority, x),
            upright(layers[row], color=NEUTRAL, width=1, dash="dot"),
        ],
        "annotations": [note(f"guessing {scores.majority:.0%}", x[-1], scores.majority)],
    }
    return figure([band, line], layout, title=title, height=height)


def cosine_bands(
    layers: Sequence[int],
    cosines: FloatArray,
    *,
    row: int,
    title: str,
    scale: tuple[float, float],
    height: int = 340,
) -> go.Figure:
    """The distribution of cosines at each layer: median, middle half, and nine of ten."""
    x = list(layers)
    cuts = np.percentile(cosines, [5, 25, 50, 75, 95], axis=1)
    shapes = [
        {
            "type": "scatter",
            "mode": "lines",
            "fill": "toself",
            "hoverinfo": "skip",
            "x": [*x, *x[::-1]],
            "y": [*values(high), *values(low)[::-1]],
            "fillcolor": "rgba(0,114,178,0.16)",
            "line": {"width": 0},
        }
        for low, high in ((cuts[0], cuts[4]), (cuts[1], cuts[3]))
    ]
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(cuts[2]),
        "name": "median",
        "line": {"color": _ALL, "width": 2.5},
        "marker": {"size": 7},
        "customdata": cuts.T.tolist(),
        "hovertemplate": (
            "layer %{x}<br>median %{y:.4f}<br>middle half: %{customdata[1]:.4f} to "
            "%{customdata[3]:.4f}<br>nine of ten: %{customdata[0]:.4f} to %{customdata[4]:.4f}"
            "<extra></extra>"
        ),
    }
    layout = {
        "xaxis": _layer_axis(x),
        "yaxis": {"title": {"text": "similarity"}, "range": [scale[0], scale[1] + 0.02]},
        "shapes": [upright(layers[row], color=NEUTRAL, width=1, dash="dot")],
    }
    return figure([*shapes, line], layout, title=title, height=height)


def _layer_axis(layers: list[int]) -> dict[str, Any]:
    return {
        "title": {"text": "layer (0 is the embedding layer)"},
        "tickvals": layers if len(layers) <= 13 else layers[:: 2 if len(layers) <= 25 else 4],
        "range": [layers[0] - 0.2, layers[-1] + 0.2],
        "zeroline": False,
        "showgrid": False,
    }
