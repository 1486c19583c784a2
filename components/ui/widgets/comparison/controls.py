"""What can be chosen where a word is compared; it counts on both pages that do so."""

from __future__ import annotations

from components.analysis.words import POOLINGS
from components.ui.state.controls import choice, switch

__all__ = ["CENTRED", "LINES", "PAGE", "POOLING"]

PAGE = "meaning"
POOLING = choice(
    PAGE,
    "pooling",
    "Word vector from its sub-tokens",
    POOLINGS,
    help="How the vectors of a word's sub-tokens become one.",
)
LINES = choice(PAGE, "lines", "Lines to show", ("All", "Sentences", "References"))
CENTRED = switch(
    PAGE,
    "centred",
    "Centred cosine",
    help=(
        "Centred cosine: the average vector of the sample words at the same layer (up to four "
        "words of each English sample sentence) is "
        "taken away from both vectors before their cosine is computed. The vectors of a layer "
        "often share a common direction, which lifts every cosine; without it you see what sets "
        "words apart."
    ),
)
