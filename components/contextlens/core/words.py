"""Word boundaries of a text: Unicode word segmentation (UAX 29), the same for every model."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise

import numpy as np
import regex

from contextlens.core.schema import Tokens

__all__ = [
    "Span",
    "bare_words",
    "find_word",
    "find_words",
    "folded",
    "split_words",
    "token_of_word",
    "with_marks",
]

Span = tuple[int, int]
"""Start and end in code points of a text."""

_LONG = 2_000  # characters of a long text, whose spans may take megabytes
_BOUNDARY = regex.compile(r"\b", regex.WORD | regex.V1)
_BARE = regex.compile(r"[\w\p{M}]+")  # a vowel sign of Hindi is a mark, not a letter
_MARKS = regex.compile(r"[\p{M}\p{Grapheme_Extend}]*")


def split_words(text: str) -> tuple[Span, ...]:
    """The spans of a text's words in order; punctuation and emoji count, white space does not.

    The boundaries are those of UAX 29 (`regex`'s default Unicode word boundaries).
    """
    return _of_long(text) if len(text) >= _LONG else _of_short(text)


def _spans(text: str) -> tuple[Span, ...]:
    cuts = sorted({0, len(text), *(match.start() for match in _BOUNDARY.finditer(text))})
    return tuple((a, b) for a, b in pairwise(cuts) if not text[a:b].isspace())


_of_short = lru_cache(maxsize=256)(_spans)
_of_long = lru_cache(maxsize=32)(_spans)  # enough for the views of two visitors


def bare_words(text: str) -> tuple[str, ...]:
    """The words of a text by which copies are found: case, signs and spaces do not count.

    The signs of a text without a word are its words, as different emoji are no copies.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return tuple(_BARE.findall(folded) or folded.split())


def folded(word: str) -> str:
    """Return a word without its case; composed and decomposed spellings of it are equal."""
    if word.isascii():
        return word.casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", word).casefold())


def find_words(text: str, word: str) -> list[Span]:
    """The spans of all occurrences of a whole word, ignoring case."""
    wanted = folded(word)
    return [span for span in split_words(text) if folded(text[slice(*span)]) == wanted]


def find_word(text: str, word: str, occurrence: int = 0) -> Span | None:
    """The span of the n-th occurrence of a whole word, ignoring case, or None if there is none."""
    spans = find_words(text, word)
    return spans[occurrence] if 0 <= occurrence < len(spans) else None


def with_marks(text: str, end: int) -> int:
    """Return an end in a text, moved behind the combining marks that follow it.

    A tokenizer that strips accents leaves them out of the offsets of its tokens.
    """
    return int(_MARKS.match(text, end).end())


def token_of_word(tokens: Tokens, word: Span | None) -> int:
    """Return the position of the first token of a word, or of the last word that the model reads.

    Args:
        tokens: a text as the tokenizer cuts it; the word is of its first text.
        word: the span of the word; None for the last one, punctuation aside.
    """
    in_text, ends = tokens.text_ids == 0, tokens.offsets[:, 1]
    start = _last_word(tokens.text, int(ends[in_text].max(initial=0))) if word is None else word[0]
    behind = np.flatnonzero(in_text & (ends > start))
    return int(behind[0]) if len(behind) else 0


def _last_word(text: str, end: int) -> int:
    """The start of the last word before an end, punctuation aside; 0 if there is none."""
    starts = [a for a, b in split_words(text) if a < end and any(map(str.isalnum, text[a:b]))]
    return starts[-1] if starts else 0
