"""A stored corpus's texts as a corpus that can be mapped: with labels and marked words, no vectors.

They are read from the store once for all who have the corpus's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

import numpy as np

from components.core.byte_cache import remembered
from components.core.words import Span
from components.corpus.corpus import Corpus
from components.corpus.readers import MAX_TEXTS
from components.ui.models.background import store

__all__ = ["stored_texts"]


def stored_texts(name: str) -> Corpus:
    """The first texts of a stored corpus, as many as of a file that is looked at once.

    Raises:
        CorpusError: there is no such corpus, or it is damaged or of a newer version.
    """
    about = store().about(name)  # each time: it may have been deleted
    read = remembered(
        "texts of a corpus", store().root, name, about.created, compute=lambda: _Read(_read(name))
    )
    return read.corpus


@dataclass(frozen=True, eq=False)
class _Read:
    corpus: Corpus

    @property
    def nbytes(self) -> int:
        return self.corpus.n_bytes


def _read(name: str) -> Corpus:
    stored = store().open(name)
    found = list(islice(store().texts(name), MAX_TEXTS))
    ids = np.arange(len(found))
    spans: tuple[Span, ...] = tuple(span for _, span in found if span is not None)
    left_out = stored.n_texts - len(found)
    return Corpus(
        name=stored.title,
        texts=tuple(text for text, _ in found),
        labels=MappingProxyType({title: stored.column(title, ids) for title in stored.columns}),
        spans=spans if stored.has_targets and len(spans) == len(found) else None,
        notes=(
            (f"{left_out:,} texts left out: a map takes the first {MAX_TEXTS:,}.",)
            if left_out
            else ()
        ),
    )
