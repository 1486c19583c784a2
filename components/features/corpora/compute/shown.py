"""The corpus that a view looks at: ready-made or stored, its words, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import CorpusError
from components.corpus.bundled import ambiguous_corpus, sentiment_corpus
from components.corpus.corpus import Corpus
from components.corpus.searchable import WordCount
from components.features.corpora.compute.words import (
    SHOWN,
    Words,
    all_counts,
    counted_in,
    counted_of,
)
from components.features.corpora.controls import CORPUS, READY, WORD
from components.ui.corpora.known import Kept, kept_of
from components.ui.models.background import store
from components.ui.state.view import ViewState

__all__ = ["Shown", "ready_made", "shown_of", "word_arrays", "word_rows"]

_MOST_ROWS = 100_000
"""Words in a download."""
_LONGEST = 100  # characters of a word in an array, which is as wide as its longest
_NO_WORDS = Words(0, 0, 0, ())


@dataclass(frozen=True, eq=False)
class Shown:
    """A corpus as the page looks at it.

    Attributes:
        key: what the view calls it.
        title: what to call it.
        corpus: the texts of one that is ready-made, else None.
        kept: a stored one, else None.
        words: as far as it is indexed; none of them before.
        problem: why it cannot be shown, in a sentence, or "".
        word: the one that is looked at, or "".
    """

    key: str
    title: str
    corpus: Corpus | None
    kept: Kept | None
    words: Words
    problem: str
    word: str

    @property
    def n_texts(self) -> int:
        """Texts whose words are counted."""
        if self.corpus is not None:
            return len(self.corpus.texts)
        about = None if self.kept is None else self.kept.about
        return 0 if about is None else about.n_texts_done

    @property
    def is_whole(self) -> bool:
        """Whether all of its words are counted."""
        return self.corpus is not None or (self.kept is not None and self.kept.is_indexed)

    @property
    def first(self) -> tuple[Any, ...]:
        """The rows of the picture: the most frequent words, and the one that is looked at."""
        rows = self.words.rows[:SHOWN]
        chosen = self.words.row(self.word)
        return rows if chosen is None or chosen in rows else (*rows[:-1], chosen)


def ready_made(key: str) -> Corpus:
    """A corpus that ships with the app."""
    return sentiment_corpus() if key == "sentiment" else ambiguous_corpus()


def shown_of(view: ViewState) -> Shown:
    """What a view looks at."""
    key = CORPUS.asked(view) or CORPUS.default
    if key in READY:
        corpus = ready_made(key)
        words = counted_in(corpus)
        return Shown(key, CORPUS.options[key], corpus, None, words, "", _word(view, words))
    kept = kept_of(key)
    if kept.about is None:
        return Shown(key, kept.title, None, kept, _NO_WORDS, kept.problem, "")
    try:
        words = counted_of(store().open(key), lambda: store().texts(key))
    except CorpusError as exc:
        return Shown(key, kept.title, None, kept, _NO_WORDS, str(exc), "")
    return Shown(key, kept.title, None, kept, words, "", _word(view, words))


def word_rows(shown: Shown) -> Sequence[Mapping[str, Any]]:
    """Every word with its occurrences and their share, most frequent first, up to a bound."""
    senses = {row.word: row.n_senses for row in shown.words.rows}
    total = max(1, shown.words.n)
    return [
        {
            "word": own.word,
            "occurrences": own.n,
            "share": own.n / total,
            **({"senses": senses.get(own.word) or ""} if shown.words.sense else {}),
        }
        for own in _counts(shown)
    ]


def word_arrays(shown: Shown) -> Mapping[str, NDArray[Any]]:
    """The same as arrays; of a corpus that is ready-made, its texts too."""
    counts = _counts(shown)
    found: dict[str, NDArray[Any]] = {
        "words": np.array([own.word[:_LONGEST] for own in counts], dtype=np.str_),
        "counts": np.array([own.n for own in counts], dtype=np.int64),
    }
    if shown.corpus is not None:
        found["texts"] = np.array(shown.corpus.texts)
    return found


def _counts(shown: Shown) -> Sequence[WordCount]:
    if shown.corpus is not None:
        return all_counts(shown.corpus)[:_MOST_ROWS]
    return store().open(shown.key).words(n=_MOST_ROWS)


def _word(view: ViewState, words: Words) -> str:
    chosen = WORD.of(view)
    if words.row(chosen) is not None:
        return chosen
    return words.rows[0].word if words.rows else ""
