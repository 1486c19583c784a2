"""Where stored corpora join: the store of this server, asked by name."""

from __future__ import annotations

from components.corpus.searchable import SearchableCorpus
from components.ui.models.background import store

__all__ = ["open_stored"]


def open_stored(name: str) -> SearchableCorpus:
    """A stored corpus, as far as it is indexed.

    Raises:
        CorpusError: there is none of this name, or it is damaged or of a newer version.
    """
    return store().open(name)
