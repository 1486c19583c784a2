"""The confusion of each label with every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted
from contextlens.core.schema import IntArray
from contextlens.features.probe.labels import LabelProbe
from contextlens.figures.confusion import MAX_CONFUSED, confusion_heatmap
from contextlens.ui.panel import Panel


@dataclass(frozen=True, eq=False)
class Mixups(Panel):
    """The confusion of the best vectors' labels."""

    probe: LabelProbe

    @property
    def confusion(self) -> IntArray:
        """(n_labels, n_labels) how often a label (row) is predicted as another (column)."""
        trial, best = self.probe.labelled.trial, self.probe.result.best
        counts = np.zeros((len(trial.senses),) * 2, dtype=np.int64)
        np.add.at(counts, (trial.codes[trial.tested], best.predicted), 1)
        return counts

    @property
    def title(self) -> str:
        """The number of texts."""
        return say("probe.mixups.title", n=self.probe.result.best.n)

    def figure(self) -> go.Figure:
        """Return the confusion as a heatmap."""
        senses = self.probe.labelled.trial.senses
        return confusion_heatmap(self.confusion, senses, kind="label", title=self.title)

    def alt(self) -> str:
        """Return a description of the heatmap."""
        return say("probe.mixups.alt", title=self.title)

    def claims(self) -> Sequence[Claim]:
        """Return the label that is most often taken for another one."""
        confusion, senses = self.confusion, self.probe.labelled.trial.senses
        wrong = confusion * (1 - np.eye(len(confusion), dtype=np.int64))
        if not wrong.any():
            return [claim("probe.mixups.none")]
        i, j = divmod(int(wrong.argmax()), len(wrong))
        numbers = {"n": int(wrong[i, j]), "of": int(confusion[i].sum())}
        names = {"label": quoted(senses[i]), "other": quoted(senses[j])}
        return [claim("probe.mixups.most_often", **numbers, **names)]

    def notes(self) -> Sequence[Claim]:
        """Return how many labels are drawn, if not all are."""
        n = len(self.probe.labelled.trial.senses)
        return [claim("probe.mixups.most", most=MAX_CONFUSED, n=n)] if n > MAX_CONFUSED else []
