"""Files that are uploaded as corpora, but for Parquet: plain lines, tables, JSON Lines."""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import strategies as st

from components.corpus.readers import MAX_TEXTS, read, to_corpus
from components.corpus.sheet import MAX_COLUMNS, Sheet, clean, max_rows
from tests.fuzz.structure import odd
from tests.fuzz.target import MEGABYTE, Target, check_says, hold, seeds_of

__all__ = ["TARGETS", "check_sheet"]

_MAX_BYTES = MEGABYTE // 2
_NAMES = (
    *("reviews", "x" * 300, "a\nb", "<img src=x onerror=alert(1)>", "=1+1", "\ud800", "🐍" * 90),
    *("../../x", "a.parquet", " ", "[x](http://x)", "\x1b[31m", "C:\\x", "%s {0}", "\u202egnp"),
)
_MOST_NOTES = 2_100  # a note for each of the columns that is left out, or cut, and some more


def _upload(ending: str, content: bytes) -> None:
    """What a page does with a file: its table, its guesses, its first rows, its sentences."""
    name = _NAMES[zlib.crc32(content) % len(_NAMES)] + ending
    check_sheet(read(name, content, max_bytes=_MAX_BYTES))


def check_sheet(sheet: Sheet) -> None:
    """What holds for any table that was taken, and for the corpus that is made of it."""
    hold(0 < len(sheet.columns) <= MAX_COLUMNS, "{} columns", len(sheet.columns))
    hold(0 < sheet.n_rows <= max_rows(len(sheet.columns)), "{} rows", sheet.n_rows)
    hold(len({len(own) for own in sheet.columns.values()}) == 1, "columns of several lengths")
    for cells in (tuple(sheet.columns), *sheet.columns.values()):
        for cell in {cell for cell in cells if cell}:
            hold(clean(cell) == cell, "a cell that no tokenizer reads: {!r}", cell[:80])
    sheet.head(5)
    hold(sheet.text_column in sheet.columns, "a text column that is not there")
    hold(set(sheet.label_columns) <= set(sheet.columns), "a label column that is not there")
    corpus = to_corpus(sheet, sheet.text_column, sheet.label_columns)
    hold(0 < len(corpus.texts) <= MAX_TEXTS, "{} texts", len(corpus.texts))
    hold(all(text.strip() and len(text) <= 20_000 for text in corpus.texts), "a text blank or long")
    for title, labels in corpus.labels.items():
        hold(len(labels) == len(corpus.texts), "{} labels", len(labels))
        hold(all(len(label) <= 200 for label in labels), "a long label of {!r}", title)
    hold(corpus.name.isprintable(), "a name that cannot be printed: {!r}", corpus.name)
    hold(len(corpus.notes) <= _MOST_NOTES, "{} notes", len(corpus.notes))
    for note in set(corpus.notes):
        check_says(note)
    hold(len(corpus.digest) == 64, "no digest")


# How inputs are made

_CODECS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "cp1251", "cp932")
_characters = st.characters() | st.sampled_from("\0\r\n\v\f\x1c\x85\u2028\ufeff\"',;\t| 🐍é你م")
_cells = st.text(_characters, max_size=20) | st.sampled_from(
    ["pet python", "a, b", 'say "hi"', "1", "-0.5", "1e3", "NaN", "", " ", "=1+1", "x" * 300]
)
_titles = st.sampled_from(["text", "label", "Review text", "", "id", "text", "0", "1"]) | _cells


def _encoded(text: str, codec: str) -> bytes:
    return text.encode(codec, "surrogatepass" if codec.startswith("utf") else "replace")


def _lines(rows: list[str], end: str, codec: str) -> bytes:
    return _encoded(end.join(rows), codec)


@st.composite
def _tables(draw: Callable[[st.SearchStrategy[Any]], Any], delimiters: str) -> bytes:
    width = draw(st.sampled_from([1, 2, 2, 3, 5]))
    rows = draw(st.lists(st.lists(_cells, min_size=width, max_size=width), max_size=12))
    if draw(st.booleans()):
        rows.insert(0, draw(st.lists(_titles, min_size=width, max_size=width)))
    if rows and draw(st.integers(0, 3)) == 0:
        draw(st.sampled_from(rows)).append("one more")
    stream = io.StringIO()
    writer = csv.writer(
        stream,
        delimiter=draw(st.sampled_from(delimiters)),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        doublequote=True,
        lineterminator=draw(st.sampled_from(["\n", "\r\n", "\r"])),
    )
    writer.writerows(rows)
    text = stream.getvalue()
    if draw(st.integers(0, 60)) == 0:
        text *= draw(st.sampled_from([100, 2_000]))
    return _encoded(text, draw(st.sampled_from(_CODECS)))


_json = st.recursive(
    _cells | st.integers() | st.floats() | st.none() | st.booleans() | odd,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_titles, inner, max_size=3),
    max_leaves=6,
)
_item = st.dictionaries(_titles, _json, max_size=4) | _cells | _json


def _json_file(items: list[Any], form: str, codec: str, *, ascii_only: bool) -> bytes:
    texts = [json.dumps(item, ensure_ascii=ascii_only) for item in items]
    text = "\n".join(texts) if form == "lines" else f"[{', '.join(texts)}]"
    return _encoded(text * (2_000 if form == "many" else 1), codec)


_json_files = st.builds(
    _json_file,
    st.lists(_item, max_size=8),
    st.sampled_from(["lines", "lines", "lines", "list", "list", "many"]),
    st.sampled_from(_CODECS[:6]),
    ascii_only=st.booleans(),
)
_text_files = st.builds(
    _lines,
    st.lists(_cells, max_size=12),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\u2028"]),
    st.sampled_from(_CODECS),
)
_TOKENS = (
    *(
        b'"',
        b'""',
        b",",
        b";",
        b"\t",
        b"|",
        b"\n",
        b"\r\n",
        b"\n\n\n",
        b'\n"',
        b'",',
        b"text,label",
    ),
    *("私はパイソン".encode("cp932"), "питон".encode("cp1251"), "é".encode("cp1252")),
    *(b"PAR1", b"PK\x03\x04", b'{"text": "a"}', b'"a"', b"[", b"]", b"{}", b", " * 2_000),
)


def _target(kind: str, structure: st.SearchStrategy[bytes], *, is_json: bool = False) -> Target:
    return Target(
        name=kind,
        run=partial(_upload, f".{kind}"),
        structure=structure,
        seeds=partial(seeds_of, kind),
        tokens=_TOKENS,
        is_json=is_json,
        longest=MEGABYTE,
    )


TARGETS = {
    "txt": _target("txt", _text_files),
    "csv": _target("csv", _tables(",;\t|")),
    "tsv": _target("tsv", _tables("\t")),
    "jsonl": _target("jsonl", _json_files, is_json=True),
}
