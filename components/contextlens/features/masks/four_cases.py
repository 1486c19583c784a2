"""The four cases of a padded text: mask on or off, padding averaged in or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import two
from contextlens.features.masks.padded_batch import Masks
from contextlens.figures.theme import INK, SEQUENTIAL, figure, ink_on, plain
from contextlens.ui.panel import Panel

Case = Literal["on_real", "on_all", "off_real", "off_all"]
_CASES: tuple[Case, ...] = ("on_real", "on_all", "off_real", "off_all")
_OTHERS = 0.4  # opacity of the three cases that are not the present one


@dataclass(frozen=True)
class FourCases(Panel):
    """A padded text's mean against the text alone: mask on or off, padding averaged in or not.

    Attributes:
        label: the text's name.
        on: with the mask, the cosine of the mean over real tokens, and over all positions; and
        off: without the mask.
        masked: True if the present case has the mask on.
        averaged: True if the present case averages padding in.
        scale: the ends of the colour scale.
    """

    label: str
    on: tuple[float, float]
    off: tuple[float, float]
    masked: bool = True
    averaged: bool = False
    scale: tuple[float, float] = (0.0, 1.0)

    @property
    def similarities(self) -> Mapping[str, float]:
        """The similarity of each case, by its name."""
        return dict(zip(_CASES, (*self.on, *self.off), strict=True))

    @property
    def case(self) -> Case:
        """The name of the present case."""
        return _CASES[2 * (not self.masked) + self.averaged]

    def title(self) -> Claim:
        """Return what the numbers in the cells are."""
        return claim("masks.case.title", label=self.label)

    def headline(self) -> Claim:
        """Return what the present case does to the sentence."""
        effect = _effect(self.similarities[self.case])
        return claim(f"masks.headline.{self.case}.{effect}", label=self.label)

    def claims(self) -> list[Claim]:
        """Return the number of the present case, or what forgetting the mask would do."""
        case, similarities = self.case, self.similarities
        if case == "on_real" and _effect(similarities[case]) == "unchanged":
            forgotten = _effect(similarities["off_real"])
            return [claim(f"masks.case.forgotten.{forgotten}", label=self.label, **similarities)]
        return [claim("masks.case.now", label=self.label, similarity=similarities[case])]

    def sure(self) -> list[Claim]:
        """Return the similarities of the two mistakes."""
        return [claim("masks.case.mistakes", label=self.label, **self.similarities)]

    def alt(self) -> str:
        """Return a description of the cells."""
        return say("masks.page.cases_alt", title=str(self.title()))

    def figure(self) -> go.Figure:
        """Return two rows, mask on and off, and two columns, without padding and with it.

        The present case is strong. The points in the cells are invisible; they carry the case that
        a click chooses.
        """
        cosines = np.array([self.on, self.off])
        y, x = int(not self.masked), int(self.averaged)
        faint, strong = cosines.copy(), np.full((2, 2), np.nan)
        faint[y, x], strong[y, x] = np.nan, cosines[y, x]
        cells = {
            "type": "heatmap",
            "zmin": self.scale[0],
            "zmax": self.scale[1],
            "colorscale": SEQUENTIAL,
            "showscale": False,
            "hoverinfo": "skip",
            "xgap": 6,
            "ygap": 6,
        }
        indices = [(i, j) for i in (0, 1) for j in (0, 1)]
        hidden = {"marker": {"opacity": 0}}
        points = {
            "type": "scatter",
            "mode": "markers",
            "x": [j for _, j in indices],
            "y": [i for i, _ in indices],
            "customdata": [[i == 0, j == 1, float(cosines[i, j])] for i, j in indices],
            "hovertemplate": f"{plain(self.label)}: %{{customdata[2]:.4f}}<extra></extra>",
            **hidden,
            "selected": hidden,
            "unselected": hidden,
        }
        axis = {"showgrid": False, "zeroline": False, "ticks": "", "tickvals": [0, 1]}
        layout = {
            "xaxis": {
                **axis,
                "side": "top",
                "range": [-0.5, 1.5],
                "ticktext": [say("masks.figure.real"), say("masks.figure.all")],
                "title": {"text": say("masks.figure.average")},
            },
            "yaxis": {
                **axis,
                "range": [1.5, -0.5],
                "ticktext": [say("masks.figure.mask_on"), say("masks.figure.mask_off")],
            },
            "annotations": [
                self._cell_label(case, self.similarities[case], i, j)
                for case, (i, j) in zip(_CASES, indices, strict=True)
            ],
            "hoverdistance": -1,
            "margin": {"l": 78, "r": 8, "t": 90, "b": 8},
            "title_y": 0.98,
            "title_yanchor": "top",
        }
        traces = [
            {**cells, "z": faint.tolist(), "opacity": _OTHERS},
            {**cells, "z": strong.tolist()},
            points,
        ]
        return figure(traces, layout, title=str(self.title()), height=420)

    def _cell_label(self, case: Case, value: float, i: int, j: int) -> dict[str, Any]:
        """Return the number of a case, and below it what is done wrong."""
        is_strong, (low, high) = case == self.case, self.scale
        name = say(f"masks.figure.{case}").replace("|", "<br>")
        size = 34 if is_strong else 26
        return {
            "text": f'<b style="font-size:{size}px">{two(value)}</b><br>{name}',
            "x": j,
            "y": i,
            "showarrow": False,
            "font": {"color": ink_on((value - low) / (high - low)) if is_strong else INK},
        }


def _effect(similarity: float) -> Literal["unchanged", "changed"]:
    return "unchanged" if two(similarity) == two(1.0) else "changed"


def four_cases(masks: Masks) -> FourCases | None:
    """Return the four cases of the text that the numbers are for; None if no text has padding."""
    row = masks.row
    if not row.n_padding:
        return None
    on, off = (
        masks.batches[masked].row(row.label).damage.means(masks.layer) for masked in (True, False)
    )
    return FourCases(row.label, on, off, masks.masked, masks.averaged, masks.scale)
