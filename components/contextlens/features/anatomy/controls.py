"""The controls of Anatomy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from contextlens.ui.state.controls import choice, number, text

PAGE = "anatomy"

SUBJECT = choice(PAGE, "subject", ())
"""One of the models' IDs; empty for the chosen model."""

DRAWINGS: Mapping[str, Literal["treemap", "icicle"]] = {"Treemap": "treemap", "Tree": "icicle"}
DRAWING = choice(PAGE, "drawing", list(DRAWINGS))

SEARCH = text(PAGE, "search")

PART = choice(PAGE, "part", ())
"""One of the paths of the model's parts; empty for the whole model."""

MODELS, WEIGHTS = "Beside other models", "Inside the weights"
SECTION = choice(PAGE, "section", (MODELS, WEIGHTS))

TOKENS = number(PAGE, "tokens", between=(1, 512), default=128)

ARRAY = choice(PAGE, "array", ())
"""One of the arrays of the chosen part; none means the largest."""

MAX_SAMPLED_VALUES = 2_000_000
"""The values of a word table that are measured: at most one second of work."""
