"""The labels of whole sentences, by a head for texts: scores, answers, bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.analysis.snippet_start import literal
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import (
    escape,
    isolated,
    listed_names,
    number,
    percent,
    shortened,
    span,
    two,
)
from contextlens.core.schema import Classification, FloatArray, Labels, ModelCard
from contextlens.features.labels.controls import MAX_SHOWN_LABELS
from contextlens.features.labels.script import pipeline_lines
from contextlens.figures.margins import beside
from contextlens.figures.theme import INK, MUTED, color_of, figure, plain
from contextlens.ui.panel import Arrays, Panel, Rows
from contextlens.ui.state.view import letter

FORMULA = r"""
With $z_k$ the number that the head computes for label $k$ (its logit), a score is

- one of several labels (softmax): $e^{z_k} / \sum_j e^{z_j}$, which add up to 1;
- each label for itself (sigmoid): $1 / (1 + e^{-z_k})$; those above one half are given;
- a regression: $z_k$ itself.
""".strip()

MIN_HEIGHT = 200
_ROW = 26  # pixels
_MOST_ROWS = 36  # of the chart: with many sentences, fewer labels of each are drawn
_LONGEST_NAME = 24


@dataclass(frozen=True, eq=False)
class LabelledText:
    """One sentence, by its index in the view, and what the head says of it."""

    index: int
    result: Classification

    @property
    def letter(self) -> str:
        """The sentence's letter."""
        return letter(self.index)


@dataclass(frozen=True, eq=False)
class TextLabels(Panel):
    """The labels of each sentence.

    Attributes:
        card: the model's card.
        texts: the sentences that are not empty.
        label: the index of the chosen label.
    """

    formula = FORMULA

    card: ModelCard
    texts: tuple[LabelledText, ...]
    label: int

    @property
    def labels(self) -> Labels:
        """The labels of the head."""
        return self.card.labels

    # Claims

    def title(self) -> Claim:
        """Return what the model calls each sentence."""
        if self.labels.scores == "none":
            name = label_name(self.labels, self.label)
            given = [
                say(
                    "labels.texts.number",
                    letter=text.letter,
                    value=two(text.result.scores[self.label]),
                )
                for text in self.texts
            ]
            case = "one" if len(self.labels.names) == 1 else "several"
            return claim(f"labels.texts.regression.{case}", given=listed_names(given), label=name)
        return claim("labels.texts.calls", given=listed_names(self._groups()))

    def _groups(self) -> list[str]:
        """Return the sentences with equal answers, with the scores: "A and C **good** (93%)"."""
        groups: dict[tuple[int, ...], list[LabelledText]] = {}
        for text in self.texts:
            groups.setdefault(answer_of(text.result.scores, self.labels), []).append(text)
        return [self._group(answer, texts) for answer, texts in groups.items()]

    def _group(self, answer: tuple[int, ...], texts: Sequence[LabelledText]) -> str:
        letters = listed_names([text.letter for text in texts])
        if not answer:
            most = percent(max(float(text.result.scores.max()) for text in texts))
            return say("labels.texts.none", letters=letters, most=most)
        names = [
            say(
                "labels.texts.named",
                label=label_name(self.labels, i),
                score=span([float(text.result.scores[i]) for text in texts], percent),
            )
            for i in answer
        ]
        return say("labels.texts.group", letters=letters, names=listed_names(names))

    def claims(self) -> Sequence[Claim]:
        """Return the headline."""
        return (self.title(),)

    def notes(self) -> Sequence[Claim]:
        """Return remarks on texts that did not fit the model."""
        return [
            claim("labels.note.cut", letter=text.letter, most=self.card.max_length)
            for text in self.texts
            if text.result.tokens.n_truncated
        ]

    # The picture

    def alt(self) -> str:
        """Return the headline, and what the bars show."""
        return say("labels.texts.alt", title=str(self.title()).replace("**", ""))

    def figure(self) -> Figure:
        """Return each sentence with its labels' scores as bars, the highest first."""
        rows = [row for text in self.texts for row in self._rows_of(text)]
        height = max(MIN_HEIGHT, _ROW * len(rows) + 40)
        bars = [row for row in rows if row.value is not None]
        left = beside(row.name for row in bars)
        at = [i for i, row in enumerate(rows) if row.value is not None]
        trace = {
            "type": "bar",
            "orientation": "h",
            "x": [row.value for row in bars],
            "y": at,
            "marker": {
                "color": [row.color for row in bars],
                "opacity": [1.0 if row.is_strong else 0.4 for row in bars],
            },
            "text": [f"<b>{row.told}</b>" if row.is_strong else row.told for row in bars],
            "textposition": "outside",
            "cliponaxis": False,
            "width": 0.72,
            "hovertemplate": "%{customdata}<extra></extra>",
            "customdata": [f"{row.name}: {number(row.value or 0.0, '.4f')}" for row in bars],
        }
        layout = {
            "xaxis": {"range": self._range(), "showticklabels": False, "showgrid": False,
                      "zeroline": False},
            "yaxis": {
                "tickvals": at,
                "ticktext": [f"<b>{row.name}</b>" if row.is_strong else row.name for row in bars],
                "range": [max(len(rows), 4) - 0.5, -0.6],
                "showgrid": False,
                "zeroline": False,
                "ticks": "",
            },
            "annotations": [row.note(i, left) for i, row in enumerate(rows) if row.value is None],
            "margin": {"l": left, "r": 64, "t": 8, "b": 8},
        }  # fmt: skip
        return figure([trace], layout, title="", height=height)

    def _range(self) -> list[float]:
        if self.labels.scores != "none":
            return [0.0, 1.0]
        scores = np.concatenate([text.result.scores for text in self.texts])
        return [min(0.0, float(scores.min())) * 1.1, max(0.0, float(scores.max())) * 1.1]

    def _rows_of(self, text: LabelledText) -> list[_Row]:
        """Return the sentence itself, its shown labels, and how many others there are."""
        scores, color = text.result.scores, color_of(text.index)
        shown = self.shown(scores)
        strong = (self.label,) if self.labels.scores == "none" else answer_of(scores, self.labels)
        name = f"{text.letter} · {shortened(text.result.tokens.text, 40)}"
        rows = [_Row(plain(name, 80), color=color, is_title=True)]
        for i in shown:
            value = float(scores[i])
            title = plain(self.labels.names[i], _LONGEST_NAME) or "␣"
            told = two(value) if self.labels.scores == "none" else percent(value)
            rows.append(_Row(title, value, told, color, is_strong=i in strong))
        n = len(scores) - len(shown)
        if n:
            rest = float(scores.sum() - scores[shown].sum())
            case = "together" if self.labels.scores == "softmax" else "others"
            rows.append(_Row(say(f"labels.texts.{case}", n=n, rest=percent(max(rest, 0.0)))))
        return rows

    def shown(self, scores: FloatArray) -> list[int]:
        """Return the labels of one sentence that are drawn, the highest first, with the chosen."""
        most = max(2, min(MAX_SHOWN_LABELS, _MOST_ROWS // len(self.texts) - 2))
        order = np.argsort(-scores, kind="stable").tolist()
        shown: list[int] = order[:most]
        return shown if self.label in shown else [*shown[:-1], self.label]

    # Files

    def rows(self) -> Rows:
        """Return a row for each sentence and label."""
        return [
            {
                "sentence": text.letter,
                "label": name,
                "score": float(text.result.scores[i]),
                "logit": float(text.result.logits[i]),
                "answer": i in answer_of(text.result.scores, self.labels),
            }
            for text in self.texts
            for i, name in enumerate(self.labels.names)
        ]

    def arrays(self) -> Arrays:
        """Return scores and logits, (n_sentences, n_labels), and the labels."""
        arrays: Mapping[str, NDArray[Any]] = {
            "scores": np.stack([text.result.scores for text in self.texts]),
            "logits": np.stack([text.result.logits for text in self.texts]),
            "labels": np.array(self.labels.names),
        }
        return arrays

    def snippet(self) -> str:
        """Return a script that computes `scores`, of each sentence by label."""
        given = "\n".join(
            f"    {text.letter!r}: {text_argument(text.result)}," for text in self.texts
        )
        return f"""{pipeline_lines(self.card, "text-classification")}
texts = {{
{given}
}}
scores = {{}}
for name, text in texts.items():
    rows = label([text], top_k=None, truncation=True)[0]
    scores[name] = {{row["label"]: row["score"] for row in rows}}
    print(name, scores[name])
"""


@dataclass(frozen=True)
class _Row:
    """A row of the chart: a bar, or without a value a text over its whole width."""

    name: str
    value: float | None = None
    told: str = ""
    color: str = ""
    is_strong: bool = False
    is_title: bool = False

    def note(self, at: int, left: float) -> dict[str, Any]:
        """Return a text that begins at the left edge of the chart, or where the bars do."""
        text = f"<b>{self.name}</b>" if self.is_title else self.name
        position = {"x": 0, "xref": "paper", "y": at, "xanchor": "left", "yanchor": "middle"}
        return {"text": text, **position, "showarrow": False, "xshift": -left * self.is_title,
                "font": {"color": INK if self.is_title else MUTED}}  # fmt: skip


def answer_of(scores: FloatArray, labels: Labels) -> tuple[int, ...]:
    """Return the labels that are the model's answer, the highest score first; none in regression.

    One of several labels is the highest; of labels each for itself, all above one half count.
    """
    if labels.scores == "none":
        return ()
    if labels.scores == "softmax":
        return (int(scores.argmax()),)
    order = np.argsort(-scores, kind="stable").tolist()
    return tuple(i for i in order if scores[i] > 0.5)


def label_name(labels: Labels, index: int) -> str:
    """Return a label's name for a sentence in Markdown."""
    return isolated(escape(shortened(labels.names[index], _LONGEST_NAME))) or "␣"


def text_argument(result: Classification) -> str:
    """Return the argument of the pipeline for a text, and its pair if it has one."""
    tokens = result.tokens
    if tokens.pair is None:
        return literal(tokens.text)
    return f'{{"text": {literal(tokens.text)}, "text_pair": {literal(tokens.pair)}}}'
