"""A text without some of its words, and where everything else in it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.core.words import Span

__all__ = ["Cut", "cut"]


@dataclass(frozen=True)
class Cut:
    """What is left of a text.

    Attributes:
        text: without the words.
        places: for each code point of the old text, where it stands now; -1 where it is gone.
    """

    text: str
    places: tuple[int, ...]

    def moved(self, span: Span) -> Span | None:
        """Where a span of the old text lies now; None where some of it is gone."""
        now = self.places[slice(*span)]
        return None if not now or -1 in now else (now[0], now[-1] + 1)


def cut(text: str, spans: Sequence[Span]) -> Cut:
    """Take words out of a text, and the white space that they would leave twice.

    One space takes their place where letters or digits would run together without it.
    """
    gone = [False] * len(text)
    for start, end in spans:
        gone[start:end] = [True] * (end - start)
    for start, end in spans:
        for i in _left_over(text, gone, start, end):
            gone[i] = True
    left: list[str] = []
    places = []
    for i, character in enumerate(text):
        if gone[i]:
            places.append(-1)
            continue
        if i and gone[i - 1] and left and left[-1].isalnum() and character.isalnum():
            left.append(" ")
        places.append(len(left))
        left.append(character)
    return Cut("".join(left), tuple(places))


def _left_over(text: str, gone: Sequence[bool], start: int, end: int) -> range:
    """The white space beside a word that goes with it."""
    before, behind = start, end
    while before > 0 and text[before - 1].isspace() and not gone[before - 1]:
        before -= 1
    while behind < len(text) and text[behind].isspace() and not gone[behind]:
        behind += 1
    if not any(not each for each in gone[:before]):  # nothing stands before it
        return range(end, behind)
    is_last = all(gone[behind:])
    return range(before, start) if behind > end or is_last else range(0)
