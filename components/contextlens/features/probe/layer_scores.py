"""Scores of all layers and poolings beside yardsticks, and the page's picture of them.

`labels` and `grades` have the two kinds of scores: accuracy, and Spearman's correlation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.separation import RISK, Trial
from contextlens.content.language import Claim, claim, say
from contextlens.core.schema import FloatArray, IntArray, ModelCard, Passport
from contextlens.features.probe.controls import FEW_TESTED_TEXTS
from contextlens.features.probe.labelled_texts import LabelledTexts
from contextlens.features.probe.text_vectors import POOLINGS
from contextlens.figures.theme import CATEGORICAL, NEUTRAL, figure, values
from contextlens.maps.request import GIVEN
from contextlens.maps.vectors import RECIPE
from contextlens.ui.panel import Arrays, Panel, Rows

FORMULA = r"""
**Vectors.** A text is the mean of all its tokens' hidden states at a layer, its first token's
([CLS]), or what the model's own recipe makes of the last layer; or the vector that a file gives.

**Probe.** Logistic regression on standardised vectors $x$: the label $k$ gets the probability

$$p_k = \frac{e^{w_k \cdot x + b_k}}{\sum_j e^{w_j \cdot x + b_j}}$$

Weights are learned with scikit-learn's usual strength of regularisation ($C = 1$), from other texts
than those that are tested: a given split, or up to five folds with as many of each label.

**Grades** (numbers with many values) are predicted by ridge regression on standardised vectors;
scikit-learn's `RidgeCV` chooses the strength of regularisation. Spearman's correlation compares
the order of the predictions with that of the grades.

**Counting words.** The same classifier on the TF-IDF of words and pairs of words.
**Word vectors:** the mean of the rows that the tokens have in the word table.
**Guessing:** always the commonest label of the tested texts.

**Told apart** are labels whose best vectors do better than in 97.5% of tests with shuffled labels.
True and shuffled labels are learned by ridge regression for this, which is quicker. Against
counting words, the best of $m$ choices is compared text by text: McNemar's exact test at
$2.5\% / m$; grades by the interval of Spearman's correlation (Bonett and Wright) at $5\% / m$.

**Interval.** Wilson's, for $n$ tested texts at a split. With $k$ folds, the answers are not
independent, and it is that of $n / (1 + k / (k - 1))$ texts (Nadeau and Bengio, 2003). For the best
of $m$ choices, it is that of $n$ texts at a risk of $5\% / m$.

**Macro-F1** is the mean over the labels of $2PR / (P + R)$, with precision $P$ and recall $R$.
""".strip()

HEIGHT = 300
WORDS = "words"
"""The name of the yardstick that counts words and pairs of words (TF-IDF)."""
CONTEXTLESS: tuple[Literal["static", "word2vec", "word2vec_file"], ...]
CONTEXTLESS = ("static", "word2vec", "word2vec_file")
"""The names of the yardsticks that average a text's word vectors."""
Verdict = Literal["better", "like_words", "words_as_good", "worse_than_words", "unclear"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Score:
    """The predictions for the tested texts by what was learned from one kind of vectors.

    Attributes:
        name: the pooling, or the name of a yardstick.
        layer: the layer of the vectors; -1 for a yardstick.
        predicted: (n_tested,) the predictions.
        value: how good they are, at most 1.
        interval: the 95% interval of the value.
    """

    name: str
    layer: int
    predicted: NDArray[Any]
    value: float
    interval: tuple[float, float]

    @property
    def n(self) -> int:
        """The number of tested texts."""
        return len(self.predicted)

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.predicted.nbytes


@dataclass(frozen=True, eq=False)
class Learned:
    """A classifier or a regression that has learned from all texts to learn from.

    Attributes:
        codes: (n_labels,) the number of each label that it knows; a regression has one row.
        shift: (n_dims,) what is taken from a vector, and
        scale: (n_dims,) what it is then divided by.
        weights: (n_labels, n_dims) float64.
        biases: (n_labels,) float64.
    """

    codes: IntArray
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    biases: NDArray[np.float64]

    def values(self, vector: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logits of the labels for a vector, (n_labels,), or its grade."""
        logits: NDArray[np.float64] = (
            self.weights @ ((vector - self.shift) / self.scale) + self.biases
        )
        return logits

    def chances(self, vector: NDArray[Any]) -> NDArray[np.float64]:
        """Return the probability of each label for a vector, (n_labels,)."""
        scores = self.values(vector)
        powers = np.exp(scores - scores.max())
        chances: NDArray[np.float64] = powers / powers.sum()
        return chances

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.weights.nbytes + 2 * self.shift.nbytes


S = TypeVar("S", bound=Score)


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerScores(Generic[S]):
    """The scores of every layer and pooling, and of yardsticks, without the texts.

    Attributes:
        scores: those of "mean" and "cls" at each layer, and of the recipe.
        words: that of counting words (TF-IDF).
        contextless: those of the mean of a text's word vectors: the model's own rows ("static"),
            and with gensim "word2vec" and "word2vec_file".
        shuffled: that of the best vectors with shuffled labels.
        learned: the classifier or regression of the best vectors.
        vectors: (n_texts, n) float32, the best vectors.
        n_cut: the number of texts whose end did not fit the model.
        n_copies: the number of tested texts that have a copy to learn from, and of those with a
            near copy.
        passport: the passport of the vectors.
        guessing: the value without any knowledge of the texts.
        p_value: how often the best of shuffled labels or grades are predicted as well.
    """

    scores: tuple[S, ...]
    words: S
    contextless: tuple[S, ...]
    shuffled: S
    learned: Learned
    vectors: FloatArray
    n_cut: int
    n_copies: tuple[int, int]
    passport: Passport
    guessing: float
    p_value: float

    @property
    def best(self) -> S:
        """The highest score; of several, the first."""
        return max(self.scores, key=lambda score: score.value)

    @property
    def wide_interval(self) -> tuple[float, float]:
        """The 95% interval of the best score, which allows for its choice (Bonferroni)."""
        raise NotImplementedError

    @property
    def verdict(self) -> Verdict:
        """The comparison of the best with counting words and with guessing."""
        if self.p_value > RISK / 2 or self.best.value <= self.guessing:
            return "unclear"
        if self._beats_words():
            return "better"
        if self._is_beaten_by_words():
            return "worse_than_words"
        is_as_good = round(self.words.value, 2) >= round(self.best.value, 2)
        return "words_as_good" if is_as_good else "like_words"

    def _beats_words(self) -> bool:
        """True if the best vectors do better than counting words, though they were chosen."""
        raise NotImplementedError

    def _is_beaten_by_words(self) -> bool:
        """True if counting words does better than the best vectors."""
        raise NotImplementedError

    @property
    def yardsticks(self) -> tuple[S, ...]:
        """The scores beside those of the model's layers."""
        return (self.words, *self.contextless, self.shuffled)

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        every: tuple[Any, ...] = (*self.scores, *self.yardsticks, self.learned, self.vectors)
        return sum(held.nbytes for held in every)


def widening(trial: Trial) -> float:
    """Return how many dependent answers are worth one independent answer; 1 for a given split.

    Folds learn from the same texts, so their answers go together (Nadeau and Bengio, "Inference for
    the Generalization Error", 2003). Without this, the 95% intervals of single layers missed the
    accuracy on other film reviews in 10% (200 texts) and 23% (60 texts).
    """
    return 1.0 if trial.n_folds == 1 else 1 + trial.n_folds / (trial.n_folds - 1)


def take_rows(features: NDArray[Any] | Sequence[str], rows: IntArray) -> Any:
    """Return some rows of vectors, or some texts."""
    if isinstance(features, np.ndarray):
        return features[rows]
    return [features[i] for i in rows.tolist()]


def word_counts() -> Any:
    """Return scikit-learn's TF-IDF of words and pairs of words, in any script."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    # A token is a run of letters and digits, even a single one.
    return TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\w+|[^\w\s]")


# --- The picture of all scores

_NAMES = {"mean": "mean of tokens", "cls": "[CLS]", RECIPE: "the model's own recipe"}
_NAMES |= {GIVEN: "your file's vectors", WORDS: "counting words", "shuffled": "shuffled labels"}
_NAMES |= {"static": "the model's word table", "word2vec_file": "your word2vec file"}
_SYMBOLS = {"mean": "circle", "cls": "square", RECIPE: "diamond"}
_HOVER = (
    "layer %{x:.0f}<br>%{y:.4f}<br>95 of 100: %{customdata[0]:.4f} to %{customdata[1]:.4f}"
    "<extra>%{fullData.name}</extra>"
)
_BESIDE = {RECIPE: ("mean",)}
"""The line beside vectors that have a single layer."""
_SHIFTS = {"mean": -0.06, "cls": 0.0, RECIPE: 0.06}
"""The distance of a pooling's marks from their layer, so that no interval hides another."""


@dataclass(frozen=True, eq=False)
class Probe(Panel):
    """Labelled texts with their scores, as the page shows them.

    Attributes:
        labelled: the texts.
        result: their scores.
        card: the model's card.
    """

    formula: ClassVar[str] = FORMULA
    measure: ClassVar[str]
    """The name of the value in tables."""
    value_format: ClassVar[str]
    """The format of a value in the legend."""

    labelled: LabelledTexts
    result: LayerScores[Any]
    card: ModelCard

    @property
    def title(self) -> str:
        """The finding in a few words."""
        raise NotImplementedError

    @property
    def label_names(self) -> list[str]:
        """The name of each row of the weights: the labels, or the column of the grades."""
        if self.labelled.grades is not None:
            return [self.labelled.column]
        return [self.labelled.trial.senses[code] for code in self.result.learned.codes.tolist()]

    def scripts(self) -> list[tuple[str, str]]:
        """Return a script for the best score, with its title, and one for a chart."""
        raise NotImplementedError

    def _best_names(self) -> dict[str, str]:
        """The best vectors in words, at length and in short."""
        best = self.result.best
        if best.name == GIVEN:
            return {"vectors": say("probe.given.vectors"), "short": say("probe.given.vectors")}
        name = "recipe" if best.name == RECIPE else "cls" if best.name == "cls" else "mean"
        return {
            "vectors": say(f"probe.vectors.{name}", layer=best.layer),
            "short": say(f"probe.short.{name}", layer=best.layer),
        }

    def _how_claim(self) -> Claim:
        """The split or the folds that test the texts."""
        trial = self.labelled.trial
        learned = int(np.count_nonzero(trial.teaches))
        numbers = {"learned": learned, "n": self.result.best.n, "n_folds": trial.n_folds}
        return claim(f"probe.sure.{trial.how}", **numbers)

    def notes(self) -> Sequence[Claim]:
        """Return what makes the test less telling, a line each."""
        result, n = self.result, self.result.best.n
        own = self.labelled.own
        counts: dict[
            Literal["few", "few_given", "skipped", "copies", "near_copies", "left_out", "cut"], int
        ] = {
            "few": n if n < FEW_TESTED_TEXTS and own is None else 0,
            "few_given": n if n < FEW_TESTED_TEXTS and own is not None else 0,
            "skipped": 0 if own is None else sum(own.skipped.values()),
            "copies": result.n_copies[0],
            "near_copies": result.n_copies[1],
            "left_out": self.labelled.n_left_out,
            "cut": result.n_cut,
        }
        return [claim(f"probe.notes.{name}", n=count) for name, count in counts.items() if count]

    def figure(self, *, narrow: bool = False) -> go.Figure:
        """Return the score at each layer with intervals, beside counting words and guessing.

        The best vectors are drawn; a click on the name of others in the legend draws them, too.

        Args:
            narrow: True if it has a phone's width.
        """
        if self.labelled.own is not None:
            return self._figure_of_file(narrow=narrow)
        result, n_layers = self.result, max(score.layer for score in self.result.scores)
        x = list(range(n_layers + 1))
        lines = [
            score_line(name, scores, color)
            for name, color in zip((*POOLINGS, RECIPE), CATEGORICAL, strict=False)
            if (scores := [score for score in result.scores if score.name == name])
        ]
        words = result.words.value
        levels = [level_line(f"counting words {words:{self.value_format}}", words, x, "dash")]
        layout = {
            "xaxis": {
                "title": {"text": "layer (0: before the first)"},
                "tickvals": x if len(x) <= 13 else x[:: 2 if len(x) <= 25 else 4],
                "range": [-0.3, n_layers + 0.3],
                "zeroline": False,
                "showgrid": False,
            },
            "yaxis": self._axis(),
            "showlegend": True,
            "legend": {"orientation": "h", "y": -0.46, "x": 0},
            "margin": {"t": 12, "b": 100},
        }
        if result.guessing:
            levels.append(self.guessing_line(x))
        shown = {_NAMES[name] for name in (result.best.name, *_BESIDE.get(result.best.name, ()))}
        for trace in lines:
            if trace["name"] not in shown:  # a click on its name in the legend shows it
                trace["visible"] = "legendonly"
        return figure([*lines, *levels], layout, title="", height=HEIGHT)

    def _figure_of_file(self, *, narrow: bool) -> go.Figure:
        """Return the score of a file's vectors beside the yardsticks, with intervals."""
        result = self.result
        scores = (result.best, *result.yardsticks)
        names = [_NAMES.get(score.name, score.name) for score in scores]
        x = list(range(len(scores)))
        heights = np.array([score.value for score in scores])
        low, high = np.array([score.interval for score in scores]).reshape(-1, 2).T
        traces: list[dict[str, Any]] = [
            {
                "type": "scatter",
                "mode": "markers",
                "cliponaxis": False,
                "showlegend": False,
                "x": x,
                "y": values(heights),
                "error_y": {
                    "type": "data",
                    "array": values(high - heights),
                    "arrayminus": values(heights - low),
                    "color": NEUTRAL,
                    "thickness": 1.2,
                    "width": 0,
                },
                "marker": {"size": 12, "color": [CATEGORICAL[0], *[NEUTRAL] * (len(x) - 1)]},
                "customdata": np.stack([low, high], axis=1).tolist(),
                "hovertemplate": "%{y:.4f}<br>95 of 100: %{customdata[0]:.4f} to "
                "%{customdata[1]:.4f}<extra></extra>",
            }
        ]
        notes: list[dict[str, Any]] = []
        if result.guessing:
            traces.append(line := self.guessing_line(x))
            place = {"x": 0.5, "y": result.guessing, "yanchor": "bottom", "showarrow": False}
            notes.append({"text": line["name"], **place})
        layout = {
            "annotations": notes,
            "xaxis": {
                "tickvals": x,
                "ticktext": [name.replace(" ", "<br>") for name in names] if narrow else names,
                **({"tickangle": 0} if narrow else {}),
                "range": [-0.5, len(x) - 0.5],
                "zeroline": False,
                "showgrid": False,
            },
            "yaxis": self._axis(),
            "margin": {"t": 12, "b": 96},
        }
        return figure(traces, layout, title="", height=HEIGHT)

    def guessing_line(self, x: Sequence[float]) -> dict[str, Any]:
        """Return the level of guessing."""
        guessing = self.result.guessing
        return level_line(f"guessing {guessing:{self.value_format}}", guessing, x, "solid")

    def _axis(self) -> dict[str, Any]:
        """The axis of values."""
        raise NotImplementedError

    def alt(self) -> str:
        """Return a description of the picture."""
        kind: Literal["alt", "given.alt"] = "alt" if self.labelled.own is None else "given.alt"
        return say(f"probe.{kind}", title=self.title)

    def rows(self) -> Rows:
        """Return a row for each score: what reads the text, its layer, and how well it does.

        The vectors of a file have no layer.
        """
        has_layers = self.labelled.own is None
        return [
            {
                "vectors": _NAMES.get(score.name, score.name),
                **({"layer": score.layer if score.layer >= 0 else None} if has_layers else {}),
                self.measure: score.value,
                "from (95%)": score.interval[0],
                "to (95%)": score.interval[1],
            }
            for score in (*self.result.scores, *self.result.yardsticks)
        ]

    def arrays(self) -> Arrays:
        """Return the texts, their folds, and the best predictions; `scripts` read them."""
        trial = self.labelled.trial
        return {
            "texts": np.array(json.dumps(self.labelled.texts)),
            "fold": trial.folds,
            "teaches": trial.teaches,
            "tested": trial.tested,
            "predicted": self.result.best.predicted,
            **({} if self.labelled.own is None else {"rows": self.labelled.own.places}),
        }


def score_line(name: str, scores: Sequence[Score], color: str) -> dict[str, Any]:
    """Return the scores of a pooling at each layer, with their intervals."""
    heights = np.array([score.value for score in scores])
    low, high = np.array([score.interval for score in scores]).reshape(-1, 2).T
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": _NAMES[name],
        "x": [score.layer + _SHIFTS[name] for score in scores],
        "y": values(heights),
        "error_y": {
            "type": "data",
            "array": values(high - heights),
            "arrayminus": values(heights - low),
            "thickness": 1.2,
            "width": 0,
        },
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 8, "symbol": _SYMBOLS[name]},
        "customdata": np.stack([low, high], axis=1).tolist(),
        "hovertemplate": _HOVER,
    }


def level_line(name: str, value: float, x: Sequence[float], dash: str) -> dict[str, Any]:
    """Return a level across all layers, and beyond."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [x[0] - 0.3, x[-1] + 0.3],
        "y": [value, value],
        "line": {"color": NEUTRAL, "width": 1.5, "dash": dash},
        "hoverinfo": "skip",
    }
