"""Folders as a ZIP file: texts by folder, and brat's texts beside their annotations."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from contextlens.core.errors import CorpusError
from contextlens.core.schema import TEST, TRAIN, VALIDATION
from contextlens.core.words import Span
from contextlens.corpus.archives import FAILURES, METHODS, is_locked, is_side_file, n_entries
from contextlens.corpus.charsets import Charset, charset_of, open_text
from contextlens.corpus.exports.records import Mark, Record, Row, Tally, rows_of
from contextlens.corpus.offsets import Unit, unit_of
from contextlens.corpus.table import clean, named

__all__ = [
    "Files",
    "Folder",
    "Levels",
    "annotated_rows",
    "folder_in",
    "is_annotated",
    "text_paths",
    "text_rows",
]

MAX_FILES = 200_000
_MAX_DEPTH = 20  # folders within folders, each of which may be a column
_N_FLAT = 5  # files of one folder are texts, unless their names are those of tables
_OF_TABLES = re.compile(r"train|test|val|dev|label|gold|map|class", re.IGNORECASE)
_TEXT = re.compile(r".*\.txt|[^.]+|\d[\d.]*", re.IGNORECASE | re.DOTALL)
_SHARD = re.compile(r"-\d{5}-of-\d{5}")
_SPLITS = {*TRAIN, *TEST, *VALIDATION}


class Folder:
    """The files of a ZIP file by path, unpacked one by one within bounds."""

    def __init__(self, name: str, archive: zipfile.ZipFile, max_bytes: int) -> None:
        self._name, self._archive, self._n_left = name, archive, max_bytes
        self._max_bytes = max_bytes
        self._sizes: dict[str, int] = {}
        self._files = {file.filename: file for file in archive.infolist() if not is_side_file(file)}
        self.paths = tuple(self._files)

    def size(self, path: str) -> int:
        """Return the size of a file in bytes, as the archive says."""
        return self._files[path].file_size

    def content(self, path: str, tally: Tally) -> bytes | None:
        """Return the bytes of a file; None if it cannot be unpacked, which is counted.

        Raises:
            CorpusError: the files unpack to more than is read.
        """
        file = self._files[path]
        if is_locked(file) or file.compress_type not in METHODS:
            tally.leave_out("locked file")
            return None
        n_known = self._sizes.get(path, 0)
        try:
            with self._archive.open(file) as stream:
                content = stream.read(self._n_left + n_known + 1)
        except FAILURES:
            tally.leave_out("damaged file")
            return None
        self._n_left -= len(content) - n_known
        self._sizes[path] = len(content)
        if self._n_left < 0:
            raise CorpusError(
                f"{named(self._name)} unpacks to more than {self._max_bytes / 1e6:,.0f} MB, the "
                "most that is read here. Pack fewer of its files."
            )
        return content

    def text(self, path: str, tally: Tally) -> str | None:
        """Return the text of a file as it is written; None if it is no text, which is counted.

        Raises:
            CorpusError: the files unpack to more than is read.
        """
        content = self.content(path, tally)
        charset = None if content is None else self.charset(path, content, tally)
        if content is None or charset is None:
            return None
        with open_text(content, charset, newline="") as stream:
            return clean(stream.read())

    def charset(self, path: str, content: bytes, tally: Tally) -> Charset | None:
        """Return the encoding of a file; None if it is no text, which is counted."""
        try:
            charset = charset_of(path, content)
        except CorpusError:
            tally.leave_out("file that is no text", "files that are no text")
            return None
        tally.read_as(charset.title)
        return charset


def folder_in(name: str, content: bytes, max_bytes: int) -> Folder | None:
    """Return the files of a ZIP file; None if it is damaged, names too many, or is too deep."""
    if n_entries(content) > MAX_FILES:
        return None
    try:
        folder = Folder(name, zipfile.ZipFile(io.BytesIO(content)), max_bytes)
    except FAILURES:
        return None
    return None if any(path.count("/") > _MAX_DEPTH for path in folder.paths) else folder


# --- Texts, with folders as labels


def text_paths(paths: Sequence[str]) -> list[str]:
    """Return the paths of texts in the folders that hold most of them; none if it is no folder.

    Files named alike in every folder, such as train/labels.txt and test/labels.txt, are tables.
    """
    texts = [path for path in paths if path.casefold().endswith(".txt")]
    texts = texts or [path for path in paths if _TEXT.fullmatch(path.rpartition("/")[2])]
    if 2 * len(texts) < len(paths):
        return []
    depths = Counter(path.count("/") for path in texts)
    depth = max(depths, key=lambda n: (depths[n], n), default=0)
    chosen = [path for path in texts if path.count("/") == depth]
    names: dict[str, set[str]] = {}
    for path in chosen:
        folder, _, name = path.rpartition("/")
        names.setdefault(folder, set()).add(name)
    if len(names) < 2:
        are_tables = any(_OF_TABLES.search(path.rpartition("/")[2]) for path in chosen)
        return chosen if len(chosen) >= _N_FLAT and not are_tables else []
    own = list(names.values())
    is_same = all(some == own[0] for some in own)
    is_numbered = any(any(map(str.isdigit, name)) for name in own[0])
    return [] if is_same and not is_numbered else chosen


def text_rows(folder: Folder, paths: Sequence[str], tally: Tally) -> Iterator[Row]:
    """Yield the text of each file with its folders and its name."""
    chosen = set(paths)
    others = [path for path in folder.paths if path not in chosen]
    tally.leave_out("file beside the texts", "files beside the texts", len(others))
    for path in others[:3]:
        tally.name(path)
    tally.name("names of files")
    levels = Levels(paths)
    for path in paths:
        text = folder.text(path, tally)
        if text is not None and not text.isspace() and text:
            yield {"text": text.strip(), **levels.cells(path)}
        elif text is not None:
            tally.leave_out("empty file")


class Levels:
    """The folders of paths as cells: the last one by a title, and those above it that differ."""

    def __init__(self, paths: Sequence[str], last: str = "label") -> None:
        self._depth = max((path.count("/") for path in paths), default=0)
        parts = [self._parts(path) for path in paths]
        levels = zip(*parts, strict=True)
        self._first = len(list(takewhile(lambda own: len(set(own)) == 1, levels)))
        columns = list(zip(*(own[self._first :] for own in parts), strict=True))
        self._titles = [f"folder {i}" for i in range(1, len(columns))] + [last] * bool(columns)
        self._are_splits = [{_split(value) for value in set(own)} <= _SPLITS for own in columns]
        for i, is_split in enumerate(self._are_splits):
            if is_split and "split" not in self._titles:
                self._titles[i] = "split"

    def _parts(self, path: str) -> list[str]:
        """Return the folders of a path, as many as the deepest one has."""
        parts = path.split("/")[:-1]
        return parts + [""] * (self._depth - len(parts))

    def cells(self, path: str) -> Row:
        """Return the cells of a path by title."""
        own = self._parts(path)[self._first :]
        values = [
            _split(value) if is_split else value
            for value, is_split in zip(own, self._are_splits, strict=True)
        ]
        cells = dict(zip(self._titles, values, strict=True))
        return {title: cells[title] for title in reversed(self._titles)}  # the label first


class Files:
    """The places of files of one kind as cells: their folders, and their names if these differ."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._folders = Levels(paths, "folder")
        stems = {_stem(path) for path in paths}
        self._are_splits = {_split(stem) for stem in stems} <= _SPLITS
        has_words = any(any(map(str.isalpha, stem)) for stem in stems)  # and no days, as in Slack's
        has_folders = bool(self._folders.cells(paths[0]))
        self._has_names = len(stems) > 1 and (has_words or not has_folders)

    def cells(self, path: str) -> Row:
        """Return the cells of a path by title."""
        cells = self._folders.cells(path)
        if not self._has_names:
            return cells
        if self._are_splits and "split" not in cells:
            return {**cells, "split": _split(_stem(path))}
        return {**cells, "file": _stem(path)}


def _stem(path: str) -> str:
    """Return the name of a file: "train" for "data/train-00000-of-00002.parquet"."""
    return _SHARD.sub("", path.rpartition("/")[2].rpartition(".")[0])


def _split(folder: str) -> str:
    """Return "train" for "20news-bydate-train", and a folder's own name if it says nothing."""
    words = re.findall(r"[a-z]+", folder.casefold())
    return words[-1] if words and words[-1] in _SPLITS else folder


# --- brat


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MAX_MARKS = 200_000  # of one text
_MARK_SIZE = 500  # bytes in memory, about
_MAX_BREAKS = 100  # characters of line breaks in a mark, which brat writes as a space each
_MAX_SENTENCE = 10_000  # characters of the lines of one mark
_PLACE = re.compile(r"(\S+) (\d{1,9}) (\d{1,9})")
_KINDS = {
    "R": "relation",
    "E": "event",
    "A": "attribute",
    "M": "attribute",
    "*": "relation",
    "N": "normalization",
    "#": "note",
    "F": "frame",
}


def is_annotated(paths: Sequence[str]) -> bool:
    """True if files have brat's annotations beside texts."""
    known = {path.casefold() for path in paths}
    return any(path.endswith(".ann") and f"{path[:-4]}.txt" in known for path in known)


def annotated_rows(folder: Folder, tally: Tally, max_held: int) -> Iterator[Row]:
    """Yield a row for each mark, with the line of its text, and the lines without a mark.

    The texts and marks of all documents prove the unit, so they are held at the same time.
    """
    texts = [path for path in folder.paths if path.casefold().endswith(".txt")]
    beside = _annotations_of(texts, folder.paths)
    documents: list[tuple[str, list[Mark]]] = []
    for path in texts:
        if max_held < 0:
            tally.leave_out("text beyond the memory", "texts beyond the memory")
            continue
        text = folder.text(path, tally)
        written = folder.text(beside[path], tally) if path in beside else ""
        if text is not None:
            marks = _marks(written or "", tally)
            max_held -= sys.getsizeof(text) + _MARK_SIZE * len(marks)
            documents.append((text, marks))
    used = {*texts, *beside.values()}
    lost = [path for path in folder.paths if path not in used]
    tally.leave_out("file beside the texts", "files beside the texts", len(lost))
    for path in lost[:3]:
        tally.name(path)
    tally.name("names of files")
    unit = _unit(documents)
    tally.count_in(unit)
    for text, marks in documents:
        yield from _lines(text, marks, unit, tally)


def _annotations_of(texts: Sequence[str], paths: Sequence[str]) -> dict[str, str]:
    """Return the path of each text's annotations: of the same name, or else in other capitals."""
    known = set(paths)
    beside = {path: own for path in texts if (own := f"{path[:-4]}.ann") in known}
    free = known.difference(beside.values())
    folded = {path.casefold(): path for path in paths if path in free}
    for path in texts:
        if path not in beside and (own := folded.pop(f"{path[:-4]}.ann".casefold(), "")):
            beside[path] = own
    return beside


def _marks(written: str, tally: Tally) -> list[Mark]:
    marks: list[Mark] = []
    for line in written.splitlines():
        cells = line.split("\t")
        match = _PLACE.fullmatch(cells[1]) if len(cells) > 1 else None
        if not line.startswith("T"):
            kind = _KINDS.get(line[:1], "line of another kind")
            tally.leave_out(kind, n=int(bool(line.strip())))
        elif match is None:
            tally.leave_out("mark in several pieces", "marks in several pieces")
        elif len(marks) >= _MAX_MARKS:
            tally.leave_out("mark of a text with too many", "marks of texts with too many")
        else:
            marks.append(Mark(int(match[2]), int(match[3]), match[1], "\t".join(cells[2:]) or None))
    return marks


def _unit(documents: Sequence[tuple[str, list[Mark]]]) -> Unit:
    given = [(text, mark) for text, marks in documents for mark in marks]

    def is_right(i: int, text: str, span: Span) -> bool:
        word = given[i][1].word
        if word is None or span[0] < 0 or span[1] - span[0] > 2 * len(word) + _MAX_BREAKS:
            return False
        return text[slice(*span)].split() == word.split()

    if not all(mark.word for _, mark in given):
        return unit_of((text, (mark.start, mark.end)) for text, mark in given)
    return unit_of(((text, (mark.start, mark.end)) for text, mark in given), is_right)


def _lines(text: str, marks: Sequence[Mark], unit: Unit, tally: Tally) -> Iterator[Row]:
    """Yield rows of the lines of a document; a mark of several lines has all of them."""
    found = list(_LINE.finditer(text))
    starts = [line.start() for line in found]
    lines: dict[Span, list[Mark]] = {line.span(): [] for line in found if line[0].strip()}
    for mark in marks:
        first, last = unit.to_code_points(text, mark.start, mark.end)
        if not 0 <= first < last <= len(text):
            tally.leave_out("mark beyond its text", "marks beyond their text")
            continue
        a, b = bisect_right(starts, first) - 1, bisect_left(starts, last) - 1
        start, end = found[a].start(), found[b].end()
        if b > a and end - start > _MAX_SENTENCE:
            tally.leave_out("mark over many lines", "marks over many lines")
            continue
        own = Mark(first - start, last - start, mark.label, text[first:last])
        lines.setdefault((start, end), []).append(own)
    for (start, end), own_marks in sorted(lines.items()):
        yield from rows_of(Record(text[start:end].rstrip(), own_marks), tally)
