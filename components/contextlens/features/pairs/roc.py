"""The ROC curve of labelled pairs at one layer: what every threshold gets right, not just one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import number
from contextlens.core.schema import FloatArray
from contextlens.features.pairs.controls import MAX_DRAWN_STEPS
from contextlens.features.pairs.layer_chart import BLUE, note
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.features.pairs.threshold import LabelledPairs
from contextlens.figures.theme import CATEGORICAL, NEUTRAL, figure, values
from contextlens.ui.panel import Panel


@dataclass(frozen=True, eq=False)
class RocCurve(Panel):
    """True against false positives for every threshold.

    Attributes:
        layer: the layer; None for the vectors of a file.
        auc: the area under the curve.
        false, true: (n_thresholds,) the shares of different and of same pairs that are called
            the same.
        thresholds: (n_thresholds,) falling.
        at: both shares for the page's own thresholds.
    """

    layer: int | None
    auc: float
    false: FloatArray
    true: FloatArray
    thresholds: FloatArray
    at: tuple[float, float]

    @property
    def title(self) -> str:
        """The finding."""
        if self.layer is None:
            return say("pairs.given.roc", auc=self.auc)
        return say("pairs.roc.title", layer=self.layer, auc=self.auc)

    def claims(self) -> Sequence[Claim]:
        """Return the meaning of the area under the curve."""
        return [claim("pairs.roc.area", auc=self.auc)]

    def figure(self) -> go.Figure:
        """Return the curve, and the point of the page's threshold on it."""
        n = len(self.false)
        step = np.unique(np.linspace(0, n - 1, min(n, MAX_DRAWN_STEPS)).astype(int))
        shares = "<br>same, called same %{y:.1%}<br>different, called same %{x:.1%}<extra></extra>"
        curve = {
            "type": "scatter",
            "mode": "lines",
            "x": values(self.false[step]),
            "y": values(self.true[step]),
            "name": "ROC",
            "line": {"color": BLUE, "width": 2.5},
            "customdata": [
                number(cut, ".4f") if np.isfinite(cut) else "none" for cut in self.thresholds[step]
            ],
            "hovertemplate": f"threshold %{{customdata}}{shares}",
        }
        guessing = {
            "type": "scatter",
            "mode": "lines",
            "x": [0, 1],
            "y": [0, 1],
            "hoverinfo": "skip",
            "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
        }
        own_threshold = {
            "type": "scatter",
            "mode": "markers",
            "x": [self.at[0]],
            "y": [self.at[1]],
            "name": "this threshold",
            "marker": {"size": 12, "color": CATEGORICAL[3], "line": {"width": 2, "color": "white"}},
            "hovertemplate": f"this page's threshold{shares}",
        }
        axis = {"tickformat": ".0%", "zeroline": False}
        layout = {
            "xaxis": {"title": {"text": "different, called same"}, "range": [-0.01, 1.01], **axis},
            "yaxis": {"title": {"text": "same, called same"}, "range": [-0.01, 1.02], **axis},
            "annotations": [note("guessing", 0.97, 0.85)],
        }
        traces = [guessing, curve, own_threshold]
        return figure(traces, layout, title=self.title, height=380)

    def alt(self) -> str:
        """Return a description of the chart."""
        return f"{self.title}."


def roc_curve_of(pairs: PairsAtLayer) -> RocCurve | None:
    """Return the ROC curve of pairs; None if those judged by a threshold are not of both kinds."""
    if not isinstance(pairs, LabelledPairs) or len(set(pairs.judgement.same.tolist())) < 2:
        return None
    from sklearn.metrics import roc_curve

    judgement, row = pairs.judgement, pairs.row
    false, true, thresholds = roc_curve(judgement.same, pairs.cosines[judgement.rows])
    called_same, same = judgement.called_same[row], judgement.same
    at = (float(called_same[~same].mean()), float(called_same[same].mean()))
    layer = pairs.layer if pairs.pairs.vectors is None else None
    return RocCurve(layer, float(judgement.auc[row]), false, true, thresholds, at)
