"""Learning from fewer texts, as a sign of what more of them would bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.correlation import Float64Array
from contextlens.analysis.separation import RISK, Trial
from contextlens.content.language import Claim, claim, say
from contextlens.core.schema import FloatArray
from contextlens.features.probe.labels import LabelProbe, LabelScore, gets_more_right, label_score
from contextlens.features.probe.layer_scores import score_line
from contextlens.figures.theme import CATEGORICAL, figure
from contextlens.ui.panel import Panel

_SHARES = (1 / 4, 1 / 2)


def learning_curve(
    vectors: Sequence[FloatArray], trial: Trial, on_progress: Callable[[float], None]
) -> tuple[tuple[int, LabelScore], ...]:
    """Return the scores after learning from a quarter and half of the texts.

    For each number of texts, which is the mean over the folds, the best vectors are chosen anew.
    Vectors chosen on all texts would favour learning from all. A share that has fewer than two
    labels is left out.

    Args:
        vectors: (n_texts, n_dims) each kind of vectors.
        trial: the texts to learn from and to test.
        on_progress: told the share done; an exception from it ends the work.
    """
    curve = []
    for i, share in enumerate(_SHARES):
        smaller = replace(trial, teaches=trial.teaches & (_positions(trial) < share))
        folds = [smaller.teaches & (smaller.folds != fold) for fold in range(smaller.n_folds)]
        if min(len(np.unique(smaller.codes[rows])) for rows in folds) > 1:
            scores = []
            for k, rows in enumerate(vectors):
                on_progress((i + k / len(vectors)) / len(_SHARES))
                scores.append(label_score("smaller", rows, smaller))
            n = round(float(np.mean([np.count_nonzero(rows) for rows in folds])))
            curve.append((n, max(scores, key=lambda score: score.value)))
    return tuple(curve)


def _positions(trial: Trial) -> Float64Array:
    """(n,) each text's position among those of its label and fold in random order, from 0 to 1."""
    order = np.random.default_rng(0).permutation(len(trial.codes))
    positions = np.ones(len(order))
    for code, fold in set(zip(trial.codes.tolist(), trial.folds.tolist(), strict=True)):
        texts = order[(trial.codes[order] == code) & (trial.folds[order] == fold)]
        positions[texts] = (np.arange(len(texts)) + 0.5) / len(texts)
    return positions


@dataclass(frozen=True, eq=False)
class LearningCurve(Panel):
    """The share judged right by the number of texts learned from."""

    probe: LabelProbe

    @property
    def title(self) -> str:
        """The question."""
        return say("probe.curve.title")

    def claims(self) -> Sequence[Claim]:
        """Return whether learning from twice as many texts has helped."""
        result, best = self.probe.result, self.probe.result.best
        if not result.curve:
            return [claim("probe.curve.short")]
        (n, half), verdict = result.curve[-1], "unclear"
        if result.verdict != "unclear":
            if gets_more_right(best, half, risk=RISK / 2):
                verdict = "helps"
            elif gets_more_right(half, best, risk=RISK / 2):
                verdict = "hurts"
        return [claim(f"probe.curve.{verdict}", n=n, half=half.value, best=best.value)]

    def figure(self) -> go.Figure:
        """Return the shares with their 95% intervals, and that of guessing."""
        result = self.probe.result
        curve = [*result.curve, (self.probe.labelled.n_learned, result.best)]
        numbers = [n for n, _ in curve]
        line = score_line("mean", [score for _, score in curve], CATEGORICAL[0])
        line |= {"x": numbers, "name": "learned", "hovertemplate": "%{x} texts<br>%{y:.4f} right"}
        guessing = self.probe.guessing_line(numbers) | {"x": [numbers[0], numbers[-1]]}
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
        return figure([line, guessing], layout, title=self.title, height=320)

    def alt(self) -> str:
        """Return a description of the chart."""
        return say("probe.curve.alt", title=self.title)
