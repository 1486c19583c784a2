"""The language of a text, as far as function words and script show it: English or not."""

from __future__ import annotations

import re

import regex

from contextlens.analysis.baseline import is_in_sample_script

__all__ = ["is_english", "is_foreign"]

_ENGLISH = frozenset(
    re.findall(
        r"\w+",
        """
        I a about after again an and are because been before can could did does during each
        every from his how if into is it its just more most my never not of off on only our out
        she some than that the their them then there these they this those through to until
        very was were what when where which while who with without would you your
        """,
    )
)
"""Common function words of English that few other languages share."""
_MIN_ENGLISH = 1 / 12
"""The smallest share of these words in an English text."""
_FOREIGN = frozenset(
    re.findall(
        r"\w+",
        """
        als auch auf aber che das de dem den der des dit du een ein eine el elle en er es est
        et han hat het hij i ich ik il im ist je jeg jag la las le les los me mit mijn nel
        nicht non och og para por que sie sich sind um un una und une van var vi von wir zu
        """,
    )
)
"""Common function words of other languages in Latin script; of "i", the small letter."""
_ALSO_ENGLISH = frozenset({"hat", "i", "im", "me", "um", "van"})
"""Those that English texts have, too, some of them typed without capitals or apostrophes."""
_PLAINLY_FOREIGN = frozenset(
    re.findall(
        r"\w+",
        """
        aus bei beim bin bist dass dein deine haben ihr kein keine mein meine nach noch nur oder
        sehr vom wenn werden wie wird wurde zum zur
        aux avec cette dans elle ils mes mon nous pas qui ses sont vous
        esta está mis muy pero soy su sus al
        della di gli mia mio nella più sono è
        deze heeft maar niet ook zijn
        meu minha não os são uma
        har ikke inte och på som är
        """,
    )
)
"""More function words of other languages that English texts do not have."""
_LETTER, _LATIN = regex.compile(r"\p{L}"), regex.compile(r"\p{Latin}")


def is_english(text: str) -> bool:
    """Return True if a text has the common function words of English.

    Single words and headlines have none, so they do not count as English.
    """
    words = _words(text)
    n_english = sum(word in _ENGLISH for word in words)
    n_foreign = sum(word in _FOREIGN for word in words)
    is_known = n_english > n_foreign and n_english >= _MIN_ENGLISH * len(words)
    return is_known and is_in_sample_script(text)


def is_foreign(text: str) -> bool:
    """Return True if a text is plainly in another language than English.

    Most of its letters are of another script, or it has several function words of other languages.
    """
    n_letters = len(_LETTER.findall(text))
    if n_letters > 1 and 2 * len(_LATIN.findall(text)) < n_letters:
        return True
    words = _words(text)
    foreign = [word for word in words if word in (_FOREIGN - _ALSO_ENGLISH) | _PLAINLY_FOREIGN]
    n_english = sum(word in _ENGLISH for word in words)
    return len(set(foreign)) > 1 and len(foreign) > 2 * n_english


def _words(text: str) -> list[str]:
    typed = re.findall(r"[^\W\d_]+", text)
    return ["I" if word == "I" else word.casefold() for word in typed]
