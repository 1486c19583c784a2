"""A text without some of its words, to read it anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlens.core.words import Span

__all__ = ["MAX_LEFT_OUT_WORDS", "RemainingText", "cut_out"]

MAX_LEFT_OUT_WORDS = 100
"""Words of a sentence that are left out in turn."""


@dataclass(frozen=True)
class RemainingText:
    """The rest of a text after words were taken out.

    Attributes:
        text: the text without the words.
        positions: for each code point of the old text, its new index; -1 if it is gone.
    """

    text: str
    positions: tuple[int, ...]

    def moved(self, span: Span) -> Span | None:
        """The new position of a span of the old text; None if some of it is gone."""
        now = self.positions[slice(*span)]
        return None if not now or -1 in now else (now[0], now[-1] + 1)


def cut_out(text: str, spans: Sequence[Span]) -> RemainingText:
    """Take words out of a text, with the white space that would be doubled.

    One space repositions them if letters or digits would otherwise run together.
    """
    is_gone = [False] * len(text)
    for start, end in spans:
        is_gone[start:end] = [True] * (end - start)
    for start, end in spans:
        for i in _left_over(text, is_gone, start, end):
            is_gone[i] = True
    remaining: list[str] = []
    positions = []
    for i, character in enumerate(text):
        if is_gone[i]:
            positions.append(-1)
            continue
        if i and is_gone[i - 1] and remaining and remaining[-1].isalnum() and character.isalnum():
            remaining.append(" ")
        positions.append(len(remaining))
        remaining.append(character)
    return RemainingText("".join(remaining), tuple(positions))


def _left_over(text: str, is_gone: Sequence[bool], start: int, end: int) -> range:
    """The positions of the white space beside a word that is removed with the word."""
    first, last = start, end
    while first > 0 and text[first - 1].isspace() and not is_gone[first - 1]:
        first -= 1
    while last < len(text) and text[last].isspace() and not is_gone[last]:
        last += 1
    if all(is_gone[:first]):  # nothing precedes it
        return range(end, last)
    is_last = all(is_gone[last:])
    return range(first, start) if last > end or is_last else range(0)
