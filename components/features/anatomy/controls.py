"""What a visitor can choose on Anatomy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from components.ui.state.controls import choice, number, text

__all__ = [
    "ARRAY",
    "DRAWING",
    "DRAWINGS",
    "MODELS",
    "PAGE",
    "PART",
    "SEARCH",
    "SECTION",
    "SUBJECT",
    "TOKENS",
    "WEIGHTS",
]

PAGE = "anatomy"

SUBJECT = choice(PAGE, "subject", ())
"""Among the models' ids; empty is the chosen model."""

DRAWINGS: Mapping[str, Literal["treemap", "icicle"]] = {"Treemap": "treemap", "Tree": "icicle"}
DRAWING = choice(PAGE, "drawing", list(DRAWINGS))

SEARCH = text(PAGE, "search")

PART = choice(PAGE, "part", ())
"""Among the paths of the model's parts; empty is the whole model."""

MODELS, WEIGHTS = "Beside other models", "Inside the weights"
SECTION = choice(PAGE, "section", (MODELS, WEIGHTS))

TOKENS = number(PAGE, "tokens", between=(1, 512), default=128)

ARRAY = choice(PAGE, "array", ())
"""Among the arrays of the chosen part; none, as long as the largest one counts."""
