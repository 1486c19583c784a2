"""The picture of the probe: the accuracy at each layer, beside simpler ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.features.probe.compute import POOLINGS, LabelledTexts
from contextlens.features.probe.grades import GradeResult, GradeScore
from contextlens.features.probe.measures import ProbeResult, Score
from contextlens.figures.theme import CATEGORICAL, NEUTRAL, figure, values
from contextlens.maps.vectors import RECIPE

_NAMES = {"mean": "mean of tokens", "cls": "[CLS]", RECIPE: "the model's own recipe"}
_LEVELS = {"static": "word vectors", "word2vec": "word2vec", "word2vec_file": "word2vec, a file"}
_SYMBOLS = {"mean": "circle", "cls": "square", RECIPE: "diamond"}
_HOVER = (
    "layer %{x}<br>%{y:.4f}<br>95 of 100: %{customdata[0]:.4f} to %{customdata[1]:.4f}"
    "<extra>%{fullData.name}</extra>"
)


def value_by_layer(result: ProbeResult | GradeResult, *, title: str, height: int) -> go.Figure:
    """The score at each layer and pooling, with 95% intervals, and levels of yardsticks.

    The score is the share right for labels, and Spearman's correlation for grades.
    """
    n_layers = max(score.layer for score in result.scores)
    x = list(range(n_layers + 1))
    lines = [
        _line(name, [score for score in result.scores if score.name == name], color)
        for name, color in zip((*POOLINGS, RECIPE), CATEGORICAL, strict=False)
    ]
    contextless: Sequence[Score | GradeScore] = result.contextless
    levels = [
        _level("counting words", result.words, x, "dash"),
        *(
            _level(_LEVELS[score.name], score, x, dash)
            for score, dash in zip(contextless, ("dot", "dashdot", "longdash"), strict=False)
        ),
    ]
    if isinstance(result, ProbeResult):
        levels.append(_level("guessing", result.guessing, x, "solid"))
        axis = {"title": {"text": "judged right"}, "range": [0, 1.02], "tickformat": ".0%"}
    else:
        lowest = min(0.0, *(score.interval[0] for score in result.scores), result.words.value)
        axis = {"title": {"text": "Spearman"}, "range": [lowest - 0.03, 1.02]}
    layout = {
        "xaxis": {
            "title": {"text": "layer (0 is the embedding layer)"},
            "tickvals": x if len(x) <= 13 else x[:: 2 if len(x) <= 25 else 4],
            "range": [-0.3, n_layers + 0.3],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": axis,
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.3, "x": 0, "itemclick": False},
        "margin": {"b": 120},
    }
    drawn = [line for line in lines if line["x"]]
    return figure([*drawn, *levels], layout, title=title, height=height)


def _line(name: str, scores: Sequence[Score | GradeScore], color: str) -> dict[str, Any]:
    found = np.array([score.value for score in scores])
    low, high = np.array([score.interval for score in scores]).reshape(-1, 2).T
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": _NAMES[name],
        "x": [score.layer + _shift(name) for score in scores],
        "y": values(found),
        "error_y": {
            "type": "data",
            "array": values(high - found),
            "arrayminus": values(found - low),
            "thickness": 1.2,
            "width": 0,
        },
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 8, "symbol": _SYMBOLS[name]},
        "customdata": np.stack([low, high], axis=1).tolist(),
        "hovertemplate": _HOVER.replace("%{x}", "%{x:.0f}"),
    }


def _shift(name: str) -> float:
    """How far to the side the marks of a pooling stand, so that no interval hides another."""
    return {"mean": -0.06, "cls": 0.0, RECIPE: 0.06}[name]


def _level(
    name: str, score: Score | GradeScore | float, x: Sequence[float], dash: str
) -> dict[str, Any]:
    """A yardstick's level; a number is a share."""
    value = score if isinstance(score, float) else score.value
    shown = f"{value:.2f}" if isinstance(score, GradeScore) else f"{value:.0%}"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{name} {shown}",
        "x": [x[0] - 0.3, x[-1] + 0.3],
        "y": [value, value],
        "line": {"color": NEUTRAL, "width": 1.5, "dash": dash},
        "hoverinfo": "skip",
    }


_HEIGHT = 320


def learning_chart(labelled: LabelledTexts, result: ProbeResult, *, title: str) -> go.Figure:
    """The share right by the number of texts learned from, with 95% intervals, and guessing."""
    curve = [*result.curve, (labelled.n_learned, result.best)]
    numbers = [n for n, _ in curve]
    line = _line("mean", [score for _, score in curve], CATEGORICAL[0])
    line |= {"x": numbers, "name": "learned", "hovertemplate": "%{x} texts<br>%{y:.4f} right"}
    layout = {
        "xaxis": {
            "title": {"text": "texts learned from"},
            "type": "log",
            "tickvals": numbers,
            "ticktext": [f"{n:,}" for n in numbers],
            "showgrid": False,
        },
        "yaxis": {"title": {"text": "judged right"}, "range": [0, 1.02], "tickformat": ".0%"},
        "margin": {"l": 92},
    }
    guessing = _level("guessing", result.guessing, numbers, "solid")
    guessing |= {"x": [numbers[0], numbers[-1]]}
    return figure([line, guessing], layout, title=title, height=_HEIGHT)


def calibration_chart(groups: list[tuple[float, float, int]], *, title: str) -> go.Figure:
    """The share right by the probability that the classifier gives, beside a perfect match."""
    chances, shares, numbers = zip(*groups, strict=True)
    ideal = _level("as sure as right", 0.0, [0, 1], "dash") | {"x": [0, 1], "y": [0, 1]}
    found = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "found",
        "x": list(chances),
        "y": list(shares),
        "customdata": list(numbers),
        "line": {"color": CATEGORICAL[0], "width": 2.5},
        "marker": {"size": 9},
        "hovertemplate": "probability %{x:.2f}<br>%{y:.4f} right<br>of %{customdata} texts",
    }
    layout = {
        "xaxis": {
            "title": {"text": "probability given"},
            "range": [0, 1.02],
            "tickformat": ".0%",
        },
        "yaxis": {"title": {"text": "judged right"}, "range": [0, 1.02], "tickformat": ".0%"},
        "margin": {"l": 92},
    }
    return figure([ideal, found], layout, title=title, height=_HEIGHT)
