"""The component of the Why alike? page: lines between the words of two sentences."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component

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


class _WordData(TypedDict):
    position: int
    text: str
    kind: WordKind
    value: float | None
    joined: bool


class _SentenceData(TypedDict):
    letter: str
    color: str
    words: list[_WordData]


def word_lines(
    first: LinkedSentence,
    second: LinkedSentence,
    *,
    key: str,
    end: float,
    captions: Captions,
    cells: NDArray[np.floating[Any]] | None = None,
    links: Sequence[tuple[int, int]] = (),
    picked: tuple[str, int] | None = None,
    on_pick: Callable[[str, int], None] | None = None,
) -> None:
    """Show both sentences; call `on_pick(side, position)` when a word is picked.

    Args:
        first, second: the sentences, one above the other.
        key: the component's own key.
        end: the absolute value with the strongest colour.
        captions: the texts beside the numbers.
        cells: (n_first, n_second) the value of each line; None for `links` alone.
        links: pairs of words by index, joined whatever their values.
        picked: "first" or "second", and the index of the word that gets a ring.
        on_pick: a Streamlit callback; -1 releases the picked word. Without it, words only light up.
    """
    positions = {
        side: frozenset(word.position for word in sentence.words)
        for side, sentence in (("first", first), ("second", second))
    }
    ringed = None
    if picked is not None:
        sentence = first if picked[0] == "first" else second
        ringed = picked[0], sentence.words[picked[1]].position

    def receive(sent: object) -> None:
        pick = _checked(sent, positions)
        if pick is not None and on_pick is not None:
            on_pick(pick[0], -1 if pick == ringed else pick[1])

    data: Mapping[str, object] = {
        "sides": [_sentence_data(first), _sentence_data(second)],
        "cells": _encoded(cells),
        "links": [list(link) for link in links],
        "end": float(end),
        "picked": None if picked is None else {"side": picked[0], "index": picked[1]},
        "pickable": on_pick is not None,
        "says": asdict(captions),
    }
    component("contextlens.features.why", "words", data, key=key, on_pick=receive)


def _sentence_data(sentence: LinkedSentence) -> _SentenceData:
    return {
        "letter": sentence.letter,
        "color": sentence.color,
        "words": [_word_data(word) for word in sentence.words],
    }


def _word_data(word: LinkedWord) -> _WordData:
    return {
        "position": word.position,
        "text": visible(word.label).strip() or "␣",
        "kind": word.kind,
        "value": None if word.value is None else float(word.value),
        "joined": word.joined,
    }


def _encoded(cells: NDArray[np.floating[Any]] | None) -> str:
    if cells is None:
        return ""
    return base64.b64encode(np.ascontiguousarray(cells, "<f4").tobytes()).decode()


def _checked(pick: object, positions: Mapping[str, frozenset[int]]) -> tuple[str, int] | None:
    """The side and position that the browser reported; None if there is no such word."""
    if not isinstance(pick, Mapping):
        return None
    side, position = pick.get("side"), pick.get("position")
    if not isinstance(side, str) or type(position) is not int:
        return None
    return (side, position) if position in positions.get(side, ()) else None
