"""The operator's folder: which files are offered, under which names, and what goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from components.core.errors import CorpusError
from components.corpus.bundled import MOST_FILES, offered, read_offered, stored_name
from components.corpus.store.tables import is_name


def write(folder: Path, name: str, text: str = "one\ntwo\n") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_readable_files_are_offered_by_name_and_nothing_else(tmp_path: Path) -> None:
    for name in ("b.csv", "A.TXT", "c.parquet", "notes.docx", "d.jsonl", ".hidden"):
        write(tmp_path, name)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "b.csv")
    assert [file.title for file in offered(tmp_path)] == ["A.TXT", "b.csv", "c.parquet", "d.jsonl"]


@pytest.mark.parametrize("folder", [None, Path("/no/such/folder")])
def test_without_a_folder_nothing_is_offered(folder: Path | None) -> None:
    assert offered(folder) == ()


def test_a_folder_of_many_files_is_bounded(tmp_path: Path) -> None:
    for i in range(MOST_FILES + 5):
        write(tmp_path, f"{i:04}.txt")
    assert len(offered(tmp_path)) == MOST_FILES


def test_a_name_follows_from_file_model_and_content(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv")
    write(tmp_path, "b.csv")
    first, other = offered(tmp_path)
    name = stored_name(first, "model")
    assert is_name(name)
    assert name == stored_name(offered(tmp_path)[0], "model")
    assert len({name, stored_name(other, "model"), stored_name(first, "another")}) == 3
    os.utime(path, (1, 1))
    assert stored_name(offered(tmp_path)[0], "model") != name


def test_a_file_is_read_as_an_upload_is(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "text,label\nI saw a python,x\n")
    sheet = read_offered(offered(tmp_path)[0], max_bytes=1_000)
    assert list(sheet.columns) == ["text", "label"]


def test_what_is_too_large_damaged_or_gone_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "x" * 2_000)
    write(tmp_path, "b.parquet", "no parquet")
    large, damaged = offered(tmp_path)
    with pytest.raises(CorpusError, match=r"at most 0 MB are read here\. Whoever runs"):
        read_offered(large, max_bytes=1_000)
    with pytest.raises(CorpusError):
        read_offered(damaged, max_bytes=1_000_000)
    path.unlink()
    with pytest.raises(CorpusError, match="cannot be read on this server any more"):
        read_offered(large, max_bytes=10_000)
