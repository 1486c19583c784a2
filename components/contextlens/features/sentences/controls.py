"""The controls of the page Sentence vectors, and its limits."""

from __future__ import annotations

from collections.abc import Mapping

from contextlens.ui.corpora.controls import READY_TEXTS
from contextlens.ui.state.controls import Choice, choice
from contextlens.ui.state.view import DEFAULT, ViewState

MAX_DRAWN_TEXTS = 30
"""Texts of a corpus that are compared."""
MAX_ORDERING_LABELS = 20
"""Different labels by which these texts are put in order."""

PAGE = "sentences"
SHOW = choice(PAGE, "show", ("compare", "search"))
"""Links of 0.1.0 open the search here, which is a page of its own today."""
READY, YOURS, DRAWN = "ready", "yours", "drawn"
SOURCE = choice(PAGE, "source", (READY, YOURS, DRAWN))
TESTS = ("sense", "word", "sentiment", "kind")
"""The columns of labels of the corpora that ship with the app."""
TEST = choice(PAGE, "test", TESTS)
CORPUS = choice(PAGE, "corpus", list(READY_TEXTS))


def source_of(view: ViewState) -> Choice:
    """The choice of sentences: by default the visitor's own if they changed any."""
    default = READY if view.sentences == DEFAULT.sentences else YOURS
    return SOURCE.among(SOURCE.options, default=default)


def corpus_name(view: ViewState) -> str:
    """The name of the ready or stored corpus to draw texts from."""
    return CORPUS.asked(view) or CORPUS.default


def corpus_among(stored: Mapping[str, str]) -> Choice:
    """The choice of a corpus: a ready one or a stored one, given as titles by name."""
    return CORPUS.among({**CORPUS.options, **stored})
