"""The controls of Senses, each declared once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextlens.core import ModelSpec
from contextlens.ui.corpora.controls import NOT_STORED
from contextlens.ui.state.controls import Choice, choice, number, text

PAGE = "senses"

# The page's limits

MAX_OCCURRENCES = 2_000
"""A word with more occurrences is represented by a random, seeded sample."""
MAX_WORD_CHARACTERS = 64
MAX_SENTENCE_CHARACTERS = 2_000
MAX_GROUPS = 12
PAGE_SIZE = 25
MAX_LISTED_STRAYS = 3
"""Uses that the test sorts wrong whose sentences stand beside the map."""
"""Lines on one page of the concordance."""
N_NEAREST_USES = 10
"""Uses listed under the visitor's sentence, nearest first."""
MAX_SUGGESTED_WORDS = 500
MAX_REPLACEMENT_WORDS = 8
"""Words offered in place of one that does not occur."""
MAX_SCRIPT_OCCURRENCES = 200
"""Occurrences written into the script; more are read from the page's CSV download."""

# The groups and colours

FOUND = "found"
GROUPS = choice(PAGE, "groups", (FOUND, *map(str, range(2, MAX_GROUPS + 1))))
COLOR = choice(PAGE, "color", ("sense", "group"))
OWN = text(PAGE, "own")

PANEL = choice(PAGE, "panel", ("own", "beside", "taken"))

# The concordance

SORT = choice(PAGE, "sort", ("text", "left", "right", "sense", "group", "cosine"))
ROWS = number(PAGE, "rows", between=(1, 1_000_000), default=1)
CHOSEN = number(PAGE, "chosen", between=(-1, 2**53), default=-1)
"""An occurrence by its identifier in the corpus; -1 for none."""
ONLY = choice(PAGE, "only", ("",))
"""A group or a sense by its number: "g0", "s1"; "g-1" for occurrences in no group."""

# The comparison with another word, corpus, layer or model

BESIDE = choice(PAGE, "beside", ("", "word", "corpus", "layer", "model", "table"))
OTHER_WORD = text(PAGE, "other_word")
OTHER_CORPUS = choice(PAGE, "other_corpus", NOT_STORED, default="sentiment")
OTHER_LAYER = number(PAGE, "other_layer", between=(0, 1_000), default=0)
OTHER_MODEL = choice(PAGE, "other_model", ())


def only_among(senses: Sequence[str], n_groups: int, *, some_in_none: bool) -> Choice:
    """The choice of a sense or a group to list; "" lists all."""
    groups = {f"g{i}": group_name(i) for i in range(n_groups)}
    none = {"g-1": "in no group"} if some_in_none else {}
    return ONLY.among(
        {**ONLY.options, **{f"s{i}": name for i, name in enumerate(senses)}, **groups, **none}
    )


def group_name(number: int) -> str:
    """The name of a group, counted from 1; `number` is 0 for the largest."""
    return f"group {number + 1}"


def other_model_among(models: Iterable[ModelSpec], page_model: str) -> Choice:
    """The choice of a second model, by ID: any but the page's."""
    return OTHER_MODEL.among({spec.id: spec.title for spec in models if spec.id != page_model})
