"""What an edit is, and the words of a text as all edits see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from components.core.words import Span, split_words

__all__ = [
    "AUXILIARIES",
    "DETERMINERS",
    "FUNCTION_WORDS",
    "Edit",
    "EditKind",
    "capitalised_like",
    "replaced",
    "words_of",
]

EditKind = Literal["negation", "order", "neighbour", "case", "typo", "name"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _set(
    "a an the my your his her its our their this that these those every each one no some"
)
AUXILIARIES = _set(
    "am is are was were can could will would should must may might shall do does did"
)
FUNCTION_WORDS = (
    DETERMINERS
    | AUXILIARIES
    | _set(
        "i you he she it we they me him us them be been have has had and or but not never nor also "
        "just only of in on at by for to with from as if so than then too very there here who "
        "which whom when while"
    )
)
"""English words that are no noun, verb or adjective of their own."""


@dataclass(frozen=True)
class Edit:
    """A sentence changed in one way.

    Attributes:
        kind: of the change.
        text: the whole sentence, changed.
        what: the change in words, plain text: 'put “not” behind “is”'.
    """

    kind: EditKind
    text: str
    what: str


def words_of(text: str) -> list[tuple[Span, str]]:
    """Each word with its span, and as it is written; punctuation counts."""
    return [(span, text[slice(*span)]) for span in split_words(text)]


def replaced(text: str, *changes: tuple[Span, str]) -> str:
    """The text with other words at some spans, which do not overlap."""
    for (start, end), new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def capitalised_like(word: str, model: str) -> str:
    """A word with a first letter as large as the first of another."""
    first = model[:1]
    if first.isupper():
        return word[:1].upper() + word[1:]
    return word[:1].lower() + word[1:] if first.islower() else word
