"""The controls of the probe, each declared once."""

from __future__ import annotations

from contextlens.ui.state.controls import choice, text

PAGE = "probe"
EXAMPLE = "sentiment"
"""The ready collection in place of one without labels."""

SECTION = choice(PAGE, "section", ("mistakes", "mixups", "try", "curve", "calibration"))
SENTENCE = text(PAGE, "sentence")
"""A sentence to try."""

# The limits of the page

MANY_LABELS = 50  # different ones in a column; of more, each has two texts or more on average
MAX_LEARNING_SECONDS = 1_800.0  # expected, of folds times labels times vectors
MAX_VECTOR_BYTES = 1_000_000_000  # of vectors in memory at a time
MAX_WORD_VECTORS = 400_000  # read from a server's file
MAX_LISTED_MISTAKES = 100
MAX_LISTED_CHANCES = 6
N_SIMILAR_TEXTS = 3  # listed under a sentence that is tried
FEW_TESTED_TEXTS = 100
"""Fewer get a note: the 95% interval of an accuracy of 80% is then 16 points wide or more."""
