"""The corpora that ship with the app, so that a map has something to show before any upload."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType

from components.content.ambiguous_words import ambiguous_words
from components.content.sentiment import sentiment_sentences
from components.core.words import find_words
from components.corpus.corpus import Corpus

__all__ = ["ambiguous_corpus", "sentiment_corpus"]


@lru_cache(maxsize=1)
def ambiguous_corpus() -> Corpus:
    """Sentences with an ambiguous word each, which is chosen; labelled by word and by sense.

    The labels of "sense" can be read alone: "python: animal".
    """
    entries = ambiguous_words()
    labels = {
        "word": tuple(entry.word for entry in entries),
        "sense": tuple(f"{entry.word}: {entry.sense}" for entry in entries),
    }
    return Corpus(
        name="Ambiguous words",
        texts=tuple(entry.text for entry in entries),
        labels=MappingProxyType(labels),
        spans=tuple(find_words(entry.text, entry.word)[0] for entry in entries),
    )


@lru_cache(maxsize=1)
def sentiment_corpus() -> Corpus:
    """Sentences labelled by sentiment, by kind (plain, irony, ...) and by split; no word is chosen.

    Every kind and every split is half "positive" and half "negative".
    """
    entries = sentiment_sentences()
    labels = {
        "sentiment": tuple(entry.sentiment for entry in entries),
        "kind": tuple(entry.kind for entry in entries),
        "split": tuple(entry.split for entry in entries),
    }
    return Corpus(
        name="Sentiment",
        texts=tuple(entry.text for entry in entries),
        labels=MappingProxyType(labels),
    )
