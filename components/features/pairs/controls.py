"""What a visitor can choose on Pairs, each choice declared once."""

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

SOURCE = choice(PAGE, "source", "Pairs", {"bundled": "Ready-made pairs", "file": "A file of pairs"})
FILE = text(PAGE, "file", "The file's digest")
FILE_NAME = text(PAGE, "file_name", "The file's name", default="a file")
GUESSED = "guessed"
COLUMNS = text(PAGE, "columns", "The file's columns", default=GUESSED)
"""The places of the columns in the order of `compute.files.ROLES`, with commas between; or those
guessed."""

# What is looked at closer

ROC, TO_READ, ALL = ("ROC curve", "Pairs to read", "Every pair")
LABELLED_PANELS = (TO_READ, ROC, ALL)
PLAIN_PANELS = (TO_READ, ALL)
PANEL = choice(PAGE, "panel", "Look closer", LABELLED_PANELS)
WRONGS = {
    "wrong": "Judged wrong",
    "called_same": "Called same, but different",
    "called_different": "Called different, but same",
    "most": "Most alike",
    "least": "Least alike",
}
WRONG = choice(PAGE, "wrong", "Which pairs", WRONGS)
FROM = number(PAGE, "from", "From pair", between=(1, 100_000), default=1)
