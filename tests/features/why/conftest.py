"""Scores of odd texts, for results with made-up numbers."""

from __future__ import annotations

import pytest

from contextlens.core import EncoderService
from contextlens.features.why.score import Score
from contextlens.ui.state.view import Sentence
from tests.features.why.scores import score_on, sentence

TEXTS = (
    "the bank the bank",
    "A python slept.",
    "I",
    "…",
    "我喜欢 python",
    "*a_ `b` <i>",
    "a b",
    "\u200b",
    "she is an engineer and works by the sea with seventeen cats",
    "his teacher walked along a river in the rain before every evening",
)
PAIRS = ((0, 1), (1, 0), (2, 4), (3, 2), (4, 5), (0, 0), (5, 6), (6, 0), (7, 1), (7, 7), (8, 9))


@pytest.fixture(scope="session")
def scores(tiny_service: EncoderService) -> list[Score]:
    """Scores of odd texts in a tiny model; their numbers are replaced by made-up ones."""
    words = sentence("A python slept", "python"), sentence("the bank", "bank")
    return [
        *(
            score_on(tiny_service, Sentence(TEXTS[i]), Sentence(TEXTS[j]), model="folder:bert")
            for i, j in PAIRS
        ),
        *(
            score_on(tiny_service, *words, model="folder:bert", what=kind)
            for kind in ("word", "cls")
        ),
    ]
