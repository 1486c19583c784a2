"""A sentence of the score as a row of words or tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.shares import Doubles, is_word
from contextlens.features.why.controls import WORDS
from contextlens.features.why.score import Side
from contextlens.figures.theme import color_of
from contextlens.figures.word_rows import LinkedSentence, LinkedWord


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
