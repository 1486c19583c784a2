"""Visitors' files in memory: each its visitor's alone, and all of them within bounds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from contextlens.core.errors import CorpusError
from contextlens.ui.files import uploads
from contextlens.ui.files.uploads import forget_all, keep, keep_shared, shared, table_of
from tests.support.pages import app_settings

TABLE = b"kind,text,where\npet,I love my pet python,home\nlanguage,I code in python,work\n"
ME = "a visit"
TITLES = ["kind", "text", "where"]


@pytest.fixture(autouse=True)
def _app() -> Iterator[None]:
    forget_all()
    with app_settings(ALLOW_DOWNLOADS="0", MAX_UPLOAD_MB="1"):
        yield


def lines(*texts: str) -> bytes:
    return "\n".join(texts).encode()


def test_a_file_is_found_again_by_the_name_that_its_visitor_was_given() -> None:
    secret = keep(ME, "mine.csv", TABLE)
    sheet = table_of(secret)
    assert sheet is not None
    assert sheet.name == "mine.csv"
    assert list(sheet.columns) == TITLES
    assert keep(ME, "mine.csv", TABLE) != secret  # nobody can compute it from the file
    assert shared(secret) is None  # no digest in an address gives a whole file


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.pdf", b"%PDF"),
        ("mine", b"text"),
        ("mine.csv", b""),
        ("mine.txt", b" \n \n"),
        ("mine.parquet", b"PAR1 and no more"),
        ("mine.jsonl", b"{"),
        ("mine.txt", b"word " * 250_000),
    ],
    ids=["kind", "no ending", "empty", "blank", "damaged", "no JSON", "too large"],
)
def test_what_cannot_be_read_leaves_what_was_kept(name: str, content: bytes) -> None:
    secret = keep(ME, "mine.csv", TABLE)
    before = table_of(secret)
    with pytest.raises(CorpusError) as caught:
        keep(ME, name, content)
    assert str(caught.value).endswith((".", "?"))
    assert before is not None
    assert table_of(secret) is before


def test_files_of_one_visitor_never_push_out_those_of_another() -> None:
    """Eight one-line files once did."""
    theirs = keep("another visit", "theirs.csv", TABLE)
    keep_shared("another visit", "a digest", "what they chose", 100)
    own = [keep("a third visit", f"{i}.txt", lines(f"text {i}")) for i in range(40)]
    assert table_of(theirs) is not None
    assert shared("a digest") == "what they chose"
    assert [table_of(secret) is not None for secret in own] == [False] * 24 + [True] * 16


def test_what_files_take_in_memory_is_counted_and_not_their_size() -> None:
    """Four bytes of a file become over sixty: 10 MB have room here for each visitor."""
    short = lines(*(f"{i:03}" for i in range(60_000)))
    assert len(short) < 400_000
    own = [keep(ME, f"{i}.txt", short) for i in range(4)]
    assert [table_of(secret) is not None for secret in own] == [False, False, True, True]


def test_a_file_that_would_take_more_is_read_as_far_as_it_goes_and_it_is_said() -> None:
    with app_settings(ALLOW_DOWNLOADS="0", MAX_UPLOAD_MB="1", FILES_MB="8"):
        sheet = table_of(keep(ME, "short.txt", lines(*(f"{i:03}" for i in range(100_000)))))
    assert sheet is not None
    assert sheet.n_rows < 100_000
    assert 3_900_000 < sheet.n_bytes <= 4_010_000
    assert f"the first {sheet.n_rows:,} rows were read: more take over 4 MB" in sheet.notes[-1]


def test_one_file_is_read_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    inside, most = 0, 0
    read = uploads.read

    def watched(*args: Any, **kwargs: Any) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.01)
        found = read(*args, **kwargs)
        inside -= 1
        return found

    monkeypatch.setattr(uploads, "read", watched)
    with ThreadPoolExecutor(8) as pool:
        own = list(pool.map(lambda i: keep(f"visit {i}", "mine.csv", TABLE), range(8)))
    assert most == 1
    assert all(map(table_of, own))
