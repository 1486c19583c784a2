"""Which tool wrote a file, and the table that its reader makes of it.

`EXPORTS` describes what can be read; docs/files.md shows it as a table. A new tool is a function in
`tools`, `documents` or `folders`, and a row here.
"""

from __future__ import annotations

import ast
import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile
from types import MappingProxyType
from typing import Any

from contextlens.core.errors import CorpusError
from contextlens.corpus.charsets import Charset, charset_of, open_text
from contextlens.corpus.exports.documents import (
    WEBANNO,
    LineReader,
    chat_messages,
    conll,
    conllu,
    fasttext,
    is_chat,
    is_conll,
    is_fasttext,
    is_subtitles,
    questions,
    styled_subtitles,
    subtitles,
    tagged_table,
    training_sets,
    webanno,
    written_chat,
)
from contextlens.corpus.exports.folders import (
    Files,
    Folder,
    annotated_rows,
    folder_in,
    is_annotated,
    text_paths,
    text_rows,
)
from contextlens.corpus.exports.records import (
    ANNOTATOR,
    APART,
    MARK_TITLES,
    PERSON,
    Item,
    Row,
    Tally,
    marks_in,
    titles_without_marks,
)
from contextlens.corpus.exports.tools import (
    Reader,
    argilla,
    doccano,
    label_studio,
    label_studio_min,
    labelbox,
    marked_texts,
    mechanical_turk,
    nested_texts,
    prodigy,
    tagged_tokens,
)
from contextlens.corpus.json_lines import Items, is_json, json_items, table_of_items
from contextlens.corpus.table import Table, named

__all__ = [
    "EXPORTS",
    "EXPORT_FORMATS",
    "TABLE_KINDS",
    "Export",
    "export_of_table",
    "read_export",
    "read_folder",
]

_NO_VECTORS = (
    "The file's vectors were left out: they belong to its rows, and these texts are other rows."
)
_N_HEAD = 50  # objects by which a tool is recognised
_N_JOINT = 500  # of several files
_MAX_FILES = 10_000  # that are parsed, about 1 ms each
_SECONDS = 60  # after which no more files are looked at, and then none are read
_N_LATER = 50  # more of them with the first marks of a list
_MAX_DEPTH = 6  # of lists that may hold marks
_MAX_LITERAL = 100_000  # characters of a list of Python's, of which parsing takes 300 times that
_SAMPLE = 1 << 16  # characters by which lines are
_JSON = {".json", ".jsonl", ".ndjson"}
_LINES = {".txt", ".data"}
_BY_NAME = {
    **dict.fromkeys((".srt", ".vtt", ".sbv"), "subtitles"),
    **dict.fromkeys((".ass", ".ssa"), "styled_subtitles"),
    **dict.fromkeys((".conll", ".iob", ".iob2", ".bio", ".ner"), "conll"),
    ".conllu": "conllu",
}
EXPORT_FORMATS = (".srt", ".vtt", ".conll", ".conllu")
"""File extensions that only the readers here know; those of `_BY_NAME` are read as well."""


@dataclass(frozen=True)
class Export:
    """What one tool writes, as docs/files.md describes it.

    Attributes:
        tool: the tool or the format.
        files: the files that it writes.
        texts: what becomes a text.
        marks: what becomes a marked word; "" for nothing.
        labels: what becomes a label; "" for nothing.
        left_out: what is left out, counted or named.
        of_json: recognises its first objects and returns their reader; None for other files.
    """

    tool: str
    files: str
    texts: str
    marks: str
    labels: str
    left_out: str
    of_json: Callable[[Sequence[Item]], Reader | None] | None = None


EXPORTS: Mapping[str, Export] = {
    "label_studio": Export(
        "Label Studio", "`JSON`", "the value of `data` that the marks fit",
        "`labels`: a row for each result", "`choices`, ratings, numbers, written texts",
        "cancelled annotations, predictions, drafts, results of other kinds", label_studio,
    ),
    "label_studio_min": Export(
        "Label Studio", "`JSON-MIN`, `CSV`, `TSV`", "the column that the marks fit",
        "lists of places: a row for each", "choices and other columns", "ids and times",
        label_studio_min,
    ),
    "prodigy": Export(
        "Prodigy", "`JSONL`", "`text`", "`spans`: a row for each", "`label`, accepted `options`",
        "rejected and ignored examples", prodigy,
    ),
    "argilla": Export(
        "Argilla", "records as `JSON`", "the field that the marks fit", "spans: a row for each",
        "responses, or version 1's `annotation`",
        "discarded records and responses, suggestions, predictions", argilla,
    ),
    "doccano": Export(
        "doccano", "`JSONL`", "`text`", "`label` or `entities`: a row for each",
        "`label` as a list of names", "relations, comments, ids", doccano,
    ),
    "labelbox": Export(
        "Labelbox", "`NDJSON`", "`row_data`", "entities: a row for each", "classifications",
        "relations, details", labelbox,
    ),
    "mechanical_turk": Export(
        "Mechanical Turk", "`CSV` of results", "`Input.` columns", "", "`Answer.` columns",
        "rejected assignments, ids and times", mechanical_turk,
    ),
    "training_sets": Export(
        "texts to train on", "`JSONL` with `query`, `pos`, `neg`, or with lists of two or three",
        "a pair or a triplet in each row", "", "other columns", "scores", training_sets,
    ),
    "brat": Export(
        "brat", "`.txt` and `.ann` in a ZIP file", "each line", "T: a row for each", "its type",
        "relations, events, attributes, notes, marks in several pieces",
    ),
    "questions": Export(
        "SQuAD", "`JSON`", "`question`, `context`", "", "`title`, `answerable`", "further answers",
        questions,
    ),
    "chat_messages": Export(
        "chats", "`JSON` of Telegram, Slack, Messenger, Teams, DiscordChatExporter",
        "each message", "", "`author`, `chat`",
        "notices, messages without a text, other keys", chat_messages,
    ),
    "tagged_tokens": Export(
        "tagged tokens", "`tokens` with `ner_tags` or the like, as JSON or Parquet (Hugging Face)",
        "the tokens, joined with spaces", "each stretch that the tags mark", "its tag",
        "other tags", tagged_tokens,
    ),
    "marked_texts": Export(
        "texts with marked places", "any tool's JSON, CSV or Parquet with a list of places",
        "the text that the places fit", "each place", "its label", "lists of objects", marked_texts,
    ),
    "nested_texts": Export(
        "nested JSON", "any tool's objects within objects",
        "a column for each value, such as `meta.title`", "", "", "lists of objects", nested_texts,
    ),
    "subtitles": Export(
        "subtitles", "`.srt`, `.vtt`, `.sbv`", "each cue, and each speaker's line in it", "", "",
        "times, styles, notes, empty cues",
    ),
    "styled_subtitles": Export(
        "subtitles", "`.ass`, `.ssa`", "each line that is said", "", "`author`",
        "times, styles, comments, drawings",
    ),
    "conll": Export(
        "CoNLL", "`.conll`, `.iob`, `.bio`, `.txt`, tables with a token a row", "each sentence",
        "each stretch that the last column marks", "its tag", "other columns",
    ),
    "conllu": Export(
        "CoNLL-U", "`.conllu`", "each sentence", "each word but punctuation",
        "its universal tag, `lemma`", "features, heads, relations, empty nodes",
    ),
    "webanno": Export(
        "INCEpTION", "`.tsv` of WebAnno", "each sentence", "each span of a layer", "its features",
        "relations, chains, parts of tokens",
    ),
    "fasttext": Export(
        "fastText", "`.txt` with `__label__`", "each line", "", "`label`", "lines without a text",
    ),
    "written_chat": Export(
        "chats", "`.txt` of WhatsApp", "each message, with all of its lines", "", "`author`",
        "notices, messages without a text, times",
    ),
    "folder": Export(
        "folders of texts", "`.txt` files in a ZIP file (20 newsgroups, IMDB)", "each file", "",
        "its folder; `split` of those above it", "other files, empty ones",
    ),
    "files": Export(
        "files of one kind", "several of the files above in a ZIP file, such as Slack's days",
        "as in one of them", "as in one of them",
        "`folder`, `file` or `split`; `annotator` for doccano's files of people",
        "files of other kinds",
    ),
}  # fmt: skip
"""What other tools write, by the reader's name, the surest to recognise first."""
TABLE_KINDS = (
    Export(
        "reports",
        "a table with lines above its titles",
        "a column",
        "",
        "columns",
        "the lines above, quoted",
    ),
    Export(
        "Qualtrics, SurveyMonkey, LimeSurvey",
        "`CSV`, `TSV`, Excel",
        "an answer",
        "",
        "other answers",
        "further rows of titles; columns that the tool fills are no labels",
    ),
    Export(
        "R",
        "`write.table`, `write.csv`",
        "a column",
        "",
        "columns",
        "",
    ),
    Export(
        "pandas",
        "`to_json` in each orient, `to_csv`, `to_parquet`, `to_feather`",
        "a column",
        "",
        "columns",
        "",
    ),
    Export(
        "Hugging Face's `datasets`",
        "`.arrow`, `.parquet`, or a saved folder as a ZIP file",
        "a column",
        "",
        "columns, by the names of their classes; `split`",
        "files of metadata",
    ),
    Export(
        "spreadsheets",
        "`.xlsx`, one of its sheets",
        "a column",
        "",
        "columns",
        "other sheets, formulas without a value",
    ),
    Export(
        "several labels in a cell",
        "`joy,surprise` or a list, in any table",
        "a column",
        "",
        "a yes/no column of each, after a click",
        "",
    ),
    Export(
        "triplets",
        "`anchor`, `positive`, `negative`, or three columns without titles",
        "the three texts, on Pairs",
        "",
        "",
        "further columns",
    ),
)
"""What other programs write that the readers of plain tables recognise."""
_GENERIC = {"tagged_tokens", "marked_texts", "nested_texts"}
_OF_TABLES = (
    *("mechanical_turk", "label_studio_min", "argilla", "training_sets"),
    *("marked_texts", "tagged_tokens"),
)
_OF_LINES: Mapping[str, LineReader] = {
    "subtitles": subtitles,
    "conll": conll,
    "conllu": conllu,
    "written_chat": written_chat,
    "styled_subtitles": styled_subtitles,
    "webanno": webanno,
    "fasttext": fasttext,
}


class _Rows(Items):
    """The rows that a reader makes of a file's items, with notes on what it left out."""

    def __init__(self, rows: Iterator[Row], tally: Tally, source: Items | None = None) -> None:
        super().__init__((), "row")
        self._rows, self.tally, self._source = rows, tally, source
        self.n_rows = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of the file, and by its reader."""
        return (*(self._source.notes if self._source else ()), *self.tally.notes)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for row in self._rows:
            self.n_rows += 1
            yield row


def read_export(name: str, ending: str, content: bytes, max_held: int) -> Table | None:
    """Return the table of a file that another tool wrote; None for other files.

    Args:
        name: the file's name.
        ending: its extension in lower case.
        content: its bytes.
        max_held: the most memory for the table, in bytes.

    Raises:
        CorpusError: it is such a file, and holds no text.
    """
    if ending not in {*_JSON, *_LINES, *_BY_NAME, ".tsv"}:
        return None
    charset = charset_of(name, content)
    sample = open_text(content, charset, newline=None).read(_SAMPLE)
    if ending in _JSON or (ending in _LINES and is_json(sample)):
        return _of_json(name, ending, content, charset, max_held)
    kind = _BY_NAME.get(ending) or _kind_of_lines(sample.split("\n"), ending)
    if not kind:
        return None
    tally = Tally()
    lines = (line.rstrip("\n") for line in open_text(content, charset, newline=None))
    return _table(name, kind, charset, _Rows(_OF_LINES[kind](lines, tally), tally), max_held)


def _kind_of_lines(lines: Sequence[str], ending: str) -> str:
    """Return the reader of lines that a sample looks like; "" for none."""
    if lines[0].startswith(WEBANNO):
        return "webanno"
    if ending in _LINES and is_fasttext(lines):
        return "fasttext"
    if ending in _LINES and is_subtitles(lines):
        return "subtitles"
    whole = lines[:-1] if len(lines) > 1 else lines  # the last one may be cut
    if any(not line.strip() for line in whole[1:-1]) and is_conll(whole):
        return "conll"
    return "written_chat" if ending in _LINES and is_chat(whole) else ""


def _of_json(
    name: str, ending: str, content: bytes, charset: Charset, max_held: int
) -> Table | None:
    items = partial(json_items, name, content, charset, by_line=_is_by_line(ending))
    found = _recognised(_head(items()), list(EXPORTS))
    if found is None:
        return None
    kind, reader = found
    tally, source = Tally(), items()
    rows = (row for item in source for row in reader(item, tally))
    return _table(name, kind, charset, _Rows(rows, tally, source), max_held)


def _head(items: Iterable[Item]) -> list[Item]:
    """Return the first objects, and of the later ones those with the first marks of a list."""
    left = iter(items)
    head = list(islice(left, _N_HEAD))
    lists = [found for item in head for found in _lists(item)]
    seen = {title for title, has_marks in lists if has_marks}
    n_later = 0
    for item in left if lists else ():
        new = {title for title, has_marks in _lists(item, seen) if has_marks}
        if new:
            seen |= new
            head.append(item)
            n_later += 1
        if n_later == _N_LATER:
            break
    return head


def _lists(
    value: Any, known: Collection[str] = (), title: str = "", depth: int = 0
) -> Iterator[tuple[str, bool]]:
    """Yield the lists in a value by title, and True for those that hold marks and are not known."""
    if isinstance(value, list):
        yield title, title not in known and marks_in(value[:10]) is not None
    if depth == _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, own in value.items():
            if isinstance(own, dict | list):
                yield from _lists(own, known, f"{title}.{key}", depth + 1)
    elif isinstance(value, list):
        for own in value:
            if isinstance(own, dict):
                yield from _lists(own, known, title, depth + 1)


def _recognised(head: Sequence[Item], kinds: Iterable[str]) -> tuple[str, Reader] | None:
    if not head:
        return None
    for kind in kinds:
        recognise = EXPORTS[kind].of_json
        reader = recognise(head) if recognise is not None else None
        if reader is not None:
            return kind, reader
    return None


def _table(name: str, kind: str, charset: Charset, rows: _Rows, max_held: int) -> Table | None:
    """Return the table of an export's rows; None if it has none and is better read as it is.

    Raises:
        CorpusError: all of it was left out, or it does not fit.
    """
    title, tally = EXPORTS[kind].tool, rows.tally
    try:
        table = table_of_items(name, charset, rows, max_held, title)
    except CorpusError as exc:
        if rows.n_rows:
            raise
        if kind in _GENERIC or not rows.notes:
            return None
        raise CorpusError(f"{named(name)} holds no text to read. {' '.join(rows.notes)}") from exc
    columns = dict(table.columns)
    notes = table.notes
    if tally.n_marks:
        order = dict.fromkeys(t for t in ("text", *MARK_TITLES, *columns) if t in columns)
        columns = {t: columns[t] for t in order if t not in MARK_TITLES or any(columns[t])}
    elif tally.n_marks == 0:
        titles = titles_without_marks(columns)
        columns = {titles[t]: cells for t, cells in columns.items()}
    person = PERSON if ANNOTATOR in columns else ANNOTATOR
    columns = {person if t == PERSON else t: cells for t, cells in columns.items()}
    if tally.n_people == 1 and len({*columns.get(person, ())} - {None}) == 1:
        del columns[person]
        notes = (*notes, f"Only one annotator is named; the column “{person}” was left out.")
    elif PERSON in columns:
        notes = (*notes, f"The file has “{ANNOTATOR}” itself: “{PERSON}” says who annotated.")
    several = person in columns and tally.has_several_people
    return replace(
        table,
        columns=MappingProxyType(columns),
        notes=notes,
        export=title,
        annotators="apart" if several else "",
        annotator=person if several else "",
        has_marks=bool(tally.n_marks),
    )


def export_of_table(table: Table, max_held: int) -> Table | None:
    """Return a table whose cells hold places or tags as JSON with a row for each; None for others.

    Label Studio's CSV has such cells, and so have lists in Parquet files.
    """
    columns = {title: c for title, c in table.columns.items() if _is_json_column(c)}
    tagged = Tally()
    if (sentences := tagged_table(table.columns, tagged)) is not None:
        return _as_export(table, "conll", _Rows(sentences, tagged), max_held)
    if not columns and "HITId" not in table.columns:
        return None

    def item_of(row: int) -> Item:
        item: dict[str, Any] = {title: cells[row] for title, cells in table.columns.items()}
        return {title: _parsed(v) if title in columns else v for title, v in item.items()}

    numbers = {*range(min(_N_HEAD, table.n_rows))}
    for cells in columns.values():
        numbers |= {*islice((i for i, cell in enumerate(cells) if _is_filled_list(cell)), _N_LATER)}
    head = {row: item_of(row) for row in sorted(numbers)}
    found = _recognised(list(head.values()), _OF_TABLES)
    if found is None:
        return None
    kind, reader = found
    tally = Tally()
    items = (head[row] if row in head else item_of(row) for row in range(table.n_rows))
    rows = _Rows((row for item in items for row in reader(item, tally)), tally)
    return _as_export(table, kind, rows, max_held)


def _as_export(table: Table, kind: str, rows: _Rows, max_held: int) -> Table | None:
    """Return the table of an export's rows, which were made of another table."""
    found = _table(table.name, kind, Charset("utf-8", table.encoding), rows, max_held)
    if found is None:
        return None
    return replace(
        found,
        format=f"{table.format}, {EXPORTS[kind].tool}",
        notes=(*table.notes, *found.notes),
        left_out=(*table.left_out, *(_NO_VECTORS,) * bool(table.vectors)),
    )


def _is_json_column(cells: Sequence[str | None]) -> bool:
    """True if the first values look like lists."""
    head = [cell.strip() for cell in islice(filter(None, cells), _N_HEAD) if not cell.isspace()]
    return bool(head) and all(cell[0] == "[" and cell[-1] == "]" for cell in head)


def _is_filled_list(cell: str | None) -> bool:
    inside = (cell or "").strip()
    return inside.startswith("[") and bool(inside[1:-1].strip())


def _parsed(cell: str | None) -> Any:
    if not cell or not cell.lstrip().startswith("["):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        if len(cell) > _MAX_LITERAL:
            return cell
    try:  # as Python writes lists: "[(4, 8, 'X')]"
        return json.loads(json.dumps(ast.literal_eval(cell)))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, SystemError):
        return cell


def read_folder(name: str, content: bytes, *, max_bytes: int, max_held: int) -> Table | None:
    """Return the table of a ZIP file with a folder of texts or brat's files; None for others.

    Raises:
        CorpusError: it is such a folder, and unpacks to too much or holds no text.
    """
    folder = folder_in(name, content, max_bytes)
    if folder is None or len(folder.paths) < 2:
        return None
    tally = Tally()
    if is_annotated(folder.paths):
        kind, rows = "brat", annotated_rows(folder, tally, max_held)
    elif paths := text_paths(folder.paths):
        kind, rows = "folder", text_rows(folder, paths, tally)
    else:
        return _read_files(name, folder, max_held)
    return _table(name, kind, Charset("utf-8", ""), _Rows(rows, tally), max_held)


# --- Several files of one kind


def _read_files(name: str, folder: Folder, max_held: int) -> Table | None:
    """Return the table of the files of the commonest kind in a ZIP file; None for fewer than two.

    The kinds of tools come before plain JSON, whose files must have keys in common.
    """
    known = [path for path in folder.paths if _ending(path) in {*_JSON, *_BY_NAME}]
    end = time.monotonic() + _SECONDS
    kinds: dict[str, str] = {}
    keys: dict[str, set[str]] = {}
    joint: dict[str, list[Item]] = {}
    sizes = Counter[str]()
    for path in takewhile(lambda _: time.monotonic() < end, known[:_MAX_FILES]):
        head = _head_in(folder, path)
        kind = kinds[path] = _kind_of_file(path, head)
        keys[path] = {key for item in head for key in item}
        own = joint.setdefault(kind, [])
        own += head[: max(0, _N_JOINT - len(own))]
        sizes[kind] += folder.size(path) if kind or head else 0
    paths = list(kinds)
    kind = max(sizes, key=lambda own: (own not in {"", *_GENERIC}, sizes[own]), default="")
    chosen = [path for path in paths if kinds[path] == kind]
    if chosen and (not kind or kind in _GENERIC):
        model = keys[max(chosen, key=folder.size)]
        shared = {own: len(keys[own] & model) for own in chosen}
        chosen = [n for n in chosen if 3 * shared[n] > len(keys[n]) + len(model)]  # most of both
    if len(chosen) < 2:
        return None
    tally = Tally()
    names = _names_of_users(folder) if kind == "chat_messages" else {}
    used = {*chosen, *known[len(paths) :], *([_users(folder)] if names else ())}
    others = [path for path in folder.paths if path not in used]
    beyond = f"beyond the first {len(paths):,}"
    tally.leave_out(f"file {beyond}", f"files {beyond}", len(known) - len(paths))
    tally.leave_out("file of another kind", "files of other kinds", len(others))
    for path in others[:3]:
        tally.name(path)
    rows = _Rows(_rows_of_files(folder, chosen, kind, joint[kind], names, tally), tally)
    table = _table(name, "files", Charset("utf-8", ""), rows, max_held)
    if table is None:
        return None
    tool = EXPORTS[kind].tool if kind else "JSON"
    found = replace(table, format=tool, export=f"{tool}, {tally.n_files:,} files")
    return _of_people(found, kind)


def _head_in(folder: Folder, path: str) -> list[Item]:
    """Return the first objects of a file; none if it is not JSON."""
    content = folder.content(path, Tally()) if _ending(path) in _JSON else None
    try:
        return list(islice(_items_in(path, content), _N_HEAD)) if content else []
    except CorpusError:
        return []


def _items_in(path: str, content: bytes) -> Items:
    return json_items(path, content, charset_of(path, content), by_line=_is_by_line(path))


def _kind_of_file(path: str, head: Sequence[Item]) -> str:
    if kind := _BY_NAME.get(_ending(path)):
        return kind
    found = _recognised(head, EXPORTS)
    return found[0] if found else ""


def _rows_of_files(
    folder: Folder,
    paths: Sequence[str],
    kind: str,
    joint: Sequence[Item],
    names: Mapping[str, str],
    tally: Tally,
) -> Iterator[Row]:
    """Yield the rows of files with the place of their file, and the names of users by ID."""
    files = Files(paths)
    shared = _recognised(joint, [kind]) if kind and joint else None
    end = time.monotonic() + _SECONDS
    for path in paths:
        if time.monotonic() > end:
            tally.leave_out("file beyond the time for reading", "files beyond the time for reading")
            continue
        content = folder.content(path, tally)
        charset = None if content is None else folder.charset(path, content, tally)
        if content is None or charset is None:
            continue
        cells = files.cells(path)
        for row in _rows_of_file(path, content, charset, kind, shared, tally):
            own = {f"{t} (in the file)" if t in cells else t: v for t, v in row.items()}
            if names and own.get("author") in names:
                own["author"] = names[own["author"]]
            yield {**own, **cells}


def _rows_of_file(
    path: str,
    content: bytes,
    charset: Charset,
    kind: str,
    shared: tuple[str, Reader] | None,
    tally: Tally,
) -> Iterator[Row]:
    if kind in _OF_LINES:
        lines = (line.rstrip("\n") for line in open_text(content, charset, newline=None))
        yield from _OF_LINES[kind](lines, tally)
        return
    source = _items_in(path, content)
    own = shared or (_recognised(_head(_items_in(path, content)), [kind]) if kind else None)
    for item in source:
        if own is not None:
            yield from own[1](item, tally)
        else:
            yield dict(item)
    for note in source.notes:
        tally.say(f"{named(path)}: {note}")


def _users(folder: Folder) -> str:
    """Return the path of Slack's list of users; "" if there is none."""
    return next((own for own in folder.paths if own.rpartition("/")[2] == "users.json"), "")


def _names_of_users(folder: Folder) -> dict[str, str]:
    """Return the names of Slack's users by ID; none if they cannot be read."""
    path = _users(folder)
    content = folder.content(path, Tally()) if path else None
    names = {}
    try:
        users = _items_in(path, content) if content else ()
    except CorpusError:
        return {}
    for user in users:
        name = user.get("real_name") or user.get("name")
        if isinstance(name, str) and isinstance(user.get("id"), str):
            names[user["id"]] = name
    return names


def _of_people(table: Table, kind: str) -> Table:
    """Return doccano's files with their names as annotators, if most texts are in several."""
    if kind != "doccano" or "file" not in table.columns:
        return table
    files: dict[str | None, set[str | None]] = {}
    for text, file in zip(table.columns[table.text_column], table.columns["file"], strict=True):
        files.setdefault(text, set()).add(file)
    if 2 * sum(len(own) > 1 for own in files.values()) <= len(files):
        return table
    titles = {"file": ANNOTATOR, ANNOTATOR: f"{ANNOTATOR} (in the file)"}
    columns = {titles.get(title, title): cells for title, cells in table.columns.items()}
    notes = (*table.notes, f"Most texts are in several files, so a file is a person's; {APART}")
    columns_of = MappingProxyType(columns)
    return replace(table, columns=columns_of, notes=notes, annotators="apart", annotator=ANNOTATOR)


def _ending(path: str) -> str:
    return "".join(path.rpartition(".")[1:]).casefold()


def _is_by_line(path: str) -> bool:
    return _ending(path) in {".jsonl", ".ndjson"}
