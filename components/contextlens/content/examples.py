"""The ready examples that a visitor can open with one click.

Each is a small experiment: sentences with one chosen word, references to compare it with, and a
hint on where to look. The page computes the model's results, so nothing here claims one. In
examples about the effect of context, the word has the same position in each sentence: a difference
at layer 0 then comes from the word alone. Imports nothing of ours; the tests check that
`contextlens.core.words.find_word` finds every chosen word.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EXAMPLES", "SAME_MEANINGS", "Example", "ExampleSentence"]


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


@dataclass(frozen=True, kw_only=True)
class Example:
    """One ready experiment for the Meaning in context page.

    Attributes:
        key: short and stable, for addresses and widget keys.
        title: a few words for its button.
        question: the question that it answers, in one plain sentence.
        sentences: two or more, each with a chosen word.
        references: words to compare the chosen ones with.
        icon: a Streamlit material icon.
        model: the model that it needs, or None if any will do.
        look_for: one sentence on where to look; not a result.
    """

    key: str
    title: str
    question: str
    sentences: tuple[ExampleSentence, ...]
    references: tuple[ExampleSentence, ...]
    icon: str
    model: str | None = None
    look_for: str


def _alone(*words: str) -> tuple[ExampleSentence, ...]:
    return tuple(ExampleSentence(word, word) for word in words)


EXAMPLES: tuple[Example, ...] = (
    Example(
        key="python",
        title="Python, pet or language",
        question="Does the model tell python the pet from python the language?",
        sentences=(
            ExampleSentence("I love my pet python", "python"),
            ExampleSentence("I love coding in python", "python"),
        ),
        references=_alone("snake", "programming"),
        icon=":material/pets:",
        look_for=(
            "Take one reference at a time and ask which of the two sentences is closer to it, "
            "layer by layer."
        ),
    ),
    Example(
        key="bank",
        title="Bank, river or money",
        question="Are two money banks closer to each other than to a river bank?",
        sentences=(
            ExampleSentence("The grassy bank sloped down to the river", "bank"),
            ExampleSentence("The friendly bank lent us some money", "bank"),
            ExampleSentence("The busy bank cashed her cheque", "bank"),
        ),
        references=_alone("river", "money"),
        icon=":material/account_balance:",
        look_for=(
            "Compare the curve of the two banks that handle money, sentences B and C, with the two "
            "curves that lead to the river bank in A."
        ),
    ),
    Example(
        key="bat",
        title="Bat, animal or sport",
        question="Does the model distinguish the bat in a cave from the bat that hits a ball?",
        sentences=(
            ExampleSentence("The sleepy bat hung in its cave", "bat"),
            ExampleSentence("The wooden bat hit the ball", "bat"),
        ),
        references=_alone("animal", "baseball"),
        icon=":material/sports_baseball:",
        look_for=(
            "See how far the two bats really part, and whether one reference is close to both of "
            "them whatever the sentence says."
        ),
    ),
    Example(
        key="negation",
        title="Good and not good",
        question='Is the good of "not good" closer to "very good" or to "very bad"?',
        sentences=(
            ExampleSentence("The food was very good", "good"),
            ExampleSentence("The food was not good", "good"),
            ExampleSentence("The food was very bad", "bad"),
        ),
        references=_alone("excellent", "terrible"),
        icon=":material/thumbs_up_down:",
        look_for=(
            "Watch whether the good of B stays with the good of A or moves towards the bad of C "
            "from layer to layer."
        ),
    ),
    Example(
        key="order",
        title="Who bit whom",
        question="Is the dog of A closer to the one bitten (B) or to the other that bites (C)?",
        sentences=(
            ExampleSentence("The dog bit the man", "dog"),
            ExampleSentence("The man bit the dog", "dog"),
            ExampleSentence("The man was bitten by the dog", "dog"),
        ),
        references=_alone("attacker", "victim"),
        icon=":material/swap_horiz:",
        look_for=(
            "Sentence C means the same as A, so ask whether its dog is nearer to the dog of A than "
            "the dog of B is, and mind that the dogs of B and C stand later in their sentences."
        ),
    ),
    Example(
        key="case",
        title="US and us",
        question="What changes when a model can see capital letters?",
        sentences=(
            ExampleSentence("They told us a story", "us"),
            ExampleSentence("The new US stamp arrived", "US"),
        ),
        references=_alone("America", "we"),
        icon=":material/match_case:",
        model="google-bert/bert-base-cased",
        look_for=(
            "Look at layer 0 with this model and then with an uncased one, which reads US and us "
            "as the same token."
        ),
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
