"""Sentences with words whose senses are known: ambiguous ones, and everyday ones of one sense.

Whether a model tells the senses of a word apart shows only where the word stands in many different
sentences, and only where somebody has said which sense each of them means. So the app brings its
own: eighteen words of two to four senses each, 15 or 16 sentences a sense and 677 in all, in which
news, chat, manuals, stories, letters and science take turns, the word stands now first, now last,
and no one neighbour gives the sense away. They were written for this app and chosen for readers: a
model may get them wrong. One line of the file is a word, its sense and a sentence, with tabs
between.

What two uses of one word get in a model says little unless it is known what words of one sense get.
For that there are 66 everyday words, eight sentences each, from as many kinds of text; one line of
their file is a word and a sentence. They were written for this app too.

This module reads text, knows no model, and imports nothing of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

__all__ = ["SenseSentence", "ambiguous_words", "everyday_words"]


@dataclass(frozen=True)
class SenseSentence:
    """A sentence with one ambiguous word, and the sense that the word has in it.

    Attributes:
        word: lower case; it stands exactly once in `text`, perhaps capitalised.
        sense: a plain label that tells it from the other senses of the same word; an everyday
            word's is the word itself.
        text: the sentence.
    """

    word: str
    sense: str
    text: str


@lru_cache(maxsize=1)
def ambiguous_words() -> tuple[SenseSentence, ...]:
    """Every sentence in the order of the file: word by word, and sense by sense within a word."""
    return tuple(SenseSentence(*row) for row in _rows("ambiguous_words.txt"))


@lru_cache(maxsize=1)
def everyday_words() -> tuple[SenseSentence, ...]:
    """Every sentence in the order of the file: word by word."""
    return tuple(SenseSentence(word, word, text) for word, text in _rows("everyday_words.txt"))


def _rows(file: str) -> list[list[str]]:
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line]
