"""The controls of Padding & masks, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from components.content.language import say
from components.core.schema import ModelCard
from components.features.masks.figures import Color
from components.features.masks.measures import SIZES, pad_sizes
from components.ui.state.controls import Choice, Number, choice, number, sentence_choice, switch

__all__ = [
    "COLOR",
    "COLORS",
    "LONGEST",
    "MASK",
    "PAD_TO",
    "PAGE",
    "REPEAT",
    "SENTENCE",
    "color_within",
    "pad_within",
    "repeat_within",
]

PAGE = "masks"
LONGEST = "Longest"

COLORS: Mapping[str, Color] = MappingProxyType(
    {"Cosine": "cosine", "Mask": "mask", "Segment": "segment"}
)
"""The quantities that the batch's colours can show, by the option's title."""

COLOR = choice(PAGE, "color", COLORS.keys())
MASK = switch(PAGE, "mask")
PAD_TO = choice(PAGE, "pad_to", (LONGEST, *map(str, SIZES)), default="32")
SENTENCE = sentence_choice(PAGE)
REPEAT = number(PAGE, "repeat", between=(1, 600), default=1)


def color_within(card: ModelCard) -> Choice:
    """The colour options for a model: segments only if it has some."""
    return COLOR.among(
        c for c, quantity in COLORS.items() if quantity != "segment" or card.has_segments
    )


def pad_within(longest: int, limit: int) -> Choice:
    """The possible lengths of a batch: at least its longest text, at most the model's limit."""
    sizes = pad_sizes(longest, limit)
    usual = next(n for n in sizes if n >= min(int(PAD_TO.default), limit))
    return PAD_TO.among((LONGEST, *map(str, sizes)), default=str(usual))


def repeat_within(letter: str, default: int, maximum: int) -> Number:
    """The number of repetitions of a sentence; by default enough to exceed the limit."""
    control = REPEAT.between(1, maximum, default=default)
    return replace(control, label=say("masks.repeat_of", letter=letter))
