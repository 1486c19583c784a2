"""The words of a corpus, counted, and in how many senses those stand there that it marks.

Function words of English are left out of what is shown first: they are the most frequent ones of
nearly every English text, and say nothing of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.core.byte_cache import remembered
from components.core.words import Span
from components.corpus.corpus import Corpus
from components.corpus.searchable import SearchableCorpus, WordCount
from components.corpus.store.rows import words_of

__all__ = [
    "SHOWN",
    "WordRow",
    "Words",
    "all_counts",
    "counted_in",
    "counted_of",
    "is_content",
    "sense_column",
    "senses_of",
]

SHOWN = 15
"""Words in the picture."""
_LISTED = 200
"""Words in the table."""
_EVERY = 10_000_000
_SENSES = ("sense", "senses", "meaning", "label", "class", "category")
_MOST_TEXTS = 200_000  # whose marked words are looked through
_LEAST_LETTERS = 3


@dataclass(frozen=True)
class WordRow:
    """A word, casefolded, its occurrences, and the senses that it is marked with; 0 for none."""

    word: str
    n: int
    n_senses: int = 0


@dataclass(frozen=True)
class Words:
    """The words of a corpus.

    Attributes:
        n: occurrences of all words together.
        n_different: words.
        n_once: words that have one occurrence.
        rows: the most frequent content words, most frequent first; of those as frequent, those
            with most senses.
        sense: the title of the labels that are counted as senses, or "".
    """

    n: int
    n_different: int
    n_once: int
    rows: tuple[WordRow, ...]
    sense: str = ""

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return 200 * len(self.rows)

    def row(self, word: str) -> WordRow | None:
        """The row of a word, where it is among those listed."""
        return next((row for row in self.rows if row.word == word), None)


def counted_in(corpus: Corpus) -> Words:
    """The words of texts that are at hand."""

    def count() -> Words:
        sense = sense_column(tuple(corpus.labels)) if corpus.spans is not None else ""
        labels = corpus.labels.get(sense, ())
        senses = senses_of(_marked(corpus), labels) if sense else {}
        return _words(all_counts(corpus), senses, sense)

    return remembered("words of texts", corpus.key, compute=count)


def all_counts(corpus: Corpus) -> list[WordCount]:
    """Every word of texts that are at hand, most frequent first, those as frequent by alphabet."""
    counts = Counter(
        text[slice(*word.span)].casefold()
        for text, span in _marked(corpus)
        for word in words_of(text, span)
    )
    return [WordCount(*own) for own in sorted(counts.items(), key=_first_the_frequent)]


def counted_of(
    corpus: SearchableCorpus, targets: Callable[[], Iterable[tuple[str, Span | None]]]
) -> Words:
    """The words of a corpus that is stored, as far as it is indexed.

    Args:
        corpus: what is counted.
        targets: gives its texts in order, with the words that they are marked for.
    """
    sense = sense_column(corpus.columns) if corpus.has_targets else ""

    def senses() -> _Senses:
        if not sense or corpus.n_texts > _MOST_TEXTS:
            return _Senses({})
        import numpy as np

        labels = corpus.column(sense, np.arange(corpus.n_texts))
        return _Senses(senses_of(targets(), labels))

    def count() -> Words:
        found = remembered("senses of a corpus", corpus.name, sense, compute=senses).of
        return _words(corpus.words(n=_EVERY), found, sense if found else "")

    return remembered("words of a corpus", corpus.name, corpus.n_occurrences, compute=count)


def senses_of(
    targets: Iterable[tuple[str, Span | None]], labels: Sequence[str]
) -> Mapping[str, int]:
    """How many different labels each marked word has, casefolded."""
    found: dict[str, set[str]] = {}
    for (text, span), label in zip(targets, labels, strict=True):
        if span is not None and label:
            found.setdefault(text[slice(*span)].casefold(), set()).add(label)
    return {word: len(own) for word, own in found.items()}


def sense_column(columns: Sequence[str]) -> str:
    """The labels that are most likely senses by their title, or ""."""
    plain = {title.strip().casefold(): title for title in reversed(columns)}
    return next((plain[name] for name in _SENSES if name in plain), "")


def is_content(word: str) -> bool:
    """Whether a word, casefolded, is likely to mean something: no function word and no number."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if not any(map(str.isalpha, word)) or word in ENGLISH_STOP_WORDS:
        return False
    if "'" in word or "\u2019" in word:  # "don't", "it's"
        return False
    return len(word) >= _LEAST_LETTERS or not word.isascii()


def _marked(corpus: Corpus) -> Iterable[tuple[str, Span | None]]:
    spans = corpus.spans or (None,) * len(corpus.texts)
    return zip(corpus.texts, spans, strict=True)


def _words(ordered: Sequence[WordCount], senses: Mapping[str, int], sense: str) -> Words:
    rows = []
    for own in ordered:
        if own.word in senses or is_content(own.word):
            rows.append(WordRow(own.word, own.n, senses.get(own.word, 0)))
        if len(rows) == _LISTED:
            break
    rows.sort(key=lambda row: (-row.n, -row.n_senses, row.word))
    return Words(
        n=sum(own.n for own in ordered),
        n_different=len(ordered),
        n_once=sum(own.n == 1 for own in ordered),
        rows=tuple(rows),
        sense=sense,
    )


def _first_the_frequent(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


@dataclass(frozen=True)
class _Senses:
    of: Mapping[str, int]

    @property
    def nbytes(self) -> int:
        return 150 * len(self.of)
