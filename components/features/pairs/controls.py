"""The controls of Pairs, each declared once."""

from __future__ import annotations

from components.ui.state.controls import choice, number, text

__all__ = [
    "ALL",
    "COLUMNS",
    "FILE",
    "FILE_NAME",
    "FROM",
    "GUESSED",
    "LABELLED_PANELS",
    "PAGE",
    "PANEL",
    "PLAIN_PANELS",
    "ROC",
    "SOURCE",
    "TO_READ",
    "WRONG",
    "WRONGS",
]

PAGE = "pairs"

SOURCE = choice(PAGE, "source", ("bundled", "file"))
FILE = text(PAGE, "file")
FILE_NAME = text(PAGE, "file_name", default="a file")
GUESSED = "guessed"
COLUMNS = text(PAGE, "columns", default=GUESSED)
"""The positions of the columns in the order of `files.PairColumns`, separated by commas, or
`GUESSED`."""

# The panels below the pictures

ROC, TO_READ, ALL = ("ROC curve", "Pairs to read", "Every pair")
LABELLED_PANELS = (TO_READ, ROC, ALL)
PLAIN_PANELS = (TO_READ, ALL)
PANEL = choice(PAGE, "panel", LABELLED_PANELS)
WRONGS = ("wrong", "called_same", "called_different", "most", "least")
WRONG = choice(PAGE, "wrong", WRONGS)
FROM = number(PAGE, "from", between=(1, 100_000), default=1)
