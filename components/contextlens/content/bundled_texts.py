"""The sentences that ship with the app: everyday ones, with sentiment, and with ambiguous words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

__all__ = [
    "MEASURED_WORDS",
    "N_EVERYDAY",
    "SenseSentence",
    "SentimentSentence",
    "ambiguous_words",
    "baseline_sentences",
    "everyday_words",
    "measured_words",
    "sense_titles",
    "sentiment_sentences",
]


# --- The sample of everyday sentences behind the random-pair baseline

_FILE = "baseline_sentences.txt"
N_EVERYDAY = 64
"""The first of them, whose pairs say which cosine of sentences is usual for unrelated ones."""


@lru_cache(maxsize=1)
def baseline_sentences() -> tuple[str, ...]:
    """The sample in file order: at least 200 distinct sentences, without line breaks."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


# --- Sentences with a sentiment

_SENTIMENT_FILE = "sentiment.txt"


@dataclass(frozen=True)
class SentimentSentence:
    """A sentence, its overall sentiment, and how it expresses that.

    Attributes:
        text: the sentence.
        sentiment: "positive" or "negative", as a reader finally understands it.
        kind: "plain", "negation", "irony", "mixed", "understated" or "comparison".
        split: "train" or "test".
    """

    text: str
    sentiment: str
    kind: str
    split: str


@lru_cache(maxsize=1)
def sentiment_sentences() -> tuple[SentimentSentence, ...]:
    """Every sentence in file order: kind by kind, positive and negative alternating.

    Of 648, 480 are plain: what people say in reviews, messages and letters. The other 168 are hard:
    negation, irony, praise with blame, understatement and comparison. Of each kind, about 70% are
    for training. Many hard ones and a few plain ones are twins, which share most of their words.
    """
    text = resources.files(__package__).joinpath(_SENTIMENT_FILE).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line)
    return tuple(
        SentimentSentence(text=sentence, sentiment=sentiment, kind=kind, split=split)
        for sentiment, kind, split, sentence in rows
    )


# --- Sentences with words whose senses are known


@dataclass(frozen=True)
class SenseSentence:
    """A sentence with one ambiguous word, and the sense of that word in it.

    Attributes:
        word: lower case; it occurs exactly once in `text`, perhaps capitalised.
        sense: a plain label that distinguishes it from the word's other senses; for an everyday
            word, the word itself.
        text: the sentence.
    """

    word: str
    sense: str
    text: str


@lru_cache(maxsize=1)
def ambiguous_words() -> tuple[SenseSentence, ...]:
    """Every sentence in file order: word by word, and sense by sense within a word."""
    return tuple(SenseSentence(*row) for row in _rows("ambiguous_words.txt"))


@lru_cache(maxsize=1)
def sense_titles() -> Mapping[tuple[str, str], str]:
    """Return the name of each word's sense in sentences: ("python", "animal") is "the animal"."""
    return {(word, sense): title for word, sense, title in _rows("sense_titles.txt")}


MEASURED_WORDS = (
    *("python", "bank", "bat", "crane", "spring", "mouse", "pitch", "seal", "mercury", "bass"),
    *("jaguar", "java", "pitcher", "chip", "cell", "key", "match", "organ"),
)
"""The ambiguous words for measurements that take all of their sentences at once."""


@lru_cache(maxsize=1)
def measured_words() -> tuple[SenseSentence, ...]:
    """Every sentence of `MEASURED_WORDS` in file order."""
    return tuple(row for row in ambiguous_words() if row.word in MEASURED_WORDS)


@lru_cache(maxsize=1)
def everyday_words() -> tuple[SenseSentence, ...]:
    """Every sentence in file order: word by word."""
    return tuple(SenseSentence(word, word, text) for word, text in _rows("everyday_words.txt"))


def _rows(file: str) -> list[list[str]]:
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line]
