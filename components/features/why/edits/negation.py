"""A negation put in or taken away, by rules of English; nothing where none of them fits."""

from __future__ import annotations

from components.core.words import Span
from components.features.why.edits.edit import (
    AUXILIARIES,
    DETERMINERS,
    FUNCTION_WORDS,
    Edit,
    capitalised_like,
    replaced,
    words_of,
)
from components.features.why.edits.names import NAMES
from components.features.why.edits.verbs import BASE, PAST, THIRD
from components.features.why.measures.cutting import cut

__all__ = ["negations"]

_PLURAL = frozenset(("i", "you", "we", "they"))
_SINGULAR = frozenset(("he", "she", "it"))
_PRONOUNS = _PLURAL | _SINGULAR
_OBJECTS = frozenset(("me", "you", "him", "her", "it", "us", "them"))
_BEFORE_CLAUSE = frozenset((",", ";", ".", "!", "?", "and", "but", "that", "because", "if", "so"))
_ODD = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}
_STEMS = AUXILIARIES | {"has", "have", "had", "need", "ought"}
_OTHER = frozenset(("not", "never", "nor", "neither", "nobody", "nothing", "none", "no", "without"))
_MOST = 3  # words of a subject, its article included

_Words = list[tuple[Span, str]]


def negations(text: str) -> list[Edit]:
    """The sentence with its first negation taken away; without any, with one put in."""
    words = words_of(text)
    plain = [word.casefold().replace("’", "'") for _, word in words]
    away = _away(text, words, plain)
    if away is not None:
        return [away]
    if any(word in _OTHER or word.endswith("n't") for word in plain):
        return []  # negated in a way that no rule undoes
    put = _behind_auxiliary(text, words, plain) or _before_verb(text, words, plain)
    return [] if put is None else [put]


def _away(text: str, words: _Words, plain: list[str]) -> Edit | None:
    for i, ((span, word), own) in enumerate(zip(words, plain, strict=True)):
        if own in {"not", "never"} and i:
            return Edit("negation", cut(text, [span]).text, f"took away “{word}”")
        stem = _ODD.get(own) or (own[:-3] if own.endswith("n't") else "")
        if stem in _STEMS:
            new = capitalised_like(stem, word)
            return Edit("negation", replaced(text, (span, new)), f"“{word}” became “{new}”")
    return None


def _behind_auxiliary(text: str, words: _Words, plain: list[str]) -> Edit | None:
    """The first “is”, “can”, ... of a statement gets a “not”."""
    for i in range(1, len(words) - 1):
        span, word = words[i]
        before, behind = plain[i - 1], plain[i + 1]
        is_auxiliary = plain[i] in AUXILIARIES
        is_written = word == plain[i]  # “May” may be a month, “US” a country
        is_noun = before in DETERMINERS  # “the can”
        if not (is_auxiliary and is_written) or is_noun or behind in _PRONOUNS:
            continue
        if not before.isalpha() or not behind.isalpha():
            continue
        return Edit("negation", replaced(text, (span, f"{word} not")), f"put “not” behind “{word}”")
    return None


def _before_verb(text: str, words: _Words, plain: list[str]) -> Edit | None:
    """The verb behind a subject gets a “do not”, “does not” or “did not”."""
    for i in range(1, len(words)):
        span, word = words[i]
        verb, helper = _verb(plain[:i], plain[i], plain[i + 1 :])
        if helper and word == plain[i]:
            new = f"{helper} not {verb}"
            return Edit("negation", replaced(text, (span, new)), f"“{word}” became “{new}”")
    return None


def _verb(before: list[str], word: str, behind: list[str]) -> tuple[str, str]:
    """The plain form of a verb and what helps it be negated; "" where it is none, or not surely."""
    subject = before[-1]
    is_pronoun = subject in _PRONOUNS and (len(before) == 1 or before[-2] in _BEFORE_CLAUSE)
    is_named = _is_noun_phrase(before) and _takes_object(behind)
    if is_pronoun and subject in _PLURAL and word in BASE:
        return word, "do"
    if ((is_pronoun and subject in _SINGULAR) or is_named) and word in THIRD:
        return THIRD[word], "does"
    if word in PAST and (is_named or (is_pronoun and word not in BASE)):
        return PAST[word], "did"
    return "", ""


def _is_noun_phrase(words: list[str]) -> bool:
    """A given name, or an article and one or two words that can be a noun's."""
    if len(words) == 1:
        return words[0].capitalize() in NAMES
    rest = words[1:]
    return (
        len(words) <= _MOST
        and words[0] in DETERMINERS
        and all(word.isalpha() and word not in FUNCTION_WORDS for word in rest)
    )


def _takes_object(behind: list[str]) -> bool:
    """Whether what follows shows that a word is a verb: “a bit of” is none, “bit the man” is."""
    is_end = not behind or not behind[0].isalpha()
    return is_end or behind[0] in DETERMINERS | _OBJECTS or behind[0].capitalize() in NAMES
