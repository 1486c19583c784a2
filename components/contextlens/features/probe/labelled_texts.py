"""The labelled texts that a view asks for, and the trial that tests them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from contextlens.analysis.correlation import Float64Array
from contextlens.analysis.separation import SPLIT, Trial, trial_of
from contextlens.core import ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import CorpusError
from contextlens.core.schema import Precision
from contextlens.corpus.columns import kind_of_column, numbers_of
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.file_vectors import FileVectors
from contextlens.features.probe.controls import (
    EXAMPLE,
    MANY_LABELS,
    MAX_VECTOR_BYTES,
    PAGE,
)
from contextlens.maps.precision import reading_precision
from contextlens.ui.corpora.controls import LABEL, READY_TEXTS
from contextlens.ui.corpora.texts import collection_of, column_named, texts_of
from contextlens.ui.state.view import ViewState

_USUAL = "sentiment"
"""The column that is learned first where there is one."""
_N_STRATA = 5  # parts of the grades, of which each fold has as many texts


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts with one label each, and the trial that tests them.

    Attributes:
        name: the corpus's name.
        column: the title of the column with the labels.
        texts: the texts.
        trial: the texts to learn from and to test.
        n_left_out: the number of labelled texts that are more than the memory for vectors holds.
        grades: (n_texts,) the labels as numbers, if they are grades; None if they are names.
        own: the vectors that their file gives for them; None for those of the model.
        precision: the precision in which the texts are read.
    """

    name: str
    column: str
    texts: tuple[str, ...]
    trial: Trial
    n_left_out: int
    grades: Float64Array | None = None
    own: FileVectors | None = None
    precision: Precision = "exact"

    @cached_property
    def key(self) -> str:
        """SHA-256, hex: the same for the same name, texts, labels, folds and precision."""
        trial = self.trial
        parts = [trial.senses, trial.codes.tolist(), trial.folds.tolist(), trial.teaches.tolist()]
        parts.append([] if self.grades is None else self.grades.tolist())
        own = [] if self.own is None else [self.own.digest]
        how = [self.n_left_out, self.precision, *own]
        content = json.dumps([self.name, self.column, self.texts, parts, how])
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def labels(self) -> list[str]:
        """The label or the grade of each text; "" if it takes no part."""
        if self.grades is not None:
            return [f"{grade:g}" for grade in self.grades.tolist()]
        return [self.trial.senses[code] if code >= 0 else "" for code in self.trial.codes.tolist()]

    @property
    def n_learned(self) -> int:
        """The number of texts that are learned from, on average over the folds."""
        trial = self.trial
        folds = [trial.teaches & (trial.folds != fold) for fold in range(trial.n_folds)]
        return round(float(np.mean([np.count_nonzero(rows) for rows in folds])))


@dataclass(frozen=True, eq=False)
class ShownCorpus:
    """The collection that a view names, or the ready example in place of one without labels.

    Attributes:
        corpus: the shown texts; None for a file that must be chosen first.
        name: the name of the shown collection.
        unusable: the collection without labels that the view names, or None.
        problem: the reason why it cannot be read, or "".
    """

    corpus: Corpus | None
    name: str
    unusable: Corpus | None = None
    problem: str = ""


def corpus_of(view: ViewState) -> ShownCorpus:
    """Return the labelled collection that a view names, or the ready example."""
    name = collection_of(view, PAGE)
    try:
        corpus = texts_of(view, name, takes_vectors=True)
    except CorpusError as exc:
        return ShownCorpus(None, name, problem=str(exc))
    if corpus is None or label_columns(corpus):
        return ShownCorpus(corpus, name)
    return ShownCorpus(READY_TEXTS[EXAMPLE](), EXAMPLE, corpus)


def label_columns(corpus: Corpus) -> list[str]:
    """Return the columns with labels that repeat, or grades; the likeliest first."""
    titles = [title for title, labels in corpus.labels.items() if _can_be_labels(title, labels)]
    n_labels = {title: len(set(corpus.labels[title])) for title in titles}
    return sorted(titles, key=lambda title: (title != _USUAL, n_labels[title] > MANY_LABELS + 1))


def label_of(view: ViewState, corpus: Corpus) -> str:
    """Return the title of the column of labels that a view names, or of the first one."""
    columns = label_columns(corpus)
    named = column_named(tuple(corpus.labels), LABEL.asked(view) or "")
    return named if named in columns else columns[0]


def _can_be_labels(title: str, labels: Sequence[str]) -> bool:
    if title.casefold() == SPLIT:
        return False
    n, n_filled = len(set(labels) - {""}), sum(map(bool, labels))
    is_repeated = 2 <= n < n_filled and (n <= MANY_LABELS or 2 * n <= n_filled)
    return is_repeated or kind_of_column(labels) == "number"


def labelled_texts(
    corpus: Corpus, column: str, card: ModelCard, *, exact: bool = False
) -> LabelledTexts:
    """Return the labelled texts of a corpus: all, or as many as the memory for vectors holds.

    Of more than that, some are drawn with a fixed seed. Empty texts take no part.

    Args:
        corpus: the corpus.
        column: the title of the column with the labels.
        card: the model's card.
        exact: True if they are to be read exactly, however many they are.
    """
    labels = corpus.labels[column]
    every_grade = numbers_of(labels, "number") if kind_of_column(labels) == "number" else None
    has_label = [label != "" for label in labels] if every_grade is None else ~np.isnan(every_grade)
    is_filled = [bool(text.strip()) for text in corpus.texts]
    rows = np.flatnonzero(np.logical_and(has_label, is_filled))
    n = len(rows)
    own = corpus.own
    n_numbers = 2 * (card.n_layers + 1) * card.n_dims if own is None else own.n_dims
    max_texts = max(1, MAX_VECTOR_BYTES // (4 * n_numbers))
    if n > max_texts:
        rows = np.sort(np.random.default_rng(0).choice(rows, max_texts, replace=False))
    chosen = rows.tolist()
    split = next((c for title, c in corpus.labels.items() if title.casefold() == SPLIT), ())
    split_values = [split[i] for i in chosen] if split else []
    grades = None if every_grade is None else every_grade[rows].astype(np.float64)
    if grades is None:
        trial = trial_of([labels[i] for i in chosen], split_values)
    else:
        trial = grade_trial(grades, split_values)
    texts = tuple(corpus.texts[i] for i in chosen)
    precision = reading_precision(card, len(texts), exact=exact)
    given = None
    if own is not None:
        given = remembered("labelled vectors", corpus.key, column, compute=lambda: own.take(chosen))
    n_left_out = n - len(chosen)
    return LabelledTexts(
        corpus.name, column, texts, trial, n_left_out, grades, own=given, precision=precision
    )


def grade_trial(grades: Float64Array, split: Sequence[str]) -> Trial:
    """Return the split or the folds that test grades, with as many of each fifth of them.

    Args:
        grades: (n,) the grade of each text.
        split: the value in the split column for each text; empty if there is no such column.
    """
    if not len(grades):
        return trial_of([], split)
    ends = np.quantile(grades, np.linspace(0, 1, _N_STRATA + 1)[1:-1])
    is_mostly_lowest = ends[-1] == grades.min()  # the other part is then all grades above it
    fifths = np.searchsorted(ends, grades, side="left" if is_mostly_lowest else "right").tolist()
    return trial_of([str(fifth) for fifth in fifths], split)
