"""A plain test for English: edits follow its rules, and random English pairs fit no other language.

Made for short texts, which statistics of letters cannot judge. Where a text gives no answer, it does
not count as English.
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

__all__ = ["LEAST_KNOWN", "MOST_FOREIGN", "is_english"]

LEAST_KNOWN = 0.7
"""The share of the words that must be known English ones; those of two languages are left aside."""
MOST_FOREIGN = 1 / 8
"""Words of another language's grammar, for each known English one."""

_FOREIGN = frozenset(
    # Of German and Dutch; French; Spanish; Portuguese and Italian; Danish, Norwegian and Swedish.
    "am an auf aus bei das dein deine dem den der des dich die du ein eine einen einer es für haben "
    "hat ich ihr im in ist kein keine man mein meine meinen mich mir mit nach nicht noch nur oder "
    "sehr sein seine sich sie sind so und unser uns von vor war was wenn wie wir wird wo zu zum zur "
    "de deze dit een en geen heeft het hij ik is jij maar met naar niet om ook op te uit van voor "
    "wat wij ze zij zijn "
    "au aux avec ce ces cette dans des dont du elle elles est et il ils je la le les leur ma mais "
    "me mes mon ne nous on ou où par pas pour qui que sa sans ses son sont sur ta très tu un une "
    "vos votre vous y à "
    "al con como del el ella ellos era está las los mi muy más nosotros o para pero por sin su sus "
    "tus una uno unas unos ya yo él "
    "a ai ao as che com da dal della delle di do dos e ele ela em eu gli ha ho io lei lo loro lui "
    "mia minha mio molto muito na nel nella no noi non nos não os per più se sem sono sua sul suo "
    "um uma è é "
    "af att av ble de det du för han har hun inte jag jeg med men min mit och og på som til ved är "
    "i over".split()
)


def is_english(text: str) -> bool:
    """True if most of the words are known English ones; False too where that cannot be told."""
    if not is_in_sample_script(text):
        return False
    words = [text[start:end].casefold().replace("’", "'") for start, end in split_words(text)]
    words = [word.removesuffix("'s") for word in words if word[:1].isalpha()]
    n_known = sum(word in _known() and word not in _FOREIGN for word in words)
    n_foreign = sum(word in _FOREIGN and word not in _known() for word in words)
    n_aside = sum(word in _FOREIGN and word in _known() for word in words)
    n = len(words) - n_aside
    return n_known > 0 and n_known >= LEAST_KNOWN * n and n_foreign <= MOST_FOREIGN * n_known


@cache
def _known() -> frozenset[str]:
    """The words of the English texts that come with the app, and those that edits know."""
    texts = [
        *baseline_sentences(),
        *(each.text for each in (*ambiguous_words(), *everyday_words(), *sentiment_sentences())),
    ]
    found = {
        text[start:end].casefold().replace("’", "'").removesuffix("'s")
        for text in texts
        for start, end in split_words(text)
    }
    names = {name.casefold() for name in NAMES}
    known = found | names | FUNCTION_WORDS | BASE | set(PAST) | set(THIRD)
    return frozenset(word for word in known if word.isalpha() or "'" in word)
