"""The controls of Padding & masks, each declared once."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from contextlens.content.language import say
from contextlens.ui.state.controls import Choice, Number, choice, number, sentence_choice, switch

PAGE = "masks"
LONGEST = "Longest"
SIZES = (16, 32, 64, 128, 512)
"""Lengths to pad a batch to."""
MAX_POSITIONS = 8_192
"""Sentences of a batch times its length: ModernBERT's hidden states of so many take 1.2 GB."""
MAX_REPETITIONS = 10_000

MASK = replace(switch(PAGE, "mask"), default=True)
REAL, ALL = "real", "all"
AVERAGE = choice(PAGE, "average", (REAL, ALL))
PAD_TO = choice(PAGE, "pad_to", (LONGEST, *map(str, SIZES)))
SENTENCE = sentence_choice(PAGE)
REPEAT = number(PAGE, "repeat", between=(1, MAX_REPETITIONS), default=1)


def pad_within(longest: int, limit: int) -> Choice:
    """Return the possible lengths of a batch: at least its longest text, at most the limit."""
    return PAD_TO.among((LONGEST, *map(str, pad_sizes(longest, limit))))


def pad_sizes(longest: int, limit: int) -> list[int]:
    """Return round lengths for padding a batch: at least its longest text, at most the limit.

    None is above the largest of `SIZES`: a batch padded to ModernBERT's 8,192 takes minutes.
    """
    sizes = {*SIZES, min(limit, SIZES[-1])}
    return [n for n in sorted(sizes) if longest <= n <= limit]


def repeat_within(letter: str, default: int, maximum: int, *, has_pair: bool) -> Number:
    """Return the number of repetitions of a sentence; by default enough to exceed the limit."""
    control = REPEAT.between(1, maximum, default=default)
    key: Literal["first", "only"] = "first" if has_pair else "only"
    return replace(control, label=say(f"masks.repeat.{key}", letter=letter))
