"""The controls of the page Texts, each declared once."""

from __future__ import annotations

from contextlens.ui.state.controls import text

PAGE = "corpora"

SEARCH = text(PAGE, "search")
"""A word to look for in all corpora; empty for none."""

MAX_STORED_TEXTS = 1_000_000  # of one corpus; their size on disk has its own limit
MAX_SENSES = 5_000  # different labels in a column of senses
MAX_DRAWN_WORDS = 15
MAX_SAVED_WORDS = 100_000  # in a download
MAX_SEARCH_CHARACTERS = 64
MAX_DRAWN_CORPORA = 12  # in the picture of a search
MAX_LISTED_SENTENCES = 5  # of one corpus with the word that is looked for
