"""The controls of the page Sentence vectors."""

from __future__ import annotations

from components.ui.state.controls import choice

__all__ = ["PAGE", "READY", "SOURCE", "TEST", "TESTS", "YOURS"]

PAGE = "sentences"
READY, YOURS = "ready", "yours"
SOURCE = choice(PAGE, "source", (READY, YOURS))
TESTS = ("sense", "word", "sentiment", "kind")
"""The columns of labels of the corpora that ship with the app."""
TEST = choice(PAGE, "test", TESTS)
