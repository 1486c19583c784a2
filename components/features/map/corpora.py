"""The texts that can be mapped: the view's sentences, the bundled corpus, and uploaded files.

Uploads are kept in this process, by their content's digest and within a bound, so that a reload
or a copied address finds them again while the server has room; they are never written to disk.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.core.errors import CorpusError
from components.corpus.bundled import ambiguous_corpus
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet, read, to_corpus
from components.features.map.request import PAGE
from components.ui.models.services import settings
from components.ui.state.view import ViewState, letter

__all__ = [
    "Chosen",
    "chosen",
    "columns_of",
    "keep",
    "own_sentences",
    "places",
    "ready_made",
    "sheet_of",
]

_N_SHEETS = 8
_MAX_CONTROL = 200  # characters that an address takes of one control


@dataclass(frozen=True)
class Chosen:
    """A corpus and where it comes from; None where a file is to be chosen first."""

    source: str
    corpus: Corpus | None


class _Sheets:
    """The files that were used last, by digest. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sheets: OrderedDict[str, Sheet] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def put(self, digest: str, sheet: Sheet, n_bytes: int) -> None:
        with self._lock:
            self._sheets[digest] = sheet
            self._sizes[digest] = n_bytes
            self._sheets.move_to_end(digest)
            while len(self._sheets) > 1 and (
                len(self._sheets) > _N_SHEETS
                or sum(self._sizes.values()) > 2 * settings().max_upload_bytes
            ):
                old, _ = self._sheets.popitem(last=False)
                del self._sizes[old]

    def get(self, digest: str) -> Sheet | None:
        with self._lock:
            if digest in self._sheets:
                self._sheets.move_to_end(digest)
            return self._sheets.get(digest)


@st.cache_resource(show_spinner=False)
def _sheets() -> _Sheets:
    return _Sheets()


@st.cache_resource(show_spinner=False, max_entries=8)
def _file_corpus(digest: str, text: str, labels: tuple[str, ...], _sheet: Sheet) -> Corpus:
    del digest  # it stands for the sheet in the cache's key
    return to_corpus(_sheet, text, labels)


def keep(name: str, content: bytes) -> str:
    """Read a file and keep it; gives its digest.

    Raises:
        CorpusError: it cannot be used; what was kept before stays.
    """
    sheet = read(name, content, max_bytes=settings().max_upload_bytes)
    digest = hashlib.sha256(name.encode("utf-8", "replace") + b"\0" + content).hexdigest()[:32]
    _sheets().put(digest, sheet, len(content))
    return digest


def sheet_of(digest: str) -> Sheet | None:
    """The file with a digest, where this process still has it."""
    return _sheets().get(digest) if digest else None


def chosen(view: ViewState) -> Chosen:
    """The corpus that a view names.

    Raises:
        CorpusError: the file's column cannot be used.
    """
    source = str(view.control(PAGE, "source", "ambiguous"))
    if source == "sentences":
        return Chosen(source, own_sentences(view))
    if source != "file":
        return Chosen("ambiguous", ready_made())
    sheet = sheet_of(str(view.control(PAGE, "file", "")))
    if sheet is None:
        return Chosen(source, None)
    text, labels = columns_of(view, sheet)
    digest = str(view.control(PAGE, "file", ""))
    return Chosen(source, _file_corpus(digest, text, labels, sheet))


def columns_of(view: ViewState, sheet: Sheet) -> tuple[str, tuple[str, ...]]:
    """The text column and the label columns of a file that a view names, or else those guessed.

    A view names columns by their place: a title can be longer than an address takes.
    """
    titles = list(sheet.columns)
    text = int(view.control(PAGE, "text", titles.index(sheet.text_column)))
    usual = places(sheet, sheet.label_columns)
    labels = str(view.control(PAGE, "labels", usual)).split(",")
    own = [titles[int(i)] for i in labels if i.isascii() and i.isdigit() and int(i) < len(titles)]
    chosen = titles[text] if 0 <= text < len(titles) else sheet.text_column
    return chosen, tuple(name for name in dict.fromkeys(own) if name != chosen)


def places(sheet: Sheet, titles: Sequence[str]) -> str:
    """Columns by their places, as one control of the view; as many as an address takes."""
    every = list(sheet.columns)
    text = ",".join(str(every.index(title)) for title in titles)
    return text if len(text) <= _MAX_CONTROL else text[: _MAX_CONTROL + 1].rpartition(",")[0]


def ready_made() -> Corpus:
    """The corpus that comes with the app."""
    return ambiguous_corpus()


def own_sentences(view: ViewState) -> Corpus:
    """The view's sentences, each labelled with its letter.

    Raises:
        CorpusError: all of them are empty.
    """
    own = [(letter(i), s.text) for i, s in enumerate(view.sentences) if s.text.strip()]
    if not own:
        raise CorpusError("Your sentences are empty. Type one, or map the ready-made corpus.")
    return Corpus(
        name="Your sentences",
        texts=tuple(text for _, text in own),
        labels={"sentence": tuple(name for name, _ in own)},
    )
