"""The controls of the probe, each declared once."""

from __future__ import annotations

from collections.abc import Mapping

from contextlens.ui.state.controls import Choice, choice, number, text

PAGE = "probe"

SOURCE = choice(PAGE, "source", ("sentiment", "ambiguous", "file", "kept"))
KEPT = choice(PAGE, "kept", ("",))
"""A stored corpus by its name; `kept_among` has those that a visit knows."""
LABEL = choice(PAGE, "label", ("kind",))
"""The column with the labels; the corpus has the options. The ready corpus opens on its kinds."""

# A visitor's file

FILE = text(PAGE, "file")
FILE_NAME = text(PAGE, "file_name", default="a file")
TEXT = number(PAGE, "text", between=(-1, 100_000), default=-1)
"""The position of the column with the texts; -1 for the guessed one."""
LABELS = text(PAGE, "labels", default="guessed")
"""The positions of the label columns, separated by commas."""

SECTION = choice(PAGE, "section", ("mistakes", "mixups", "try", "curve", "calibration"))
SENTENCE = text(PAGE, "sentence")
"""A sentence to try."""


def kept_among(titles: Mapping[str, str]) -> Choice:
    """The choice among the stored corpora that a visit knows, by name, with their titles."""
    return KEPT.among({**KEPT.options, **titles})


# The limits of the page

MAX_DIFFERENT_LABELS = 50  # in a column
MAX_VECTOR_BYTES = 1_000_000_000  # of vectors in memory at a time
MAX_WORD_VECTORS = 400_000  # read from a server's file
MAX_LISTED_MISTAKES = 100
MAX_LISTED_CHANCES = 6
N_SIMILAR_TEXTS = 3  # listed under a sentence that is tried
FEW_TESTED_TEXTS = 100
"""Fewer get a note: the 95% interval of an accuracy of 80% is then 16 points wide or more."""
