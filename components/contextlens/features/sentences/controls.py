"""The controls of the page Sentence vectors, and its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contextlens.corpus.bundled import sample_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.ui.state.controls import Choice, choice, text
from contextlens.ui.state.view import DEFAULT, ViewState

MAX_SEARCHED_TEXTS = 200_000
"""300 MB of vectors with 384 dimensions."""
MAX_QUERY_CHARACTERS = 200
MAX_HITS = 5
"""Texts that each way to search shows."""
MAX_WORD_MATCHES = 3
"""Pairs of words beside a text that a search finds."""
MAX_CARD_CHARACTERS = 600
"""Characters of a text that a search finds."""
MAX_DRAWN_TEXTS = 30
"""Texts of a corpus that are compared."""
MAX_ORDERING_LABELS = 20
"""Different labels by which these texts are put in order."""

PAGE = "sentences"
COMPARE, SEARCH = "compare", "search"
SHOW = choice(PAGE, "show", (COMPARE, SEARCH))
READY, YOURS, DRAWN = "ready", "yours", "drawn"
SOURCE = choice(PAGE, "source", (READY, YOURS, DRAWN))
TESTS = ("sense", "word", "sentiment", "kind")
"""The columns of labels of the corpora that ship with the app."""
TEST = choice(PAGE, "test", TESTS)
BY = choice(PAGE, "by", ("recipe", "mean"))
"""How texts that are searched become vectors; `search.pooling_of` a model has the options."""
QUERY = text(PAGE, "query", default="a nocturnal animal that flies")
READY_CORPORA: Mapping[str, Callable[[], Corpus]] = {
    "ambiguous": sample_corpus,
    "sentiment": sentiment_corpus,
}
CORPUS = choice(PAGE, "corpus", list(READY_CORPORA))


def source_of(view: ViewState) -> Choice:
    """The choice of sentences: by default the visitor's own if they changed any."""
    default = READY if view.sentences == DEFAULT.sentences else YOURS
    return SOURCE.among(SOURCE.options, default=default)


def corpus_name(view: ViewState) -> str:
    """The name of the ready or stored corpus to search, or to draw from."""
    return CORPUS.asked(view) or CORPUS.default


def corpus_among(stored: Mapping[str, str]) -> Choice:
    """The choice of a corpus to search: a ready one or a stored one, given as titles by name."""
    return CORPUS.among({**CORPUS.options, **stored})
