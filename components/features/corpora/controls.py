"""What a visitor can choose on Corpora, each choice declared once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from components.ui.state.controls import Choice, choice, text

__all__ = ["CORPUS", "PAGE", "READY", "WORD", "corpus_among"]

PAGE = "corpora"

READY: Mapping[str, str] = MappingProxyType(
    {"ambiguous": "Ambiguous words", "sentiment": "Sentiment"}
)
"""Corpora that ship with the app and need no indexing; any other name is a stored one's."""
CORPUS = choice(PAGE, "corpus", "Corpus", READY)
WORD = text(PAGE, "word", "The word that is looked at")
"""Nothing stands for the most frequent one."""


def corpus_among(names: Iterable[str]) -> Choice:
    """The ready-made corpora, and stored ones by their names."""
    return CORPUS.among({**READY, **{name: name for name in names}})
