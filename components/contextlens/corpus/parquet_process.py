"""The process that reads one Parquet or Arrow file: its bytes come in, columns of text go out.

A small file can unpack to any size. So the process reads the sizes in the file's metadata first,
then one column at a time, with a bound on memory. `read_parquet` runs it with `python -m`. It
writes an Arrow stream of texts or, with the exit status `REFUSED`, a sentence with the reason.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from contextlens.core.errors import CorpusError
from contextlens.corpus.file_vectors import LENGTH, MISSING, are_vectors, check_size
from contextlens.corpus.json_lines import as_text
from contextlens.corpus.table import MAX_COLUMNS, clean, max_rows, named, unique

__all__ = ["PARQUET", "REFUSED", "TIMES_UNPACKED", "main"]

REFUSED = 3
"""The exit status if the output is a sentence that says why the file is refused."""

PARQUET = b"PAR1"
"""The first and the last bytes of a Parquet file."""
ARROW = b"ARROW1"
"""The first bytes of an Arrow file that is no stream."""
TIMES_UNPACKED = 10
"""The most that a file may unpack to, in uploads of the largest size."""
_LATER_BYTES = 100_000_000  # for threads and modules that come after the start
_N_NESTED = 2_000_000  # values within the lists of one column
_BATCH = 10_000  # rows
_TEXTS = "CSV, JSON Lines or text"
_FAILURES = (
    *(pa.ArrowException, OSError, ValueError, LookupError, TypeError, ArithmeticError),
    *(NotImplementedError, RecursionError),
)
"""Errors that pyarrow raises for damaged files."""
_BATCH_BYTES = 200_000_000  # of a column with nested values, in one batch


def main(write: Callable[..., None]) -> int:
    """Call a function that writes what it reads from a file's bytes; return the exit status.

    The bytes come from standard input, the other arguments from the command line, as JSON.
    """
    request = json.loads(sys.argv[1])
    pa.set_cpu_count(2)  # each thread takes memory, and other visitors need the rest
    _bound_memory(request.pop("max_memory"))
    try:
        write(content=sys.stdin.buffer.read(), **request)
    except CorpusError as exc:
        sys.stdout.buffer.write(str(exc).encode())
        return REFUSED
    return 0


def _write(name: str, content: bytes, max_bytes: int, max_held: int) -> None:
    table = _table(name, content, max_bytes, max_held)
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


def _bound_memory(max_memory: int) -> None:
    """Bound the memory that this process may take beyond what it has now, in bytes.

    Linux counts here what can be written to; address space that is only reserved is free.
    """
    n_bytes = _LATER_BYTES + _held() + max_memory
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    # No core dump if it aborts. Some systems know a limit but refuse to set it.
    for limit, most in ((resource.RLIMIT_DATA, n_bytes), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))


def _held() -> int:
    """Return the bytes that count for the bound now; 0 where the system does not say."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0


def _table(name: str, content: bytes, max_bytes: int, max_held: int) -> pa.Table:
    try:
        content = content if content[: len(PARQUET)] == PARQUET else _of_arrow(content)
        return _read(name, content, max_bytes, max_held)
    except MemoryError:  # an ArrowException, too; `readers` has the sentence
        raise
    except _FAILURES as exc:
        if "crypt" in str(exc).lower():
            raise _encrypted(name) from exc
        raise CorpusError(
            f"{named(name)} cannot be read as Parquet or Arrow: it is damaged, or of a kind that "
            f"is not known. Write it again, or save it as {_TEXTS}."
        ) from exc


def _of_arrow(content: bytes) -> bytes:
    """Return the Parquet file with the rows of an Arrow stream, as Hugging Face's `datasets` saves.

    Feather is an Arrow file, not a stream, with a mark of its own.
    """
    source = pa.BufferReader(content)
    is_file = content.startswith(ARROW)
    with pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source) as reader:
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        target = pa.BufferOutputStream()
        with pq.ParquetWriter(target, reader.schema) as writer:
            for batch in batches:
                batch.validate(full=True)
                writer.write_batch(batch)
    return bytes(target.getvalue())


def _encrypted(name: str) -> CorpusError:
    return CorpusError(
        f"{named(name)} is encrypted. Write it without encryption, or save it as {_TEXTS}."
    )


def _read(name: str, content: bytes, max_bytes: int, max_held: int) -> pa.Table:
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        columns = _columns_of(file)
        n_rows = file.metadata.num_rows
        classes = _classes_of(file.schema_arrow)
    _check(name, columns, n_rows)
    n_unpacked = _check_unpacked(name, [c for c in columns if not c.obstacle], max_bytes)
    n_wanted = min(n_rows, max_rows(sum(not column.obstacle for column in columns)))
    n_left = TIMES_UNPACKED * max_bytes - n_unpacked
    vectors, beyond = _vectors_in(name, content, columns, n_wanted, n_left, max_held)
    are_unique = not any(column.copy for column in columns)
    keys = {column.title: column.name * are_unique for column in columns}
    columns = [column for column in columns if column.title not in {*vectors, *beyond}]
    readable = [column for column in columns if not column.obstacle]
    left_out = [
        *beyond.values(),
        *(f"{named(c.title)} was left out: it holds {c.obstacle}." for c in columns if c.obstacle),
    ]
    arrays: dict[str, pa.Array] = {}
    n_left, held_left = TIMES_UNPACKED * max_bytes, max_held
    for column in readable:
        try:
            cells = _cells_of(content, column, n_wanted, classes.get(column.name, ()))
            n_left -= _n_characters(cells, n_left)
            held_left -= _n_held(cells, held_left)
        except NotTextError as exc:
            left_out.append(f"{named(column.title)} was left out: it holds {exc}.")
            continue
        arrays[column.title] = pa.array(cells, pa.large_string()).dictionary_encode()
    if not arrays:
        raise CorpusError(f"{named(name)} has no column of text. {' '.join(left_out)}")
    notes = [f"Only the first {n_wanted:,} rows were read."] if n_wanted < n_rows else []
    if any(column.name in classes for column in readable):
        notes.append("Numbers of classes were read as the names that the file gives them.")
    lists = {}
    for i, (_, matrix, reasons) in enumerate(vectors.values()):
        flat = pa.array(matrix.ravel())
        lists[f"vectors {i}"] = pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1])
        lists[f"reasons {i}"] = pa.array(reasons)
    metadata = {
        "notes": json.dumps(notes),
        "left_out": json.dumps(left_out),
        "texts": json.dumps(list(arrays)),
        "vectors": json.dumps(
            [(title, dtype, keys[title]) for title, (dtype, *_) in vectors.items()]
        ),
    }
    both = [*arrays.items(), *lists.items()]  # a column of texts may be called "vectors 0", too
    table = pa.Table.from_arrays([array for _, array in both], [title for title, _ in both])
    return table.replace_schema_metadata(metadata)


def _n_characters(cells: list[str | None], n_most: int) -> int:
    """Return the number of characters in a column; a repeated text counts each time."""
    n_characters = sum(len(cell) for cell in cells if cell)
    if n_characters > n_most:
        raise NotTextError(f"{n_characters:,} characters, more than is read of a file")
    return n_characters


def _n_held(cells: list[str | None], n_most: int) -> int:
    """Return the bytes that a column takes in memory; a repeated text counts once."""
    n_bytes = 8 * len(cells) + sum(sys.getsizeof(text) for text in set(cells) if text)
    if n_bytes > n_most:
        raise NotTextError(f"{n_bytes / 1e6:,.0f} MB of text, more than is kept of a file")
    return n_bytes


# Columns, from the file's metadata


@dataclass(frozen=True)
class _Column:
    """A column as the file describes it.

    Attributes:
        title: its title here, which is unique.
        name: its name in the file.
        copy: the number of columns before it with the same name.
        obstacle: the reason why it is not read; "" for a column that is.
        n_bytes: its unpacked size.
        leaves: the paths of its values that are bytes or text.
        numbers: the type of numbers whose lists are its values, maybe vectors; "" for others.
    """

    title: str
    name: str
    copy: int
    obstacle: str
    n_bytes: int
    leaves: tuple[str, ...]
    numbers: str


def _columns_of(file: Any) -> list[_Column]:
    schema = file.schema_arrow
    if len(schema) > MAX_COLUMNS:
        return []
    names = list(schema.names)
    sizes: dict[str, list[int]] = {name: [0, 0] for name in names}
    leaves: dict[str, list[str]] = {name: [] for name in names}
    for index in range(file.metadata.num_columns):
        leaf = file.schema.column(index)
        owner = _owner(leaf.path, sizes)
        if leaf.physical_type == "BYTE_ARRAY":
            leaves[owner].append(leaf.path)
        for group in range(file.metadata.num_row_groups):
            chunk = file.metadata.row_group(group).column(index)
            sizes[owner][0] += chunk.total_uncompressed_size
            sizes[owner][1] += chunk.num_values
    return [
        _Column(
            title,
            name,
            names[:index].count(name),
            _obstacle(schema.field(index).type, sizes[name][1]),
            sizes[name][0],
            tuple(leaves[name]),
            _type_in_lists(schema.field(index).type),
        )
        for index, (name, title) in enumerate(zip(names, unique(names), strict=True))
    ]


def _owner(path: str, names: dict[str, list[int]]) -> str:
    """Return the column that a path of values belongs to: "a" for "a.list.element"."""
    while path not in names and "." in path:
        path = path.rpartition(".")[0]
    return path


def _obstacle(kind: pa.DataType, n_values: int) -> str:
    if pa.types.is_fixed_size_binary(kind) and kind.byte_width > 64:
        return "bytes that are no text"
    if pa.types.is_nested(kind) and has_bytes(kind):
        return "bytes within nested values"
    if pa.types.is_nested(kind) and n_values > _N_NESTED:
        return f"{n_values:,} nested values, more than {_N_NESTED:,}"
    return ""


def _check(name: str, columns: list[_Column], n_rows: int) -> None:
    if not columns:
        raise CorpusError(
            f"{named(name)} has no columns, or more than {MAX_COLUMNS:,}. "
            "Keep the column of texts and those of labels."
        )
    if n_rows < 1:
        raise CorpusError(f"{named(name)} holds no rows. Give a file with at least one sentence.")
    if all(column.obstacle and not column.numbers for column in columns):
        raise CorpusError(
            f"{named(name)} has no column of text: {named(columns[0].title)} holds "
            f"{columns[0].obstacle}. Give a file with a column of sentences."
        )


def _check_unpacked(name: str, columns: list[_Column], max_bytes: int) -> int:
    """Return the size that columns unpack to, which is not too large."""
    unpacked = sum(column.n_bytes for column in columns)
    if unpacked > TIMES_UNPACKED * max_bytes:
        raise CorpusError(
            f"{named(name)} unpacks to {unpacked / 1e6:,.0f} MB; at most "
            f"{TIMES_UNPACKED * max_bytes / 1e6:,.0f} MB are read, ten times what the server's "
            "CONTEXTLENS_MAX_UPLOAD_MB allows. Keep the columns that are needed, or split it."
        )
    return unpacked


# Vectors

_VECTOR_BATCH = 2_000  # rows
_N_SAMPLE = 200  # lists that are looked at to tell whether a column holds vectors


_Vectors = tuple[str, NDArray[np.float32], NDArray[np.int8]]
"""The type of numbers, the matrix, why rows have no vector."""


def _type_in_lists(kind: pa.DataType) -> str:
    """Return the type of the numbers in lists, or in what a tensor is stored as; "" for others."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    is_list = (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )
    if not is_list:
        return ""
    value = kind.value_type
    are_numbers = pa.types.is_floating(value) or pa.types.is_integer(value)
    return str(value.to_pandas_dtype().__name__) if are_numbers else ""


def _vectors_in(
    name: str, content: bytes, columns: list[_Column], n_rows: int, n_left: int, max_held: int
) -> tuple[dict[str, _Vectors], dict[str, str]]:
    """Return the columns that likely hold vectors, and why others are too large, by title."""
    found: dict[str, _Vectors] = {}
    beyond: dict[str, str] = {}
    for column in columns:
        if not column.numbers:
            continue
        n_bytes = column.n_bytes if column.obstacle else 0  # others were counted before
        if n_bytes > n_left:
            beyond[column.title] = (
                f"{named(column.title)} was left out: it unpacks to {n_bytes / 1e6:,.0f} MB, more "
                "than is read of a file."
            )
            continue
        n_left -= n_bytes
        try:
            vectors = _vectors_of(name, content, column, n_rows, max_held)
        except CorpusError as exc:
            beyond[column.title] = str(exc)
            continue
        if vectors is not None:
            found[column.title] = vectors
            max_held -= vectors[1].nbytes
    return found, beyond


def _vectors_of(
    name: str, content: bytes, column: _Column, n_rows: int, max_held: int
) -> _Vectors | None:
    sample: list[NDArray[Any]] = []
    for _, lists in _lists(content, column, n_rows):
        sample += lists[: _N_SAMPLE - len(sample)]
        if len(sample) == _N_SAMPLE:
            break
    n_dims = are_vectors(sample)
    if not n_dims:
        return None
    check_size(named(name), named(column.title), n_rows, n_dims, max_held)
    matrix = np.full((n_rows, n_dims), np.nan, np.float32)
    reasons = np.full(n_rows, MISSING, np.int8)
    with np.errstate(over="ignore"):
        for rows, lists in _lists(content, column, n_rows):
            for row, numbers in zip(rows.tolist(), lists, strict=True):
                reasons[row] = 0 if len(numbers) == n_dims else LENGTH
                if len(numbers) == n_dims:
                    matrix[row] = numbers
    return column.numbers, matrix, reasons


def _lists(
    content: bytes, column: _Column, n_rows: int
) -> Iterator[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
    """Yield the rows that are not null, and their lists of numbers, a batch at a time."""
    at = 0
    for batch in _batches(content, column, _VECTOR_BATCH):
        array = batch.storage if isinstance(batch.type, pa.BaseExtensionType) else batch
        array = array.slice(0, n_rows - at)
        values = array.flatten().to_numpy(zero_copy_only=False)  # of rows that are not null
        lengths = pc.list_value_length(array).drop_null().to_numpy(zero_copy_only=False)
        ends = np.cumsum(lengths, dtype=np.int64)
        parts = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        given = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
        yield at + given, [values[start:end] for start, end in parts]
        at += len(array)
        if at >= n_rows:
            return


# Values


def _cells_of(
    content: bytes, column: _Column, n_rows: int, classes: Sequence[str]
) -> list[str | None]:
    """Return the first cells of one column; equal texts of a batch are one object."""
    cells: list[str | None] = []
    for batch in _batches(content, column):
        array = _with_names(batch, classes) if classes else batch
        texts = as_texts(array.slice(0, n_rows - len(cells)))
        cells += [text and clean(text) for text in texts]
        if len(cells) >= n_rows:
            break
    if len(cells) < n_rows:
        raise ValueError("a column ends before its last row")
    return cells


def _classes_of(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of classes by column, as Hugging Face's `datasets` writes them."""
    try:
        info = json.loads((schema.metadata or {})[b"huggingface"])
        features = dict(info["info"]["features"])
    except (LookupError, TypeError, ValueError, RecursionError):
        return {}
    found = {}
    for title, feature in features.items():
        for _ in range(2):  # a list of classes is a feature within one
            inner = feature.get("feature") if isinstance(feature, dict) else feature
            if isinstance(inner, list) and len(inner) == 1:
                (inner,) = inner
            feature = inner if isinstance(inner, dict) else feature
        names = feature.get("names") if isinstance(feature, dict) else None
        if isinstance(names, list) and names and all(isinstance(own, str) for own in names):
            found[title] = names
    return found


def _with_names(array: pa.Array, names: Sequence[str]) -> pa.Array:
    """Return numbers of classes, or lists of them, as their names; -1 says that there is none."""
    known = dict(enumerate(names)) | {-1: None}

    def name(value: Any) -> str | None:
        return known.get(value, None if value is None else str(value))

    is_list = pa.types.is_list(array.type) or pa.types.is_large_list(array.type)
    if not (is_list or pa.types.is_integer(array.type)):
        return array
    if is_list and not pa.types.is_integer(array.type.value_type):
        return array
    values = array.to_pylist()
    if is_list:
        return pa.array([None if own is None else list(map(name, own)) for own in values],
                        pa.list_(pa.string()))  # fmt: skip
    return pa.array(map(name, values), pa.string())


def _batches(content: bytes, column: _Column, n_rows: int = _BATCH) -> Iterator[pa.Array]:
    with pq.ParquetFile(
        pa.BufferReader(content), read_dictionary=list(column.leaves), pre_buffer=False
    ) as file:
        for batch in file.iter_batches(n_rows, columns=[column.name], use_threads=False):
            same = [i for i, name in enumerate(batch.schema.names) if name == column.name]
            yield batch.column(same[column.copy])


class NotTextError(Exception):
    """Values of a column that cannot be shown as text; the message says what they are."""


def as_texts(array: pa.Array) -> list[str | None]:
    """Return each value as the text of a cell; None for a missing value.

    Raises:
        NotTextError: the values cannot be shown as text.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return as_texts(array.storage)
    if pa.types.is_dictionary(kind):
        used = pc.unique(array.indices).drop_null()
        values = as_texts(array.dictionary.take(used))
        texts = dict(zip(used.to_pylist(), values, strict=True))
        return [texts.get(index) for index in array.indices.to_pylist()]
    if pa.types.is_nested(kind):
        return _nested(array)
    if has_bytes(kind):
        return _decoded(array)
    if pa.types.is_floating(kind):
        return [as_text(value) for value in array.to_pylist()]
    try:
        return list(array.cast(pa.large_string()).to_pylist())
    except UnicodeDecodeError:
        return _decoded(array.cast(pa.large_binary()))
    except pa.ArrowException:
        return [None if value is None else str(value) for value in array.to_pylist()]


def _decoded(array: pa.Array) -> list[str | None]:
    try:
        return [None if value is None else value.decode() for value in array.to_pylist()]
    except UnicodeDecodeError as exc:
        raise NotTextError("bytes that are no text") from exc


def _nested(array: pa.Array) -> list[str | None]:
    if _largest(array) > _BATCH_BYTES:
        raise NotTextError(f"nested values that unpack to over {_BATCH_BYTES / 1e6:,.0f} MB")
    return [as_text(value) for value in array.to_pylist()]


def _largest(array: pa.Array) -> int:
    """Return the most bytes that an array can unpack to."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        longest = pc.max(pc.binary_length(array.dictionary)).as_py() or 0
        return int(longest) * len(array)
    if pa.types.is_struct(kind):
        return sum(map(_largest, array.flatten()))
    if pa.types.is_map(kind):
        return _largest(array.keys) + _largest(array.items)
    if pa.types.is_nested(kind):
        return _largest(array.flatten())
    return int(array.nbytes)


def has_bytes(kind: pa.DataType) -> bool:
    """True if a type is bytes, or contains bytes."""
    if pa.types.is_nested(kind):
        return any(has_bytes(kind.field(i).type) for i in range(kind.num_fields))
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


if __name__ == "__main__":
    sys.exit(main(_write))
