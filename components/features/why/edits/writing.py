"""The same words written otherwise: in other cases, or with a typing error. For any script."""

from __future__ import annotations

from components.features.why.edits.edit import Edit, replaced, words_of

__all__ = ["other_cases", "typo"]

_FEWEST = 4  # letters of a word with two inner ones


def other_cases(text: str) -> list[Edit]:
    """All in small letters and all in capitals, where that changes anything."""
    both = (text.lower(), "all in small letters"), (text.upper(), "all in capitals")
    return [Edit("case", new, what) for new, what in both if new != text]


def typo(text: str) -> list[Edit]:
    """Two inner letters of the longest word in each other's place; nothing where none differ."""
    words = [(span, word) for span, word in words_of(text) if _can_be_mistyped(word)]
    if not words:
        return []
    span, word = max(words, key=lambda each: len(each[1]))
    places = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    i = min(places, key=lambda place: abs(2 * place + 1 - (len(word) - 1)))
    new = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return [Edit("typo", replaced(text, (span, new)), f"“{word}” mistyped as “{new}”")]


def _can_be_mistyped(word: str) -> bool:
    inner = word[1:-1]
    return word.isalpha() and len(word) >= _FEWEST and len(set(inner)) > 1
