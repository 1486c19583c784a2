"""The held-out texts that the best vectors get most wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contextlens.content.language import say
from contextlens.features.probe.controls import MAX_LISTED_MISTAKES
from contextlens.features.probe.grades import GradeProbe
from contextlens.features.probe.labels import LabelProbe
from contextlens.ui.panel import Panel, Rows


@dataclass(frozen=True, eq=False)
class Mistakes(Panel):
    """The wrong labels, the most confident mistake first."""

    probe: LabelProbe

    @property
    def title(self) -> str:
        """The number of mistakes, in Markdown."""
        best, rows = self.probe.result.best, self.rows()
        n = best.n - best.right
        return say("probe.mistakes", shown=len(rows), n=n) if rows else say("probe.no_mistake")

    def rows(self) -> Rows:
        """Return a row for each text that is judged wrong."""
        labelled, best = self.probe.labelled, self.probe.result.best
        trial = labelled.trial
        codes = trial.codes[trial.tested]
        wrong = np.flatnonzero(best.predicted != codes)
        order = wrong[np.argsort(-best.chances[wrong], kind="stable")][:MAX_LISTED_MISTAKES]
        return [
            {
                "text": labelled.texts[trial.tested[i]],
                "label": trial.senses[codes[i]],
                "judged": trial.senses[best.predicted[i]],
                "its own estimate": float(best.chances[i]),
            }
            for i in order.tolist()
        ]


@dataclass(frozen=True, eq=False)
class LargestErrors(Panel):
    """The predicted grades that are furthest from the texts' own, the largest error first."""

    probe: GradeProbe

    @property
    def title(self) -> str:
        """The number of errors, in Markdown."""
        n = self.probe.result.best.n
        return say("probe.grades.errors", shown=min(n, MAX_LISTED_MISTAKES), n=n)

    def rows(self) -> Rows:
        """Return a row for each tested text."""
        labelled, best = self.probe.labelled, self.probe.result.best
        tested = labelled.trial.tested
        grades = self.probe.grades[tested]
        order = np.argsort(-np.abs(best.predicted - grades), kind="stable")[:MAX_LISTED_MISTAKES]
        return [
            {
                "text": labelled.texts[tested[i]],
                "grade": float(grades[i]),
                "predicted": float(best.predicted[i]),
            }
            for i in order.tolist()
        ]
