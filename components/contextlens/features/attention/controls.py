"""The controls of Attention."""

from __future__ import annotations

from collections.abc import Mapping

from contextlens.features.attention.grid import Direction, Special
from contextlens.features.attention.heads import HABITS
from contextlens.features.attention.selection import Scope
from contextlens.ui.state.controls import choice, number, sentence_choice

PAGE = "attention"
MAX_TABLE_COLUMNS = 64
"""A matrix with more columns is not listed: only the picked token's weights are."""

SENTENCE = sentence_choice(PAGE)

SCOPES: Mapping[str, Scope] = {
    "One head": "head",
    "Layer": "layer",
    "All": "all",
    "Rollout": "rollout",
}
SHOW = choice(PAGE, "show", list(SCOPES))

HEAD = choice(PAGE, "head", ())
"""A layer and head, as "3.7": layers from 1, heads from 0. By default the first in the order."""

PAIR = "pair"
SORT = choice(PAGE, "sort", (PAIR, *HABITS, "focus"))
"""What joins the two chosen words, or a habit, highest value first; `focus` is lowest entropy."""

SPECIALS: Mapping[str, Special] = {
    "Show": "show",
    "Hide": "hide",
    "Hide, rows to 1": "renormalise",
}
SPECIAL = choice(PAGE, "special", list(SPECIALS))

WORDS = "Words"
UNIT = choice(PAGE, "unit", ("Tokens", WORDS))

DIRECTIONS: Mapping[str, Direction] = {
    "All": "all",
    "First to second": "forth",
    "Second to first": "back",
}
DIRECTION = choice(PAGE, "direction", list(DIRECTIONS))

PAD = number(PAGE, "pad", between=(0, 512), default=0)
"""The length to pad to, at most the model's maximum; 0 adds no padding."""

SIDE = choice(PAGE, "side", ("from", "to"))
TOKEN = number(PAGE, "token", between=(-1, 1_000_000), default=-1)
"""The position of the token that was clicked last; -1 for the two that a head joins most."""
OTHER = number(PAGE, "other", between=(-1, 1_000_000), default=-1)
"""The position of the chosen token on the other side; -1 for the one that gets or gives most."""

LARGE = choice(PAGE, "large", ("head", "heads"))
"""The large picture: all weights of what is shown, or all heads."""
