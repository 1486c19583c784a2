"""How often the nearest text of a labelled corpus has the same label, by each way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.separation import RISK, cosine_table, scaled, wilson
from contextlens.content.language import Claim, claim, say, table
from contextlens.core.schema import FloatArray
from contextlens.corpus.corpus import Corpus
from contextlens.features.sentences.controls import TEST
from contextlens.features.sentences.vectors import (
    TextVectors,
    name_of,
    nearest,
    recipe_equals,
    title_of,
)
from contextlens.figures.margins import beside
from contextlens.figures.theme import CATEGORICAL, MUTED, NEUTRAL, SMALLEST, figure, plain
from contextlens.maps.vectors import RECIPE
from contextlens.ui.corpora.controls import READY_TEXTS
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState

FORMULA = """
**Accuracy.** Each text in turn is held out and gets the label of the nearest other one (the nearest
neighbour by cosine, leave-one-out). The interval is Wilson's at 95%. Texts that are each other's
nearest are right or wrong together, so where a share $m$ of $n$ texts are, they count as
$n / (1 + m)$. One way is worse than another if an exact sign test on the texts that only one of
them gets right says so.
""".strip()

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """The share of texts whose nearest other text has the same label, by one way.

    Attributes:
        pooling: the way.
        right: (n,) bool for each tested text: those whose label another text has, too.
        interval: the 95% interval of the share.
        is_worse: True if the best way is better on these texts by more than chance explains, by
            an exact sign test with Bonferroni's correction.
    """

    pooling: str
    right: Bools
    interval: tuple[float, float]
    is_worse: bool = False

    @property
    def share(self) -> float:
        """The share of texts that are right."""
        return float(self.right.mean())


@dataclass(frozen=True)
class Twins:
    """Two texts that are each other's nearest.

    Attributes:
        n: the number of such twins.
        n_different: those whose labels differ.
        expected: the share of any two texts whose labels differ.
    """

    n: int
    n_different: int
    expected: float

    @property
    def are_opposite(self) -> bool:
        """True if labels of twins differ more often than those of any two texts."""
        from scipy.stats import binomtest

        if not self.n:
            return False
        test = binomtest(self.n_different, self.n, self.expected, alternative="greater")
        return float(test.pvalue) < RISK


@dataclass(frozen=True, eq=False)
class CorpusAccuracy(Panel):
    """The share of a corpus' texts whose nearest has the same label, by every way.

    Attributes:
        corpus: its name.
        test: the column of labels, an option of `controls.TEST`.
        accuracies: best first.
        baseline: the share of the commonest label among the tested texts.
        twins: those of the best way.
        recipe_equals: the way that the model's own recipe is here; "" if it is none of them.
    """

    formula: ClassVar[str] = FORMULA

    corpus: str
    test: str
    accuracies: Sequence[Accuracy]
    baseline: float
    twins: Twins
    recipe_equals: str = ""

    @property
    def label(self) -> str:
        """The name of a label."""
        return str(table("sentences.label")[self.test])

    def claims(self) -> list[Claim]:
        """The finding on the corpus, and what [CLS] costs there."""
        best, *others = self.accuracies
        if round(100 * best.interval[1]) < round(100 * self.baseline):
            return self._below(best)
        is_better = best.interval[0] > self.baseline
        first = claim(
            "sentences.accuracy.better" if is_better else "sentences.accuracy.unclear",
            accuracy=best.share,
            pooling=name_of(best.pooling),
            label=self.label,
            baseline=self.baseline,
        )
        if not is_better or not others:
            return [first]
        worse = [other for other in others if other.is_worse]
        if not worse:
            return [first, claim("sentences.accuracy.equal")]
        last = worse[-1]
        second = claim(
            "sentences.accuracy.costs", accuracy=last.share, pooling=name_of(last.pooling)
        )
        cls = next((other for other in others if other.pooling == "cls"), None)
        if cls is None or cls is last:
            return [first, second]
        key = "sentences.accuracy.cls_worse" if cls.is_worse else "sentences.accuracy.cls_equal"
        return [first, second, claim(key, accuracy=cls.share)]

    def _below(self, best: Accuracy) -> list[Claim]:
        """That every way is worse than guessing, and the reason if twins are it."""
        numbers = {"accuracy": best.share, "baseline": self.baseline, "label": self.label}
        best_way = claim("sentences.accuracy.best", pooling=name_of(best.pooling), **numbers)
        if not self.twins.are_opposite:
            return [claim("sentences.accuracy.below"), best_way]
        share = self.twins.n_different / self.twins.n
        twins = claim("sentences.accuracy.twins", share=share, label=self.label)
        return [claim("sentences.accuracy.below_twins"), best_way, twins]

    def sure(self) -> list[Claim]:
        """The number of held-out texts, the interval, the test, and what the recipe is."""
        same = self.recipe_equals
        recipe = [claim("sentences.sure.recipe", pooling=name_of(same))] if same else []
        low, high = self.accuracies[0].interval
        return [
            claim("sentences.accuracy_sure.held_out", n=len(self.accuracies[0].right)),
            claim("sentences.accuracy_sure.interval", low=low, high=high),
            claim("sentences.accuracy_sure.test"),
            *recipe,
        ]

    def title(self) -> str:
        """The question that the chart answers."""
        return say("sentences.accuracy.title", corpus=self.corpus, label=self.label)

    def figure(self) -> go.Figure:
        """The accuracy by each way with its interval, best on top, and a line for guessing."""
        labels = [plain(title_of(measured.pooling), 40) for measured in self.accuracies]
        shares = np.array([measured.share for measured in self.accuracies])
        low, high = np.array([measured.interval for measured in self.accuracies]).T
        trace = {
            "type": "scatter",
            "mode": "markers",
            "x": np.round(100 * shares, 2).tolist(),
            "y": labels,
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": np.round(100 * (high - shares), 2).tolist(),
                "arrayminus": np.round(100 * (shares - low), 2).tolist(),
                "thickness": 3,
                "width": 0,
                "color": CATEGORICAL[0],
            },
            "marker": {"size": 13, "color": CATEGORICAL[0]},
            "customdata": np.round(100 * np.array([low, high]).T, 1).tolist(),
            "hovertemplate": "%{y}<br>%{x:.1f}% (95% interval %{customdata[0]} to %{customdata[1]})"
            "<extra></extra>",
        }
        line = {"color": NEUTRAL, "width": 2, "dash": "dot"}
        at = 100 * self.baseline
        layout = {
            "xaxis": {
                "title": {"text": say("sentences.accuracy.axis", label=self.label)},
                "range": [0, 101],
                "ticksuffix": "%",
                "zeroline": False,
            },
            "yaxis": {"autorange": "reversed", "automargin": True, "showgrid": False},
            "shapes": [
                {
                    "type": "line",
                    "x0": at,
                    "x1": at,
                    "y0": 0,
                    "y1": 1,
                    "yref": "paper",
                    "line": line,
                }
            ],
            "annotations": [
                {
                    "text": say("sentences.accuracy.guessing"),
                    "x": at,
                    "y": 1,
                    "yref": "paper",
                    "xanchor": "left" if at < 50 else "right",
                    "yanchor": "bottom",
                    "showarrow": False,
                    "font": {"size": SMALLEST, "color": MUTED},
                }
            ],
            "margin": {"l": beside(labels, most=240), "t": 78, "b": 74, "r": 26},
        }
        height = accuracy_height(len(self.accuracies))
        return figure([trace], layout, title=self.title(), height=height, narrow=True)

    def alt(self) -> str:
        """A description of the chart."""
        return say("sentences.accuracy.alt", title=self.title())


def accuracy_height(n: int) -> int:
    """The height of a chart of n ways, in pixels."""
    return 150 + 34 * n


def corpus_of(view: ViewState) -> Corpus:
    """The corpus with the chosen column of labels."""
    corpora = (corpus() for corpus in READY_TEXTS.values())
    return next(corpus for corpus in corpora if TEST.of(view) in corpus.labels)


def accuracy_of(view: ViewState, vectors: TextVectors) -> CorpusAccuracy:
    """Test the vectors of the view's corpus on its labels."""
    corpus, test = corpus_of(view), TEST.of(view)
    same = recipe_equals(vectors.by_pooling)
    units = {
        pooling: scaled(rows)
        for pooling, rows in vectors.by_pooling.items()
        if not (same and pooling == RECIPE)
    }
    measured, baseline = accuracies(units, corpus.labels[test])
    twins = twins_of(units[measured[0].pooling], corpus.labels[test])
    return CorpusAccuracy(corpus.name, test, measured, baseline, twins, same)


def twins_of(units: FloatArray, labels: Sequence[str]) -> Twins:
    """Return the texts that are each other's nearest, from (n, n_dims) scaled vectors."""
    neighbours, codes = nearest(cosine_table(units)), np.unique(labels, return_inverse=True)[1]
    texts = np.arange(len(labels))
    first = np.flatnonzero((neighbours[neighbours] == texts) & (texts < neighbours))
    n_different = int((codes[first] != codes[neighbours[first]]).sum())
    n, sizes = len(codes), np.bincount(codes)
    same = float((sizes * (sizes - 1)).sum() / max(1, n * (n - 1)))
    return Twins(len(first), n_different, 1 - same)


def accuracies(
    units: Mapping[str, FloatArray], labels: Sequence[str]
) -> tuple[tuple[Accuracy, ...], float]:
    """The accuracy by each way, best first, and that of always guessing the commonest label.

    Each text is held out in turn and gets the label of the nearest other one (leave-one-out). A
    text with a label of its own is not tested.

    Args:
        units: (n, n_dims) scaled vectors by way.
        labels: one for each text.
    """
    counts = Counter(labels)
    tested = np.array([counts[label] > 1 for label in labels])
    codes = np.unique(np.array(labels), return_inverse=True)[1]
    neighbours = {way: nearest(cosine_table(vectors)) for way, vectors in units.items()}
    rights = {way: (codes[near] == codes)[tested] for way, near in neighbours.items()}
    texts = np.arange(len(codes))
    mutual = {way: float((near[near] == texts).mean()) for way, near in neighbours.items()}
    order = sorted(rights, key=lambda pooling: -int(rights[pooling].sum()))
    first, n = rights[order[0]], int(tested.sum())
    measured = tuple(
        Accuracy(
            pooling,
            right,
            wilson(int(right.sum()) / (1 + mutual[pooling]), n / (1 + mutual[pooling])),
            _is_worse(first, right, RISK / max(1, len(order) - 1)),
        )
        for pooling, right in ((pooling, rights[pooling]) for pooling in order)
    )
    return measured, max(counts.values()) / n


def _is_worse(best: Bools, right: Bools, risk: float) -> bool:
    from scipy.stats import binomtest

    won, lost = int((best & ~right).sum()), int((right & ~best).sum())
    return won > lost and float(binomtest(won, won + lost).pvalue) < risk
