"""The sentences that ship with the app: for baselines, with a sentiment, of ambiguous words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

__all__ = [
    "SenseSentence",
    "SentimentSentence",
    "ambiguous_words",
    "baseline_sentences",
    "everyday_words",
    "sentiment_sentences",
]


# --- The sample of everyday sentences behind the random-pair baseline

_FILE = "baseline_sentences.txt"


@lru_cache(maxsize=1)
def baseline_sentences() -> tuple[str, ...]:
    """The sample in the order of its file: at least 200 different sentences, without line ends."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


# --- Sentences that say something good or bad

_SENTIMENT_FILE = "sentiment.txt"


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
    text = resources.files(__package__).joinpath(_SENTIMENT_FILE).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line)
    return tuple(
        SentimentSentence(text=sentence, sentiment=sentiment, kind=kind, split=split)
        for sentiment, kind, split, sentence in rows
    )


# --- Sentences with words whose senses are known


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
