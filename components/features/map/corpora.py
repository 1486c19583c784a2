"""The texts that can be mapped: the view's sentences, the bundled corpus, and uploaded files.

Uploads are kept in this process, by their content's digest and within a bound, so that a reload
or a copied address finds them again while the server has room; they are never written to disk.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache, lru_cache

from components.core.errors import CorpusError
from components.corpus.bundled import ambiguous_corpus
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet, read, to_corpus
from components.features.map.controls import FILE, GUESSED, LABELS, SOURCE, TEXT
from components.ui.models.services import settings
from components.ui.state.view import Sentence, ViewState, letter

__all__ = ["columns_of", "corpus_of", "keep", "own_sentences", "places", "sheet_of"]

_N_SHEETS = 8
_MAX_CONTROL = 200  # characters that an address takes of one control


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


@cache
def _sheets() -> _Sheets:
    return _Sheets()


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
    digest = FILE.of(view)
    sheet = sheet_of(digest)
    return None if sheet is None else _of_file(digest, *columns_of(view, sheet))


def columns_of(view: ViewState, sheet: Sheet) -> tuple[str, tuple[str, ...]]:
    """The text column and the label columns of a file that a view names, or else those guessed.

    A view names columns by their place: a title can be longer than an address takes.
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


@lru_cache(maxsize=8)
def _of_file(digest: str, text: str, labels: tuple[str, ...]) -> Corpus:
    sheet = sheet_of(digest)
    if sheet is None:
        raise CorpusError("This file is no longer in memory. Choose it again.")
    return to_corpus(sheet, text, labels)
