"""The controls of the page Search, and its limits."""

from __future__ import annotations

from contextlens.ui.state.controls import choice, number, text

MAX_SEARCHED_TEXTS = 200_000
"""300 MB of vectors with 384 dimensions."""
MAX_QUERY_CHARACTERS = 200
MAX_HITS = 5
"""Texts that each way to search shows."""
MAX_WORD_MATCHES = 3
"""Pairs of words beside a text that a search finds."""
MAX_CARD_CHARACTERS = 600
"""Characters of a text that a search finds."""

PAGE = "search"
QUERY = text(PAGE, "query", default="a nocturnal animal that flies")
ASK = choice(PAGE, "ask", ("row", "numbers", "text"))
"""What is searched for among texts with vectors of a file."""
ROW = number(PAGE, "row", between=(0, 1_000_000), default=0)
"""A row of the file, from 1; the page puts the first row with a vector in place of 0."""
NUMBERS = text(PAGE, "numbers")
"""The digest of pasted numbers."""
BY = choice(PAGE, "by", ("recipe", "mean"))
"""How texts that are searched become vectors; `search.pooling_of` a model has the options."""
