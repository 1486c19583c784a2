"""The probabilities that the classifier gives, beside the share of its answers that are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.features.probe.labels import LabelProbe, LabelResult
from contextlens.features.probe.layer_scores import level_line
from contextlens.figures.theme import CATEGORICAL, figure
from contextlens.ui.panel import Panel

_MARGIN = 0.1
"""Probabilities fit if, in 95 of 100 cases, the share right is no further from their mean."""


def calibration_verdict(result: LabelResult) -> Literal["fits", "too_sure", "too_shy", "too_few"]:
    """Return whether the mean probability of the best predictions fits the share that is right."""
    (low, high), sure = result.wide_interval, float(result.best.chances.mean())
    if sure > high:
        return "too_sure"
    if sure < low:
        return "too_shy"
    return "fits" if sure - low <= _MARGIN and high - sure <= _MARGIN else "too_few"


@dataclass(frozen=True, eq=False)
class Calibration(Panel):
    """The probabilities of the best vectors' predictions."""

    probe: LabelProbe

    @property
    def groups(self) -> list[tuple[float, float, int]]:
        """Up to five equally large groups of tested texts by the probability of their prediction.

        Each has the mean probability, the share predicted right, and the number of texts.
        """
        trial, best = self.probe.labelled.trial, self.probe.result.best
        order = np.argsort(best.chances, kind="stable")
        is_right = best.predicted == trial.codes[trial.tested]
        return [
            (float(best.chances[rows].mean()), float(is_right[rows].mean()), len(rows))
            for rows in np.array_split(order, 5)
            if len(rows)
        ]

    @property
    def title(self) -> str:
        """The question."""
        return say("probe.calibration.title")

    def claims(self) -> Sequence[Claim]:
        """Return whether the probabilities fit the share that is right."""
        result = self.probe.result
        verdict, sure = calibration_verdict(result), float(result.best.chances.mean())
        return [claim(f"probe.calibration.{verdict}", sure=sure, right=result.best.value)]

    def figure(self) -> go.Figure:
        """Return the share right by the probability given, beside a perfect match."""
        chances, shares, numbers = zip(*self.groups, strict=True)
        match = level_line("as sure as right", 0.0, [0, 1], "dash") | {"x": [0, 1], "y": [0, 1]}
        line = {
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
        axis = {"range": [0, 1.02], "tickformat": ".0%"}
        layout = {
            "xaxis": {"title": {"text": "probability given"}, **axis},
            "yaxis": {"title": {"text": "judged right"}, **axis},
            "margin": {"l": 92},
        }
        return figure([match, line], layout, title=self.title, height=320)

    def alt(self) -> str:
        """Return a description of the chart."""
        return say("probe.calibration.alt", title=self.title)
