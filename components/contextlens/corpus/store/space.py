"""The disk space of stored corpora: estimated in advance, and checked as they grow.

Until a corpus is done, it counts with its estimated size if that is larger than its present size.
So space that is promised to one corpus is not promised to the next. Before each commit the size is
compared with the bounds. A part of the disk stays free for everything else.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import Indexing
from contextlens.corpus.store.rows import words_of
from contextlens.corpus.table import named

__all__ = [
    "COMMIT_BYTES",
    "FREE_BYTES",
    "Space",
    "check_export_space",
    "estimated_bytes",
    "export_folder",
]

FREE_BYTES = 500_000_000
"""Bytes of a disk that stay free for everything else."""

COMMIT_BYTES = 16_000
"""Bytes for what a commit writes besides its rows, and for the corpus's final description."""

_DAY = 86_400.0  # seconds
_N_SAMPLES = 500
_OVERHEAD = 1.1
"""The factor for vectors: their index takes less than a tenth."""
_LIGHT = 40  # bytes of an occurrence beside its vectors
_MAX_WORDS = 400  # words that a model reads of one text
_STORED = "What was stored can be used; for the rest"


def estimated_bytes(corpus: Corpus, indexing: Indexing) -> int:
    """Return the estimated bytes of a corpus with vectors, by a sample of its texts and labels."""
    n = len(corpus.texts)
    if not n:
        return 0
    places = slice(None, None, max(1, n // _N_SAMPLES))
    sample = corpus.texts[places]
    n_words = sum(min(_MAX_WORDS, len(words_of(text))) for text in sample)
    columns = (sample, *(labels[places] for labels in corpus.labels.values()))
    n_characters = sum(len(text.encode("utf-8", "replace")) for texts in columns for text in texts)
    n_bytes = n_words * (_OVERHEAD * indexing.row_bytes + _LIGHT) + n_characters
    return int(n_bytes * n / len(sample))


class Space:
    """The bounds of a place where corpora are stored.

    Args:
        max_bytes: the most bytes of all corpora.
        max_corpus_bytes: the most bytes of one corpus.
    """

    def __init__(self, max_bytes: int, max_corpus_bytes: int) -> None:
        self._max, self._max_corpus = max_bytes, max_corpus_bytes

    def check_new(self, title: str, n_bytes: int, *, reserved: int, free: int | None) -> None:
        """Check that a corpus of about so many bytes may be stored.

        Args:
            title: its title.
            n_bytes: the bytes that it is likely to take.
            reserved: the bytes reserved for all other corpora.
            free: the free bytes on the disk, if known.

        Raises:
            CorpusError: there is no room for it.
        """
        would = f"{named(title)} would take about {_mb(n_bytes)} here, with its vectors"
        left, usable = self._max - reserved, _usable(free)
        if n_bytes > self._max_corpus:
            raise CorpusError(
                f"{would}; one corpus may take {_mb(self._max_corpus)}. Choose fewer layers, or a "
                "shorter file."
            )
        if n_bytes > left:
            raise CorpusError(
                f"{would}; there is room for {_mb(max(0, left))} more of all corpora. Delete one, "
                "or choose fewer layers or a shorter file."
            )
        if usable is not None and n_bytes > usable:
            raise CorpusError(
                f"{would}, and the disk has {_mb(usable)} left for corpora. Make room, or choose "
                "fewer layers or a shorter file."
            )

    def check_growth(self, title: str, n_bytes: int, *, others: int, free: int | None) -> None:
        """Check that a corpus may grow to so many bytes.

        Args:
            title: its title.
            n_bytes: the bytes that it will take after the next commit.
            others: the bytes counted for all other corpora.
            free: the bytes that will be free on the disk then, if known.

        Raises:
            CorpusError: it may not. Indexing stops, and the finished part can be used.
        """
        usable = _usable(free)
        if n_bytes > self._max_corpus:
            raise CorpusError(
                f"{named(title)} would grow to {_mb(n_bytes)}; one corpus may take "
                f"{_mb(self._max_corpus)}. {_STORED}, index a shorter file or fewer layers."
            )
        if n_bytes + others > self._max:
            raise CorpusError(
                f"{named(title)} has no room to grow: all corpora here may take {_mb(self._max)}. "
                f"{_STORED}, delete a corpus and go on."
            )
        if usable is not None and usable <= 0:
            raise CorpusError(
                f"{named(title)} has no room to grow: {_mb(FREE_BYTES)} of the disk stay free for "
                f"everything else. {_STORED}, make room and go on."
            )


def export_folder(data_folder: Path) -> Path:
    """Return the folder that exports are written in, on the volume of the data folder.

    That volume reports correctly how much is free. A container's temporary folder often reports the
    free space of the whole machine, however small its own limit is. Files left here by a process
    that has ended are deleted after a day.
    """
    folder = data_folder / "exports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.iterdir():
        with suppress(OSError):  # another process was quicker
            if left.stat().st_mtime < time.time() - _DAY:
                shutil.rmtree(left, ignore_errors=True)
    return folder


def check_export_space(title: str, n_bytes: int, folder: Path) -> None:
    """Check that the disk of a folder has room for an export of so many bytes.

    Raises:
        CorpusError: it has no room.
    """
    usable = max(0, shutil.disk_usage(folder).free - FREE_BYTES)
    if n_bytes > usable:
        raise CorpusError(
            f"The file of {named(title)} would take up to {_mb(n_bytes)} more, and this server has "
            f"{_mb(usable)} for files on their way. Ask whoever runs it to make room."
        )


def _usable(free: int | None) -> int | None:
    return None if free is None else max(0, free - FREE_BYTES)


def _mb(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 10e6 else f"{n_bytes / 1e6:,.1f} MB"
