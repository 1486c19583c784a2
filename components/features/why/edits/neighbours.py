"""A word replaced by one that the model's word table has nearby. For any script."""

from __future__ import annotations

from collections.abc import Mapping

from components.core.words import Span
from components.features.why.edits.edit import Edit, replaced

__all__ = ["case_shape", "with_neighbours"]


def with_neighbours(text: str, neighbours: Mapping[Span, str]) -> list[Edit]:
    """The sentence with each of some words replaced by its neighbour.

    Args:
        text: the sentence.
        neighbours: for the span of a word, the other word.
    """
    return [
        Edit(
            "neighbour",
            replaced(text, (span, new)),
            f"“{new}” in place of “{text[slice(*span)]}”",
        )
        for span, new in neighbours.items()
    ]


def case_shape(word: str) -> str:
    """How a word is written: "small", "Title", "CAPITALS", or "mixed"; "none" without case."""
    if word.casefold() == word.upper():
        return "none"
    if word == word.lower():
        return "small"
    if word == word.upper() and len(word) > 1:
        return "CAPITALS"
    return "Title" if word == word[:1].upper() + word[1:].lower() else "mixed"
