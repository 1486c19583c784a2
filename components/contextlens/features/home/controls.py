"""What Start here allows."""

from __future__ import annotations

MAX_HIDDEN_WORDS = 24
"""Words of a sentence that are hidden in turn: those nearest to the chosen one."""
MIN_HIDDEN_WORDS = 2
"""The same for sentences so long that `MAX_HIDDEN_TOKENS` allows no more."""
MAX_HIDDEN_TOKENS = 6_000
"""Tokens that the model reads with words hidden, over all sentences of a page."""
