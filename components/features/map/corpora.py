"""The texts that can be mapped: the view's sentences, the bundled corpus, files, stored corpora.

The chosen columns of a file, and no others, are kept under the digest in the address
(`ui.files.uploads`). Whoever has the address finds these texts, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from components.core.errors import CorpusError
from components.corpus.bundled import ambiguous_corpus
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet, to_corpus
from components.corpus.targets import label_columns
from components.features.map.controls import FILE, GUESSED, KEPT, LABELS, SOURCE, TEXT
from components.ui.corpora.texts import own_sentences, stored_texts
from components.ui.files import uploads
from components.ui.state.view import ViewState

__all__ = [
    "columns_of",
    "corpus_of",
    "found_again",
    "places",
    "share",
]

_MAX_CONTROL = 200  # the most characters that an address accepts for one control


def share(visitor: str, sheet: Sheet, text: str, labels: Sequence[str]) -> str:
    """Keep the chosen columns of a file for whoever has their digest, and return the digest.

    Raises:
        CorpusError: the columns cannot be used.
    """
    corpus = to_corpus(sheet, text, labels)
    digest = corpus.key[:32]
    uploads.keep_shared(visitor, digest, corpus, corpus.n_bytes)
    return digest


def found_again(visitor: str, view: ViewState, sheet: Sheet) -> bool:
    """Return True, and share a file's columns again, if it is the file that a view names."""
    try:
        corpus = to_corpus(sheet, *columns_of(view, sheet))
    except CorpusError:
        return False
    is_same = corpus.key[:32] == FILE.of(view)
    if is_same:
        uploads.keep_shared(visitor, FILE.of(view), corpus, corpus.n_bytes)
    return is_same


def corpus_of(view: ViewState) -> Corpus | None:
    """The texts that a view names; None if a file or a corpus must be chosen first.

    Raises:
        CorpusError: the texts cannot be used.
    """
    source = SOURCE.of(view)
    if source == "sentences":
        return own_sentences(view.sentences)
    if source == "kept":
        name = KEPT.asked(view)
        return stored_texts(name) if name else None
    if source != "file":
        return ambiguous_corpus()
    upload = uploads.shared(FILE.of(view))
    return upload if isinstance(upload, Corpus) else None


def columns_of(view: ViewState, sheet: Sheet) -> tuple[str, tuple[str, ...]]:
    """The text column and the label columns of a file that a view names, or the guessed ones.

    A view names columns by position, because a title can be too long for an address. Only the
    uploaded file has all columns, so the positions do not apply to the shared texts.
    """
    titles = list(sheet.columns)
    text = TEXT.of(view)
    chosen = titles[text] if 0 <= text < len(titles) else sheet.text_column
    labels = LABELS.of(view)
    if labels == GUESSED:
        labels = places(sheet, label_columns(sheet))
    numbers = [int(i) for i in labels.split(",") if i.isascii() and i.isdigit()]
    chosen_labels = [titles[i] for i in numbers if i < len(titles)]
    return chosen, tuple(name for name in dict.fromkeys(chosen_labels) if name != chosen)


def places(sheet: Sheet, titles: Sequence[str]) -> str:
    """The positions of columns, separated by commas; only as many as fit in an address."""
    every = list(sheet.columns)
    text = ",".join(str(every.index(title)) for title in titles)
    return text if len(text) <= _MAX_CONTROL else text[: _MAX_CONTROL + 1].rpartition(",")[0]
