"""What a visitor can choose on Map, each choice declared once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from components.corpus.bundled import ambiguous_corpus
from components.maps.points import UNITS, Unit
from components.maps.settings import EFFORTS, METHODS, MapSettings, Method, method_name
from components.maps.text_rows import SENTENCE_POOLINGS, WORD_POOLINGS
from components.ui.state.controls import Choice, Text, choice, number, switch, text

__all__ = [
    "ALL_WORDS",
    "AT_MOST",
    "BESIDE",
    "COLOR",
    "DIMS",
    "EFFORT",
    "EVERY_WORD",
    "FILE",
    "FILE_NAME",
    "FIND",
    "FIND_SELECT",
    "FOOTING",
    "FOOTINGS",
    "GUESSED",
    "KEPT",
    "LABELS",
    "MARKED",
    "MARKS_OF",
    "METHOD",
    "METRIC",
    "MIN_DIST",
    "MOST",
    "NEAR",
    "NEIGHBORS",
    "ONLY",
    "OTHER_LAYER",
    "OTHER_METHOD",
    "OTHER_MODEL",
    "OTHER_SEED",
    "PAGE",
    "PANEL",
    "PANELS",
    "PIN_A",
    "PIN_B",
    "POINT",
    "POINT_PANEL",
    "SEED",
    "SENTENCES_POOLING",
    "SOURCE",
    "SOURCES",
    "SPECIAL",
    "TEXT",
    "TRUST",
    "UNIT",
    "WORD",
    "WORDS_POOLING",
    "kept_among",
    "only_of",
    "other_method",
    "pooling_of",
    "word_of",
]

PAGE = "map"
_USUAL = MapSettings()

# What is mapped

SOURCES = {
    "ambiguous": "Ready-made corpus",
    "sentences": "Your sentences",
    "file": "A file or pasted texts",
    "kept": "A kept corpus",
}
SOURCE = choice(PAGE, "source", "Map of", SOURCES)
UNIT = choice(PAGE, "unit", "Points", UNITS)
ALL_WORDS = "all"
WORD = choice(PAGE, "word", "Word", {"python": "python", ALL_WORDS: "all of them"})
"""Of the ready-made corpus, which of its words; `word_of` knows them all."""
ONLY = text(PAGE, "only", "Only these, with commas between", placeholder="python, bank")
EVERY_WORD = switch(PAGE, "every_word", "All words of each sentence")
SPECIAL = switch(PAGE, "special", "Special tokens too")
MOST = (2_000, 1_000, 5_000, 10_000, 20_000, 50_000)
"""How many points there are at most; the first unless another is chosen."""
AT_MOST = choice(PAGE, "at_most", "Points at most", {str(n): f"{n:,}" for n in MOST})

KEPT = choice(PAGE, "kept", "Corpus", {"": "Choose one"})
"""A stored corpus by its name; `kept_among` knows those that a visit knows."""

# A file of one's own

FILE = text(PAGE, "file", "The file's digest")
FILE_NAME = text(PAGE, "file_name", "The file's name", default="a file")
GUESSED = "guessed"
TEXT = number(PAGE, "text", "Text", between=(-1, 100_000), default=-1)
"""The place of the column with the sentences; -1 for the one guessed."""
LABELS = text(PAGE, "labels", "Labels", default=GUESSED)
"""The places of the columns with labels, with commas between; or those guessed."""

# How it is drawn

FOOTINGS = {
    "joint": "All layers, one joint fit",
    "aligned": "All layers, aligned fits",
    "one": "The chosen layer alone",
}
FOOTING = choice(PAGE, "footing", "Layers", FOOTINGS)
WORDS_POOLING = choice(PAGE, "words_pooling", "Word vector from its sub-tokens", WORD_POOLINGS)
SENTENCES_POOLING = choice(
    PAGE, "sentences_pooling", "Sentence vector from its tokens", SENTENCE_POOLINGS
)
_METHODS = {method: method_name(method) for method in METHODS}
METHOD = choice(PAGE, "method", "Method", _METHODS, default=_USUAL.method)
NEIGHBORS = number(
    PAGE,
    "neighbors",
    "Neighbours",
    between=(2, 200),
    default=_USUAL.n_neighbors,
    help="Few show small groups, many the large picture; t-SNE's perplexity.",
)
_SEEDS = (0, 2**31 - 1)
SEED = number(PAGE, "seed", "Seed", between=_SEEDS, default=_USUAL.seed)
METRIC = choice(
    PAGE,
    "metric",
    "Distance",
    {"cosine": "cosine", "euclidean": "Euclidean"},
    default=_USUAL.metric,
)
MIN_DIST = choice(
    PAGE,
    "min_dist",
    "Minimum distance",
    ("0.1", "0.0", "0.05", "0.25", "0.5", "0.8"),
    default=str(_USUAL.min_dist),
)
DIMS = choice(PAGE, "dims", "Dimensions", ("2-D", "3-D"))
EFFORT = choice(
    PAGE,
    "effort",
    "Effort",
    EFFORTS,
    default=_USUAL.effort,
    help="Full is as faithful as umap-learn by itself; quick is nearly so, in less time.",
)
COLOR = choice(PAGE, "color", "Colour by", {"": "what suits the texts"})
"""Its options depend on the texts: see `compute.colors`."""

# Another map beside it

BESIDE = choice(
    PAGE,
    "beside",
    "Beside this map",
    {
        "": "Nothing",
        "layer": "Another layer",
        "model": "Another model",
        "method": "Another method",
        "seed": "Another seed",
    },
)
OTHER_LAYER = number(PAGE, "other_layer", "Its layer", between=(0, 1_000), default=1)
OTHER_MODEL = choice(PAGE, "other_model", "Its model", ())
OTHER_METHOD = choice(PAGE, "other_method", "Its method", _METHODS)
OTHER_SEED = number(PAGE, "other_seed", "Its seed", between=_SEEDS, default=1)

# What is looked at closer

PANELS = TRUST, POINT_PANEL, FIND_SELECT = ("Trust", "Point", "Find & select")
PANEL = choice(PAGE, "panel", "Look closer", PANELS)
FIND = text(PAGE, "find", "Find on the map", placeholder="a word or part of a sentence")
NEAR = text(PAGE, "near", "Nearest to what you type", placeholder="any word or sentence")
MARKS_OF = text(PAGE, "marks_of", "The points that the marks count for")
_POINTS = (-1, max(MOST))
POINT = number(PAGE, "point", "The point that is looked at closer", between=_POINTS, default=-1)
PIN_A = number(PAGE, "pin_a", "The point pinned as A", between=_POINTS, default=-1)
PIN_B = number(PAGE, "pin_b", "The point pinned as B", between=_POINTS, default=-1)
MARKED = (POINT, PIN_A, PIN_B)


@cache
def word_of() -> Choice:
    """Which word of the ready-made corpus: each of them, or all."""
    words: Iterable[str] = dict.fromkeys(ambiguous_corpus().labels["word"])
    others = {word: word for word in words if word not in WORD.options}
    first, last = WORD.options.items()
    return WORD.among(dict([first, *others.items(), last]))


def kept_among(titles: Mapping[str, str]) -> Choice:
    """The stored corpora that a visit knows, by name, with their titles."""
    return KEPT.among({**KEPT.options, **titles})


def only_of(unit: Unit) -> Text:
    """Which words or tokens are mapped."""
    return replace(ONLY, label=f"Only these {unit}, with commas between")


def pooling_of(unit: Unit) -> Choice:
    """How a word's or a sentence's tokens become one vector."""
    return SENTENCES_POOLING if unit == "sentences" else WORDS_POOLING


def other_method(method: Method) -> Choice:
    """The methods but for the one of the map itself."""
    return OTHER_METHOD.among({m: name for m, name in _METHODS.items() if m != method})
