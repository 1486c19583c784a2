"""The words of a corpus: how often each occurs, and with how many marked senses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.content_words import content_words
from contextlens.content.wording import cut, cut_start
from contextlens.core.byte_cache import remembered
from contextlens.core.words import Span, folded
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.searchable import SearchableCorpus, WordCount
from contextlens.corpus.store.rows import words_of

_LISTED = 200  # words in the table
_EVERY = 10_000_000
_SENSES = ("sense", "senses", "meaning", "label", "class", "category")
_MAX_TEXTS = 200_000  # a corpus with more texts is not searched for senses
_MIN_LETTERS = 3


@dataclass(frozen=True)
class WordRow:
    """A casefolded word with the numbers of its occurrences and of its marked senses."""

    word: str
    n: int
    n_senses: int = 0


@dataclass(frozen=True)
class WordCounts:
    """The words of a corpus.

    Attributes:
        n: occurrences of all words together.
        n_different: number of different words.
        n_once: words with one occurrence.
        rows: the most frequent content words, most frequent first, ties by number of senses.
        sense: the title of the label column that holds the senses, or "".
    """

    n: int
    n_different: int
    n_once: int
    rows: tuple[WordRow, ...]
    sense: str = ""

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return 200 * len(self.rows)

    def row(self, word: str) -> WordRow | None:
        """The row of a word, if it is listed."""
        return next((row for row in self.rows if row.word == word), None)


def counted_in(corpus: Corpus) -> WordCounts:
    """Count the words of a corpus in memory; the result is cached."""

    def count() -> WordCounts:
        sense = sense_column(tuple(corpus.labels)) if corpus.spans is not None else ""
        labels = corpus.labels.get(sense, ())
        senses = senses_of(marked_words(corpus), labels) if sense else {}
        return _words(all_counts(corpus), senses, sense)

    return remembered("words of texts", corpus.key, compute=count)


def all_counts(corpus: Corpus) -> list[WordCount]:
    """Every word of a corpus in memory, most frequent first, then alphabetically."""
    counts = Counter(
        folded(text[slice(*word.span)])
        for text, span in marked_words(corpus)
        for word in words_of(text, span)
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [WordCount(*item) for item in ordered]


def counted_of(
    corpus: SearchableCorpus, targets: Callable[[], Iterable[tuple[str, Span | None]]]
) -> WordCounts:
    """Count the words of a stored corpus in the texts indexed so far.

    Args:
        corpus: the corpus.
        targets: yields each text, in order, with the span of its marked word or None.
    """
    sense = sense_column(corpus.columns) if corpus.has_targets else ""

    def count() -> WordCounts:
        n_senses = senses_in(corpus, sense, targets)
        return _words(corpus.words(n=_EVERY), n_senses, sense if n_senses else "")

    return remembered("words of a corpus", corpus.name, corpus.n_occurrences, compute=count)


def senses_in(
    corpus: SearchableCorpus,
    sense: str,
    targets: Callable[[], Iterable[tuple[str, Span | None]]],
) -> Mapping[str, int]:
    """The number of senses of each marked word of a corpus; none in a very large one.

    Args:
        corpus: the corpus.
        sense: the title of the column with the senses; "" for none.
        targets: yields each text, in order, with the span of its marked word or None.
    """
    if not sense or not corpus.has_targets or corpus.n_texts > _MAX_TEXTS:
        return {}

    def count() -> _Senses:
        labels = corpus.column(sense, np.arange(corpus.n_texts))
        return _Senses(senses_of(targets(), labels))

    return remembered("senses of a corpus", corpus.name, sense, compute=count).of


def senses_of(
    targets: Iterable[tuple[str, Span | None]], labels: Sequence[str]
) -> Mapping[str, int]:
    """The number of different labels of each marked word, casefolded."""
    labels_by_word: dict[str, set[str]] = {}
    for (text, span), label in zip(targets, labels, strict=True):
        if span is not None and label:
            labels_by_word.setdefault(folded(text[slice(*span)]), set()).add(label)
    return {word: len(word_labels) for word, word_labels in labels_by_word.items()}


def sense_column(columns: Sequence[str]) -> str:
    """The column whose title most likely names senses, or ""."""
    plain = {title.strip().casefold(): title for title in reversed(columns)}
    return next((plain[name] for name in _SENSES if name in plain), "")


def is_content(word: str) -> bool:
    """True if a casefolded word likely carries meaning: neither a function word nor a number."""
    if not any(map(str.isalpha, word)) or not content_words(word):
        return False
    if "'" in word or "\u2019" in word:  # "don't", "it's"
        return False
    return len(word) >= _MIN_LETTERS or not word.isascii()


def marked_words(corpus: Corpus) -> Iterable[tuple[str, Span | None]]:
    """Each text of a corpus in memory with the span of its marked word; None without one."""
    spans = corpus.spans or (None,) * len(corpus.texts)
    return zip(corpus.texts, spans, strict=True)


def _words(ordered: Sequence[WordCount], senses: Mapping[str, int], sense: str) -> WordCounts:
    rows = []
    for count in ordered:
        if count.word in senses or is_content(count.word):
            rows.append(WordRow(count.word, count.n, senses.get(count.word, 0)))
        if len(rows) == _LISTED:
            break
    rows.sort(key=lambda row: (-row.n, -row.n_senses, row.word))
    return WordCounts(
        n=sum(count.n for count in ordered),
        n_different=len(ordered),
        n_once=sum(count.n == 1 for count in ordered),
        rows=tuple(rows),
        sense=sense,
    )


@dataclass(frozen=True)
class _Senses:
    of: Mapping[str, int]

    @property
    def nbytes(self) -> int:
        return 150 * len(self.of)


# --- The context of an occurrence, cut to a length

_BLANKS = re.compile(r"\s+")


def context(text: str, span: Span, width: int) -> tuple[str, str, str]:
    """The text before a word, the word itself, and the text after it, each on one line.

    Args:
        text: the text with the word.
        span: the place of the word.
        width: characters on each side, cut between words, with "…" if more follows.
    """
    start, end = span
    return _left(text, start, width), _flat(text[start:end]), _right(text, end, width)


def _left(text: str, start: int, width: int) -> str:
    flat = _flat(text[max(0, start - 4 * width) : start])
    if len(flat) <= width:
        return flat.lstrip() if start <= 4 * width else f"… {flat.lstrip()}"
    kept = cut_start(flat, width)
    _, space, whole = kept.partition(" ")
    return f"… {whole}" if space and whole.strip() else f"…{kept}"


def _right(text: str, end: int, width: int) -> str:
    flat = _flat(text[end : end + 4 * width])
    if len(flat) <= width:
        return flat.rstrip() if end + 4 * width >= len(text) else f"{flat.rstrip()} …"
    kept = cut(flat, width)
    whole, space, _ = kept.rpartition(" ")
    return f"{whole} …" if space and whole.strip() else f"{kept}…"


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text)
