"""The two sentences as rows of words or tokens, and the word of them that is picked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from components.features.why.compute.score import Score, Side
from components.features.why.controls import PICKED, SIDE, WORDS
from components.features.why.measures.target import Doubles
from components.features.why.measures.units import is_word
from components.features.why.widgets.lines import Row, Word
from components.figures.theme import color_of
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["are_of_text", "compared", "names", "pick", "picked", "row"]


def row(side: Side, unit: str, values: Doubles | None = None) -> Row:
    """One sentence, each of its words (or tokens) with a value.

    Args:
        side: the sentence.
        unit: "words" or "tokens".
        values: (n_units,) or (n_tokens,); None for none, NaN for a word without one.
    """
    items = _words(side) if unit == WORDS else _tokens(side)
    numbers = [None] * len(items) if values is None else values.tolist()
    return Row(
        side.letter,
        color_of(side.index),
        [
            Word(label, position, "word" if own else "special", _number(value), joined)
            for (label, position, own, joined), value in zip(items, numbers, strict=True)
        ],
    )


def names(side: Side, unit: str) -> list[str]:
    """What is written on each word or token."""
    return [label for label, *_ in (_words(side) if unit == WORDS else _tokens(side))]


def compared(side: Side, unit: str) -> NDArray[np.bool_]:
    """(n_units,) or (n_tokens,) bool, which of them count in what is compared."""
    counts: NDArray[np.bool_] = side.weights != 0
    if unit != WORDS:
        return counts
    return np.array([counts[list(own.positions)].any() for own in side.units], dtype=bool)


def are_of_text(side: Side, unit: str) -> NDArray[np.bool_]:
    """(n_units,) or (n_tokens,) bool, which of them are of the text, and no special tokens."""
    items = _words(side) if unit == WORDS else _tokens(side)
    return np.array([own for _, _, own, _ in items], dtype=bool)


def picked(view: ViewState, score: Score, unit: str) -> tuple[str, int] | None:
    """The side of the picked word and its place among the side's words or tokens; None for none."""
    name, position = SIDE.of(view), PICKED.of(view)
    side = score.first if name == SIDE.default else score.second
    if not 0 <= position < side.encoding.n_tokens:
        return None
    if unit != WORDS:
        return name, position
    places = [i for i, own in enumerate(side.units) if position in own.positions]
    return (name, places[0]) if places else None


def pick(side: str, position: int) -> None:
    """Write a picked word into the view; -1 for none."""
    view = session.current()
    view = SIDE.put(view, side if position >= 0 else SIDE.default)
    session.write(PICKED.put(view, position))


def _words(side: Side) -> list[tuple[str, int, bool, bool]]:
    return [(unit.label, unit.positions[0], is_word(unit), False) for unit in side.units]


def _tokens(side: Side) -> list[tuple[str, int, bool, bool]]:
    """Each token: label, position, whether it is of the text, whether it goes on with a word."""
    inner = {i for unit in side.units for i in unit.positions[1:]}
    own = {i for unit in side.words for i in unit.positions}
    return [(label, i, i in own, i in inner) for i, label in enumerate(side.labels)]


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else value
