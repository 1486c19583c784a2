"""Ready edits of a sentence from small tables: negation, order, names, numbers, case, spelling.

The tables know words, not grammar. A sentence for which they offer nothing goes without that edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from contextlens.core.words import Span, split_words
from contextlens.features.why.english import AUXILIARIES, DETERMINERS, word_set
from contextlens.features.why.measures import cut

# --- Edits, and the words of a text as all edits see them

EditKind = Literal["negation", "order", "neighbour", "name", "number", "case", "typo"]


@dataclass(frozen=True)
class Edit:
    """A sentence changed in one way, with or without an effect on its meaning.

    Attributes:
        kind: the kind of change.
        text: the whole edited sentence.
        description: in plain text: 'put “not” behind “is”'.
    """

    kind: EditKind
    text: str
    description: str


def words_of(text: str) -> list[tuple[Span, str]]:
    """Each word with its span, as written; punctuation marks count as words."""
    return [(span, text[slice(*span)]) for span in split_words(text)]


def replaced(text: str, *changes: tuple[Span, str]) -> str:
    """The text with other words at some spans, which must not overlap."""
    for (start, end), new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _plain(word: str) -> str:
    return word.casefold().replace("’", "'")


# --- Negation inserted or removed

_HAVE_NT = word_set("is are was were do does did has have had could would should must need")
_POSITIVE = {"can't": "can", "cannot": "can", "won't": "will"} | {f"{w}n't": w for w in _HAVE_NT}
_NEGATIVE = word_set("not never nor neither nobody nothing none no without")
_DO, _DOES = word_set("i you we they"), word_set("he she it")
_VERBS = word_set(
    "believe drink eat enjoy feel get give hate hear keep know like live love make need play "
    "prefer read remember run see sleep speak take think understand use walk want work write"
)


def negations(text: str) -> list[Edit]:
    """The sentence without its first “not”, “never” or “n't”; without a negation, with a “not”."""
    words = words_of(text)
    plain = [_plain(word) for _, word in words]
    for i, (span, word) in enumerate(words):
        if i and plain[i] in {"not", "never"}:
            return [Edit("negation", cut(text, [span]).text, f"took away “{word}”")]
        if plain[i] in _POSITIVE:
            new = _POSITIVE[plain[i]]
            return [_became(text, span, new.capitalize() if word[0].isupper() else new)]
    if any(word in _NEGATIVE or word.endswith("n't") for word in plain):
        return []
    for i, (span, word) in enumerate(words[1:-1], start=1):
        is_noun = plain[i - 1] in DETERMINERS  # “the can”
        is_question = plain[i + 1] in _DO | _DOES
        if word in AUXILIARIES and plain[i - 1].isalpha() and not (is_noun or is_question):
            new = replaced(text, (span, f"{word} not"))
            return [Edit("negation", new, f"put “not” behind “{word}”")]
    return _with_do(text, words)


def _with_do(text: str, words: list[tuple[Span, str]]) -> list[Edit]:
    """The sentence with “do not” or “does not”, if it begins with a pronoun and a known verb."""
    if len(words) < 2:
        return []
    subject, (span, verb) = _plain(words[0][1]), words[1]
    if subject in _DO and verb in _VERBS:
        return [_became(text, span, f"do not {verb}")]
    if subject in _DOES and verb.endswith("s") and verb[:-1] in _VERBS:
        return [_became(text, span, f"does not {verb[:-1]}")]
    return []


def _became(text: str, span: Span, new: str) -> Edit:
    old = text[slice(*span)]
    return Edit("negation", replaced(text, (span, new)), f"“{old}” became “{new}”")


# --- Other words, or another order


def _next_of(words: str) -> dict[str, str]:
    """Each word of a list with the one after it; the last with the first."""
    listed = words.split()
    return dict(zip(listed, [*listed[1:], listed[0]], strict=True))


_NEXT_NAME = {
    **_next_of("Mary Fatima Olga Mei Aisha Anna Priya Sofia Emma Adaeze Maria"),
    **_next_of("John Ahmed Ivan Wei Kwame Peter Tomasz Carlos James David Omar"),
}
_NEXT_NUMBER = _next_of("two three four five six seven eight nine ten")
_MOST_DIGITS = 9


def other_names(text: str) -> list[Edit]:
    """The text with its first known given name replaced everywhere by the next in its list."""
    name = next((word for _, word in words_of(text) if word in _NEXT_NAME), "")
    return [_everywhere("name", text, name, _NEXT_NAME[name])] if name else []


def other_numbers(text: str) -> list[Edit]:
    """The text with its first number (digits, or "two" to "ten") replaced by the next one."""
    for _, word in words_of(text):
        if word in _NEXT_NUMBER:
            return [_everywhere("number", text, word, _NEXT_NUMBER[word])]
        if word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS:
            return [_everywhere("number", text, word, str(int(word) + 1).zfill(len(word)))]
    return []


def _everywhere(kind: EditKind, text: str, old: str, new: str) -> Edit:
    changes = [(span, new) for span, word in words_of(text) if word == old]
    return Edit(kind, replaced(text, *changes), _in_place(old, new))


def exchanged_words(text: str) -> list[Edit]:
    """The text with the last two neighbouring words that differ exchanged."""
    for (first, one), (second, other) in reversed(list(pairwise(words_of(text)))):
        is_pair = one.isalpha() and other.isalpha() and text[first[1] : second[0]].isspace()
        if is_pair and one.casefold() != other.casefold():
            new = replaced(text, (first, other), (second, one))
            return [Edit("order", new, f"“{one}” and “{other}” changed places")]
    return []


def with_neighbour(text: str, span: Span, neighbour: str) -> Edit:
    """The sentence with the word of a span replaced by its neighbour in a model's word table."""
    return Edit(
        "neighbour", replaced(text, (span, neighbour)), _in_place(text[slice(*span)], neighbour)
    )


def _in_place(old: str, new: str) -> str:
    return f"“{new}” in place of “{old}”"


# --- The same words with another spelling

_FEWEST_LETTERS = 4  # in the shortest word with two inner letters


def case_shape(word: str) -> str:
    """The case of a word: "small", "Title", "CAPITALS", or "mixed"; "none" without case."""
    if word.casefold() == word.upper():
        return "none"
    if word == word.lower():
        return "small"
    if word == word.upper() and len(word) > 1:
        return "CAPITALS"
    return "Title" if word == word[:1].upper() + word[1:].lower() else "mixed"


def other_cases(text: str) -> list[Edit]:
    """The text in lower case and in capitals, as far as that changes it."""
    both = (text.lower(), "all in small letters"), (text.upper(), "all in capitals")
    return [Edit("case", new, description) for new, description in both if new != text]


def typo(text: str) -> list[Edit]:
    """The text with two inner letters of its longest word exchanged; empty if no word allows it."""
    words = [(span, word) for span, word in words_of(text) if _has_two_inner_letters(word)]
    if not words:
        return []
    span, word = max(words, key=lambda item: len(item[1]))
    places = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    i = min(places, key=lambda place: abs(2 * place + 1 - (len(word) - 1)))
    new = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return [Edit("typo", replaced(text, (span, new)), f"“{word}” mistyped as “{new}”")]


def _has_two_inner_letters(word: str) -> bool:
    return word.isalpha() and len(word) >= _FEWEST_LETTERS and len(set(word[1:-1])) > 1
