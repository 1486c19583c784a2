"""A sentence of the visitor's own: what the best vectors make of it, and texts like it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.separation import scaled
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, quoted
from contextlens.core import EncoderService
from contextlens.features.probe.controls import MAX_LISTED_CHANCES, N_SIMILAR_TEXTS
from contextlens.features.probe.layer_scores import Probe, Verdict
from contextlens.features.probe.text_vectors import text_vector
from contextlens.ui.panel import Panel, Rows


@dataclass(frozen=True)
class TriedSentence(Panel):
    """The prediction of the best vectors for a sentence, and similar texts.

    Attributes:
        verdict: that on the vectors.
        chances: each label with its probability, highest first; empty for grades.
        grade: the predicted grade; NaN for labels.
        nearest: the texts to learn from that are most similar, with label and cosine.
    """

    verdict: Verdict
    chances: tuple[tuple[str, float], ...]
    grade: float
    nearest: tuple[tuple[str, str, float], ...]

    def claims(self) -> Sequence[Claim]:
        """Return the label or the grade of the sentence, unless these vectors cannot tell."""
        if self.verdict == "unclear":
            return [claim("probe.try.unclear")]
        if not self.chances:
            return [claim("probe.try.grade", grade=self.grade)]
        label, chance = self.chances[0]
        return [claim("probe.try.label", label=quoted(label), chance=chance)]

    def rows(self) -> Rows:
        """Return the likeliest labels with their probabilities; no rows for grades."""
        name, number = say("probe.try.column_label"), say("probe.try.column_chance")
        return [
            {name: label, number: chance} for label, chance in self.chances[:MAX_LISTED_CHANCES]
        ]

    def similar_texts(self) -> list[str]:
        """Return the nearest texts, each with its label and cosine, in Markdown."""
        return [
            say("probe.try.text", text=quoted(text, 200), label=escape(label), cosine=cosine)
            for text, label, cosine in self.nearest
        ]


def try_sentence(sentence: str, probe: Probe, service: EncoderService) -> TriedSentence:
    """Return the probabilities of the labels of a sentence, or its grade, and similar texts."""
    labelled, result, best = probe.labelled, probe.result, probe.result.best
    vector = text_vector(sentence, best.name, best.layer, probe.card, service)
    rows = np.flatnonzero(labelled.trial.teaches)
    cosines = scaled(result.vectors[rows]) @ scaled(vector[None])[0]
    nearest = np.argsort(-cosines, kind="stable")[:N_SIMILAR_TEXTS].tolist()
    labels = labelled.labels
    similar = tuple((labelled.texts[rows[i]], labels[rows[i]], float(cosines[i])) for i in nearest)
    if labelled.grades is not None:
        return TriedSentence(result.verdict, (), float(result.learned.values(vector)[0]), similar)
    chances, names = result.learned.chances(vector), probe.label_names
    order = np.argsort(-chances, kind="stable").tolist()
    by_chance = tuple((names[i], float(chances[i])) for i in order)
    return TriedSentence(result.verdict, by_chance, math.nan, similar)
