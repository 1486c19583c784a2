"""The controls of Pairs, each declared once."""

from __future__ import annotations

from contextlens.ui.state.controls import choice, number

PAGE = "pairs"
MAX_PAIRS = 100_000

POOLING = choice(PAGE, "pooling", ("mean",))
"""How a whole text becomes a vector; `recipe_poolings` of the model has the other options."""

# The pair in the picture, and the list in which it stands

PLAIN_LISTS = ("most", "least")
LABELLED_LISTS = ("wrong", "called_same", "called_different", *PLAIN_LISTS)
GRADED_LISTS = ("disagree", "score_high", "score_low", *PLAIN_LISTS)
TRIPLET_LISTS = ("nearer_negative", *PLAIN_LISTS)
WRONGS = tuple(dict.fromkeys((*LABELLED_LISTS, *GRADED_LISTS, *TRIPLET_LISTS)))
WRONG = choice(PAGE, "wrong", WRONGS)
PAIR = number(PAGE, "pair", between=(0, MAX_PAIRS), default=0)
"""The number of the pair among the compared ones, from 1; 0 for the most telling one."""

# The panels below the picture

LAYERS, COSINES, ROC, ALL = ("layers", "similarities", "ROC curve", "Every pair")
LABELLED_PANELS = (LAYERS, COSINES, ROC, ALL)
PLAIN_PANELS = (LAYERS, COSINES, ALL)
PANEL = choice(PAGE, "panel", LABELLED_PANELS)

# The limits of the page

MAX_TEXT_LENGTH = 20_000  # characters; a model that reads 512 tokens reads about 2,500
MAX_LABEL_NAMES = 12  # different labels that are offered with a menu each
MAX_DRAWN_PAIRS = 1_500  # points of a scatter plot
MAX_DRAWN_STEPS = 600  # points of an ROC curve
MAX_LISTED_PAIRS = 5_000  # rows of the table of every pair
MAX_SNIPPET_PAIRS = 3  # pairs in the script for cosines
MAX_REMEMBERED_FILES = 8  # compared files whose columns a visit can still change
