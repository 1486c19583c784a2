"""Where every word of a corpus stands that a model has a vector for.

Which words those are is said where corpora are stored; the tokens of a text decide which of them
have a vector: those cut off have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from components.core.schema import IntArray, Tokens
from components.core.words import Span
from components.corpus.corpus import Corpus
from components.corpus.searchable import BoolArray
from components.corpus.store.rows import words_of

__all__ = ["WordIndex", "word_index"]


@dataclass(frozen=True, eq=False)
class WordIndex:
    """Every occurrence of a corpus, in the order of the text: a column for each thing known.

    Attributes:
        texts: (n,) the number of its text.
        spans: (n, 2) start and end in it, in code points.
        words, surfaces: casefolded, and as it stands there.
        left, right: the words beside it, casefolded; "" at the ends of a text.
        is_target: (n,) whether it is what its text was marked for.
        n_cut: words left out because they have no token: what is cut off has none.
    """

    texts: IntArray
    spans: IntArray
    words: tuple[str, ...]
    surfaces: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    is_target: BoolArray
    n_cut: int

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word stands here."""
        return Counter(self.words)

    @cached_property
    def rows(self) -> dict[str, list[int]]:
        """Where each word stands."""
        found: dict[str, list[int]] = {}
        for row, word in enumerate(self.words):
            found.setdefault(word, []).append(row)
        return found


def word_index(corpus: Corpus, tokens: Sequence[Tokens]) -> WordIndex:
    """Where every word of a corpus stands that has a token."""
    columns: list[tuple[int, Span, str, str, bool]] = []
    n_cut = 0
    for number, (text, own) in enumerate(zip(corpus.texts, tokens, strict=True)):
        target = None if corpus.spans is None else corpus.spans[number]
        words = words_of(text, target)
        spans = np.array([word.span for word in words], dtype=np.int64).reshape(-1, 2)
        has_vector = _have_tokens(own, spans)
        n_cut += int((~has_vector).sum())
        columns += [
            (number, word.span, word.left, word.right, word.span == target)
            for word in (words[i] for i in np.flatnonzero(has_vector).tolist())
        ]
    surfaces = tuple(corpus.texts[number][slice(*span)] for number, span, *_ in columns)
    return WordIndex(
        texts=np.array([row[0] for row in columns], dtype=np.int64),
        spans=np.array([row[1] for row in columns], dtype=np.int64).reshape(-1, 2),
        words=tuple(surface.casefold() for surface in surfaces),
        surfaces=surfaces,
        left=tuple(row[2] for row in columns),
        right=tuple(row[3] for row in columns),
        is_target=np.array([row[4] for row in columns], dtype=np.bool_),
        n_cut=n_cut,
    )


def _have_tokens(tokens: Tokens, spans: IntArray) -> BoolArray:
    """(n_spans,) whether a token of the text shares characters with each span."""
    starts, ends = tokens.offsets.T
    inside = (starts < spans[:, 1:]) & (ends > spans[:, :1]) & (tokens.text_ids == 0)
    has_token: BoolArray = inside.any(axis=1)
    return has_token
