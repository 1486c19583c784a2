"""The controls of Corpora, each declared once."""

from __future__ import annotations

from collections.abc import Iterable

from contextlens.ui.state.controls import Choice, choice, text

PAGE = "corpora"

READY = ("ambiguous", "sentiment")
"""Corpora that ship with the app and need no indexing; any other name is that of a stored one."""
CORPUS = choice(PAGE, "corpus", READY)
WORD = text(PAGE, "word")
"""Empty for the most frequent word."""
SEARCH = text(PAGE, "search")
"""A word to look for in all corpora; empty for none."""


def corpus_among(names: Iterable[str]) -> Choice:
    """The ready-made corpora, and the stored ones by name."""
    return CORPUS.among({**CORPUS.options, **{name: name for name in names}})
