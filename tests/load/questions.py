"""Visitors' questions: always new pairs of sentences about one word, so that no cache helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, cycle
from urllib.parse import urlencode

from contextlens.core.registry import BUNDLED_ID
from contextlens.core.words import find_word
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import Sentence, ViewState

__all__ = ["Question", "questions"]

_RIVERS = ("Danube", "Rhine", "Thames", "Seine", "Volga", "Ebro", "Po")
_SUMS = ("small sum", "fortune", "few coins", "large loan", "whole house")


@dataclass(frozen=True)
class Question:
    """Two sentences, and the address parameters that ask for them."""

    texts: tuple[str, str]
    query: str


def questions() -> Iterator[Question]:
    """No two alike."""
    for number, river, amount in zip(count(1), cycle(_RIVERS), cycle(_SUMS), strict=False):
        yield _question(
            f"On day {number} of her journey she sat on the bank of the {river}.",
            f"Letter {number} says that they owe the bank a {amount}.",
        )


def _question(*texts: str) -> Question:
    sentences = tuple(Sentence(text, word=find_word(text, "bank")) for text in texts)
    view = ViewState(BUNDLED_ID, sentences)
    return Question((texts[0], texts[1]), urlencode({"s": encode(view)}))
