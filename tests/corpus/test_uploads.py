"""How much a visitor may upload, and that one file is read at a time."""

from __future__ import annotations

import pytest

from components.core.errors import CorpusError
from components.corpus.uploads import Uploads


def uploads(seconds: float = 0.01) -> Uploads:
    return Uploads(max_files=3, max_bytes=10_000_000, seconds=seconds)


def test_each_visitor_has_so_many_files() -> None:
    own = uploads()
    for _ in range(3):
        with own.reading("a", "mine.txt", 10):
            pass
    with (
        pytest.raises(
            CorpusError,
            match=r"mine\.txt was not read: it would be file 4 of this visit, 0\.0 MB in all; at "
            r"most 3 files and 10 MB are read\. Reload the page to begin a new visit\.",
        ),
        own.reading("a", "mine.txt", 10),
    ):
        pass
    with own.reading("b", "theirs.txt", 10):
        pass


def test_each_visitor_has_so_many_bytes_and_files_that_cannot_be_used_count() -> None:
    own = uploads()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), own.reading("a", "mine.txt", 5_000_000):
            _ = 1 / 0
    with pytest.raises(CorpusError, match=r"10\.0 MB in all"), own.reading("a", "mine.txt", 1):
        pass


def test_one_file_is_read_at_a_time_and_who_waits_too_long_is_told_so() -> None:
    own = uploads()
    with (
        own.reading("a", "mine.txt", 10),
        pytest.raises(CorpusError, match=r"b\.txt was not read: one file is read at a time"),
        own.reading("b", "b.txt", 10),
    ):
        pass
    for visitor in "bbb":  # what was not read does not count
        with own.reading(visitor, "b.txt", 10):
            pass
