"""The occurrences of a word in a corpus, with their labelled senses and their contexts.

Nothing here needs the vectors of a layer: `contextlens.features.senses.layers` has those.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from contextlens.analysis.separation import Trial, trial_of
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, shortened
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import IntArray
from contextlens.core.words import folded
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import Occurrences, SearchableCorpus, WordCount
from contextlens.features.senses.controls import (
    MAX_OCCURRENCES,
    MAX_WORD_CHARACTERS,
)
from contextlens.ui.corpora.texts import label_column, labels_without
from contextlens.ui.corpora.words import context
from contextlens.ui.state.view import ViewState

_WORD_TITLE = "word"
"""The title of a column that names the marked word of each text."""


@dataclass(frozen=True)
class MissingWord:
    """A word that the corpus does not have.

    Attributes:
        word: the word as typed, without surrounding blanks.
        problem: the reason, one plain sentence.
        similar: words with a similar spelling, nearest first.
        inside: longer words that contain it, most frequent first.
    """

    word: str
    problem: str
    similar: tuple[WordCount, ...] = ()
    inside: tuple[WordCount, ...] = ()


@dataclass(frozen=True, eq=False)
class WordUses:
    """A word's occurrences in a corpus, without the data of any layer.

    Attributes:
        key: a short key, the same for the same corpus, model, word, labels and split.
        word: the word, casefolded.
        corpus, model: the corpus's title, and the ID of the model behind its vectors.
        occurrences: at most `MAX_OCCURRENCES`, in the order of the text.
        texts: the text of each occurrence.
        column: the title of the labels; "" if there are none.
        labels: the sense of each occurrence; "" for none.
        senses: the distinct labels, the most frequent first.
        codes: (n,) the index in `senses` of each label; -1 for none.
        trial: the test of the senses.
    """

    key: str
    word: str
    corpus: str
    model: str
    occurrences: Occurrences
    texts: tuple[str, ...]
    column: str
    labels: tuple[str, ...]
    senses: tuple[str, ...]
    codes: IntArray
    trial: Trial

    @property
    def n(self) -> int:
        """The number of occurrences."""
        return len(self.occurrences)

    @cached_property
    def digest(self) -> str:
        """A hash that is the same only for the same occurrences."""
        return hashlib.sha256(self.key.encode("utf-8", "replace")).hexdigest()[:12]

    def index_of(self, row: int) -> int | None:
        """The index of an occurrence by its identifier in the corpus, or None."""
        rows = self.occurrences.rows
        index = int(np.searchsorted(rows, row))
        return index if index < len(rows) and int(rows[index]) == row else None

    def around(self, index: int, width: int) -> tuple[str, str, str]:
        """The text before an occurrence, the word itself, and the text after it, see `context`."""
        start, end = (int(edge) for edge in self.occurrences.spans[index])
        return context(self.texts[index], (start, end), width)

    def count_claim(self) -> Claim:
        """The number of times that the word occurs in the corpus."""
        n, corpus = self.occurrences.n_total, quoted(self.corpus, 60)
        return claim("senses.uses", n=n, word=quoted(self.word), corpus=corpus)


def word_in(corpus: SearchableCorpus, typed: str, column: str) -> WordUses | MissingWord:
    """A word's occurrences in a corpus, or the reason why there are none.

    Args:
        corpus: the corpus to search.
        typed: the word; its case and surrounding blanks do not matter.
        column: the title of the column with its senses; "" for none.
    """
    word = " ".join(typed.split())
    if not word:
        return MissingWord("", say("senses.missing.nothing_typed"))
    if len(word) > MAX_WORD_CHARACTERS:
        return MissingWord(
            shortened(word, MAX_WORD_CHARACTERS),
            say("senses.missing.too_long", n=len(word), most=MAX_WORD_CHARACTERS),
        )
    version = corpus.name, corpus.model, corpus.n_occurrences
    key = repr((*version, word.casefold(), column, corpus.split))
    uses = remembered("senses: word", key, compute=lambda: _uses_of(corpus, word, column, key))
    return uses if uses.n else _missing(corpus, word)


def column_of(view: ViewState, corpus: SearchableCorpus) -> str:
    """The title of the column of senses that a view names, else of the likeliest one, else ""."""
    return label_column(view, corpus.columns, corpus.split)


def _uses_of(corpus: SearchableCorpus, word: str, column: str, key: str) -> WordUses:
    occurrences = _marked(corpus, corpus.occurrences(word, most=MAX_OCCURRENCES))
    labels = _labels(corpus, occurrences, column) if column else ("",) * len(occurrences)
    split = corpus.column(corpus.split, occurrences.texts) if corpus.split else ()
    trial = trial_of(labels, split)
    counts = {label: labels.count(label) for label in set(labels) - {""}}
    senses = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    codes = {sense: i for i, sense in enumerate(senses)}
    return WordUses(
        key=key,
        word=occurrences.word,
        corpus=corpus.title,
        model=corpus.model,
        occurrences=occurrences,
        texts=corpus.text(occurrences.texts),
        column=column if counts else "",
        labels=labels,
        senses=senses,
        codes=np.array([codes.get(label, -1) for label in labels], dtype=np.int64),
        trial=trial,
    )


def _marked(corpus: SearchableCorpus, occurrences: Occurrences) -> Occurrences:
    """The marked ones, if a column names the word of each text and names this one; else all."""
    has_names = corpus.has_targets and _WORD_TITLE in corpus.columns
    if not has_names or not len(occurrences) or occurrences.is_sample:
        return occurrences
    named = corpus.column(_WORD_TITLE, occurrences.texts)
    is_marked = occurrences.is_target & [folded(name) == occurrences.word for name in named]
    places = np.flatnonzero(is_marked)
    return replace(occurrences.take(places), n_total=len(places)) if len(places) else occurrences


def _labels(corpus: SearchableCorpus, occurrences: Occurrences, column: str) -> tuple[str, ...]:
    """The label of each occurrence: its text's, or "" if the text marks other occurrences."""
    labels = [label.strip() for label in corpus.column(column, occurrences.texts)]
    if corpus.has_targets:
        labels = [
            label if target else ""
            for label, target in zip(labels, occurrences.is_target.tolist(), strict=True)
        ]
    return labels_without(occurrences.word, labels)


def _missing(corpus: SearchableCorpus, word: str) -> MissingWord:
    named = {"word": shortened(word, 40), "corpus": corpus.title}
    n_cut = corpus.n_cut(word) if isinstance(corpus, LiveCorpus) else 0
    sentences = [
        say("senses.missing.unread", n=n_cut, **named)
        if n_cut
        else say("senses.missing.word", **named)
    ]
    if any(map(str.isspace, word)):
        return MissingWord(word, " ".join([*sentences, say("senses.missing.blanks")]))
    similar, inside = corpus.similar(word), corpus.inside(word)
    if inside:
        sentences.append(say("senses.missing.inside", words=_listed(inside)))
    if similar:
        sentences.append(say("senses.missing.similar", words=_listed(similar)))
    if not (inside or similar):
        sentences.append(say("senses.missing.another"))
    return MissingWord(word, " ".join(sentences), similar, inside)


def _listed(words: tuple[WordCount, ...]) -> str:
    return ", ".join(f"{shortened(count.word, 24)} ({count.n:,})" for count in words[:5])
