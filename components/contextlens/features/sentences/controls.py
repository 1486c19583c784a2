"""The controls of the page Sentence vectors."""

from __future__ import annotations

from collections.abc import Mapping

from contextlens.ui.state.controls import Choice, choice, text

PAGE = "sentences"
COMPARE, SEARCH = "compare", "search"
SHOW = choice(PAGE, "show", (COMPARE, SEARCH))
READY, YOURS, DRAWN = "ready", "yours", "drawn"
SOURCE = choice(PAGE, "source", (READY, YOURS, DRAWN))
TESTS = ("sense", "word", "sentiment", "kind")
"""The columns of labels of the corpora that ship with the app."""
TEST = choice(PAGE, "test", TESTS)
QUERY = text(PAGE, "query", default="a nocturnal animal that flies")
CORPUS = choice(PAGE, "corpus", ("ambiguous", "sentiment"))


def corpus_among(stored: Mapping[str, str]) -> Choice:
    """The choice of a corpus to search: a ready one or a stored one, given as titles by name."""
    return CORPUS.among({**CORPUS.options, **stored})
