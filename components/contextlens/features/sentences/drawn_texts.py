"""Texts of a corpus, drawn at random to be compared."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.separation import SPLIT
from contextlens.content.bundled_texts import N_EVERYDAY
from contextlens.content.language import say
from contextlens.content.wording import quoted
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import FloatArray
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.file_vectors import FileVectors
from contextlens.features.sentences.controls import MAX_DRAWN_TEXTS, MAX_ORDERING_LABELS
from contextlens.features.sentences.vectors import vectors_task
from contextlens.jobs import Task
from contextlens.maps.request import GIVEN


@dataclass(frozen=True)
class DrawnTexts:
    """Texts of a corpus, drawn at random, in the order of a column of labels.

    Attributes:
        corpus: the corpus's name.
        n_texts: the number of its texts.
        texts: the drawn ones.
        column: the title of the column; "" if none has a few labels.
        labels: the texts' labels; empty without a column.
        own: the vectors that their file gives for all of its texts; None for others.
        rows: the rows of the drawn ones among these.
    """

    corpus: str
    n_texts: int
    texts: tuple[str, ...]
    column: str
    labels: tuple[str, ...]
    own: FileVectors | None = None
    rows: tuple[int, ...] = ()

    def given(self) -> dict[str, FloatArray]:
        """(n_texts, n_dims) their vectors by the file, by the name of this way; {} for others."""
        return {} if self.own is None else {GIVEN: self.own.rows[list(self.rows)]}

    def random_given(self) -> dict[str, FloatArray]:
        """The same of texts drawn at random, whose pairs are the yardstick of these vectors."""
        if self.own is None:
            return {}
        n = len(self.own.rows)
        drawn = np.random.default_rng(1).choice(n, min(n, N_EVERYDAY), replace=False)
        return {GIVEN: self.own.rows[drawn]}

    def line(self) -> str:
        """The number of compared texts, their corpus and their order."""
        numbers = {"n": len(self.texts), "of": self.n_texts, "corpus": quoted(self.corpus)}
        key = "sentences.drawn.all" if len(self.texts) == self.n_texts else "sentences.drawn.some"
        order = say("sentences.drawn.order", column=quoted(self.column)) if self.column else ""
        return f"{say(key, **numbers)} {order}".rstrip()


def drawn_texts(corpus: Corpus) -> DrawnTexts:
    """Return texts of a corpus, or all of a small one; always the same."""
    n = len(corpus.texts)
    random = np.random.default_rng(0)
    chosen = sorted(random.choice(n, min(n, MAX_DRAWN_TEXTS), replace=False).tolist())
    columns = {title: [column[i] for i in chosen] for title, column in corpus.labels.items()}
    few = (t for t in columns if t != SPLIT and 2 <= len(set(columns[t])) <= MAX_ORDERING_LABELS)
    column = next(few, "")
    labels = columns.get(column, [""] * len(chosen))
    order = sorted(range(len(chosen)), key=labels.__getitem__)
    texts = tuple(corpus.texts[chosen[i]] for i in order)
    in_order = tuple(labels[i] for i in order) if column else ()
    rows = tuple(chosen[i] for i in order)
    return DrawnTexts(corpus.name, n, texts, column, in_order, corpus.own, rows)


def drawn_task(
    drawn: DrawnTexts, card: ModelCard, service: EncoderService, *, token_seconds: float
) -> Task:
    """A task that returns the `TextVectors` of drawn texts."""
    name = hashlib.sha256(json.dumps(drawn.texts).encode()).hexdigest()
    return vectors_task(name, drawn.texts, card, service, token_seconds=token_seconds)
