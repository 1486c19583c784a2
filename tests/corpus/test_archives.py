"""Files within files: .gz, .zip and .xlsx, and what hostile ones do."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from types import SimpleNamespace

import pandas as pd
import pytest

from contextlens.core.errors import CorpusError
from contextlens.corpus import readers
from contextlens.corpus import table as tables
from contextlens.corpus.readers import Table, read
from tests.support.workbooks import HOME, excel, zipped

MAX = 1_000_000
TABLE = b"text\tlabel\nI love my pet python\tpet\nI code in python\tcode\n"


def packed(content: bytes) -> bytes:
    """The content as gzip, the same in every process: it is part of a test's name."""
    return gzip.compress(content, mtime=0)


def table(name: str, content: bytes) -> Table:
    return read(name, content, max_bytes=MAX)


# .gz and .zip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.tsv.gz", packed(TABLE)),
        ("mine.txt.GZ", packed(TABLE[:20]) + packed(TABLE[20:])),
        ("any.zip", zipped({"folder/": b"", "folder/mine.txt": TABLE, "__MACOSX/x": b"1"})),
        ("any.zip", zipped({"mine.tsv": TABLE, ".DS_Store": b"1"}, zipfile.ZIP_STORED)),
    ],
)
def test_the_one_file_in_an_archive_is_read(name: str, content: bytes) -> None:
    sheet = table(name, content)
    assert sheet.columns == {
        "text": ("I love my pet python", "I code in python"),
        "label": ("pet", "code"),
    }
    assert sheet.name == name  # under which a visitor finds it again


ZIPPED = zipped({"a.csv": TABLE})
LOCKED = ZIPPED.replace(
    b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"
)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv.gz", b"nothing", r"cannot be unpacked: it is damaged"),
        ("a.csv.gz", packed(TABLE)[:-9], r"cannot be unpacked: it is damaged"),
        ("a.zip", ZIPPED[:-30], r"cannot be unpacked: it is damaged"),
        ("a.zip", ZIPPED.replace(TABLE[:1], b"", 1)[10:], r"cannot be unpacked: it is damaged"),
        ("a.zip", zipped({}), r"holds no file\. Give an archive with one file"),
        ("a.zip", zipped({"a.csv": b"", "b.csv": b""}), r"holds 2 files \(a\.csv, b\.csv\)"),
        ("a.zip", LOCKED, r"needs a password"),
        ("a.zip", zipped({"a.csv": TABLE}, zipfile.ZIP_LZMA), r"packed in a way that is not read"),
        ("a.zip", zipped({"b.zip": ZIPPED}), r"holds another archive"),
        ("a.gz.gz", packed(packed(TABLE)), r"holds another archive"),
        ("a.tar.gz", packed(TABLE), r"a\.tar is packed in a way that is not read here\. Unpack it"),
        ("a.csv.gz", packed(b""), r"a\.csv is empty"),
        ("a.gz", b"", r"a\.gz is empty"),
        ("a.csv.gz", packed(b"x" * 50_000_000), r"unpacks to more than 1 MB"),
        ("a.zip", zipped({"a.csv": b"x" * 50_000_000}), r"unpacks to more than 1 MB"),
        ("a.zip", b"PK\x01\x02" * 10_001, r"holds over 10,000 files"),
    ],
)
def test_another_archive_is_refused_in_a_sentence(name: str, content: bytes, sentence: str) -> None:
    with pytest.raises(CorpusError, match=sentence):
        table(name, content)


# .xlsx

ROWS = [
    ["text", "label", "n", "is new"],
    ["I love my pet python,\nand you?", "pet", 1, True],
    ['She said "no" & left', "NA", 2.5, False],
    ["One = two", None, None, None],
]


def test_the_first_sheet_of_an_excel_file_is_read() -> None:
    sheet = table("a.xlsx", excel({"empty": [], "hidden": [["no"]], "mine": ROWS}))
    assert sheet.columns == {
        "text": ("I love my pet python,\nand you?", 'She said "no" & left', "One = two"),
        "label": ("pet", "NA", None),
        "n": ("1", "2.5", None),
        "is new": ("TRUE", "FALSE", None),
    }
    assert (sheet.format, sheet.encoding) == ("Excel", "")
    assert sheet.notes == (
        "Only the sheet “mine” was read, one of 2.",
        "1 cell says “NA”: taken as text.",
    )


def test_one_column_of_texts_with_commas_has_no_title_to_guess() -> None:
    sheet = table("a.xlsx", excel({"mine": [["I came, I saw."], ["I left, too."]]}))
    assert sheet.columns == {"column 1": ("I came, I saw.", "I left, too.")}
    assert sheet.notes == (
        "The first row holds no names of columns, guessed: columns are numbered.",
    )


FAR = '<row r="{row}"><c r="A{row}" t="inlineStr"><is><t>far</t></is></c></row>'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"text,label\na,b\n", r"is no Excel file of the kind \.xlsx"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, r"is no Excel file of the kind \.xlsx"),
        (zipped({"a.csv": TABLE}), r"cannot be read as an Excel file: it is damaged"),
        (excel({"mine": []}), r"has no cell in any sheet"),
        (excel({"mine": ROWS})[:-40], r"is no Excel file of the kind \.xlsx"),
        (excel({"mine": ROWS}, more=b"x" * 10_000_001), r"unpacks to 10 MB; at most 10 MB"),
        (excel({"mine": []}, FAR.format(row=1)
               + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
         r"takes more than \d+ MB of memory to read|1,048,576 rows of 16,384 columns"),
        (excel({"mine": [["a"] * 1_001]}), r"1,001 columns, empty ones included; at most 1,000"),
        (b"PK\x01\x02" * 10_001, r"holds over 10,000 parts"),
    ],
)  # fmt: skip
def test_a_hostile_excel_file_is_refused_in_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(CorpusError, match=sentence):
        table("a.xlsx", content)


def test_a_text_that_repeats_in_an_excel_file_is_cut_off_in_time() -> None:
    """The file says it once; as a table it would be 200 MB."""
    rows = "".join('<row><c t="s"><v>0</v></c></row>' for _ in range(20_000))
    strings = f'<sst xmlns="{HOME}/spreadsheetml/2006/main"><si><t>{"x" * 10_000}</t></si></sst>'
    content = excel({"mine": []}, rows, **{"xl/sharedStrings.xml": strings.encode()})
    sheet = table("a.xlsx", content)
    assert 300 <= sheet.n_rows < 320
    assert f"Only the first {sheet.n_rows} lines of the sheet were read." in sheet.notes


def many_cells() -> bytes:
    return excel({"mine": []}, f"<row>{'<c><v>1</v></c>' * 5}</row>" * 1_000_000)


def long_texts() -> bytes:
    stream = io.BytesIO()
    texts = [f"{i:05}" + "x" * 100_000 for i in range(4_000)]
    pd.DataFrame({"text": texts}).to_parquet(stream, compression="zstd")
    return stream.getvalue()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound memory so")
@pytest.mark.parametrize(("name", "make"), [("a.xlsx", many_cells), ("a.parquet", long_texts)])
def test_a_small_file_takes_no_more_than_half_of_the_memory_at_hand(
    name: str, make: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is enough, it is read: 375 MB for its cells, 400 MB for its texts."""
    content = make()
    assert len(content) < MAX
    monkeypatch.setattr(readers, "free_memory", lambda: 300_000_000)
    with pytest.raises(CorpusError, match=r"takes more than 150 MB of memory to read, and there"):
        read(name, content, max_bytes=100 * MAX)
    monkeypatch.setattr(readers, "free_memory", lambda: 4_000_000_000)
    assert read(name, content, max_bytes=100 * MAX).n_rows in {1_000_000, 4_000}


def test_rows_that_half_of_the_memory_at_hand_cannot_hold_are_left_out_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readers, "free_memory", lambda: 2_000_000)
    sheet = table("a.txt", b"a line with words\n" * 50_000)
    assert 0 < sheet.n_rows < 50_000
    assert "Only the first" in sheet.notes[0]
    assert "more take over 1 MB of memory" in sheet.notes[0]


def test_tables_with_the_same_titles_are_joined_with_their_folder_or_split() -> None:
    files = {f"d/{split}.csv": f"text,label\nA man ate in the {split},x\n".encode()
             for split in ("train", "test")}  # fmt: skip
    table = read("d.zip", zipped(files), max_bytes=MAX)
    assert table.columns["split"] == ("train", "test")
    assert "2 files were joined." in table.notes
    other = zipped({**files, "d/test.csv": b"name,age\nAnn,3\n"})
    with pytest.raises(CorpusError, match="holds 2 files"):
        read("d.zip", other, max_bytes=MAX)


def sentences(name: str, n: int = 2) -> bytes:
    return b"text,label\n" + b"".join(b"%s %d,x\n" % (name.encode(), i) for i in range(n))


def test_joined_files_have_one_limit_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MAX_ROWS", 3)
    files = zipped({f"{name}.csv": sentences(name) for name in "abcd"})
    table = read("d.zip", files, max_bytes=MAX)
    assert table.columns["text"] == ("a 0", "a 1", "b 0")
    assert table.notes == (
        "2 files were joined.",
        "2 files with later rows were left out.",
        "Only the first 3 rows were read.",
    )
    files = zipped({f"{name}.csv": sentences(name, 5) for name in "abc"})
    table = read("d.zip", files, max_bytes=MAX)
    assert table.columns["text"] == ("a 0", "a 1", "a 2")
    assert table.notes == (
        "Only the first 3 rows were read.",
        "2 files with later rows were left out.",
    )


def test_files_that_cannot_be_joined_are_counted_and_said_why() -> None:
    files = {"a.csv": sentences("a"), "b.csv": sentences("b"), "c.csv": b"",
             "d.csv": b"\x00\x01\x02\x80\xff" * 99}  # fmt: skip
    table = read("d.zip", zipped(files), max_bytes=MAX)
    assert table.columns["file"] == ("a", "a", "b", "b")
    assert table.notes[:3] == (
        "2 files were joined.",
        "1 empty file was left out.",
        "1 file that cannot be read was left out.",
    )
    assert table.notes[3].startswith("d.csv is not text")
    files = {"a.csv": sentences("a"), "b.csv": sentences("b").replace(b"b 1", b"caf\xe9 au lait")}
    table = read("d.zip", zipped(files), max_bytes=MAX)
    assert any(note.startswith("b.csv: ") and "guessed" in note for note in table.notes)
    with pytest.raises(CorpusError, match=r"d\.csv is not text"):
        read("d.zip", zipped({"d.csv": b"\x00\xff" * 99, "e.csv": b"\x00\xff" * 99}), max_bytes=MAX)


def test_files_beyond_the_number_or_the_time_for_them_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.BytesIO()
    pd.DataFrame({"text": ["I love my python"]}).to_parquet(stream)
    monkeypatch.setattr(readers, "_MAX_PROCESSES", 1)
    table = read("d.zip", zipped(dict.fromkeys(("a.parquet", "b.parquet", "c.parquet"),
                                               stream.getvalue())), max_bytes=MAX)  # fmt: skip
    assert table.n_rows == 1
    assert table.notes == ("2 files beyond the first 1 were left out.",)
    seconds = iter(range(0, 1_000, 50))
    monkeypatch.setattr(readers, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    table = read("d.zip", zipped({f"{name}.csv": sentences(name) for name in "abc"}), max_bytes=MAX)
    assert table.columns["file"] == ("a", "a", "b", "b")
    assert table.notes == (
        "2 files were joined.",
        "1 file beyond the time for reading was left out.",
    )


def test_parquet_files_with_other_columns_each_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readers, "MAX_COLUMNS", 3)
    files = {}
    for name in "ab":
        stream = io.BytesIO()
        pd.DataFrame({f"{name}{i}": ["I love my python"] for i in range(2)}).to_parquet(stream)
        files[f"{name}.parquet"] = stream.getvalue()
    with pytest.raises(CorpusError, match="more than 3 different columns in its files"):
        read("d.zip", zipped(files), max_bytes=MAX)
