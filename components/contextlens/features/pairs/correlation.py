"""The correlation of cosines with graded scores, over all pairs and for each of them.

The coefficients are those of `analysis.correlation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.correlation import FEWEST, Correlation, Float64Array, percentiles
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import two
from contextlens.core.schema import IntArray
from contextlens.features.pairs.controls import GRADED_LISTS, MAX_DRAWN_PAIRS, PLAIN_LISTS
from contextlens.features.pairs.layer_chart import (
    BLUE,
    color_key,
    interval,
    keyed_figure,
    layer_axis,
    level,
    line,
    note,
    upright,
)
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.figures.theme import CATEGORICAL, INK, plain, values
from contextlens.ui.panel import Arrays, Rows

CORRELATION_FORMULA = r"""
**Spearman** is the correlation of the ranks of scores and cosines; equal ones share the mean of
their ranks. **Pearson** is that of the values themselves:

$$
r = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}
{\sqrt{\sum_i (x_i - \bar x)^2 \sum_i (y_i - \bar y)^2}}
$$

**Interval.** With $n$ pairs and $z = 1.96$ (Fisher; for Spearman, Bonett and Wright, 2000):

$$\tanh\left(\operatorname{artanh} r \pm z \sqrt{\frac{v}{n - 3}}\right)$$

where $v$ is 1 for Pearson and $1 + r^2/2$ for Spearman. Copies of a pair tell nothing new: where
$m_i$ pairs have the same two texts, $n$ is $(\sum_i m_i)^2 / \sum_i m_i^2$ (Kish). The interval
holds for pairs that have nothing to do with each other; where texts repeat, it is narrower than it
should be.

**Shared words** of two texts with the sets of words $A$ and $B$:
$|A \cap B| / \sqrt{|A| \, |B|}$.

**Percentile** of a pair: the share of the pairs below it, and half of itself. A score that several
pairs share spans several percentiles; two such ranges that meet are not apart.
"""

_PEARSON = CATEGORICAL[1]
_SCORE_HIGHER = ("score ranks higher", CATEGORICAL[1])
_COSINE_HIGHER = ("cosine higher", CATEGORICAL[4])
_MIN_APART = 20
"""Percentiles between the places of a pair by score and by cosine, from which they disagree."""
_CLOSE = 0.4
"""From this rank correlation on, a cosine is not said to follow scores only loosely."""
_BEYOND = 0.04  # of an axis, beyond the first and the last score
_MAX_HOVERED = 48  # characters of a text that hovering over its pair shows


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredPairs(PairsAtLayer):
    """Pairs at one layer that have graded scores.

    Attributes:
        correlation: of their cosines and scores at every layer.
        grades: (n_pairs,) the scores; NaN for a pair that has none.
    """

    lists: ClassVar[tuple[str, ...]] = GRADED_LISTS
    limits = "pairs.scores_limits"

    correlation: Correlation
    grades: Float64Array

    @property
    def best_row(self) -> int:
        """The row of the layer with the highest rank correlation."""
        return super().best_row if self.correlation.best is None else self.correlation.best

    # --- The ranks of pairs in both orders

    @cached_property
    def ranks(self) -> tuple[Float64Array, Float64Array]:
        """Two arrays (2, n_pairs): `percentiles` among scored pairs, by score and by cosine.

        They are NaN for other pairs.
        """
        by_score, by_cosine = np.full((2, 2, self.pairs.n), np.nan)
        rows = self.correlation.rows
        by_score[:, rows] = percentiles(self.grades[rows])
        by_cosine[:, rows] = percentiles(self.cosines[rows])
        return by_score, by_cosine

    @cached_property
    def rank_gaps(self) -> Float64Array:
        """(n_pairs,) how far a pair stands higher by score than by cosine; below 0 if lower.

        In percentile ranks, in [-1, 1]; NaN for pairs without a score.
        """
        (score_low, score_high), (cosine_low, cosine_high) = self.ranks
        above = np.maximum(score_low - cosine_high, 0)
        gaps: Float64Array = above - np.maximum(cosine_low - score_high, 0)
        return gaps

    @property
    def standings(self) -> IntArray:
        """(n_pairs,) 1 if a pair's score stands far above its cosine, -1 if far below, else 0."""
        gaps = np.round(100 * np.nan_to_num(self.rank_gaps))
        signs: IntArray = (gaps >= _MIN_APART).astype(np.int64) - (gaps <= -_MIN_APART)
        return signs

    @cached_property
    def rank_columns(self) -> Arrays:
        """The places of each pair in both orders, and how far they are apart."""
        by_score, by_cosine = (100 * ends.mean(axis=0) for ends in self.ranks)
        return {
            "percentile by score": by_score,
            "percentile by cosine": by_cosine,
            "percentiles apart": 100 * self.rank_gaps,
        }

    # --- One pair

    def pair_claims(self, pair: int) -> list[Claim]:
        """Return the place of one pair in the order of the scores and in that of the cosines."""
        cosine, (by_score, by_cosine) = float(self.cosines[pair]), self.ranks
        if np.isnan(by_score[0, pair]):
            return [claim("pairs.standing.unscored", cosine=cosine)]
        case = {1: "high", 0: "near", -1: "low"}[int(self.standings[pair])]
        return [
            claim(
                f"pairs.standing.{case}",
                score=_written(float(self.grades[pair])),
                cosine=cosine,
                by_score=_percentile(by_score[:, pair]),
                by_cosine=_percentile(by_cosine[:, pair]),
            )
        ]

    def to_read(self, which: str) -> IntArray:
        """Return the pairs of a list; those whose places are furthest apart first."""
        if which in PLAIN_LISTS:
            return super().to_read(which)
        gaps = self.rank_gaps
        distance = {"score_high": gaps, "score_low": -gaps}.get(which, np.abs(gaps))
        apart = np.flatnonzero(distance > 0)  # not NaN
        by_gap: IntArray = apart[np.argsort(-distance[apart], kind="stable")]
        return by_gap

    # --- All pairs at the layer, by score and cosine

    def drawn_pairs(self, pair: int) -> IntArray:
        """Return the scored pairs of the scatter plot: all, or as many as fit, and `pair`."""
        rows = self.correlation.rows
        if len(rows) <= MAX_DRAWN_PAIRS:
            return rows
        some = np.random.default_rng(0).choice(rows, MAX_DRAWN_PAIRS - 1, replace=False)
        drawn: IntArray = np.union1d(some, rows[rows == pair])
        return drawn

    def scatter(self, pair: int) -> go.Figure:
        """Return each scored pair by its score and its cosine, one with a ring.

        A click on a point gives its number, from 1.
        """
        drawn, standings = self.drawn_pairs(pair), self.standings
        colors = ((0, BLUE), (1, _SCORE_HIGHER[1]), (-1, _COSINE_HIGHER[1]))
        traces = [
            self._points(rows, color)
            for standing, color in colors
            if len(rows := drawn[standings[drawn] == standing])
        ]
        if pair in drawn:
            traces.append(_ring(float(self.grades[pair]), float(self.cosines[pair])))
        scored, scale = self.grades[self.correlation.rows], self.scale
        low, high = float(scored.min()), float(scored.max())
        beyond = _BEYOND * (high - low) or 1.0
        layout = {
            "xaxis": {
                "title": {"text": "your score"},
                "range": [low - beyond, high + beyond],
                "zeroline": False,
            },
            "yaxis": {
                "title": {"text": "cosine"},
                "range": [scale[0] - 0.02, scale[1] + 0.02],
                "zeroline": False,
            },
            "annotations": [color_key([_SCORE_HIGHER, _COSINE_HIGHER])],
        }
        title = say("pairs.scatter.title", n=self.correlation.n, layer=self.layer)
        if self.pairs.vectors is not None:
            title = say("pairs.given.scatter", n=self.correlation.n)
        return keyed_figure(traces, layout, title=title)

    def _points(self, rows: IntArray, color: str) -> dict[str, Any]:
        texts = [
            "<br>".join(plain(self.pairs.text(i, side), _MAX_HOVERED) for side in (0, 1))
            for i in rows.tolist()
        ]
        steady = {"marker": {"opacity": 0.75}}  # a click on one must not fade the others
        return {
            "type": "scatter",
            "mode": "markers",
            "x": values(self.grades[rows]),
            "y": values(self.cosines[rows]),
            "customdata": [[i + 1] for i in rows.tolist()],
            "hovertext": texts,
            "hovertemplate": "%{hovertext}<br>score %{x}, cosine %{y:.4f}<extra></extra>",
            "marker": {"size": 8, "color": color, "opacity": 0.75},
            "selected": steady,
            "unselected": steady,
        }

    def scatter_alt(self) -> str:
        """Return a description of the scatter plot."""
        finding = str(self.claims()[0]).replace("**", "")
        if self.pairs.vectors is not None:
            return say("pairs.given.scatter_alt", finding=finding)
        return say("pairs.alt.scatter", layer=self.layer, finding=finding)

    # --- The correlation at the layer, and at all of them

    @property
    def title(self) -> str:
        """The finding over all layers."""
        correlation, best = self.correlation, self.correlation.best
        if best is None or correlation.n_distinct < FEWEST:
            return say("pairs.title.few_scores")
        if not correlation.is_clear:
            return say("pairs.title.unclear_scores")
        spearman = float(correlation.spearman[best])
        return say("pairs.title.scores", layer=self.layers[best], spearman=spearman)

    def claims(self) -> Sequence[Claim]:
        """Return how closely the cosine follows the scores, with a yardstick and a caution."""
        correlation, row = self.correlation, self.row
        r, low, high = (
            float(by_layer[row])
            for by_layer in (
                correlation.spearman, correlation.spearman_low, correlation.spearman_high,
            )
        )  # fmt: skip
        n, words = correlation.n, correlation.shared_words
        if correlation.n_distinct < FEWEST:
            return [claim("pairs.scores.few", n=correlation.n_distinct, least=FEWEST)]
        if np.isnan(r):
            equal = "equal_scores" if correlation.has_equal_scores else "equal_cosines"
            if self.pairs.vectors is not None and equal == "equal_cosines":
                return [claim("pairs.given.equal_cosines", n=n)]
            return [claim(f"pairs.scores.{equal}", layer=self.layer, n=n)]
        is_above, is_below = round(low, 2) > 0, round(high, 2) < 0  # as displayed
        case = "against" if is_below else "follows" if r >= _CLOSE else "loosely"
        case = case if is_above or is_below else "unclear"
        numbers = {"spearman": r, "low": low, "high": high, "n": n}
        if self.pairs.vectors is None:
            finding = claim(f"pairs.scores.{case}", layer=self.layer, **numbers)
        else:
            finding = claim(f"pairs.given.scores.{case}", **numbers)
        if case == "unclear":
            return [finding, claim("pairs.scores.words.unknown")]
        place = "fewer" if words < low else "more" if words > high else "about"
        place = "unknown" if np.isnan(words) else place
        yardstick = claim(f"pairs.scores.words.{place}", words=words)
        return [finding, yardstick, claim("pairs.scores.caution")]

    def sure(self) -> Sequence[Claim]:
        """Return both intervals, the texts that repeat, and the best layer.

        There are none if the pairs are too few.
        """
        correlation, row, best = self.correlation, self.row, self.correlation.best
        if best is None or correlation.n_distinct < FEWEST or np.isnan(correlation.spearman[row]):
            return []
        return [
            claim(
                "pairs.scores_sure.interval",
                n=correlation.n,
                low=float(correlation.spearman_low[row]),
                high=float(correlation.spearman_high[row]),
            ),
            claim(
                "pairs.scores_sure.pearson",
                pearson=float(correlation.pearson[row]),
                low=float(correlation.pearson_low[row]),
                high=float(correlation.pearson_high[row]),
            ),
            *self.repeated_texts(correlation.rows),
            *([] if self.pairs.vectors is not None else [self._best(best)]),
        ]

    def _best(self, row: int) -> Claim:
        return claim(
            "pairs.scores_sure.best",
            layer=self.layers[row],
            spearman=float(self.correlation.spearman[row]),
            n=len(self.layers),
        )

    def figure(self) -> go.Figure:
        """Return both correlations at each layer, and that of the shared words."""
        x, correlation = list(self.layers), self.correlation
        spearman, pearson = correlation.spearman, correlation.pearson
        low, high = correlation.spearman_low, correlation.spearman_high
        known = np.flatnonzero(~np.isnan(spearman))
        band = interval([x[i] for i in known.tolist()], low[known], high[known])
        lines = [
            _coefficient(x, "Spearman", spearman, (low, high)),
            _coefficient(
                x, "Pearson", pearson, (correlation.pearson_low, correlation.pearson_high),
                color=_PEARSON, dash="dash",
            ),
        ]  # fmt: skip
        words = correlation.shared_words
        has_words = not math.isnan(words)
        lowest = float(np.nanmin([0.0, words, *low[known], *pearson[known]]))
        layout = {
            "xaxis": layer_axis(x),
            "yaxis": {
                "title": {"text": "correlation"},
                "range": [math.floor(lowest * 5) / 5 - 0.02, 1.02],
                "zeroline": False,
            },
            "shapes": [
                level(0.0, x),
                *([level(words, x)] if has_words else []),
                upright(self.layer),
            ],
            "annotations": [
                color_key([("Spearman", BLUE), ("Pearson", _PEARSON)]),
                *([note(f"shared words {two(words)}", x[-1], words)] if has_words else []),
            ],
        }
        return keyed_figure([band, *lines], layout, title=self.title)

    def alt(self) -> str:
        """Return a description of the chart."""
        return say("pairs.alt.correlation", title=self.title)

    def rows(self) -> Rows:
        """Return both correlations at each layer."""
        correlation = self.correlation
        return [
            {
                "layer": layer,
                "Spearman": float(correlation.spearman[i]),
                "from (95%)": float(correlation.spearman_low[i]),
                "to (95%)": float(correlation.spearman_high[i]),
                "Pearson": float(correlation.pearson[i]),
                "Pearson from (95%)": float(correlation.pearson_low[i]),
                "Pearson to (95%)": float(correlation.pearson_high[i]),
                "Spearman of shared words": correlation.shared_words,
            }
            for i, layer in enumerate(self.layers)
        ]

    def arrays(self) -> Arrays:
        """Return the cosines and scores of the pairs, and the correlations."""
        ends = ("", "_low", "_high")
        names = [name + end for name in ("spearman", "pearson") for end in ends]
        correlations = {name: getattr(self.correlation, name) for name in names}
        return {**super().arrays(), "scores": self.grades, **correlations}

    def scripts(self) -> list[tuple[str, str]]:
        """Return a script for the correlations, with its title, and one for a chart."""
        title = say("pairs.correlation_snippet")
        return [(title, CORRELATION_SNIPPET), ("", CORRELATION_PICTURE)]

    def _used_pairs(self) -> list[str]:
        if np.isnan(self.grades).all():
            return [say("pairs.notes.unscored")]
        low, high = (_written(float(end(self.grades))) for end in (np.nanmin, np.nanmax))
        key = "pairs.notes.scored" if self.pairs.split is None else "pairs.notes.scored_split"
        scored = say(key, n=self.correlation.n, low=low, high=high)
        n = self._n_copies(self.correlation.rows)
        return [scored, *([say("pairs.notes.copies_interval", n=n)] if n else [])]


def _percentile(ends: Float64Array) -> str:
    """A percentile, or several if other pairs have the same value: "59", "59 to 100"."""
    return " to ".join(dict.fromkeys(f"{round(100 * float(end))}" for end in ends))


def _written(score: float) -> str:
    """A score as people write it: "4", "3.67"."""
    return f"{round(score, 2) + 0.0:,.12g}".replace("-", "\N{MINUS SIGN}")


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


def _coefficient(
    x: list[int],
    name: str,
    coefficient: Float64Array,
    ends: tuple[Float64Array, Float64Array],
    **style: str,
) -> dict[str, Any]:
    template = f"{name} %{{y:.4f}}<br>95 of 100: %{{customdata[0]:.4f}} to %{{customdata[1]:.4f}}"
    return line(x, coefficient, ends, name=name, template=template, **style)


# --- A script for the correlations, from the page's NPZ

CORRELATION_SNIPPET = """\
import numpy as np
from scipy.stats import pearsonr, spearmanr

with np.load("pairs.npz") as page:
    cosines, scores, contents = page["cosines"], page["scores"], page["contents"]

rows = ~np.isnan(scores) & ~np.isnan(cosines).any(axis=0)
copies = np.unique(contents[rows], return_counts=True)[1]
n = copies.sum() ** 2 / (copies**2).sum()  # without copies, the number of pairs
spearman, pearson = [], []
for c in cosines[:, rows].astype(float):
    r = spearmanr(c, scores[rows]).statistic
    half = 1.959964 * np.sqrt((1 + r**2 / 2) / (n - 3))  # Bonett and Wright, 2000
    spearman.append((r, np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)))
    r = pearsonr(c, scores[rows]).statistic
    half = 1.959964 / np.sqrt(n - 3)  # Fisher
    pearson.append((r, np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)))
    print("Spearman {:.4f} ({:.4f} to {:.4f}),".format(*spearman[-1]), end=" ")
    print("Pearson {:.4f} ({:.4f} to {:.4f})".format(*pearson[-1]))
print(f"{rows.sum()} pairs")
"""
CORRELATION_PICTURE = """\
import plotly.express as px

px.line(y=[r for r, *_ in spearman], markers=True, labels={"x": "layer", "y": "Spearman"})
"""
