"""The component of coloured words, with lines between those of two sentences."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.figures.word_rows import LinkedSentence, LinkedWord, WordRows
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component


def word_lines(
    rows: WordRows, *, key: str, on_pick: Callable[[str, int], None] | None = None
) -> None:
    """Show one sentence, or two; call `on_pick(side, position)` when a word is picked.

    Args:
        rows: the sentences.
        key: the component's own key.
        on_pick: a Streamlit callback; -1 releases the picked word. It is used if `rows` allow it.
    """
    sentences = rows.sentences
    positions = {
        side: frozenset(word.position for word in sentence.words)
        for side, sentence in sentences.items()
    }
    ringed = None
    if rows.picked is not None:
        side, index = rows.picked
        ringed = side, sentences[side].words[index].position

    pickable = rows.is_pickable  # a session keeps `receive`, and so must not keep the rows

    def receive(sent: object) -> None:
        pick = _checked(sent, positions)
        if pick is not None and on_pick is not None and pickable:
            on_pick(pick[0], -1 if pick == ringed else pick[1])

    data: Mapping[str, object] = {
        "sides": [_sentence_data(sentence) for sentence in sentences.values()],
        "cells": _encoded(rows.cells),
        "links": [list(link) for link in rows.links],
        "end": float(rows.end),
        "picked": rows.picked and {"side": rows.picked[0], "index": rows.picked[1]},
        "pickable": pickable,
        "says": asdict(rows.captions),
    }
    component("contextlens.ui.widgets", "words", data, key=key, on_pick=receive)


def _sentence_data(sentence: LinkedSentence) -> dict[str, object]:
    words = [_word_data(word) for word in sentence.words]
    return {"letter": sentence.letter, "color": sentence.color, "words": words}


def _word_data(word: LinkedWord) -> dict[str, object]:
    value = None if word.value is None else float(word.value)
    text = visible(word.label).strip() or "␣"
    return {"position": word.position, "text": text, "kind": word.kind, "value": value,
            "joined": word.joined, "tag": visible(word.tag)}  # fmt: skip


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
