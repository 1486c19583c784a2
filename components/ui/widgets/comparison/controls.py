"""The controls of a comparison, which both of its pages share."""

from __future__ import annotations

from components.analysis.words import POOLINGS
from components.ui.state.controls import choice, switch

__all__ = ["CENTRED", "LINES", "PAGE", "POOLING"]

PAGE = "meaning"
POOLING = choice(PAGE, "pooling", POOLINGS)
LINES = choice(PAGE, "lines", ("All", "Sentences", "References"))
CENTRED = switch(PAGE, "centred")
