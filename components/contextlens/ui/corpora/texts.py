"""The texts that a view names, as a corpus without vectors: ready, stored, own or of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

import numpy as np

from contextlens.content.language import say
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import CorpusError
from contextlens.core.words import Span
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import MAX_TEXTS
from contextlens.ui.corpora.controls import (
    COLLECTION,
    FILE,
    GUESSED,
    LABEL,
    NO_LABEL,
    OWN_FILE,
    READY_TEXTS,
    SENTENCES,
    VECTORS,
    WHOLE_READY_TEXTS,
)
from contextlens.ui.files import uploads
from contextlens.ui.models.background import store
from contextlens.ui.state.view import MAX_VALUE_CHARACTERS, Sentence, ViewState, letter

_EXAMPLES = {"probe": "sentiment"}
"""The collection that a page opens on, where it is not the first one."""
_LABEL_TITLES = (
    *("sense", "senses", "meaning", "meanings", "sense_id", "word_sense"),
    *("label", "labels", "sentiment", "class", "category", "tag"),
)
"""Titles of a column that holds senses, the likeliest first."""


def collection_of(view: ViewState, page: str) -> str:
    """Return the name of the collection that a view names, or of the page's own example."""
    return COLLECTION.asked(view) or _EXAMPLES.get(page, next(iter(READY_TEXTS)))


def texts_of(
    view: ViewState, name: str, *, whole: bool = False, takes_vectors: bool = False
) -> Corpus | None:
    """Return the texts of a collection; None for a file that must be chosen first.

    Args:
        view: the current view.
        name: the name of the collection.
        whole: True for all texts of one that ships with the app.
        takes_vectors: True for a page that takes the vectors of a file: if the view names some, the
            texts are those that have one, and `Corpus.own` are their vectors.

    Raises:
        CorpusError: the collection is missing or unusable.
    """
    if name in READY_TEXTS:
        return (WHOLE_READY_TEXTS if whole else READY_TEXTS)[name]()
    if name == SENTENCES:
        return own_sentences(view.sentences)
    if name != OWN_FILE:
        return stored_texts(name)
    shared = uploads.shared(FILE.of(view))
    corpus = shared if isinstance(shared, Corpus) else None
    if corpus is None or not takes_vectors:
        return corpus
    title = column_named(vector_titles(corpus), VECTORS.of(view))
    if not title:
        return corpus
    vectors = next(own for own in corpus.vectors if own.title == title)
    read = remembered(
        "texts with vectors",
        corpus.key,
        title,
        compute=lambda: _Read(corpus.read_by(vectors)),
    )
    return read.corpus


def file_with_vectors(view: ViewState) -> Corpus | None:
    """Return the texts of the view's file by its vectors: the chosen ones, or else the first.

    None if there is no file, or if it brings no vectors.

    Raises:
        CorpusError: no text has a vector.
    """
    titles = vector_titles(texts_of(view, OWN_FILE))
    if not titles:
        return None
    chosen = column_named(titles, VECTORS.of(view)) or titles[0]
    view = VECTORS.put(view, label_naming(titles, chosen))
    return texts_of(view, OWN_FILE, takes_vectors=True)


def vector_titles(corpus: Corpus | None) -> tuple[str, ...]:
    """Return the titles of the vectors that a corpus brings."""
    return () if corpus is None else tuple(own.title for own in corpus.vectors)


def column_named(columns: Sequence[str], label: str) -> str:
    """Return the column that a value of `LABEL` names, by title or by position, or ""."""
    if label in columns:
        return label
    is_position = label.isascii() and label.isdigit() and int(label) < len(columns)
    return columns[int(label)] if is_position else ""


def label_column(view: ViewState, columns: Sequence[str], split: str = "") -> str:
    """Return the column of senses that a view names, else the likeliest one, else "".

    Args:
        view: the current view.
        columns: the titles of the collection's columns.
        split: that of the column that separates training from test, or "".
    """
    label = LABEL.asked(view) or GUESSED
    if label == NO_LABEL:
        return ""
    if chosen := column_named(columns, label):
        return chosen
    titles = {title.strip().casefold(): title for title in columns if title != split}
    return next((titles[known] for known in _LABEL_TITLES if known in titles), "")


def labels_without(word: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels of a word; if all begin with it and a colon, without both: "python: animal"."""
    start = f"{word}:"
    bare = [label[len(start) :].strip() for label in labels]
    have_prefix = all(label.casefold().startswith(start) for label in labels if label)
    have_more = all(rest for label, rest in zip(labels, bare, strict=True) if label)
    return tuple(bare if have_prefix and have_more else labels)


def label_naming(columns: Sequence[str], title: str) -> str:
    """Return the value of `LABEL` that names a column: its title, or else its position."""
    is_short = len(title) <= MAX_VALUE_CHARACTERS and not title.isdigit()
    return title if is_short else str(list(columns).index(title))


@lru_cache(maxsize=32)
def own_sentences(sentences: tuple[Sentence, ...]) -> Corpus:
    """Return a view's sentences, labelled by letter, without blank ones and second texts.

    Raises:
        CorpusError: all of them are blank.
    """
    labelled = [(letter(i), s.text) for i, s in enumerate(sentences) if s.text.strip()]
    if not labelled:
        raise CorpusError(say("corpora.empty_sentences"))
    return Corpus(
        name="Your sentences",
        texts=tuple(text for _, text in labelled),
        labels={"sentence": tuple(name for name, _ in labelled)},
        notes=(say("meaning.second_text"),) if any(s.pair for s in sentences) else (),
    )


def stored_texts(name: str) -> Corpus:
    """Return the first texts of a stored corpus: as many as a map takes of an uploaded file.

    They are read from the store once, for all who have the corpus's name.

    Raises:
        CorpusError: there is no such corpus, or it is damaged or of a newer version.
    """
    about = store().about(name)  # each time, as it may have been deleted
    read = remembered(
        "texts of a corpus", store().root, name, about.created, compute=lambda: _Read(_read(name))
    )
    return read.corpus


@dataclass(frozen=True, eq=False)
class _Read:
    corpus: Corpus

    @property
    def nbytes(self) -> int:
        return self.corpus.n_bytes


def _read(name: str) -> Corpus:
    stored = store().open(name)
    rows = list(islice(store().texts(name), MAX_TEXTS))
    ids = np.arange(len(rows))
    spans: tuple[Span, ...] = tuple(span for _, span in rows if span is not None)
    n_left_out = stored.n_texts - len(rows)
    return Corpus(
        name=stored.title,
        texts=tuple(text for text, _ in rows),
        labels=MappingProxyType({title: stored.column(title, ids) for title in stored.columns}),
        spans=spans if stored.has_targets and len(spans) == len(rows) else None,
        notes=(
            (f"{n_left_out:,} texts left out: a map takes the first {MAX_TEXTS:,}.",)
            if n_left_out
            else ()
        ),
    )
