"""From an uploaded file to a corpus: its table, then the columns that were chosen from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType

from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.corpus.delimited import read_csv, read_lines, read_tsv
from components.corpus.json_lines import read_json_lines
from components.corpus.kinds import N_LABELS
from components.corpus.parquet import read_parquet
from components.corpus.sheet import Cells, Sheet, named

__all__ = ["FORMATS", "MAX_TEXTS", "Sheet", "read", "to_corpus"]

FORMATS = (".txt", ".csv", ".tsv", ".jsonl", ".parquet")
"""Endings of the files that can be read; ".ndjson" is another name for ".jsonl"."""

MAX_TEXTS = 50_000
_MAX_LENGTH = 20_000  # characters of a sentence: forty times what a model reads
_MAX_LABEL = 200  # characters
_MAX_LABELS = 5_000  # different values

_TIMES_HELD = 10  # what a file may take in memory, in uploads of the largest size

_READERS: dict[str, Callable[[str, bytes, int], Sheet]] = {
    ".txt": read_lines,
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
}


def read(name: str, content: bytes, *, max_bytes: int, max_held: int | None = None) -> Sheet:
    """The table in a file, every value as text.

    Args:
        name: the file's name; its ending says how it is read.
        content: the file.
        max_bytes: the largest size allowed.
        max_held: the most memory that its columns may take, in bytes; rows beyond are left out.
            Ten times the largest size unless given.

    Raises:
        CorpusError: it is too large, empty, damaged, or not what its name says.
    """
    ending = "".join(name.strip().rpartition(".")[1:]).casefold()
    if ending not in {*_READERS, ".parquet"}:
        raise CorpusError(
            f"{named(name)} cannot be read: its name must end in one of {', '.join(FORMATS)}. "
            "Save it as one of these, or rename it if it is one."
        )
    if len(content) > max_bytes:
        raise CorpusError(
            f"{named(name)} is {math.ceil(len(content) / 1e5) / 10:,.1f} MB; at most "
            f"{max_bytes / 1e6:,.0f} MB are read here. Split it, or ask whoever runs this server "
            "for a larger CONTEXTLENS_MAX_UPLOAD_MB."
        )
    if not content:
        raise CorpusError(f"{named(name)} is empty. Give a file with at least one sentence.")
    held = _TIMES_HELD * max_bytes if max_held is None else max_held
    if ending == ".parquet":
        return read_parquet(name, content, max_bytes=max_bytes, max_held=held)
    return _READERS[ending](name, content, held)


def to_corpus(
    sheet: Sheet,
    text_column: str,
    label_columns: Sequence[str] = (),
    *,
    max_texts: int = MAX_TEXTS,
) -> Corpus:
    """The sentences of one column and the labels of others, for rows that have a sentence.

    Args:
        sheet: what `read` gave.
        text_column: the title of the column of sentences.
        label_columns: titles of columns whose values label them.
        max_texts: how many are kept, from the first on.

    Raises:
        CorpusError: there is no such column, no sentence in it, or too many different labels.
    """
    cells = _column(sheet, text_column)
    titles = tuple(dict.fromkeys(label_columns))
    labels = {title: _column(sheet, title) for title in titles}
    filled = [i for i, cell in enumerate(cells) if cell and not cell.isspace()]
    if not filled:
        others = [title for title, kind in sheet.kinds.items() if kind != "empty"]
        raise CorpusError(
            f"{named(text_column)} has no text in any of its {len(cells):,} rows. "
            f"Choose another column, such as {named(others[0])}."
            if others
            else f"{named(sheet.name)} has no text in any column."
        )
    kept = filled[:max_texts]
    texts = _stripped(cells, kept)
    notes = [*sheet.notes, *_row_notes(len(cells), len(filled), len(kept)), *_length_notes(texts)]
    own: dict[str, tuple[str, ...]] = {}
    for title, column in labels.items():
        own[title] = _stripped(column, kept)
        notes += _label_notes(title, own[title])
    return Corpus(
        name=named(sheet.name),
        texts=_once(texts, lambda text: text[:_MAX_LENGTH].rstrip()),
        labels=MappingProxyType(
            {title: _once(values, _short_label) for title, values in own.items()}
        ),
        notes=tuple(notes),
    )


def _stripped(cells: Cells, rows: Sequence[int]) -> tuple[str, ...]:
    return _once([cells[i] or "" for i in rows], str.strip)


def _once(texts: Sequence[str], change: Callable[[str], str]) -> tuple[str, ...]:
    """Texts changed, equal ones to one object: a long text may stand in every row."""
    changed = {text: change(text) for text in set(texts)}
    return tuple(changed[text] for text in texts)


def _column(sheet: Sheet, title: str) -> Cells:
    if title not in sheet.columns:
        columns = ", ".join(named(own) for own in list(sheet.columns)[:10])
        more = ", …" if len(sheet.columns) > 10 else ""
        raise CorpusError(
            f"{named(sheet.name)} has no column {named(title)!r}. Choose one of: {columns}{more}."
        )
    return sheet.columns[title]


def _row_notes(n_rows: int, n_filled: int, n_kept: int) -> list[str]:
    notes = []
    if blank := n_rows - n_filled:
        notes.append(f"{_rows(blank)} left out: no text.")
    if beyond := n_filled - n_kept:
        notes.append(f"{_rows(beyond)} left out: only the first {n_kept:,} sentences are used.")
    return notes


def _length_notes(texts: Sequence[str]) -> list[str]:
    if long := sum(len(text) > _MAX_LENGTH for text in texts):
        what = "text was" if long == 1 else "texts were"
        return [f"{long:,} {what} cut to the first {_MAX_LENGTH:,} characters."]
    return []


def _label_notes(title: str, values: Sequence[str]) -> list[str]:
    n_different = len(set(values) - {""})
    if n_different > _MAX_LABELS:
        raise CorpusError(
            f"{named(title)} has {n_different:,} different values; labels may have at most "
            f"{_MAX_LABELS:,}. Choose a column whose values repeat."
        )
    notes = []
    if n_different > N_LABELS:
        notes.append(
            f"{named(title)} has {n_different:,} different values: only the most frequent get a "
            "colour of their own."
        )
    if any(len(value) > _MAX_LABEL for value in values):
        notes.append(f"Labels in {named(title)} were cut to {_MAX_LABEL:,} characters.")
    return notes


def _short_label(value: str) -> str:
    return value if len(value) <= _MAX_LABEL else value[: _MAX_LABEL - 1] + "…"


def _rows(n_rows: int) -> str:
    return f"{n_rows:,} row was" if n_rows == 1 else f"{n_rows:,} rows were"
