"""Triplets: whether an anchor is nearer to its positive text than to its negative one.

A file of triplets becomes two pairs a row, the anchor with its positive and with its negative, one
after the other. Nothing is learned, so all triplets count. Intervals are Wilson's (1927).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.correlation import Float64Array
from contextlens.analysis.separation import wilson
from contextlens.content.language import Claim, claim, say
from contextlens.core.schema import IntArray
from contextlens.features.pairs.controls import PLAIN_LISTS, TRIPLET_LISTS
from contextlens.features.pairs.layer_chart import (
    HEIGHT,
    interval,
    layer_axis,
    level,
    line,
    note,
    upright,
)
from contextlens.features.pairs.pairs_at_layer import Limits, PairsAtLayer
from contextlens.figures.ruler import Stretch, line_ruler
from contextlens.figures.theme import figure
from contextlens.ui.panel import Arrays, Rows

GUESSING = 0.5

TRIPLET_FORMULA = r"""
**Triplets.** At layer $\ell$ an anchor is nearer to its positive text if their cosine is greater
than that of the anchor and its negative text; equal cosines do not count as nearer. The share is
that of all triplets; copies of one, with the same three texts, count once. Guessing gets half of
them.

**Interval.** Of $n$ triplets a share $p$ is nearer; with $z = 1.96$ (Wilson, 1927):

$$\frac{p + \frac{z^2}{2n} \pm z \sqrt{\frac{p(1-p)}{n} + \frac{z^2}{4n^2}}}{1 + \frac{z^2}{n}}$$

It holds for triplets that have nothing to do with each other; where texts repeat, it is narrower
than it should be.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class TripletPairs(PairsAtLayer):
    """The pairs of triplets at one layer: each even one has the positive, the next the negative."""

    lists: ClassVar[tuple[str, ...]] = TRIPLET_LISTS
    limits: ClassVar[Limits] = "pairs.triplets.limits"
    share_title: ClassVar[Literal["pairs.triplets.whole"]] = "pairs.triplets.whole"

    @cached_property
    def counted(self) -> IntArray:
        """(n,) the first pair of each triplet that has both cosines; a copy counts once."""
        values = self.every_layer.values
        has_both = ~np.isnan(values[:, 0::2] + values[:, 1::2]).any(axis=0)
        contents = np.stack([self.pairs.contents[0::2], self.pairs.contents[1::2]])
        whole = np.flatnonzero(has_both)
        _, firsts = np.unique(contents[:, whole], axis=1, return_index=True)
        counted: IntArray = 2 * whole[np.sort(firsts)]
        return counted

    @property
    def n(self) -> int:
        """The number of counted triplets."""
        return len(self.counted)

    @cached_property
    def nearer(self) -> NDArray[np.bool_]:
        """(n_layers, n) True where an anchor is nearer to its positive text."""
        values = self.every_layer.values
        nearer: NDArray[np.bool_] = values[:, self.counted] > values[:, self.counted + 1]
        return nearer

    @cached_property
    def shares(self) -> Float64Array:
        """(n_layers, 3) the share of triplets whose positive is nearer, and its 95% interval."""
        counts = self.nearer.sum(axis=1).tolist()
        return np.array([(count / self.n, *wilson(count, self.n)) for count in counts])

    def to_read(self, which: str) -> IntArray:
        """Return the pairs of a list; of wrong triplets the one with the negative, worst first."""
        if which in PLAIN_LISTS:
            return super().to_read(which)
        wrong = self.counted[~self.nearer[self.row]]
        by_gap = np.argsort(self.cosines[wrong] - self.cosines[wrong + 1], kind="stable")
        ordered: IntArray = wrong[by_gap] + 1
        return ordered

    def pair_claims(self, pair: int) -> list[Claim]:
        """Return the similarity of one pair, and that of the other one of its triplet."""
        kind, other = ("negative", pair - 1) if pair % 2 else ("positive", pair + 1)
        cosines = {"cosine": float(self.cosines[pair]), "other": float(self.cosines[other])}
        return [claim(f"pairs.triplets.pair_{kind}", **cosines)]

    @property
    def verdict_columns(self) -> Arrays:
        """The kind of each pair, for the table of every pair."""
        return {"kind": np.array(["positive", "negative"] * (self.pairs.n // 2))}

    @property
    def title(self) -> str:
        """The finding at the layer, or by the vectors of the file."""
        share = float(self.shares[self.row, 0])
        if self.pairs.vectors is not None:
            return say("pairs.given.triplets", share=share)
        return say("pairs.triplets.title", share=share, layer=self.layer)

    def claims(self) -> Sequence[Claim]:
        """Return how many anchors are nearer to their positive text, with the interval."""
        share, low, high = (float(value) for value in self.shares[self.row])
        case = "better" if low > GUESSING else "worse" if high < GUESSING else "unclear"
        numbers = {"right": int(self.nearer[self.row].sum()), "n": self.n}
        return [claim(f"pairs.triplets.{case}", share=share, low=low, high=high, **numbers)]

    def sure(self) -> Sequence[Claim]:
        """Return what the interval holds for."""
        return [
            claim("pairs.triplets.guessing"),
            *self.repeated_texts(np.sort(np.concatenate([self.counted, self.counted + 1]))),
        ]

    def share_figure(self) -> go.Figure:
        """Return the share on a line, beside that of guessing."""
        share = float(self.shares[self.row, 0])
        guessing = Stretch(say("pairs.whole.guessing", share=GUESSING), 0, GUESSING)
        label = say("pairs.triplets.share", share=share)
        return line_ruler([guessing], share, scale=(0, 1), label=label)

    def share_alt(self) -> str:
        """Return a description of the share's chart."""
        return self.title

    def figure(self) -> go.Figure:
        """Return the share at each layer with its interval, and that of guessing."""
        x, (share, low, high) = list(self.layers), self.shares.T
        points = line(
            x,
            share,
            [low, high],
            name="nearer to the positive",
            template="%{y:.4f}<br>95 of 100: %{customdata[0]:.4f} to %{customdata[1]:.4f}",
        )
        lowest = min(0.4, float(np.floor(low.min() * 10) / 10))
        layout = {
            "margin": {"l": 92},
            "xaxis": layer_axis(x),
            "yaxis": {
                "title": {"text": "nearer to the positive"},
                "range": [lowest, 1.02],
                "tickformat": ".0%",
            },
            "shapes": [level(GUESSING, x), upright(self.layer)],
            "annotations": [note(f"guessing {GUESSING:.0%}", x[-1], GUESSING)],
        }
        return figure([interval(x, low, high), points], layout, title=self.title, height=HEIGHT)

    def alt(self) -> str:
        """Return a description of the chart."""
        return say("pairs.alt.accuracy", title=self.title)

    def rows(self) -> Rows:
        """Return the shares at each layer."""
        return [
            {
                "layer": layer,
                "nearer to the positive": float(share),
                "from (95%)": float(low),
                "to (95%)": float(high),
            }
            for layer, (share, low, high) in zip(self.layers, self.shares, strict=True)
        ]

    def scripts(self) -> list[tuple[str, str]]:
        """Return a script for the share at each layer, with its title."""
        return [(say("pairs.triplets.snippet"), TRIPLET_SCRIPT)]

    def _used_pairs(self) -> list[str]:
        n = self.pairs.n // 2 - self.n
        return [say("pairs.triplets.not_counted", n=n)] if n else []


TRIPLET_SCRIPT = """\
import numpy as np

with np.load("pairs.npz") as page:
    cosines, contents = page["cosines"], page["contents"]  # equal contents: the same two texts

positive, negative = cosines[:, 0::2], cosines[:, 1::2]
whole = np.flatnonzero(~np.isnan(positive + negative).any(axis=0))
triplets = np.stack([contents[0::2], contents[1::2]])[:, whole]
_, first = np.unique(triplets, axis=1, return_index=True)
once = whole[first]
shares = (positive[:, once] > negative[:, once]).mean(axis=1)
print(*[f"{share:.4f}" for share in shares])
"""
