"""The ready examples that a visitor can open with one click.

Each is a small experiment: sentences with one chosen word, references to compare it with, and a
question whose answer by the model one can guess. The page computes that answer, so nothing here
claims one. In examples about the effect of context, the word has the same position in each
sentence: a difference at layer 0 then comes from the word alone. Imports nothing of ours; the tests
check that `contextlens.core.words.find_word` finds every chosen word.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "EXAMPLES",
    "FRAMES",
    "LONGER_TEXT",
    "SAME_MEANINGS",
    "Example",
    "ExampleSentence",
    "Question",
    "ready_texts",
]


@dataclass(frozen=True)
class ExampleSentence:
    """A sentence and its chosen word.

    Attributes:
        text: the sentence, or a reference word or phrase on its own.
        word: the chosen word as written in `text`, or None for the whole text.
        occurrence: the index of this occurrence of the word in `text`, ignoring case, from 0.
    """

    text: str
    word: str | None = None
    occurrence: int = 0


@dataclass(frozen=True)
class Question:
    """What a word is closer to in meaning: one of two others, of which people know the right one.

    Attributes:
        text: the question, in one plain sentence.
        options: the two answers, in a few words each.
        word: the index of the word in question, among the sentences and then the references.
        others: the index of the word that each option stands for.
        right: the index of the option that people know to be right.
    """

    text: str
    options: tuple[str, str]
    word: int
    others: tuple[int, int]
    right: int


@dataclass(frozen=True, kw_only=True)
class Example:
    """One ready experiment for Start here and Meaning in context.

    Attributes:
        key: short and stable, for addresses and widget keys.
        title: a few words for its button.
        question: what to guess before the model answers.
        sentences: two or more, each with a chosen word.
        references: words to compare the chosen ones with.
        icon: a Streamlit material icon.
    """

    key: str
    title: str
    question: Question
    sentences: tuple[ExampleSentence, ...]
    references: tuple[ExampleSentence, ...]
    icon: str


def _alone(*words: str) -> tuple[ExampleSentence, ...]:
    return tuple(ExampleSentence(word, word) for word in words)


EXAMPLES: tuple[Example, ...] = (
    Example(
        key="python",
        title="Python, pet or language",
        question=Question(
            "To the model, is the python of A more like a snake, or like programming?",
            ("a snake", "programming"),
            word=0,
            others=(2, 3),
            right=0,
        ),
        sentences=(
            ExampleSentence("I love my pet python", "python"),
            ExampleSentence("I love coding in python", "python"),
        ),
        references=_alone("snake", "programming"),
        icon=":material/pets:",
    ),
    Example(
        key="bank",
        title="Bank, river or money",
        question=Question(
            "To the model, is the bank that lends more like that of the river, or of the cheque?",
            ("the river", "the cheque"),
            word=1,
            others=(0, 2),
            right=1,
        ),
        sentences=(
            ExampleSentence("The grassy bank sloped down to the river", "bank"),
            ExampleSentence("The friendly bank lent us some money", "bank"),
            ExampleSentence("The busy bank cashed her cheque", "bank"),
        ),
        references=_alone("river", "money"),
        icon=":material/account_balance:",
    ),
    Example(
        key="bat",
        title="Bat, animal or sport",
        question=Question(
            "To the model, is the bat in its cave more like an animal, or like baseball?",
            ("an animal", "baseball"),
            word=0,
            others=(2, 3),
            right=0,
        ),
        sentences=(
            ExampleSentence("The sleepy bat hung in its cave", "bat"),
            ExampleSentence("The wooden bat hit the ball", "bat"),
        ),
        references=_alone("animal", "baseball"),
        icon=":material/sports_baseball:",
    ),
    Example(
        key="negation",
        title="Good and not good",
        question=Question(
            'To the model, is "not good" more like "very good", or like "bad"?',
            ("very good", "bad"),
            word=1,
            others=(0, 2),
            right=1,
        ),
        sentences=(
            ExampleSentence("The food was very good", "good"),
            ExampleSentence("The food was not good", "good"),
            ExampleSentence("The food was very bad", "bad"),
        ),
        references=_alone("excellent", "terrible"),
        icon=":material/thumbs_up_down:",
    ),
    Example(
        key="order",
        title="Who bit whom",
        question=Question(
            "To the model, is the dog of A more like one that bites, or one that is bitten?",
            ("the biter", "the bitten"),
            word=0,
            others=(2, 1),
            right=0,
        ),
        sentences=(
            ExampleSentence("The dog bit the man", "dog"),
            ExampleSentence("The man bit the dog", "dog"),
            ExampleSentence("The man was bitten by the dog", "dog"),
        ),
        references=_alone("attacker", "victim"),
        icon=":material/swap_horiz:",
    ),
    Example(
        key="case",
        title="US and us",
        question=Question(
            'To the model, is the US of the stamp more like America, or like "we"?',
            ("America", "we"),
            word=1,
            others=(2, 3),
            right=0,
        ),
        sentences=(
            ExampleSentence("They told us a story", "us"),
            ExampleSentence("The new US stamp arrived", "US"),
        ),
        references=_alone("America", "we"),
        icon=":material/match_case:",
    ),
)


# --- Sentences that mean the same in other words, beside some that only look alike

SAME_MEANINGS: tuple[tuple[str, ...], ...] = (
    ("Is it going to rain?", "Do I need an umbrella today?"),
    ("Is it going to start?",),
    ("The cat sat on the mat.", "A kitten was resting on the rug."),
    ("The cap sat on the mat.",),
)
"""Groups of sentences with one meaning each, chosen so that ways to make a vector disagree."""


# --- Beside the sentences of an example

FRAMES = ("The word {word} stands here", "Here we see the word {word}")
"""Sentences for any word, with the word at two positions."""
LONGER_TEXT = (
    "The next morning it slept on the warm stones by the river until the rain came and woke it."
)
"""A text to pad shorter ones to: 22 tokens in BERT."""


def ready_texts() -> list[str]:
    """Return every text in here that a model reads."""
    parts = [part for one in EXAMPLES for part in (*one.sentences, *one.references)]
    framed = [frame.format(word=part.word) for part in parts if part.word for frame in FRAMES]
    same = [text for group in SAME_MEANINGS for text in group]
    return [*(part.text for part in parts), *framed, LONGER_TEXT, *same]
