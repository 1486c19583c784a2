"""A plain test for English: edits follow its rules, and random English pairs are of no other.

Made for short texts, which statistics of letters cannot judge. A text that gives no answer does not
count as English.
"""

from __future__ import annotations

from functools import cache

from components.analysis.baseline import is_in_sample_script
from components.content.ambiguous_words import ambiguous_words, everyday_words
from components.content.sample import baseline_sentences
from components.content.sentiment import sentiment_sentences
from components.core.words import split_words
from components.features.why.edits.edit import FUNCTION_WORDS
from components.features.why.edits.names import NAMES
from components.features.why.edits.verbs import BASE, PAST, THIRD

__all__ = ["LEAST_GRAMMAR", "LEAST_KNOWN", "MOST_FOREIGN", "is_english"]

LEAST_KNOWN = 0.6
"""The share of the words that must be known English ones; those of two languages are left aside."""
LEAST_GRAMMAR = 0.15
"""Or the share of words of English grammar, two at least: rare words are many in some texts."""
MOST_FOREIGN = 1 / 8
"""Words of another language's grammar, for each known English one."""

_GRAMMAR = """
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
"""Of German, Dutch, French, Spanish, Portuguese, Italian, Danish, Norwegian and Swedish."""
_FOREIGN = frozenset(_GRAMMAR.split())


def is_english(text: str) -> bool:
    """True if most of the words are known English ones; False too where that cannot be told."""
    if not is_in_sample_script(text):
        return False
    words = [text[start:end].casefold().replace("’", "'") for start, end in split_words(text)]
    words = [w.removesuffix("'s") for w in words if w[:1].isalpha() and (len(w) > 1 or w in "ai")]
    known, foreign = ([w for w in words if w in own] for own in (_known(), _FOREIGN))
    english = [w for w in known if w not in _FOREIGN]
    n_shared = len(known) - len(english)
    n_foreign, n_grammar = len(foreign) - n_shared, sum(w in FUNCTION_WORDS for w in english)
    is_open = any(w in _known() and w not in FUNCTION_WORDS for w in foreign)  # “die”, “war”
    if not english or n_foreign > MOST_FOREIGN * len(english) or (is_open and not n_grammar):
        return False
    is_grammar = n_grammar >= 2 and n_grammar >= LEAST_GRAMMAR * len(words)
    return is_grammar or len(english) >= LEAST_KNOWN * (len(words) - n_shared)


@cache
def _known() -> frozenset[str]:
    """The words of the English texts that come with the app, and those that edits know."""
    texts = [
        *baseline_sentences(),
        *(each.text for each in (*ambiguous_words(), *everyday_words())),
        *(each.text for each in sentiment_sentences()),
    ]
    found = {
        text[start:end].casefold().replace("’", "'").removesuffix("'s")
        for text in texts
        for start, end in split_words(text)
    }
    names = {name.casefold() for name in NAMES}
    known = found | names | FUNCTION_WORDS | BASE | set(PAST) | set(THIRD)
    return frozenset(word for word in known if word.isalpha() or "'" in word)
