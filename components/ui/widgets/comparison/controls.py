"""What can be chosen where a word is compared; it counts on both pages that do so."""

from __future__ import annotations

from components.analysis.words import POOLINGS
from components.ui.state.controls import choice, switch

__all__ = ["CENTRED", "LINES", "PAGE", "POOLING"]

PAGE = "meaning"
POOLING = choice(PAGE, "pooling", POOLINGS)
LINES = choice(PAGE, "lines", ("All", "Sentences", "References"))
CENTRED = switch(PAGE, "centred")
