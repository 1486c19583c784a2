"""The mix-ups at the layer shown: how often each sense is taken for each other one."""

from __future__ import annotations

from dataclasses import dataclass

from plotly import graph_objects as go

from contextlens.analysis.separation import Separation
from contextlens.content.language import Claim, claim, say
from contextlens.figures.confusion import MAX_CONFUSED, confusion_heatmap
from contextlens.ui.panel import Panel


@dataclass(frozen=True, eq=False)
class MixUps(Panel):
    """The senses that the test at a layer gives to the uses of each sense.

    Attributes:
        test: the test.
        senses: the tested senses, the most frequent first.
    """

    test: Separation
    senses: tuple[str, ...]

    def claims(self) -> list[Claim]:
        """The share of uses with the right sense."""
        test = self.test
        numbers = {"share": test.accuracy, "right": test.right, "n": test.n}
        return [claim("senses.mixups.share", layer=test.layer, **numbers)]

    def notes(self) -> list[Claim]:
        """The number of senses that are drawn, if not all are."""
        if len(self.senses) <= MAX_CONFUSED:
            return []
        return [claim("senses.mixups.most", most=MAX_CONFUSED, n=len(self.senses))]

    def figure(self) -> go.Figure:
        """Return the shares of each sense (down) that are taken for another (across)."""
        return confusion_heatmap(
            self.test.confusion, self.senses, kind="sense", title=self._title()
        )

    def alt(self) -> str:
        """The description of the chart."""
        return say("senses.mixups.alt", title=self._title())

    def _title(self) -> str:
        test = self.test
        return say("senses.mixups.title", layer=test.layer, right=test.right, n=test.n)
