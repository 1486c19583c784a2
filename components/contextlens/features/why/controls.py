"""The controls of Why alike?, each declared once."""

from __future__ import annotations

from dataclasses import replace

from contextlens.ui.state.controls import choice, number, sentence_choice
from contextlens.ui.state.view import letter

PAGE = "why"

MAX_EXPLANATION_ROWS = 5_000
"""Rows of the table under the picture."""
MAX_LINKED_HEADS = 10
"""The strongest heads with a link to Attention."""
MAX_PAIRED_WORDS = 12
"""Words of a sentence for which pairs are left out too."""
MAX_SCRIPTED_CASES = 40
"""Words, and pairs of words, in the script of what was left out: those with the largest effects."""
MAX_SWAPPED_TOKENS = 64
"""Pairs of tokens; longer texts are not swapped."""

FIRST = sentence_choice(PAGE, "first")
SECOND = replace(sentence_choice(PAGE, "second"), default=letter(1))
"""The letters of the two compared sentences; the second may equal the first."""

MEAN, CLS, WORD = ("mean", "cls", "word")
VECTOR_KIND = choice(PAGE, "what", (MEAN, CLS, WORD))

SHARES, LEAVE_OUT, SWITCH_OFF, SWAP_IN = ("shares", "leave_out", "switch_off", "swap_in")
LOOK = choice(PAGE, "look", (LEAVE_OUT, SHARES, SWITCH_OFF, SWAP_IN))

# Shares

LAYER, INPUTS = ("layer", "inputs")
DEPTH = choice(PAGE, "depth", (LAYER, INPUTS))
WORDS = "words"
UNIT = choice(PAGE, "unit", (WORDS, "tokens"))
SIDE = choice(PAGE, "side", ("first", "second"))
PICKED = number(PAGE, "picked", between=(-1, 100_000), default=-1)
"""The position of the picked token, or of the first token of the picked word; -1 for none."""

# Leave out

TAKEN_OUT, HIDDEN = ("taken", "hidden")
HOW_OUT = choice(PAGE, "how_out", (TAKEN_OUT, HIDDEN))
SINGLE, PAIRS = ("single", "pairs")
OUT_OF = choice(PAGE, "out_of", (SINGLE, PAIRS))

# Switch off

TO_ZERO, TO_MEAN = ("zero", "mean")
OFF_TO = choice(PAGE, "off_to", (TO_ZERO, TO_MEAN))
OF_TWO, OF_ALL = ("two", "all")
OVER = choice(PAGE, "over", (OF_TWO, OF_ALL))

# Swap in

INTO_FIRST, INTO_SECOND = ("first", "second")
INTO = choice(PAGE, "into", (INTO_FIRST, INTO_SECOND))

# Look closer

DETAIL, EDITS = ("detail", "edits")
PANEL = choice(PAGE, "panel", (DETAIL, EDITS))
