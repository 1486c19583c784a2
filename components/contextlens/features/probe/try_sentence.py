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
from contextlens.core.schema import FloatArray
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.calibration import calibration_verdict
from contextlens.features.probe.controls import MAX_LISTED_CHANCES, N_SIMILAR_TEXTS
from contextlens.features.probe.labels import LabelResult
from contextlens.features.probe.layer_scores import Probe, Verdict
from contextlens.features.probe.text_vectors import text_vector
from contextlens.maps.makers import query_vector
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.widgets.unread import unknown_positions, unread

_EQUAL = 1e-4  # of the largest number: vectors that differ by less are the same but for rounding


@dataclass(frozen=True)
class TriedSentence(Panel):
    """The prediction of the best vectors for a sentence, and similar texts.

    Attributes:
        verdict: that on the vectors.
        right: the share of the tested texts that these vectors predict right; NaN for grades.
        is_calibrated: True if the probabilities fit that share.
        chances: each label with its probability, highest first; empty for grades.
        grade: the predicted grade; NaN for labels.
        nearest: the texts to learn from that are most similar, with label and cosine; empty if the
            vectors of all texts are the same.
        unread: claims about what the model cannot read of the sentence.
        is_unread: True if it cannot read anything of it.
    """

    verdict: Verdict
    right: float
    is_calibrated: bool
    chances: tuple[tuple[str, float], ...]
    grade: float
    nearest: tuple[tuple[str, str, float], ...]
    unread: tuple[Claim, ...]
    is_unread: bool

    def claims(self) -> Sequence[Claim]:
        """Return the label or the grade of the sentence, unless these vectors cannot tell."""
        if self.is_unread:
            return self.unread
        if self.verdict == "unclear":
            return [claim("probe.try.unclear")]
        if not self.chances:
            return [claim("probe.try.grade", grade=self.grade)]
        label, chance = self.chances[0]
        case = "probable" if self.is_calibrated else "label"
        return [claim(f"probe.try.{case}", label=quoted(label), chance=chance, right=self.right)]

    def notes(self) -> Sequence[Claim]:
        """Return what the model cannot read of a sentence that it can read otherwise."""
        return () if self.is_unread else self.unread

    def rows(self) -> Rows:
        """Return the likeliest labels with their probabilities.

        There are none for grades, for vectors that cannot tell, and for an unreadable sentence.
        """
        if self.is_unread or self.verdict == "unclear":
            return []
        name, number = say("probe.try.column_label"), say("probe.try.column_chance")
        return [
            {name: label, number: chance} for label, chance in self.chances[:MAX_LISTED_CHANCES]
        ]

    def similar_texts(self) -> list[str]:
        """Return the nearest texts, each with its label and cosine, in Markdown."""
        if self.is_unread:
            return []
        return [
            say("probe.try.text", text=quoted(text, 200), label=escape(label), cosine=cosine)
            for text, label, cosine in self.nearest
        ]


def try_sentence(sentence: str, probe: Probe, service: EncoderService) -> TriedSentence:
    """Return the probabilities of the labels of a sentence, or its grade, and similar texts.

    Raises:
        RequestError: the vectors are those of a file, and the model did not make them.
    """
    labelled, result, best = probe.labelled, probe.result, probe.result.best
    if labelled.own is None:
        vector = text_vector(sentence, best.name, best.layer, probe.card, service)
    else:
        corpus = Corpus(labelled.name, labelled.texts, own=labelled.own)
        vector = query_vector(sentence, corpus, probe.card, service, kind="text")
    tokens = service.tokenize(probe.card.id, [sentence])[0]
    unknown = unknown_positions(tokens, service.vocabulary(probe.card.id))
    chances: tuple[tuple[str, float], ...] = ()
    if labelled.grades is None:
        by_label = zip(probe.label_names, result.learned.chances(vector).tolist(), strict=True)
        chances = tuple(sorted(by_label, key=lambda pair: -pair[1]))
    return TriedSentence(
        verdict=result.verdict,
        right=best.value if chances else math.nan,
        is_calibrated=isinstance(result, LabelResult) and calibration_verdict(result) == "fits",
        chances=chances,
        grade=math.nan if chances else float(result.learned.values(vector)[0]),
        nearest=_nearest(vector, probe),
        unread=tuple(unread({say("probe.try.name"): tokens}, service, probe.card.id)),
        is_unread=len(unknown) == int((tokens.text_ids >= 0).sum()),
    )


def _nearest(vector: FloatArray, probe: Probe) -> tuple[tuple[str, str, float], ...]:
    """The most similar texts to learn from, by the cosine of differences from their mean.

    Without their mean, the [CLS] vectors of some layers all have nearly the same direction.
    """
    labelled, rows = probe.labelled, np.flatnonzero(probe.labelled.trial.teaches)
    vectors = probe.result.vectors[rows]
    mean = vectors.mean(axis=0)
    if np.abs(vectors - mean).max() <= _EQUAL * np.abs(mean).max():
        return ()
    cosines = scaled(vectors - mean) @ scaled((vector - mean)[None])[0]
    nearest = np.argsort(-cosines, kind="stable")[:N_SIMILAR_TEXTS].tolist()
    labels = labelled.labels
    return tuple((labelled.texts[rows[i]], labels[rows[i]], float(cosines[i])) for i in nearest)
