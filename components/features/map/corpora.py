"""The texts that can be mapped: the view's sentences, the bundled corpus, and uploaded files.

A file is its visitor's alone: it is kept under a name that only that visit knows. What is mapped
of it, the chosen columns and no other, is kept beside it under the digest that stands in the
address, so that whoever has the address finds these texts, and nothing else of the file. All of it
lies in this process's memory, within a bound for each visitor and one for all.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import lru_cache

from components.core import Settings
from components.core.errors import CorpusError
from components.corpus.bundled import ambiguous_corpus
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet, read, to_corpus
from components.corpus.shelf import Shelf
from components.corpus.uploads import Uploads
from components.features.map.controls import FILE, GUESSED, LABELS, SOURCE, TEXT
from components.ui.models.services import settings
from components.ui.state.view import Sentence, ViewState, letter

__all__ = [
    "columns_of",
    "corpus_of",
    "found_again",
    "keep",
    "own_sentences",
    "places",
    "share",
    "sheet_of",
]

_MAX_CONTROL = 200  # characters that an address takes of one control
_N_OWN = 16  # files and mapped columns of one visitor that are kept
_TIMES_UPLOAD = 10  # what one visitor's files may take in memory, in uploads of the largest size
_N_UPLOADS = 100  # files of one visit; they may add up to ten of the largest
_SECONDS = 30.0  # that a file waits while others are read


@lru_cache(maxsize=1)
def _shelf_of(own: Settings) -> Shelf:
    return Shelf(own.file_bytes, max_own_bytes=_own_bytes(own), max_own=_N_OWN)


@lru_cache(maxsize=1)
def _uploads_of(own: Settings) -> Uploads:
    max_bytes = _TIMES_UPLOAD * own.max_upload_bytes
    return Uploads(max_files=_N_UPLOADS, max_bytes=max_bytes, seconds=_SECONDS)


def _shelf() -> Shelf:
    return _shelf_of(settings())


def _own_bytes(own: Settings) -> int:
    """The memory that one visitor's files may take: never all that there is for files."""
    return min(own.file_bytes // 2, _TIMES_UPLOAD * own.max_upload_bytes)


def keep(visitor: str, name: str, content: bytes) -> str:
    """Read a visitor's file and keep it; gives the name under which this visit finds it.

    Raises:
        CorpusError: it cannot be used, or this visit has uploaded too much; what was kept stays.
    """
    own = settings()
    with _uploads_of(own).reading(visitor, name, len(content)):
        sheet = read(name, content, max_bytes=own.max_upload_bytes, max_held=_own_bytes(own))
        n_bytes = sheet.n_bytes
    secret = f"file {uuid.uuid4().hex}"
    _shelf().put(visitor, secret, sheet, n_bytes)
    return secret


def sheet_of(secret: str) -> Sheet | None:
    """The file that was kept under a name, where this process still has it."""
    found = _shelf().get(secret) if secret else None
    return found if isinstance(found, Sheet) else None


def share(visitor: str, sheet: Sheet, text: str, labels: Sequence[str]) -> str:
    """Keep the chosen columns of a file for whoever has their digest, which is given.

    Raises:
        CorpusError: they cannot be used.
    """
    corpus = to_corpus(sheet, text, labels)
    digest = corpus.key[:32]
    _shelf().put(visitor, digest, corpus, corpus.n_bytes)
    return digest


def found_again(visitor: str, view: ViewState, sheet: Sheet) -> bool:
    """Whether a file is the one that a view names; its columns are shared again, if so."""
    try:
        corpus = to_corpus(sheet, *columns_of(view, sheet))
    except CorpusError:
        return False
    is_same = corpus.key[:32] == FILE.of(view)
    if is_same:
        _shelf().put(visitor, FILE.of(view), corpus, corpus.n_bytes)
    return is_same


def corpus_of(view: ViewState) -> Corpus | None:
    """The texts that a view names; None where a file is to be chosen first.

    Raises:
        CorpusError: they cannot be used.
    """
    source = SOURCE.of(view)
    if source == "sentences":
        return own_sentences(view.sentences)
    if source != "file":
        return ambiguous_corpus()
    found = _shelf().get(FILE.of(view))
    return found if isinstance(found, Corpus) else None


def columns_of(view: ViewState, sheet: Sheet) -> tuple[str, tuple[str, ...]]:
    """The text column and the label columns of a file that a view names, or else those guessed.

    A view names columns by their place: a title can be longer than an address takes. They count
    only for a file that its visitor has just uploaded.
    """
    titles = list(sheet.columns)
    text = TEXT.of(view)
    chosen = titles[text] if 0 <= text < len(titles) else sheet.text_column
    labels = LABELS.of(view)
    if labels == GUESSED:
        labels = places(sheet, sheet.label_columns)
    numbers = [int(i) for i in labels.split(",") if i.isascii() and i.isdigit()]
    own = [titles[i] for i in numbers if i < len(titles)]
    return chosen, tuple(name for name in dict.fromkeys(own) if name != chosen)


def places(sheet: Sheet, titles: Sequence[str]) -> str:
    """Columns by their places, as one control of the view; as many as an address takes."""
    every = list(sheet.columns)
    text = ",".join(str(every.index(title)) for title in titles)
    return text if len(text) <= _MAX_CONTROL else text[: _MAX_CONTROL + 1].rpartition(",")[0]


@lru_cache(maxsize=32)
def own_sentences(sentences: tuple[Sentence, ...]) -> Corpus:
    """A view's sentences, each labelled with its letter.

    Raises:
        CorpusError: all of them are empty.
    """
    own = [(letter(i), s.text) for i, s in enumerate(sentences) if s.text.strip()]
    if not own:
        raise CorpusError("Your sentences are empty. Type one, or map the ready-made corpus.")
    return Corpus(
        name="Your sentences",
        texts=tuple(text for _, text in own),
        labels={"sentence": tuple(name for name, _ in own)},
    )
