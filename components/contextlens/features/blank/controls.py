"""The controls of Fill in the blank, and the page's limits."""

from __future__ import annotations

from typing import Literal

from contextlens.ui.state.controls import choice, text

PAGE = "blank"

MAX_HIDDEN_WORDS = 6
"""Words of one sentence that can be hidden at once."""
MAX_BLANKS = 8
"""Blanks of one sentence that are shown."""
MAX_PIECES = 16
"""A word of more pieces is hidden as one blank in any case."""
MAX_CANDIDATES = 8
N_BEST = 10
"""The most probable tokens beside each blank."""
N_BEST_OF_MANY = 5
"""The same if there are many blanks."""
MANY_BLANKS = 5
"""From this number of blanks on, they are many."""

HIDDEN = text(PAGE, "hidden")
"""The hidden words of sentences in which other words than the chosen one are hidden: see
`blanks.written_choice`."""

Read = Literal["hidden", "written", "replaced"]
HIDE, KEEP, REPLACE = "hidden", "written", "replaced"
READ = choice(PAGE, "read", (HIDE, KEEP, REPLACE))
"""What the model reads at the blanks: the mask token, the word as written, or another word."""
WORD = text(PAGE, "word")
"""The other word."""
ONE, PIECES = "one", "pieces"
CUT = choice(PAGE, "cut", (ONE, PIECES))
"""How a word of several pieces is hidden."""
CANDIDATES = text(PAGE, "candidates")

EVERY_LAYER, SURPRISE, NEXT_SENTENCE = "layers", "surprise", "next"
SECTION = choice(PAGE, "section", (EVERY_LAYER, SURPRISE, NEXT_SENTENCE))
AT = choice(PAGE, "at", ("1",))
"""The blank that a closer look is about, counted from 1 over all sentences."""
