"""The controls of Map, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from contextlens.content.language import say
from contextlens.core import ModelCard
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.maps.points import UNITS, Unit
from contextlens.maps.request import (
    EFFORTS,
    GIVEN,
    METHODS,
    MapRequest,
    MapSettings,
    Method,
    method_name,
)
from contextlens.maps.vectors import SENTENCE_POOLINGS, WORD_POOLINGS
from contextlens.ui.corpora import controls as shared
from contextlens.ui.corpora.controls import POINT_LIMITS
from contextlens.ui.models.recipes import recipe_poolings
from contextlens.ui.state.controls import TEXTS, Choice, Text, choice, number, switch, text

PAGE = "map"
_USUAL = MapSettings()

# The mapped texts

UNIT = choice(PAGE, "unit", UNITS)
FIRST_WORD = "python"
"""The word of the ready-made corpus that is mapped at first."""
ONLY = text(PAGE, "only")
EVERY_WORD = switch(PAGE, "every_word")
SPECIAL = switch(PAGE, "special")
MAX_TABLE_ROWS = 5_000
"""The most points in the table under the map; its files have all."""
MAX_LISTED_ROWS = 2_000
"""The most points in the table beside the map."""
CARDS_PAGE_SIZE = 20
"""Cards of points on one page of their list."""
N_LISTED_NEIGHBORS = 10
"""Nearest points listed for a chosen point."""
N_NEAREST_POINTS = 10
"""Nearest points listed for a typed text."""
MAX_TYPICAL_WORDS = 3
"""Words listed as typical of a selection."""
MAX_GROUP_LABELS = 12
"""Groups that can be named, and names in a map in space, the largest first."""
MAX_LISTED_STRAYS = 3
"""Points that the test of a word's senses sorts wrong whose sentences stand beside the map."""
MAX_GROUP_NAME_CHARACTERS = 24
MAX_FILE_CHARACTERS = 50_000_000
"""Maximum characters of texts in one table or array; beyond it, texts are cut. A table repeats a
text for each of its points, and an array pads all texts to the longest: 2 MB could become 4 GB."""
N_SCRIPT_SENTENCES = 3
"""Sentences in the script of the vectors."""
AT_MOST = choice(PAGE, "at_most", {str(n): f"{n:,}" for n in POINT_LIMITS})
_MAX_UNASKED_POINTS = 20_000
"""Up to so many texts of a file are all on Map, whose layers can be looked at without waiting."""


def at_most_of(n_texts: int) -> Choice:
    """The maximum number of points; by default, enough for a visitor's so many texts.

    Args:
        n_texts: the texts of a visitor's file; 0 for other texts.
    """
    enough = [n for n in sorted(POINT_LIMITS) if n_texts <= n <= _MAX_UNASKED_POINTS]
    default = max(POINT_LIMITS[0], *(enough[:1] or [_MAX_UNASKED_POINTS]))
    return replace(AT_MOST, default=str(default))


# The drawing

WORDS_POOLING = choice(PAGE, "words_pooling", WORD_POOLINGS)
SENTENCES_POOLING = choice(PAGE, "sentences_pooling", SENTENCE_POOLINGS)
_METHODS = {method: method_name(method) for method in METHODS}
METHOD = choice(PAGE, "method", _METHODS, default=_USUAL.method)
NEIGHBORS = number(PAGE, "neighbors", between=(2, 200), default=_USUAL.n_neighbors)
_SEEDS = (0, 2**31 - 1)
SEED = number(PAGE, "seed", between=_SEEDS, default=_USUAL.seed)
METRIC = choice(PAGE, "metric", ("cosine", "euclidean"), default=_USUAL.metric)
MIN_DIST = choice(
    PAGE, "min_dist", ("0.1", "0.0", "0.05", "0.25", "0.5", "0.8"), default=str(_USUAL.min_dist)
)
DIMS = choice(PAGE, "dims", ("2-D", "3-D"))
EFFORT = choice(PAGE, "effort", EFFORTS, default=_USUAL.effort)
COLOR = choice(PAGE, "color", ())
"""The options depend on the texts: see `coloring.color_choice`."""

# The second map beside the first

BESIDE = choice(PAGE, "beside", ("", "layer", "model", "vectors", "method", "seed"))
OTHER_LAYER = number(PAGE, "other_layer", between=(0, 1_000), default=1)
OTHER_MODEL = choice(PAGE, "other_model", ())
OTHER_VECTORS = text(PAGE, "other_vectors")
OTHER_METHOD = choice(PAGE, "other_method", _METHODS)
OTHER_SEED = number(PAGE, "other_seed", between=_SEEDS, default=1)

# The panel beside the map, and the marked points

PANELS = FIND_SELECT, POINT_PANEL, TABLE_PANEL, TRUST = (
    "Find & select",
    "Point",
    "Table",
    "Trust",
)
PANEL = choice(PAGE, "panel", PANELS)
FIND = text(PAGE, "find")
NEAR = text(PAGE, "near")
MARKS_OF = text(PAGE, "marks_of")
_POINTS = (-1, max(POINT_LIMITS))
POINT = number(PAGE, "point", between=_POINTS, default=-1)
PIN_A = number(PAGE, "pin_a", between=_POINTS, default=-1)
PIN_B = number(PAGE, "pin_b", between=_POINTS, default=-1)
MARKED = (POINT, PIN_A, PIN_B)
GROUP_NAMES = text(PAGE, "group_names")
"""The visitor's names of groups, as `groups.pack` has them."""


@cache
def word_of() -> Choice:
    """The choice of one of the ready-made corpus's words, or all of them."""
    others = dict.fromkeys(ambiguous_corpus().labels["word"])
    words = dict.fromkeys([FIRST_WORD, *others])
    titles = {**{word: word for word in words}, shared.ALL_WORDS: say("map.all_words")}
    label = shared.WORD.label
    return Choice(page=TEXTS, name="word", label=label, default=FIRST_WORD, options=titles)


def only_of(unit: Unit) -> Text:
    """The text field for the words or tokens to map, with its label."""
    return replace(ONLY, label=say(f"map.only.{unit}"))


def pooling_of(unit: Unit, card: ModelCard | None) -> Choice:
    """The pooling of a word's or a sentence's tokens into one vector.

    A model with a recipe of its own offers that too, also with each of its prompts.
    """
    if unit != "sentences":
        return WORDS_POOLING
    options = {name: SENTENCES_POOLING.options[name] for name in SENTENCE_POOLINGS}
    return SENTENCES_POOLING.among(options | recipe_poolings(card))


def other_method(method: Method) -> Choice:
    """The choice of the second map's method: any but the first map's."""
    return OTHER_METHOD.among({m: name for m, name in _METHODS.items() if m != method})


def beside_of(request: MapRequest | None, vectors: Sequence[str]) -> Choice:
    """The choice of the second map; vectors of a file have no other layer.

    Args:
        request: the first map.
        vectors: the titles of the vectors that its file brings.
    """
    is_given = request is not None and request.pooling == GIVEN
    left_out = {"layer"} if is_given and len(vectors) > 1 else {"vectors"}
    left_out |= {"layer"} if is_given else set()
    return BESIDE.among({name: t for name, t in BESIDE.options.items() if name not in left_out})
