"""Sentences as rows of words or tokens, each with its value: for the page, and as a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.content.wording import signed
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at, text_width
from contextlens.figures.theme import HIGH, LOW

# --- The rows

WordKind = Literal["word", "special", "alone"]


@dataclass(frozen=True)
class LinkedWord:
    """One word or token.

    Attributes:
        label: the word, as written in the text.
        position: the position of its first token, by which it is picked.
        kind: a word, a special token, or a token that has no partner in the other sentence.
        value: the number behind its colour, written under it; None for neither.
        joined: True if it continues the word before it.
        tag: a label, written under it in place of the number; "" for none.
    """

    label: str
    position: int
    kind: WordKind = "word"
    value: float | None = None
    joined: bool = False
    tag: str = ""


@dataclass(frozen=True)
class LinkedSentence:
    """One sentence.

    Attributes:
        letter: the sentence's letter.
        color: the sentence's colour, "#0072B2".
        words: its words or tokens, in order.
    """

    letter: str
    color: str
    words: Sequence[LinkedWord]


@dataclass(frozen=True)
class Captions:
    """The texts beside the numbers.

    Attributes:
        quantity: the name of one word's number: "share".
        between: the name of two words' number; "" if there is none.
        low, high: the verbs for values below and above zero: "takes away", "adds"; "" if words
            have no values.
        hint: the text shown until the pointer is on a word.
    """

    quantity: str
    between: str
    low: str
    high: str
    hint: str


@dataclass(frozen=True, eq=False)
class WordRows:
    """One sentence, or two, one above the other.

    Attributes:
        first, second: the sentences; no second for one alone.
        captions: the texts beside the numbers.
        end: the absolute value with the strongest colour.
        cells: (n_first, n_second) the value of each line; None for `links` alone.
        links: pairs of words by index, joined whatever their values.
        is_pickable: True if a click picks a word; otherwise words only light up.
        picked: "first" or "second", and the index of the word that gets a ring.
    """

    first: LinkedSentence
    second: LinkedSentence | None
    captions: Captions
    end: float
    cells: NDArray[np.floating[Any]] | None = None
    links: Sequence[tuple[int, int]] = ()
    is_pickable: bool = False
    picked: tuple[str, int] | None = None

    @property
    def sentences(self) -> Mapping[str, LinkedSentence]:
        """The sentences by side, "first" and "second"."""
        second = {} if self.second is None else {"second": self.second}
        return {"first": self.first, **second}


# --- The sentences as coloured words, for a slide

_MAX_WORD_WIDTH = 300  # pixels
_LINE_HEIGHT, _LETTER = 70, 36
_MIDDLE = 'text-anchor="middle"'


def words_svg(rows: WordRows) -> str:
    """The sentences as an SVG, each word coloured by its value, which stands below it.

    Args:
        rows: the sentences; a word without a value has no colour.
    """
    parts: list[str] = []
    y = 8.0
    for sentence in rows.sentences.values():
        if y + _LINE_HEIGHT > HEIGHT:
            break
        x = float(_LETTER)
        parts.append(f'<rect x="0" y="{y - 4:.0f}" width="4" height="40" fill="{sentence.color}"/>')
        parts.append(text_at(12, y + 23, sentence.letter, 20, 1.0, 'font-weight="600"'))
        for word in sentence.words:
            label = fitted(word.label.strip() or "␣", _MAX_WORD_WIDTH, 20)
            width = max(text_width(label, 20) + 16, text_width(word.tag, 14), 52)
            if x + width > WIDTH:
                x, y = float(_LETTER), y + _LINE_HEIGHT
            if y + _LINE_HEIGHT > HEIGHT:
                parts.append(text_at(x, HEIGHT - 8, "…", 20, 0.7))
                break
            parts.append(_word_box(x, y, width, label, word, rows.end))
            x += width + 8
        y += _LINE_HEIGHT + 24
    return drawing(parts, min(y, HEIGHT))


def _word_box(x: float, y: float, width: float, label: str, word: LinkedWord, end: float) -> str:
    value = word.value
    color, opacity = HIGH if (value or 0) > 0 else LOW, min(1.0, abs(value or 0) / end) * 0.72
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="32" rx="6" '
    box += f'fill="{color}" fill-opacity="{opacity:.2f}" stroke="currentColor" '
    box += 'stroke-opacity="0.25"/>'
    middle = x + width / 2
    told = word.tag or ("" if value is None else signed(value))
    below_it = text_at(middle, y + 49, told, 14, 0.7, _MIDDLE) if told else ""
    return box + text_at(middle, y + 23, label, 20, 1.0, _MIDDLE) + below_it
