"""The controls of Labels, each declared once."""

from __future__ import annotations

from contextlens.core.schema import MAX_LABELS
from contextlens.ui.state.controls import choice, number, sentence_choice

PAGE = "labels"

MAX_SHOWN_LABELS = 10
"""Labels of a sentence that are drawn; the table has all of them."""
MAX_NAMED_PARTS = 5
"""Labelled parts of a sentence that the headline names."""

SENTENCE = sentence_choice(PAGE)
LABEL = number(PAGE, "label", between=(-1, MAX_LABELS - 1), default=-1)
"""The explained label, by its index; -1 for that of the model's answer."""
LEAVE_OUT, GRADIENTS = ("leave_out", "gradients")
WAY = choice(PAGE, "way", (LEAVE_OUT, GRADIENTS))
