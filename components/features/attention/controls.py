"""What a visitor can choose on Attention."""

from __future__ import annotations

from collections.abc import Mapping

from components.features.attention.explain import ROLLOUT
from components.features.attention.measures.grid import Direction, Special
from components.features.attention.measures.heads import HABITS
from components.features.attention.measures.selection import Scope
from components.ui.state.controls import choice, number, sentence_choice

__all__ = [
    "DIRECTION",
    "DIRECTIONS",
    "HEAD",
    "PAD",
    "PAGE",
    "SCOPES",
    "SENTENCE",
    "SHOW",
    "SIDE",
    "SORT",
    "SPECIAL",
    "SPECIALS",
    "TOKEN",
    "UNIT",
    "WORDS",
]

PAGE = "attention"

SENTENCE = sentence_choice(PAGE)

SCOPES: Mapping[str, Scope] = {
    "One head": "head",
    "Layer": "layer",
    "All": "all",
    "Rollout": "rollout",
}
SHOW = choice(
    PAGE, "show", "Show", list(SCOPES), help=f"Layer and All are means over heads. {ROLLOUT}"
)

HEAD = choice(PAGE, "head", "Heads, best match first", ())
"""Among the heads of the model, as "3.7"; none, as long as the first one in the order counts."""

SORT = choice(PAGE, "sort", "Sort heads by", (*HABITS, "focus"))
"""By a habit, the most of it first; `focus` is the least entropy."""

SPECIALS: Mapping[str, Special] = {
    "Show": "show",
    "Hide": "hide",
    "Hide, rows to 1": "renormalise",
}
SPECIAL = choice(
    PAGE,
    "special",
    "Special tokens and padding",
    list(SPECIALS),
    help="Hidden, rows keep their values and no longer sum to 1, unless they are divided by what "
    "is left.",
)

WORDS = "Words"
UNIT = choice(
    PAGE,
    "unit",
    "Rows and columns",
    ("Tokens", WORDS),
    help="A word gets the sum of its sub-tokens' weights, and gives the mean of theirs.",
)

DIRECTIONS: Mapping[str, Direction] = {
    "All": "all",
    "First to second": "forth",
    "Second to first": "back",
}
DIRECTION = choice(PAGE, "direction", "From which text to which", list(DIRECTIONS))

PAD = number(
    PAGE,
    "pad",
    "Pad to (0: no padding)",
    between=(0, 512),
    default=0,
    help="Adds padding, to see that nothing looks at it.",
)
"""Up to the longest text of the model."""

SIDE = choice(PAGE, "side", "Side of the picked token", ("from", "to"))
TOKEN = number(PAGE, "token", "Picked token", between=(-1, 1_000_000), default=-1)
"""By its position; -1, as long as none is picked, is the chosen word's first."""
