"""Sentences that say something good or bad: the corpus for asking whether a model hears the tone.

A sentence can be near another because both are about trains, and far from it because one praises
and the other complains. Which of the two a model goes by shows only where both are said of the same
things in the same words. So the app brings its own: as many positive sentences as negative ones, on
films, meals, hotels, teachers, weather and neighbours alike, with no word that gives the sentiment
away. Some are plain; the others are hard: a negation turns them round, they mean the opposite of
what they say, they praise and blame and yet come to a verdict, they say less than they mean, or
they only compare. Each is for training or for testing, so that figures are comparable. They were
written for this app. One line of the file is a sentiment, a kind, a split and a sentence, with tabs
between. This module reads text, knows no model, and imports nothing of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

__all__ = ["SentimentSentence", "sentiment_sentences"]

_FILE = "sentiment.txt"


@dataclass(frozen=True)
class SentimentSentence:
    """A sentence, what it says on the whole, and how it says it.

    Attributes:
        text: the sentence.
        sentiment: "positive" or "negative", as a reader understands it in the end.
        kind: "plain", "negation", "irony", "mixed", "understated" or "comparison".
        split: "train" or "test".
    """

    text: str
    sentiment: str
    kind: str
    split: str


@lru_cache(maxsize=1)
def sentiment_sentences() -> tuple[SentimentSentence, ...]:
    """Every sentence in the order of the file: kind by kind, positive and negative in turn."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line)
    return tuple(
        SentimentSentence(text=sentence, sentiment=sentiment, kind=kind, split=split)
        for sentiment, kind, split, sentence in rows
    )
