"""The controls of a comparison, which both of its pages share."""

from __future__ import annotations

from contextlens.analysis.words import POOLINGS
from contextlens.ui.state.controls import choice, switch

PAGE = "meaning"
MAX_CLAIMED_REFERENCES = 2
"""References that the sentences mention; the table and the picture have all."""
POOLING = choice(PAGE, "pooling", POOLINGS)
LINES = choice(PAGE, "lines", ("Main", "All", "Sentences", "References"))
CENTRED = switch(PAGE, "centred")
