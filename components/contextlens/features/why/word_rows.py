"""Two sentences as rows of words or tokens, each with its value: for the page, and as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.shares import Doubles, is_word
from contextlens.features.why.charts import HIGH, LOW, Numbers, signed
from contextlens.features.why.controls import WORDS
from contextlens.features.why.score import Side
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at, text_width
from contextlens.figures.theme import color_of

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
    """

    label: str
    position: int
    kind: WordKind = "word"
    value: float | None = None
    joined: bool = False


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
    """Both sentences, one above the other.

    Attributes:
        first, second: the sentences.
        captions: the texts beside the numbers.
        end: the absolute value with the strongest colour.
        cells: (n_first, n_second) the value of each line; None for `links` alone.
        links: pairs of words by index, joined whatever their values.
        is_pickable: True if a click picks a word; otherwise words only light up.
        picked: "first" or "second", and the index of the word that gets a ring.
    """

    first: LinkedSentence
    second: LinkedSentence
    captions: Captions
    end: float
    cells: Numbers | None = None
    links: Sequence[tuple[int, int]] = ()
    is_pickable: bool = False
    picked: tuple[str, int] | None = None


def word_row(side: Side, unit: str, values: Doubles | None = None) -> LinkedSentence:
    """One sentence, with a value for each of its words (or tokens).

    Args:
        side: the sentence.
        unit: "words" or "tokens".
        values: (n_units,) or (n_tokens,); None for no values, NaN for a word without one.
    """
    words = linked_words(side, unit)
    if values is not None:
        words = [
            word if np.isnan(value) else replace(word, value=value)
            for word, value in zip(words, values.tolist(), strict=True)
        ]
    return LinkedSentence(side.letter, color_of(side.index), words)


def linked_words(side: Side, unit: str) -> list[LinkedWord]:
    """Each word and special token, or each token; a word that the model cannot read is marked."""
    if unit == WORDS:
        return [
            LinkedWord(
                f"{word.label} {side.labels[word.positions[0]]}"
                if side.unknown.issuperset(word.positions)
                else word.label,
                word.positions[0],
                "word" if is_word(word) else "special",
            )
            for word in side.units
        ]
    inner = {i for unit in side.units for i in unit.positions[1:]}
    of_text = {i for unit in side.words for i in unit.positions}
    return [
        LinkedWord(label, i, "word" if i in of_text else "special", joined=i in inner)
        for i, label in enumerate(side.labels)
    ]


def are_compared(side: Side, unit: str) -> NDArray[np.bool_]:
    """(n_units,) or (n_tokens,) bool, True for those that are compared."""
    is_counted: NDArray[np.bool_] = side.weights != 0
    if unit != WORDS:
        return is_counted
    return np.array([is_counted[list(word.positions)].any() for word in side.units], dtype=bool)


# --- Both sentences as coloured words, for a slide

_MAX_WORD_WIDTH = 300  # pixels
_LINE_HEIGHT, _LETTER = 70, 36
_MIDDLE = 'text-anchor="middle"'


def words_svg(rows: WordRows) -> str:
    """Both sentences as an SVG, each word coloured by its value, which stands below it.

    Args:
        rows: the sentences; a word without a value has no colour.
    """
    parts: list[str] = []
    y = 8.0
    for sentence in (rows.first, rows.second):
        if y + _LINE_HEIGHT > HEIGHT:
            break
        x = float(_LETTER)
        parts.append(f'<rect x="0" y="{y - 4:.0f}" width="4" height="40" fill="{sentence.color}"/>')
        parts.append(text_at(12, y + 23, sentence.letter, 20, 1.0, 'font-weight="600"'))
        for word in sentence.words:
            label = fitted(word.label.strip() or "␣", _MAX_WORD_WIDTH, 20)
            width = max(text_width(label, 20) + 16, 52)
            if x + width > WIDTH:
                x, y = float(_LETTER), y + _LINE_HEIGHT
            if y + _LINE_HEIGHT > HEIGHT:
                parts.append(text_at(x, HEIGHT - 8, "…", 20, 0.7))
                break
            parts.append(_word_box(x, y, width, label, word.value, rows.end))
            x += width + 8
        y += _LINE_HEIGHT + 24
    return drawing(parts, min(y, HEIGHT))


def _word_box(x: float, y: float, width: float, label: str, value: float | None, end: float) -> str:
    color, opacity = HIGH if (value or 0) > 0 else LOW, min(1.0, abs(value or 0) / end) * 0.72
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="32" rx="6" '
    box += f'fill="{color}" fill-opacity="{opacity:.2f}" stroke="currentColor" '
    box += 'stroke-opacity="0.25"/>'
    middle = x + width / 2
    below_it = "" if value is None else text_at(middle, y + 49, signed(value), 14, 0.7, _MIDDLE)
    return box + text_at(middle, y + 23, label, 20, 1.0, _MIDDLE) + below_it
