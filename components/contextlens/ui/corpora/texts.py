"""Texts as a corpus without vectors: those of a stored corpus, and a view's own sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

import numpy as np

from contextlens.content.language import say
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import CorpusError
from contextlens.core.words import Span
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import MAX_TEXTS
from contextlens.ui.models.background import store
from contextlens.ui.state.view import Sentence, letter


@lru_cache(maxsize=32)
def own_sentences(sentences: tuple[Sentence, ...]) -> Corpus:
    """Return a view's sentences, labelled by letter, without blank ones and second texts.

    Raises:
        CorpusError: all of them are blank.
    """
    labelled = [(letter(i), s.text) for i, s in enumerate(sentences) if s.text.strip()]
    if not labelled:
        raise CorpusError(say("corpora.empty_sentences"))
    return Corpus(
        name="Your sentences",
        texts=tuple(text for _, text in labelled),
        labels={"sentence": tuple(name for name, _ in labelled)},
        notes=(say("meaning.second_text"),) if any(s.pair for s in sentences) else (),
    )


def stored_texts(name: str) -> Corpus:
    """Return the first texts of a stored corpus: as many as a map takes of an uploaded file.

    They are read from the store once, for all who have the corpus's name.

    Raises:
        CorpusError: there is no such corpus, or it is damaged or of a newer version.
    """
    about = store().about(name)  # each time, as it may have been deleted
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
    rows = list(islice(store().texts(name), MAX_TEXTS))
    ids = np.arange(len(rows))
    spans: tuple[Span, ...] = tuple(span for _, span in rows if span is not None)
    n_left_out = stored.n_texts - len(rows)
    return Corpus(
        name=stored.title,
        texts=tuple(text for text, _ in rows),
        labels=MappingProxyType({title: stored.column(title, ids) for title in stored.columns}),
        spans=spans if stored.has_targets and len(spans) == len(rows) else None,
        notes=(
            (f"{n_left_out:,} texts left out: a map takes the first {MAX_TEXTS:,}.",)
            if n_left_out
            else ()
        ),
    )
