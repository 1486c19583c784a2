"""A file as a table of text, the result of every reader, and the bounds for all readers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, pairwise
from statistics import fmean
from types import MappingProxyType
from typing import Literal

from contextlens.core.errors import CorpusError
from contextlens.core.schema import TEST, TRAIN, VALIDATION
from contextlens.corpus.file_vectors import FileVectors
from contextlens.corpus.label_cells import (
    SeveralLabels,
    SpeltApart,
    several_labels,
    spelt_apart,
)
from contextlens.corpus.leftovers import cleaned, leftovers_in

__all__ = [
    "LABEL_NAMES",
    "MAX_COLUMNS",
    "MAX_SCANNED",
    "N_LABELS",
    "TEXT_NAMES",
    "Cells",
    "ColumnKind",
    "Form",
    "Table",
    "clean",
    "counts_up",
    "cut_note",
    "guess_text_column",
    "is_number",
    "is_numbered",
    "kind_of",
    "label_rank",
    "max_rows",
    "named",
    "nothing_fits",
    "table_of",
    "text_pair",
    "titled_sides",
    "unique",
]


# --- The kinds of columns

ColumnKind = Literal["text", "label", "number", "empty", "many"]

N_LABELS = 50
"""The most different values in a column of labels."""

TEXT_NAMES = (
    *("text", "texts", "sentence", "sentences", "content", "review", "body", "comment"),
    *("document", "tweet", "message", "abstract", "utterance", "question", "description"),
    *("headline", "title"),
)
"""Titles of columns that hold sentences, the likeliest first."""

LABEL_NAMES = (
    *("label", "labels", "class", "category", "target", "sentiment", "score", "rating", "stars"),
    *("topic", "split", "lang", "language", "source", "author", "user", "name", "date", "year"),
    *("id", "index", "word", "sense", "tag", "tags", "intent", "emotion"),
    *("is_duplicate", "quality", "similarity", "relatedness", "gold_label", "idx", "lemma"),
)
"""Other titles that distinguish a header from a row of values."""

_LABELS = (
    *("label", "labels", "gold label", "gold", "is duplicate", "duplicate", "quality"),
    *("is paraphrase", "paraphrase", "is same", "same", "same sense", "relatedness score"),
    *("similarity score", "similarity", "relatedness", "score", "target", "class", "tag"),
)
"""Titles of labels in their words, those of pairs first, the likeliest first."""
_LABEL_ENDS = (
    *("label", "labels", "score", "class", "category", "sentiment", "rating", "stars", "target"),
    *("judgment", "judgement", "gold", "sense", "emotion", "intent", "topic", "similarity"),
)
"""Last words of other titles of labels, such as "entailment_label"."""
_ID_ENDS = ("id", "ids", "idx", "index", "guid", "uid", "uuid", "number", "no", "nr", "unnamed")
_MAX_GRADES = 1_000  # different values under a title of labels

_SIDES = {
    **dict.fromkeys(("1", "a", "left", "first"), 0),
    **dict.fromkeys(("2", "b", "right", "second"), 1),
}
_PAIR_STEMS = (
    *("text", "sentence", "sent", "context", "example", "s", "question", "usage", "string"),
    *("source", "premise", "caption"),
)
"""Titles of the two texts of a pair without their 1 and 2, the likeliest first."""
_NAMED_PAIRS = (
    *(("premise", "hypothesis"), ("text", "hypothesis"), ("question", "sentence")),
    *(
        ("query", "passage"),
        ("query", "document"),
        ("question", "passage"),
        ("question", "context"),
    ),
    *(("question", "answer"), ("anchor", "positive"), ("sentence", "paraphrase")),
    ("original", "paraphrase"),
    *(("source", "target"), ("sentence", "reference")),
)
_WORDS_OF_TITLE = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONG_WORD = re.compile(r"\w{4,}")
_MAX_DATE_WORDS = 6
_N_PAIRED = 6  # columns of sentences among which a pair is looked for
_NUMBERED = re.compile(r"column \d+")

_SPLIT_TITLES = {(word,) for word in ("split", "set", "subset", "part", "partition", "fold")}

_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?%?\s*", re.ASCII)
_N_NUMBERS = 20  # different numbers that may still be grades or classes
_SAMPLE = 1_000  # different values that are examined
_CUT = 1_000  # characters of each
_ABOUT_AS_LONG = 0.75  # of the longest column: the first one of about that length is the text
_MAX_NUMBER_LENGTH = 18  # digits
_ROUNDED = re.compile(r"\s*\d(?:[.,]\d{1,14})?[eE]\+(?:1[1-9]|2\d)\s*", re.ASCII)
"""A whole number of twelve digits or more, as a spreadsheet writes it: "1.20E+18"."""


def is_number(text: str) -> bool:
    """True if a text is a number, as a spreadsheet writes one: "12", "-0.5", "1e-3", "40%"."""
    return len(text) <= 400 and _NUMBER.fullmatch(text) is not None


def kind_of(cells: Sequence[str | None]) -> ColumnKind:
    """Return the kind of a column from its values.

    Returns:
        "empty" without any value, "text" for sentences, "number", "label" for few different values
        (numbers too), "many" for names and other values that hardly repeat.
    """
    different = [cell for cell in dict.fromkeys(cells) if cell and not cell.isspace()]
    if not different:
        return "empty"
    n_values = sum(1 for cell in cells if cell and not cell.isspace())
    if all(is_number(value) for value in islice(different, _SAMPLE)):
        few = len(different) <= min(_N_NUMBERS, max(2, n_values // 2))
        return "label" if few else "number"
    if _reads_like_text(different) and (
        len(different) > _N_NUMBERS or len(different) * 2 > n_values
    ):
        return "text"
    few = len(different) <= N_LABELS and (len(different) < n_values or n_values <= 2)
    return "label" if few else "many"


def _reads_like_text(different: Sequence[str]) -> bool:
    """True if values have three words or more on average, or a script without spaces."""
    sample = [value[:_CUT] for value in islice(different, _SAMPLE)]
    if sum(value.lstrip().startswith(("{", "[")) for value in sample) * 2 > len(sample):
        return False  # nested values, written as JSON
    joined = "".join(sample)
    foreign = len(joined) - len(joined.encode("ascii", "ignore"))
    if foreign * 2 > len(joined) and fmean(map(len, sample)) >= 8:
        return True
    return fmean(len(value.split()) for value in sample) >= 3


def guess_text_column(
    columns: Mapping[str, Sequence[str | None]], kinds: Mapping[str, ColumnKind]
) -> str:
    """Return the column most likely to hold sentences: by kind, then by title, then by length.

    Of two texts of a pair it is the first. A column of numbers, dates or codes without letters
    comes last, whatever its title; dates in words come after other sentences. A column of labels
    is never it while another one has a value or the title of texts.
    """
    filled = [title for title in columns if kinds[title] != "empty"]
    numeric = {title for title in filled if _is_numeric(columns[title])}
    worded = [title for title in filled if title not in numeric]
    sentences = [title for title in _sentences(columns, kinds) if title not in numeric]
    undated = [title for title in sentences if not _is_dated(columns, title)]
    titles = undated or sentences or worded or filled or list(columns)
    if all(_is_labels(title, kinds[title]) for title in titles):
        others = [title for title in worded if not _is_labels(title, kinds[title])]
        named_so = [title for title in columns if _rank(title) < len(TEXT_NAMES)]
        titles = others or named_so or titles
    best = min(map(_rank, titles), default=0)
    lengths = {title: _mean_length(columns[title]) for title in titles if _rank(title) == best}
    longest = max(lengths.values(), default=0)
    chosen = next((title for title, n in lengths.items() if n >= _ABOUT_AS_LONG * longest), "")
    first, second = _titled_pair(columns, kinds)
    return first if chosen == second else chosen


def _is_labels(title: str, kind: ColumnKind) -> bool:
    return kind == "label" and label_rank(title) is not None


def text_pair(sheet: Table) -> tuple[str, str]:
    """Return the columns most likely to hold the two texts of a pair; "" for one that is missing.

    A file with a single column of sentences has no second text: its labels, days and numbers are
    none, nor are sentences of another kind, such as the authors beside an abstract. Two columns of
    words make a pair if no column holds sentences, unless only one of them repeats few values.
    """
    columns, kinds = sheet.columns, sheet.kinds
    first, second = _titled_pair(columns, kinds)
    if second:
        return first, second
    texts = _sentences(columns, kinds)
    for first, second in combinations(texts[:_N_PAIRED], 2):
        if _are_comparable(columns, first, second):
            return first, second
    if texts or _rank(sheet.text_column) < len(TEXT_NAMES):
        return sheet.text_column, ""
    ends = _ends(columns)
    words = ends.get(("word",), ["", ""])
    if all(words):
        return words[0], words[1]
    worded = [
        title
        for title, kind in kinds.items()
        if kind in {"many", "label"} and not _is_numeric(columns[title])
        and label_rank(title) is None and not _is_id(title)
    ]  # fmt: skip
    pairs = (both for both in combinations(worded, 2) if kinds[both[0]] == kinds[both[1]])
    lone = min(worded, key=lambda title: kinds[title] == "label", default=sheet.text_column)
    return next(pairs, (lone, ""))


def _are_comparable(columns: Mapping[str, Sequence[str | None]], first: str, second: str) -> bool:
    """True if two columns of sentences are likely the texts of pairs.

    Such columns are about equally long, and not one of them has dates. If they have titles, which
    say nothing of a pair, the texts of a row must have more words in common than others have.
    """
    rows = zip(columns[first], columns[second], strict=True)
    pairs = [(a[:_CUT], b[:_CUT]) for a, b in islice(rows, _SAMPLE) if a and b]
    if not pairs or _is_dated(columns, first) != _is_dated(columns, second):
        return False
    sides = list(zip(*pairs, strict=True))
    shorter, longer = sorted(fmean(map(len, side)) for side in sides)
    if 2 * shorter < longer:
        return False
    are_sides = [_SIDES.get(title.strip().casefold()) for title in (first, second)] == [0, 1]
    if are_sides or (is_numbered(first) and is_numbered(second)):
        return True
    words, others = ([set(_LONG_WORD.findall(text.casefold())) for text in side] for side in sides)
    half = len(pairs) // 2
    strangers = [*others[half:], *others[:half]] if half else [set[str]()]
    n_common, n_by_chance = (
        sum(len(a & b) for a, b in zip(words, side, strict=True)) for side in (others, strangers)
    )
    return n_common > 2 * n_by_chance


def _sentences(
    columns: Mapping[str, Sequence[str | None]], kinds: Mapping[str, ColumnKind]
) -> list[str]:
    """Return the columns of sentences; if there are none, those of a few that repeat."""
    texts = [title for title, kind in kinds.items() if kind == "text"]
    return texts or [
        title
        for title, kind in kinds.items()
        if kind == "label" and _reads_like_text(list(dict.fromkeys(filter(None, columns[title]))))
    ]


def _titled_pair(
    columns: Mapping[str, Sequence[str | None]], kinds: Mapping[str, ColumnKind]
) -> tuple[str, str]:
    """Return the texts of a pair by their titles: "sentence1", "#1 String" or "premise"."""
    found = [
        (_stem_rank(stem), order, both)
        for order, (stem, both) in enumerate(_ends(columns).items())
        if all(both)
        and (
            all(kinds[title] == "text" for title in both)
            or (_stem_rank(stem) < len(_PAIR_STEMS) and "number" not in map(kinds.get, both))
        )
    ]
    if found:
        first, second = min(found)[-1]
        return first, second
    plain = {" ".join(_words(title)): title for title in reversed(list(columns))}
    for first, second in _NAMED_PAIRS:
        if first in plain and second in plain and kinds[plain[second]] in {"text", "many"}:
            return plain[first], plain[second]
    return "", ""


def _ends(columns: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """Return titles that differ by 1 and 2, or a and b, as [first, second], by what they share."""
    ends: dict[tuple[str, ...], list[str]] = {}
    for title in columns:
        words = _words(title)
        for i, word in enumerate(words):
            stem, side = word[:-1], word[-1]
            if word in _SIDES and len(words) > 1:
                rest, side = (*words[:i], *words[i + 1 :]), word
            elif side in "ab" and stem in _PAIR_STEMS:  # "texta"
                rest = (*words[:i], stem, *words[i + 1 :])
            else:
                continue
            both = ends.setdefault(rest, ["", ""])
            both[_SIDES[side]] = both[_SIDES[side]] or title
    return ends


def titled_sides(titles: Iterable[str]) -> tuple[str, str]:
    """Return two titles that differ by 1 and 2, or by a and b, in that order; "" for none."""
    first, second = next(filter(all, _ends(titles).values()), ("", ""))
    return first, second


def _stem_rank(stem: tuple[str, ...]) -> int:
    joined = " ".join(stem)
    return _PAIR_STEMS.index(joined) if joined in _PAIR_STEMS else len(_PAIR_STEMS)


def _words(title: str) -> tuple[str, ...]:
    """Return the words and numbers of a title: ("sentence", "1") for "sentence1"."""
    return tuple(_WORDS_OF_TITLE.findall(_CAMEL.sub(" ", title).casefold()))


def label_rank(title: str) -> int | None:
    """Return the place of a title among the usual ones of labels, from 0; None for another."""
    words = _words(title)
    joined = " ".join(words)
    if joined in _LABELS:
        return _LABELS.index(joined)
    return len(_LABELS) if words and words[-1] in _LABEL_ENDS else None


def is_numbered(title: str) -> bool:
    """True if a title was made for a column without one."""
    return _NUMBERED.fullmatch(title) is not None


def counts_up(cells: Sequence[str | None]) -> bool:
    """True if a column counts rows: whole numbers that rise, or mostly go on by one."""
    given = [cell.strip() for cell in cells if cell and not cell.isspace()]
    if not given or not all(cell.isascii() and cell.isdigit() for cell in given):
        return False
    numbers = [int(cell[:_MAX_NUMBER_LENGTH]) for cell in given]
    steps = [after - before for before, after in pairwise(numbers)]
    return bool(steps) and (min(steps) > 0 or 4 * steps.count(1) >= 3 * len(steps))


def _is_split(title: str, cells: Sequence[str | None]) -> bool:
    values = {cell.strip().casefold() for cell in set(cells) if cell} - {""}
    has_both = not (values.isdisjoint(TRAIN) or values.isdisjoint((*TEST, *VALIDATION)))
    return has_both and (
        values <= {*TRAIN, *TEST, *VALIDATION} or _words(title)[-1:] in _SPLIT_TITLES
    )


def _is_id(title: str) -> bool:
    words = [word for word in _words(title) if not word.isdigit()]
    return bool(words) and words[-1] in _ID_ENDS


def _is_numeric(cells: Sequence[str | None]) -> bool:
    """True if most values have a digit and no letter: "12", "1,5", "2024-01-31", "0.1 0.2"."""
    sample = [cell[:_CUT] for cell in islice(filter(None, cells), _SAMPLE) if not cell.isspace()]
    n_numeric = sum(
        is_number(cell) or (any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell)))
        for cell in sample
    )
    return 2 * n_numeric > len(sample)


def _is_dated(columns: Mapping[str, Sequence[str | None]], title: str) -> bool:
    """True if a column without a title of texts likely has dates: "Monday, 3 May 2024"."""
    cells = [cell for cell in islice(filter(None, columns[title]), _SAMPLE) if not cell.isspace()]
    return _rank(title) == len(TEXT_NAMES) and all(
        any(map(str.isdigit, cell)) and len(cell.split()) <= _MAX_DATE_WORDS for cell in cells
    )


def _rank(title: str) -> int:
    plain = " ".join(word for word in _words(title) if word not in _SIDES) or title
    return TEXT_NAMES.index(plain) if plain in TEXT_NAMES else len(TEXT_NAMES)


def _mean_length(cells: Sequence[str | None]) -> float:
    return fmean([len(cell) for cell in islice(filter(None, cells), _SAMPLE)] or [0])


Cells = tuple[str | None, ...]
Form = Literal["", "lines", "table", "plain"]
"""What a file is read as; "" if that is to be guessed, "plain" if no other tool wrote it."""

MAX_COLUMNS = 1_000
MAX_SCANNED = 2_000_000
"""The most rows, lines or items that are read, blank and bad ones included."""

_MAX_ROWS = 1_000_000
_MAX_CELLS = 10_000_000  # some 600 MB of memory if every cell is a short text of its own
_MAX_NAME = 80
_OF_EXPORTS = ("text", "anchor")  # the texts, as the readers of exports title them
_REFERENCE = 8  # bytes


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, every value as text.

    Attributes:
        name: the file's name, as given.
        format: "TXT" for lines, or "CSV", "TSV", "JSON", "JSONL", "Excel" or "Parquet".
        columns: the cells of each column by title, equally many; None for a missing cell. No cell
            holds a NUL or half of a surrogate pair.
        encoding: the encoding of the bytes; "" for Parquet.
        notes: what was guessed, replaced or cut, in a sentence each; names no column.
        left_out: the columns that were not read and why, in a sentence each.
        content: the bytes of a file that can be read in another way, too; b"" for others.
        export: the tool that wrote it, if that was guessed; "" for a plain file.
        metadata: the columns that a survey tool fills, which label no text.
        sheets: the titles of the sheets of an Excel file, the one read first; () for others.
        annotators: how the annotations of several people were read; "" if there are none.
        annotator: the column that says whose annotation a row is; "" if there is none.
        has_marks: True if another tool's marks are rows.
        vectors: those that the file or a second one gives, a row for each row.
    """

    name: str
    format: str
    columns: Mapping[str, Cells]
    encoding: str = ""
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    content: bytes = b""
    export: str = ""
    metadata: frozenset[str] = frozenset()
    sheets: tuple[str, ...] = ()
    annotators: Literal["", "apart", "by majority"] = ""
    annotator: str = ""
    has_marks: bool = False
    vectors: tuple[FileVectors, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))

    @cached_property
    def n_bytes(self) -> int:
        """The memory that its columns take: it may be much more or less than the file's size."""
        columns = sum(map(size_of, self.columns.values())) + sum(map(sys.getsizeof, self.columns))
        return columns + len(self.content) + sum(own.n_bytes for own in self.vectors)

    @cached_property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The likely kind of each column."""
        return MappingProxyType({title: kind_of(cells) for title, cells in self.columns.items()})

    @cached_property
    def text_column(self) -> str:
        """The column that most likely holds the sentences; the readers of exports know it."""
        if self.export and (known := next((t for t in _OF_EXPORTS if t in self.columns), "")):
            return known
        return guess_text_column(self.columns, self.kinds)

    @property
    def is_clear(self) -> bool:
        """True if only one column can hold the texts, and nothing else about them is in doubt.

        In doubt are lines that may be a table, files of other tools, texts with left-overs of
        another format, labels that may be several or one, and columns that may hold vectors.
        """
        if self.content or self.export or self.leftovers or self.vectors:
            return False
        if self.several_labels is not None or self.spelt_apart is not None:
            return False
        return self.has_clear_texts

    @property
    def has_clear_texts(self) -> bool:
        """True if only one column can hold the texts."""
        texts = [
            title
            for title in _sentences(self.columns, self.kinds)
            if not (_is_numeric(self.columns[title]) or _is_dated(self.columns, title))
        ]
        filled = [title for title, kind in self.kinds.items() if kind != "empty"]
        return (texts or filled) == [self.text_column]

    @cached_property
    def label_columns(self) -> tuple[str, ...]:
        """The columns that are likely labels: by their titles, or for their few different values.

        A first column without a title may hold the numbers of classes. Numbers of rows, and the
        texts of a pair, are none.
        """
        texts = {self.text_column, *text_pair(self)}
        return tuple(title for title in self.columns if title not in texts and self._labels(title))

    def _labels(self, title: str) -> bool:
        kind, cells = self.kinds[title], self.columns[title]
        if (
            title in self.metadata
            or kind in {"empty", "text"}
            or (kind == "number" and _is_id(title))
        ):
            return False
        if label_rank(title) is not None:
            return kind == "label" or len(set(cells)) <= _MAX_GRADES
        if kind == "label":
            return not (_is_numeric(cells) and (_is_id(title) or counts_up(cells)))
        is_first = is_numbered(title) and title == next(iter(self.columns))
        return is_first and kind == "number" and len(set(cells)) <= _N_NUMBERS and not (
            counts_up(cells) or any("." in cell for cell in cells if cell)
        )  # fmt: skip

    @cached_property
    def several_labels(self) -> SeveralLabels | None:
        """The column whose cells likely hold several labels, if there is one."""
        return several_labels(self)

    @cached_property
    def spelt_apart(self) -> SpeltApart | None:
        """The column whose labels differ in letter case or in spaces only, if there is one."""
        return spelt_apart(self)

    @cached_property
    def leftovers(self) -> tuple[str, ...]:
        """Examples of what another format left in the texts, such as "<br />"."""
        return leftovers_in(self.columns)

    def without_leftovers(self) -> Table:
        """The same table without the left-overs."""
        columns, n_changed = cleaned(self.columns)
        cells_were = "cell was" if n_changed == 1 else "cells were"
        note = f"{n_changed:,} {cells_were} cleaned of what another format had left."
        return self.changed(columns, note)

    def changed(self, columns: Mapping[str, Cells], note: str) -> Table:
        """Return the table with other columns and a note that says why; it stays a table."""
        notes = (*self.notes, note)
        return replace(self, columns=MappingProxyType(columns), notes=notes, content=b"")

    @cached_property
    def split_column(self) -> str:
        """The column that separates training from test or validation; "" for none."""
        found = [title for title in self.columns if _is_split(title, self.columns[title])]
        titled = [title for title in found if _words(title)[-1:] in _SPLIT_TITLES]
        return next(iter((*titled, *found)), "")

    def head(self, n: int) -> list[dict[str, str | None]]:
        """Return the first rows, for a preview."""
        rows = islice(zip(*self.columns.values(), strict=True), max(n, 0))
        return [dict(zip(self.columns, row, strict=True)) for row in rows]


def table_of(
    name: str,
    kind: str,
    columns: Mapping[str, Sequence[str | None]],
    *,
    encoding: str = "",
    notes: Iterable[str] = (),
    left_out: Iterable[str] = (),
) -> Table:
    """Return a sheet with the columns that were read.

    Raises:
        CorpusError: all cells are empty.
    """
    if not any(cell and not cell.isspace() for cells in columns.values() for cell in cells):
        raise CorpusError(
            f"{named(name)} holds nothing but blanks. Give a file with at least one sentence."
        )
    column_cells = MappingProxyType({title: tuple(cells) for title, cells in columns.items()})
    said = (*notes, *_rounded_notes(column_cells))
    return Table(name, kind, column_cells, encoding, said, tuple(left_out))


def _rounded_notes(columns: Mapping[str, Cells]) -> list[str]:
    """Return a note on long numbers of which a spreadsheet kept only the first digits."""
    n_rounded, example = 0, ""
    for title, cells in columns.items():
        head = next(filter(None, cells), "")
        if not (_is_id(title) or "E+" in head):
            continue
        rounded = [cell for cell in cells if cell and _ROUNDED.fullmatch(cell)]
        n_rounded += len(rounded)
        example = example or next(iter(rounded), "").strip()
    if not n_rounded:
        return []
    cells_are = "long number is" if n_rounded == 1 else "long numbers are"
    return [
        f"{n_rounded:,} {cells_are} rounded, as spreadsheets do, such as “{example}”: the other "
        "digits are lost, so different rows may seem equal."
    ]


def size_of(cells: Iterable[str | None]) -> int:
    """Return the bytes of cells in memory: a reference each, and each text object once."""
    texts: dict[int, str] = {}
    n_cells = 0
    for cell in cells:
        n_cells += 1
        if cell is not None:
            texts[id(cell)] = cell
    return _REFERENCE * n_cells + sum(map(sys.getsizeof, texts.values()))


def cut_note(n_rows: int, max_held: int) -> str:
    """Return the note about a file whose further rows would take too much memory."""
    return (
        f"Only the first {n_rows:,} rows were read: more take over {max_held / 1e6:,.0f} MB of "
        "memory."
    )


def nothing_fits(name: str, max_held: int) -> CorpusError:
    """Return the error for a file of which not even one row fits in memory."""
    return CorpusError(
        f"{named(name)} takes more than {max_held / 1e6:,.0f} MB of memory with its first row; "
        "there is no more for one visitor's files. Split it into rows, or shorten its texts."
    )


def max_rows(n_columns: int) -> int:
    """Return the largest number of rows of so many columns; further rows are left out."""
    return min(_MAX_ROWS, _MAX_CELLS // max(n_columns, 1))


def named(name: str) -> str:
    """Return a file's name or a column's title for a message: printable, and not too long."""
    plain = "".join(c if c.isprintable() else "\ufffd" for c in name[: _MAX_NAME + 1])
    if len(plain) > _MAX_NAME:
        plain = plain[: _MAX_NAME - 1] + "…"
    return plain.strip() or "The file"


def clean(text: str) -> str:
    """Return a text without what no tokenizer reads: NULs and lone surrogates become U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # The halves of a surrogate pair become one character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def unique(titles: Iterable[str]) -> list[str]:
    """Return unique titles of columns, none blank: "column 1" and "name (2)" if needed."""
    given = [clean(title).strip() for title in titles]
    taken: set[str] = set(given)
    unique_titles: dict[str, None] = {}
    for number, title in enumerate(given, start=1):
        stem = title or f"column {number}"
        wanted, copy = stem, 1
        while wanted in unique_titles or (wanted != title and wanted in taken):
            copy += 1
            wanted = f"{stem} ({copy})"
        unique_titles[wanted] = None
    return list(unique_titles)
