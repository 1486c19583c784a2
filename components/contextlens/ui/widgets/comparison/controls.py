"""The controls of a comparison, which both of its pages share."""

from __future__ import annotations

from contextlens.analysis.words import POOLINGS
from contextlens.ui.state.controls import choice, switch

PAGE = "meaning"
POOLING = choice(PAGE, "pooling", POOLINGS)
LINES = choice(PAGE, "lines", ("All", "Sentences", "References"))
CENTRED = switch(PAGE, "centred")
