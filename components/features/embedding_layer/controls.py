"""The controls of the Embedding layer page."""

from __future__ import annotations

from collections.abc import Sequence

from components.ui.state.controls import Choice, Number, choice, number, sentence_choice

__all__ = [
    "ALONE",
    "CHANGE",
    "FEW",
    "FIRST_DIM",
    "FIRST_TOKEN",
    "MAX_ROWS",
    "NEAR",
    "OTHER",
    "PAGE",
    "PAIR",
    "POSITIONS",
    "SECTION",
    "SEGMENT_ONLY",
    "SENTENCE",
    "TOKEN",
    "WIDTH",
    "change_in",
    "first_dim_in",
    "first_token_in",
    "near_in",
    "token_in",
]

PAGE = "embedding_layer"
MAX_ROWS = 24
"""Maximum tokens to draw: more would leave no room for names and take megabytes of values."""
FEW = 64
"""Up to this many rows or dimensions of a table can be told apart."""

SENTENCE = sentence_choice(PAGE)
TOKEN = choice(PAGE, "token", ("",))
WIDTH = choice(PAGE, "width", ("All", "64", "16", "8"))
FIRST_DIM = number(PAGE, "first_dim", between=(0, 0), default=0)
FIRST_TOKEN = number(PAGE, "first_token", between=(0, 0), default=0)
SECTION = choice(
    PAGE, "section", ("Same word", "Neighbours", "Positions", "Segments", "What is learned")
)
OTHER = choice(PAGE, "other", ())  # the page adds the texts to compare with
NEAR = choice(PAGE, "near", ())  # `near_in` adds the tokens
POSITIONS = choice(PAGE, "positions", ("All", f"First {FEW}"))
PAIR, SEGMENT_ONLY, ALONE = "Pair", "Segment only", "Alone"
CHANGE = choice(PAGE, "change", (PAIR, SEGMENT_ONLY, ALONE))


def token_in(labels: Sequence[str]) -> Choice:
    """All tokens of a text, or one of them by its position."""
    return TOKEN.among({**TOKEN.options, **_numbered(labels)})


def near_in(labels: Sequence[str], focus: int) -> Choice:
    """A token of a text by its position; by default the token in focus."""
    return NEAR.among({"": f"{labels[focus]} (chosen)", **_numbered(labels)})


def first_dim_in(n_dims: int, n_shown: int) -> Number:
    """The first dimension to draw, limited so that `n_shown` dimensions follow."""
    return FIRST_DIM.between(0, n_dims - n_shown)


def first_token_in(n_tokens: int) -> Number:
    """The first token to draw, limited so that `MAX_ROWS` tokens follow if possible."""
    return FIRST_TOKEN.between(0, max(0, n_tokens - MAX_ROWS))


def change_in(n_segments: int) -> Choice:
    """The possible changes in a model: segment rows can be exchanged only if there are two."""
    return CHANGE if n_segments > 1 else CHANGE.among((PAIR, ALONE))


def _numbered(labels: Sequence[str]) -> dict[str, str]:
    return {str(i): f"{i}  {label}" for i, label in enumerate(labels)}
