"""A word in a corpus: its occurrences, their texts, and the senses that somebody gave them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.analysis.separation import Trial, trial_of
from components.content.language import say
from components.content.wording import shortened
from components.core.byte_cache import remembered
from components.core.schema import IntArray
from components.corpus.searchable import Occurrences, SearchableCorpus, WordCount
from components.features.senses.controls import GUESSED, LABELS, NO_LABELS
from components.ui.state.view import ViewState

__all__ = ["LONGEST_WORD", "MOST", "Found", "Missing", "column_of", "word_in"]

MOST = 2_000
"""Occurrences that are looked at; of more, a random sample with a fixed seed."""
LONGEST_WORD = 64
_LABEL_TITLES = (
    *("sense", "senses", "meaning", "meanings", "sense_id", "word_sense"),
    *("label", "labels", "sentiment", "class", "category", "tag"),
)
"""Titles of a column that holds senses, the likeliest first."""


@dataclass(frozen=True)
class Missing:
    """A word that the corpus does not have.

    Attributes:
        word: as it was typed, without blanks around it.
        problem: one sentence, plain text.
        similar: words spelled alike, nearest first.
        inside: longer words that contain it, most frequent first.
    """

    word: str
    problem: str
    similar: tuple[WordCount, ...] = ()
    inside: tuple[WordCount, ...] = ()


@dataclass(frozen=True, eq=False)
class Found:
    """A word's occurrences in a corpus; what lies at one layer is computed elsewhere.

    Attributes:
        key: short, the same for the same corpus, model, word, labels and split.
        word: casefolded.
        corpus, model: their titles as the corpus gives them.
        occurrences: at most `MOST`, in the order of the text.
        texts: the text of each.
        column: the title of the labels; "" where there are none.
        labels: the sense of each, "" for none.
        senses: the different ones, the most frequent first.
        codes: (n,) the number of each one's sense; -1 for none.
        trial: how the senses are tested.
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
        """How many occurrences are looked at."""
        return len(self.occurrences)

    def place_of(self, row: int) -> int | None:
        """Where an occurrence stands among these, by what names it in its corpus."""
        rows = self.occurrences.rows
        place = int(np.searchsorted(rows, row))
        return place if place < len(rows) and int(rows[place]) == row else None


def word_in(corpus: SearchableCorpus, typed: str, column: str) -> Found | Missing:
    """A word's occurrences in a corpus, or why there are none.

    Args:
        corpus: where it is looked for.
        typed: the word, whatever its letter case and the blanks around it.
        column: the title of the column with its senses; "" for none.
    """
    word = " ".join(typed.split())
    if not word:
        return Missing("", say("senses.missing.nothing_typed"))
    if len(word) > LONGEST_WORD:
        return Missing(
            shortened(word, LONGEST_WORD),
            say("senses.missing.too_long", n=len(word), most=LONGEST_WORD),
        )
    version = corpus.name, corpus.model, corpus.n_occurrences
    key = repr((*version, word.casefold(), column, corpus.split))
    found = remembered("senses: word", key, compute=lambda: _found(corpus, word, column, key))
    return found if found.n else _missing(corpus, word)


def column_of(view: ViewState, corpus: SearchableCorpus) -> str:
    """The title of the column with the senses that a view names, or the one that suits; or ""."""
    asked = LABELS.asked(view) or GUESSED
    if asked == NO_LABELS:
        return ""
    if asked.isascii() and asked.isdigit() and int(asked) < len(corpus.columns):
        return corpus.columns[int(asked)]
    titles = {title.strip().casefold(): title for title in corpus.columns if title != corpus.split}
    return next((titles[known] for known in _LABEL_TITLES if known in titles), "")


def _found(corpus: SearchableCorpus, word: str, column: str, key: str) -> Found:
    own = corpus.occurrences(word, most=MOST)
    labels = _labels(corpus, own, column) if column else ("",) * len(own)
    split = corpus.column(corpus.split, own.texts) if corpus.split else ()
    trial = trial_of(labels, split)
    counts = {label: labels.count(label) for label in set(labels) - {""}}
    senses = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    places = {sense: i for i, sense in enumerate(senses)}
    return Found(
        key=key,
        word=own.word,
        corpus=corpus.title,
        model=corpus.model,
        occurrences=own,
        texts=corpus.text(own.texts),
        column=column if counts else "",
        labels=labels,
        senses=senses,
        codes=np.array([places.get(label, -1) for label in labels], dtype=np.int64),
        trial=trial,
    )


def _labels(corpus: SearchableCorpus, own: Occurrences, column: str) -> tuple[str, ...]:
    """Each one's label: only marked words have their text's where texts are marked.

    A label that begins with the word and a colon is said without them: "python: animal".
    """
    every = [label.strip() for label in corpus.column(column, own.texts)]
    if corpus.has_targets:
        every = [
            label if target else ""
            for label, target in zip(every, own.is_target.tolist(), strict=True)
        ]
    start = f"{own.word}:"
    bare = [label[len(start) :].strip() for label in every]
    prefixed = all(label.casefold().startswith(start) for label in every if label)
    is_long = all(rest for label, rest in zip(every, bare, strict=True) if label)
    return tuple(bare if prefixed and is_long else every)


def _missing(corpus: SearchableCorpus, word: str) -> Missing:
    said = say("senses.missing.word", word=shortened(word, 40), corpus=corpus.title)
    if any(map(str.isspace, word)):
        return Missing(word, f"{said} {say('senses.missing.blanks')}")
    similar, inside = corpus.similar(word), corpus.inside(word)
    return Missing(word, f"{said} {_instead(similar, inside)}", similar, inside)


def _instead(similar: tuple[WordCount, ...], inside: tuple[WordCount, ...]) -> str:
    said = []
    if inside:
        said.append(say("senses.missing.inside", words=_listed(inside)))
    if similar:
        said.append(say("senses.missing.similar", words=_listed(similar)))
    return " ".join(said) or say("senses.missing.another")


def _listed(words: tuple[WordCount, ...]) -> str:
    return ", ".join(f"{shortened(own.word, 24)} ({own.n:,})" for own in words[:5])
