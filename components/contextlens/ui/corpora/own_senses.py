"""The senses of a word by the labels of the collection that the visitor chose on a text page.

Its labels come before those of the ready corpus, because they are the visitor's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.sense_names import MIN_USES, measure
from contextlens.analysis.separation import SPLIT
from contextlens.analysis.words import POOLINGS, word_vectors
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import CorpusError, RequestError
from contextlens.core.schema import FloatArray
from contextlens.core.words import Span, bare_words, find_word, folded
from contextlens.corpus.corpus import Corpus
from contextlens.jobs import JobKind, Report, Task
from contextlens.ui.corpora.controls import COLLECTION, FILE, NOT_STORED, OWN_FILE
from contextlens.ui.corpora.texts import label_column, labels_without, stored_texts, texts_of
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import store
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.comparison.answer import Answer, answer
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.senses import (
    NamedUses,
    OwnSenses,
    covered_word,
    named_uses,
    shared_word,
)

OWN_SENSES = JobKind(
    "words to look up in visitors' texts",
    n_at_once=1,
    n_at_once_each=1,
    n_waiting=30,
    n_waiting_each=4,
    forgotten_seconds=30.0,
    first_words="Looking up the word in your texts",
)
MAX_USES = 100
"""The most texts that are read for one word, shared evenly by its labels.

The ready corpus has 26 to 60 sentences for a word. The bundled model reads 100 in about a second.
"""
_N_AT_ONCE = 8  # texts encoded at a time: all layers of a long one may take 50 MB


_Collection = tuple[Hashable, str, str, Callable[[], Corpus]]
"""A collection's key and title, its column of labels, and what reads its texts."""


@dataclass(frozen=True)
class LabelledUses:
    """Texts with a word and a label; no two of them are copies.

    Attributes:
        texts: the texts; none if fewer than two labels have enough of them.
        spans: the word in each.
        labels: the label of each.
        n_total: the number of texts that these are chosen from.
    """

    texts: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    labels: tuple[str, ...] = ()
    n_total: int = 0


def looked_up(
    view: ViewState, portrait: Portrait, card: ModelCard, baseline: Baseline | None
) -> tuple[Task | None, NamedUses | None, Answer | None]:
    """Return the lookup in the visitor's collection, the senses of the words, and the answer.

    There is no lookup without a chosen collection with labels, there are no senses until they are
    there, and there is no answer for a single sentence. The ready corpus gives the senses if the
    visitor's labels give none.
    """
    own = task_of(view, card, baseline, shared_word(portrait.comparison))
    senses: OwnSenses | None = None if own is None else waiting.measured(own, "own_senses")
    word, is_pending = covered_word(portrait.comparison), runtime.is_pending(own)
    if senses is not None:
        uses = named_uses(portrait, senses.names, senses)
    elif is_pending:
        uses = None
    else:
        uses = named_uses(portrait, runtime.sense_names(card, baseline, word))
        is_pending = uses is None and runtime.are_senses_pending(card, word)
    if not portrait.comparison.pairs("sentences"):
        return own, uses, None
    return own, uses, answer(portrait, uses, is_pending=is_pending)


def task_of(
    view: ViewState, card: ModelCard, baseline: Baseline | None, word: str | None
) -> Task | None:
    """Return the work that looks up a word's senses; None if no chosen collection has labels.

    Its result is an `OwnSenses`, or None if the labels of the word give no names.

    Args:
        view: the current view, which names the collection and its label.
        card: the card of the model that reads the texts.
        baseline: its random-pair baseline; None while that is being measured.
        word: the word, folded; None for none.
    """
    collection = _collection(view)
    if collection is None or baseline is None or word is None:
        return None
    key, title, column, read = collection
    encoder, centre = uncached(), baseline.centre(POOLINGS[0])[0]

    def work(report: Report) -> OwnSenses | None:
        uses = labelled_uses(read(), column, word)
        return own_senses(uses, card, encoder, centre, report, of=(word, title, column))

    return Task(("own senses", card.checksum, key, column, word), OWN_SENSES, work)


def _collection(view: ViewState) -> _Collection | None:
    """Return the visitor's collection; None if it has no label, is gone or comes with the app."""
    name = COLLECTION.asked(view)
    if name == OWN_FILE:
        corpus = texts_of(view, name)
        column = "" if corpus is None else label_column(view, tuple(corpus.labels), SPLIT)
        if corpus is None or not column:
            return None
        return FILE.of(view), corpus.name, column, lambda: corpus
    if not name or name in NOT_STORED:
        return None
    try:
        about = store().about(name)
    except CorpusError:  # the text pages say so
        return None
    column = label_column(view, about.columns, about.split)
    key = (name, about.created)
    return (key, about.title, column, lambda: stored_texts(name)) if column else None


def labelled_uses(corpus: Corpus, column: str, word: str) -> LabelledUses:
    """Return texts with a word and a label, as many of each label, from all over the collection.

    A marked word alone has the label of its text; without marks, the word's first use has it.

    Args:
        corpus: the collection.
        column: the title of its labels.
        word: the word, folded.
    """
    found: dict[tuple[str, ...], tuple[str, Span, str]] = {}
    marks = corpus.spans or (None,) * len(corpus.texts)
    for text, mark, label in zip(corpus.texts, marks, corpus.labels[column], strict=True):
        if not label.strip() or word not in folded(text):  # a hundred times faster than its words
            continue
        span = find_word(text, word) if mark is None else mark
        if span is not None and folded(text[slice(*span)]) == word:
            found.setdefault(bare_words(text), (text, span, label.strip()))
    uses = tuple(found.values())
    labels = labels_without(word, [label for _, _, label in uses])
    rows = _chosen(labels)
    return LabelledUses(
        texts=tuple(uses[i][0] for i in rows),
        spans=tuple(uses[i][1] for i in rows),
        labels=tuple(labels[i] for i in rows),
        n_total=sum(labels.count(label) for label in {labels[i] for i in rows}),
    )


def _chosen(labels: Sequence[str]) -> list[int]:
    """Return the rows of labels with enough of them, evenly spread, at most `MAX_USES`."""
    counts = [(label, n) for label, n in Counter(labels).most_common() if n >= MIN_USES]
    counts = counts[: MAX_USES // MIN_USES]
    if len(counts) < 2:
        return []
    chosen = []
    for label, n in counts:
        rows = [i for i, other in enumerate(labels) if other == label]
        n_chosen = min(n, MAX_USES // len(counts))
        chosen += [rows[i * n // n_chosen] for i in range(n_chosen)]
    return sorted(chosen)


def own_senses(
    uses: LabelledUses,
    card: ModelCard,
    encoder: EncoderService,
    centre: FloatArray,
    report: Report,
    *,
    of: tuple[str, str, str],
) -> OwnSenses | None:
    """Return the senses that labelled uses of a word give; None if they give no names.

    Args:
        uses: the uses.
        card: the model's card.
        encoder: encodes their texts.
        centre: (n_layers, n_dims) the mean word vector at each layer.
        report: gets the share of texts that are read.
        of: the word, the collection's title, and that of its column.
    """
    vectors, labels, n = [], [], len(uses.texts)
    for start in range(0, n, _N_AT_ONCE):
        report(f"Reading {n:,} of your texts", start / n)
        part = slice(start, start + _N_AT_ONCE)
        encodings = encoder.encode(card.id, uses.texts[part], checksum=card.checksum)
        for encoding, span, label in zip(
            encodings, uses.spans[part], uses.labels[part], strict=True
        ):
            with suppress(RequestError):  # the word is cut off, or the tokenizer drops it
                vectors.append(word_vectors(encoding, span))
                labels.append(label)
    if not labels:
        return None
    names = measure(labels, np.stack(vectors), centre, are_meanings=False)
    if names is None or not np.isfinite(names.margins).any():
        return None
    word, collection, column = of
    n_named = sum(label in names.senses for label in labels)
    n_total = uses.n_total if uses.n_total > n else n_named
    return OwnSenses(word, names, collection, column, n_named, n_total)
