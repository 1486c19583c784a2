"""The occurrences of a word in every corpus: how many, and the first sentences with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from contextlens.core.errors import CorpusError
from contextlens.core.words import Span, folded
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.rows import words_of
from contextlens.features.corpora.controls import (
    MAX_LISTED_SENTENCES,
    MAX_SEARCH_CHARACTERS,
)
from contextlens.ui.corpora.catalogue import Kept
from contextlens.ui.corpora.controls import WHOLE_READY_TEXTS
from contextlens.ui.corpora.words import context, counted_in, marked_words
from contextlens.ui.models.background import store

_WIDTH = 100  # characters on each side of the word
_N_READ = 40  # occurrences in which different sentences are looked for


@dataclass(frozen=True)
class Hit:
    """The occurrences of a word in one corpus.

    Attributes:
        key: the corpus's name in a view.
        title: its title.
        n: the occurrences of the word.
        n_words: the occurrences of all words, as far as the corpus is read.
        sentences: the first different texts with the word, each as the part before it, the word as
            written, and the part after it.
    """

    key: str
    title: str
    n: int
    n_words: int
    sentences: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class SearchResult:
    """A word in every corpus.

    Attributes:
        word: the word as typed, with single blanks.
        hits: every corpus that could be searched, those with most occurrences first.
        unread: the titles of the others.
    """

    word: str
    hits: tuple[Hit, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The occurrences in all corpora."""
        return sum(hit.n for hit in self.hits)

    @property
    def found(self) -> tuple[Hit, ...]:
        """The corpora that have the word."""
        return tuple(hit for hit in self.hits if hit.n)

    @property
    def is_too_long(self) -> bool:
        """True if no corpus was searched, because the word is too long."""
        return len(self.word) > MAX_SEARCH_CHARACTERS


def searched(
    typed: str, stored: Sequence[Kept], shown: Mapping[str, Corpus] = MappingProxyType({})
) -> SearchResult:
    """Return a word's occurrences, ignoring case, in the ready-made and the given corpora.

    Args:
        typed: the word; a word of several parts occurs only where a file marks it as one.
        stored: the stored corpora that the visitor knows.
        shown: the corpus in memory that the page shows, by its name in the view.
    """
    word = " ".join(typed.split())
    result = SearchResult(word)
    if not word or result.is_too_long:
        return result
    texts = {**{key: read() for key, read in WHOLE_READY_TEXTS.items()}, **shown}
    hits = [_in_texts(key, corpus, word) for key, corpus in texts.items()]
    unread: list[str] = []
    for entry in stored:
        if entry.about is not None or entry.problem:
            try:
                hits.append(_in_store(entry, word))
            except CorpusError:
                unread.append(entry.title)
    hits.sort(key=lambda hit: -hit.n)
    return SearchResult(word, tuple(hits), tuple(unread))


def _in_texts(key: str, corpus: Corpus, word: str) -> Hit:
    spans = _spans(corpus, word)
    sentences = _different([(i, corpus.texts[i], span) for i, span in spans[:_N_READ]])
    return Hit(key, corpus.name, len(spans), counted_in(corpus).n, sentences)


def _spans(corpus: Corpus, word: str) -> list[tuple[int, Span]]:
    """The number of the text and the span of each occurrence in a corpus in memory."""
    wanted = folded(word)
    return [
        (i, occurrence.span)
        for i, (text, target) in enumerate(marked_words(corpus))
        if wanted in folded(text)
        for occurrence in words_of(text, target)
        if folded(text[slice(*occurrence.span)]) == wanted
    ]


def _in_store(entry: Kept, word: str) -> Hit:
    """A word in a stored corpus, as far as it is read.

    Raises:
        CorpusError: the corpus is gone or damaged.
    """
    corpus = store().open(entry.name)
    occurrences = corpus.occurrences(word, most=_N_READ)
    texts = corpus.text(occurrences.texts)
    spans = [(int(start), int(end)) for start, end in occurrences.spans]
    sentences = _different(list(zip(occurrences.texts.tolist(), texts, spans, strict=True)))
    return Hit(entry.name, entry.title, occurrences.n_total, corpus.n_occurrences, sentences)


def _different(places: Sequence[tuple[int, str, Span]]) -> tuple[tuple[str, str, str], ...]:
    """The word in its context, once for each of the first texts."""
    first = {number: (text, span) for number, text, span in reversed(places)}
    chosen = sorted(first)[:MAX_LISTED_SENTENCES]
    return tuple(context(*first[number], _WIDTH) for number in chosen)
