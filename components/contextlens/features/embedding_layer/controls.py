"""The controls of the Embedding layer page."""

from __future__ import annotations

from collections.abc import Sequence

from contextlens.ui.state.controls import Choice, choice, sentence_choice

PAGE = "embedding_layer"
N_NEAREST_ROWS = 10
"""Neighbours of a token in the word table."""
MAX_MATRIX_TOKENS = 24
"""The maximum number of tokens of each text in the matrix of word rows."""
MAX_MOVED_TOKENS = 20
"""The maximum number of bars of each text in the picture of a second text."""
MAX_DRAWN_TOKENS = 14
"""More would leave no room for their names."""
N_FIRST_POSITIONS = 64
"""Up to this many rows of a table can be told apart."""

SENTENCE = sentence_choice(PAGE)
WORD, ALL = "word", "all"
SHOW = choice(PAGE, "show", (WORD, ALL))
"""One word in several sentences, or every token of one."""
TOKEN = choice(PAGE, "token", ())  # `token_in` adds the tokens
SECTION = choice(
    PAGE, "section", ("Same word", "Neighbours", "Positions", "Segments", "What is learned")
)
OTHER = choice(PAGE, "other", ())  # the page adds the texts to compare with
NEAR = choice(PAGE, "near", ())  # `near_in` adds the tokens
POSITIONS = choice(PAGE, "positions", ("All", f"First {N_FIRST_POSITIONS}"))
PAIR, SEGMENT_ONLY, ALONE = "Pair", "Segment only", "Alone"
CHANGE = choice(PAGE, "change", (PAIR, SEGMENT_ONLY, ALONE))


def token_in(labels: Sequence[str], default: int) -> Choice:
    """The token to follow, by its position in a text."""
    return TOKEN.among(_numbered(labels), default=str(default))


def near_in(labels: Sequence[str], focus: int) -> Choice:
    """A token of a text by its position; by default the token in focus."""
    return NEAR.among({"": f"{labels[focus]} (chosen)", **_numbered(labels)})


def change_in(n_segments: int) -> Choice:
    """The possible changes in a model: segment rows can be exchanged only if there are two."""
    return CHANGE if n_segments > 1 else CHANGE.among((PAIR, ALONE))


def _numbered(labels: Sequence[str]) -> dict[str, str]:
    return {str(i): f"{i}  {label}" for i, label in enumerate(labels)}
