"""Subject and object swapped, in an English sentence of just these two and a verb between them."""

from __future__ import annotations

from components.core.words import Span
from components.features.why.edits.edit import DETERMINERS, FUNCTION_WORDS, Edit, replaced, words_of
from components.features.why.edits.names import NAMES
from components.features.why.edits.verbs import BASE, PAST, THIRD

__all__ = ["swapped_order"]

_ENDS = frozenset(".!?")
_MOST = 3  # words of a subject or an object, its article included
_PLURALS = frozenset(("men", "women", "children", "people", "mice", "police"))


def swapped_order(text: str) -> list[Edit]:
    """The sentence with its subject and object in each other's place; nothing for others.

    “The dog bit a man.” gives “A man bit the dog.”: articles go with their nouns.
    """
    words = words_of(text)
    if words and words[-1][1] in _ENDS:
        words = words[:-1]
    verbs = [i for i, (_, word) in enumerate(words) if word in PAST or word in THIRD]
    if len(verbs) != 1:
        return []
    place = verbs[0]
    subject, verb, thing = words[:place], words[place][1], words[place + 1 :]
    if not (_is_noun_phrase(subject) and _is_noun_phrase(thing)):
        return []
    if verb in THIRD and verb not in PAST and _is_plural(thing):
        return []  # “The dogs bites”
    first, second = _whole(subject), _whole(thing)
    was_first, was_second = text[slice(*first)], text[slice(*second)]
    if was_first.casefold() == was_second.casefold():
        return []
    new = was_second[:1].upper() + was_second[1:] if was_first[:1].isupper() else was_second
    end = was_first if _is_name(subject) else was_first[:1].lower() + was_first[1:]
    what = f"“{was_first}” and “{was_second}” changed places"
    return [Edit("order", replaced(text, (first, new), (second, end)), what)]


def _is_noun_phrase(words: list[tuple[Span, str]]) -> bool:
    """A given name alone, or an article and one or two words that can be a noun's."""
    if _is_name(words):
        return True
    plain = [word.casefold() for _, word in words]
    if not 2 <= len(plain) <= _MOST or plain[0] not in DETERMINERS:
        return False
    rest = plain[1:]
    return all(word.isalpha() and word not in FUNCTION_WORDS and word not in BASE for word in rest)


def _is_name(words: list[tuple[Span, str]]) -> bool:
    return len(words) == 1 and words[0][1] in NAMES


def _is_plural(words: list[tuple[Span, str]]) -> bool:
    noun = words[-1][1]
    return not _is_name(words) and (noun.endswith("s") or noun in _PLURALS)


def _whole(words: list[tuple[Span, str]]) -> Span:
    return words[0][0][0], words[-1][0][1]
