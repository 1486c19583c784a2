"""What a visitor can choose on Corpora, each choice declared once."""

from __future__ import annotations

from collections.abc import Iterable

from components.ui.state.controls import Choice, choice, text

__all__ = ["CORPUS", "PAGE", "READY", "WORD", "corpus_among"]

PAGE = "corpora"

READY = ("ambiguous", "sentiment")
"""Corpora that ship with the app and need no indexing; any other name is a stored one's."""
CORPUS = choice(PAGE, "corpus", READY)
WORD = text(PAGE, "word")
"""Nothing stands for the most frequent one."""


def corpus_among(names: Iterable[str]) -> Choice:
    """The ready-made corpora, and stored ones by their names."""
    return CORPUS.among({**CORPUS.options, **{name: name for name in names}})
