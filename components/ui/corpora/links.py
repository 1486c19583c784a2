"""Views of other pages on a corpus: their choices, named here for pages that only link to them.

What they are and which values they take is declared by those pages; a test holds both together.
"""

from __future__ import annotations

from components.ui.frame.navigation import PAGES
from components.ui.state.controls import Text
from components.ui.state.view import ViewState

__all__ = ["has_page", "on_map", "on_ready_map", "on_senses"]

_SENSES_CORPUS = Text(page="senses", name="corpus", default="ambiguous", label="Corpus")
_SENSES_WORD = Text(page="senses", name="word", label="Word")
_MAP_SOURCE = Text(page="map", name="source", default="ambiguous", label="Map of")
_MAP_KEPT = Text(page="map", name="kept", label="Corpus")


def has_page(name: str) -> bool:
    """Whether there is such a page."""
    return any(page.name == name for page in PAGES)


def on_senses(view: ViewState, corpus: str, word: str = "") -> ViewState:
    """The view with Senses on a corpus, and on a word of it."""
    return _SENSES_WORD.put(_SENSES_CORPUS.put(view, corpus), word[:200])


def on_map(view: ViewState, corpus: str) -> ViewState:
    """The view with Map on a stored corpus."""
    return _MAP_KEPT.put(_MAP_SOURCE.put(view, "kept"), corpus)


def on_ready_map(view: ViewState) -> ViewState:
    """The view with Map on its ready-made corpus."""
    return _MAP_SOURCE.put(view, _MAP_SOURCE.default)
