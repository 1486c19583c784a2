"""A simple test for English, which edits and random pairs of sentences require."""

from __future__ import annotations

from functools import cache

from contextlens.analysis.baseline import is_in_sample_script
from contextlens.content.bundled_texts import (
    ambiguous_words,
    baseline_sentences,
    everyday_words,
    sentiment_sentences,
)
from contextlens.core.words import split_words


def word_set(words: str) -> frozenset[str]:
    """The words of a string, separated by white space."""
    return frozenset(words.split())


DETERMINERS = word_set(
    "a an the my your his her its our their this that these those every each one no some"
)
AUXILIARIES = word_set(
    "am is are was were can could will would should must may might shall do does did"
)
FUNCTION_WORDS = (DETERMINERS | AUXILIARIES).union(
    word_set(
        "i you he she it we they me him us them be been have has had and or but not never nor "
        "also just only of in on at by for to with from as if so than then too very there here "
        "who which whom when while"
    )
)
"""English function words."""

LEAST_KNOWN = 0.6
"""The minimum share of known English words, not counting words that other languages share."""
LEAST_GRAMMAR = 0.15
"""Alternatively, the minimum share of English function words, and at least two of them: in some
texts, most other words are too rare to be known."""
MOST_FOREIGN = 1 / 8
"""The maximum number of function words of other languages, for each known English one."""

_FOREIGN = word_set(
    """
a af ai al am an ao as att au auf aus aux av avec bei ble ce ces cette che com como con da
dal dans das de dein deine del della delle dem den der des det deze di dich die dit do dont
dos du e een ein eine einen einer el ela ele ella elle elles ellos em en era es est está et
eu för für geen gli ha haben han har hat heeft het hij ho hun ich ihr ik il ils im in inte
io is ist jag je jeg jij kein keine la las le lei les leur lo loro los lui ma maar mais man
me med mein meine meinen men mes met mi mia mich min minha mio mir mit molto mon muito muy
más na naar nach ne nel nella nicht niet no noch noi non nos nosotros not nous nur não o och
oder og om on ook op os ou over où par para pas per pero più por pour på que qui sa sans se
sehr sein seine sem ses sich sie sin sind so som son sono sont su sua sul suo sur sus ta te
til très tu tus uit um uma un una unas und une uno unos uns unser van ved von voor vor vos
votre vous war was wat wenn wie wij wir wird wo y ya yo ze zij zijn zu zum zur à är è é él
"""
)
"""Function words of German, Dutch, French, Spanish, Portuguese, Italian, Danish, Norwegian and
Swedish."""


def is_english(text: str) -> bool:
    """True if most words are known English ones; False if they are not, or if that is unclear."""
    if not is_in_sample_script(text):
        return False
    words = [_plain(text[slice(*span)]) for span in split_words(text)]
    words = [word for word in words if word[:1].isalpha() and (len(word) > 1 or word in "ai")]
    known, foreign = ([word for word in words if word in table] for table in (_known(), _FOREIGN))
    english = [word for word in known if word not in _FOREIGN]
    n_shared = len(known) - len(english)
    n_foreign = len(foreign) - n_shared
    n_grammar = sum(word in FUNCTION_WORDS for word in english)
    is_open = any(w in _known() and w not in FUNCTION_WORDS for w in foreign)  # “die”, “war”
    if not english or n_foreign > MOST_FOREIGN * len(english) or (is_open and not n_grammar):
        return False
    is_grammar = n_grammar >= 2 and n_grammar >= LEAST_GRAMMAR * len(words)
    return is_grammar or len(english) >= LEAST_KNOWN * (len(words) - n_shared)


@cache
def _known() -> frozenset[str]:
    """The words of the English texts that ship with the app, and the function words."""
    texts = [
        *baseline_sentences(),
        *(sentence.text for sentence in (*ambiguous_words(), *everyday_words())),
        *(sentence.text for sentence in sentiment_sentences()),
    ]
    words = {_plain(text[slice(*span)]) for text in texts for span in split_words(text)}
    return frozenset(word for word in words | FUNCTION_WORDS if word.isalpha() or "'" in word)


def _plain(word: str) -> str:
    return word.casefold().replace("’", "'").removesuffix("'s")
