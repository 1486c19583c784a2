"""Vectors that a file brings with its texts, of any model: a column of lists, or arrays beside it.

A vector of a row is kept as float32. Rows without a usable vector are counted by reason, and never
dropped here: they have no vector, and the pages that need one leave them out.

Arrays are read from their bytes after their header was checked. Pickles are never loaded.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.errors import CorpusError
from contextlens.core.schema import FloatArray, IntArray, Passport

__all__ = [
    "ARRAYS",
    "LENGTH",
    "MAX_DIMS",
    "MIN_DIMS",
    "MISSING",
    "PASTED",
    "REASONS",
    "FileSource",
    "FileVectors",
    "are_vectors",
    "array_vectors",
    "arrays_in",
    "check_size",
    "column_vectors",
    "is_cut_short",
    "matrix_vectors",
    "numbers_in",
]

ARRAYS = (".npy", ".npz")
"""File extensions of arrays, which hold vectors beside the texts of another file."""
PASTED = "Pasted texts.txt"
"""The name of the file that pasted texts become: the visitor has none."""
MIN_DIMS, MAX_DIMS = 8, 20_000
"""The numbers of a row that are taken for a vector without being told; arrays may have fewer."""
REASONS = (
    "",
    "no vector given",
    "another number of values",
    "NaN or infinite values",
    "zeros only",
    "no list of numbers",
)
"""Why a row has no vector, by the code in `FileVectors.reasons`; the first has one."""
MISSING, LENGTH, _NOT_FINITE, _ZERO, _UNREADABLE = range(1, 6)
_N_SAMPLE = 200  # cells that are looked at to tell whether a column holds vectors
_SHARE = 0.8  # of them that must be lists of the commonest length
_N_DIFFERENT = 17  # different whole numbers of a list that is taken for a quantised vector
_NONE = {"", "null", "none", "nan", "na"}
_UNIT = 1e-3  # from length one
_BLOCK = 4_096  # rows
_NUMBERS = re.compile(r"\[[\s\d.,eE+\-]*\d[\s\d.,eE+\-]*\.\.\.")
_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 10_000  # bytes
_MAX_MEMBERS = 100


@dataclass(frozen=True)
class FileSource:
    """The file that vectors came from, and how it was read, for a script that reads it again.

    Attributes:
        name: the name of the file that was given, which may be an archive with the vectors' file.
        form, sheet: what a person said of it, as `contextlens.corpus.readers.read` takes it.
        key: the array's key in a .npz file, or the column's name in a Parquet file whose names are
            all different; "" for others.
    """

    name: str = ""
    form: str = ""
    sheet: str = ""
    key: str = ""


@dataclass(frozen=True, eq=False)
class FileVectors:
    """The vectors of the rows of a file, or of the texts of a corpus.

    Attributes:
        title: the title of their column, or the name of their array.
        file: the name of the file that holds them.
        sha256: of that file's bytes, hex.
        dtype: the type of their numbers in the file.
        rows: (n, n_dims) float32; what stands in a row without a vector means nothing.
        reasons: (n,) int8, 0 for a row with a vector, else the place in `REASONS`.
        places: (n,) int64, the row of each in the file, from 0.
        skipped: the number of texts that were left out because they have no vector, by reason.
        source: the file that was given, and how it was read.
    """

    title: str
    file: str
    sha256: str
    dtype: str
    rows: FloatArray
    reasons: NDArray[np.int8]
    places: IntArray
    skipped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    source: FileSource = FileSource()

    @property
    def n_dims(self) -> int:
        """The numbers of a vector."""
        return int(self.rows.shape[1])

    @property
    def n_bytes(self) -> int:
        """The memory of the vectors."""
        return self.rows.nbytes + self.reasons.nbytes + self.places.nbytes

    @property
    def usable(self) -> IntArray:
        """The rows with a vector, ascending."""
        return np.flatnonzero(self.reasons == 0)

    @cached_property
    def left_out(self) -> Mapping[str, int]:
        """The number of rows without a vector by reason, without reasons that no row has."""
        counts = Counter(self.reasons.tolist())
        return {REASONS[code]: counts[code] for code in sorted(counts) if code}

    @cached_property
    def are_unit(self) -> bool:
        """True if all vectors have length one, within a thousandth."""
        ranges = (self.usable[at : at + _BLOCK] for at in range(0, len(self.usable), _BLOCK))
        return all(
            bool((np.abs(np.linalg.norm(self.rows[rows], axis=1) - 1) <= _UNIT).all())
            for rows in ranges
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that is kept, hex."""
        source = astuple(self.source)
        parts = [self.title, self.file, self.sha256, self.dtype, list(self.rows.shape), source]
        digest = hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass"))
        digest.update(self.reasons.tobytes())
        for at in range(0, len(self.rows), _BLOCK):
            digest.update(self.rows[at : at + _BLOCK].tobytes())
        return digest.hexdigest()

    def take(self, rows: Sequence[int] | IntArray) -> FileVectors:
        """Return the vectors of some rows; the arrays are shared if it is all of them."""
        chosen = np.asarray(rows, dtype=np.int64)
        if len(chosen) == len(self.rows) and bool((chosen == np.arange(len(chosen))).all()):
            return self
        return replace(
            self,
            rows=_frozen(self.rows[chosen]),
            reasons=self.reasons[chosen],
            places=self.places[chosen],
        )

    def note(self) -> str:
        """Return a sentence on what the vectors are."""
        length = "all of length 1" if self.are_unit else "not all of length 1"
        return f"Vectors: “{self.title}” of {self.file}, {self.n_dims:,} numbers each, {length}."

    def passport(self) -> Passport:
        """Return the passport of numbers that come from these vectors."""
        settings = {
            "vectors": self.title,
            "file": self.file,
            "file_sha256": self.sha256,
            "n_dims": self.n_dims,
            "stored_as": self.dtype,
            "unit_length": self.are_unit,
            "texts_left_out": dict(self.skipped),
        }
        versions = {"numpy": np.__version__}
        return Passport(f"vectors of {self.file}", "", self.sha256, "exact", versions, settings)

    def script(self, rows: Sequence[int] | None) -> str:
        """Return lines of Python that read the vectors of some of these rows from the file.

        They leave `vectors`, (n, n_dims). If no rows are given, a variable `rows` has those of the
        file. NumPy and pyarrow read their own files; of the others there are too many kinds, so the
        lines read them as the page does.
        """
        source, file, rows_line = self.source, repr(self.source.name), ""
        if rows is not None:
            places = self.places[list(rows)].tolist()
            rows_line = f"rows = {places}  # of the file, from 0\n"
        ending = source.name.strip().casefold()
        if ending.endswith(ARRAYS):
            key = f"[{source.key!r}]" if source.key else ""
            load = f"vectors = np.load({file}, allow_pickle=False){key}[rows].astype(np.float32)\n"
            return f"import numpy as np\n\n{rows_line}{load}"
        if ending.endswith(".parquet") and source.key:
            return (
                f"import numpy as np\nimport pyarrow.parquet as pq\n\n{rows_line}"
                f"column = pq.read_table({file})[{source.key!r}].to_numpy()\n"
                "vectors = np.stack(column[rows]).astype(np.float32)\n"
            )
        said = {"form": source.form, "sheet": source.sheet}
        options = "".join(f", {name}={value!r}" for name, value in said.items() if value)
        save = f"# If you pasted these texts, save them as {file} (UTF-8) beside this script.\n\n"
        return (
            f"{save if source.name == PASTED else ''}"
            "from pathlib import Path\n\nimport numpy as np\n"
            f"from contextlens.corpus.readers import read\n\n{rows_line}"
            f"content = Path({file}).read_bytes()\n"
            f"table = read({file}, content, max_bytes=10**10{options})\n"
            f"own = next(own for own in table.vectors if own.title == {self.title!r})\n"
            "vectors = own.rows[rows]\n"
        )

    def left_out_note(self) -> str:
        """Return a sentence on the rows without a vector; "" if each has one."""
        if not self.left_out:
            return ""
        n = sum(self.left_out.values())
        why = ", ".join(f"{reason} ({count:,})" for reason, count in self.left_out.items())
        rows_have = "row has" if n == 1 else "rows have"
        return f"{n:,} {rows_have} no vector in “{self.title}”: {why}."


# --- From a matrix, or a column of cells


def _frozen(rows: NDArray[Any]) -> FloatArray:
    rows.flags.writeable = False
    return rows


def matrix_vectors(
    matrix: NDArray[Any], reasons: NDArray[np.int8], *, title: str, file: str, sha256: str,
    dtype: str, key: str = "",
) -> FileVectors:  # fmt: skip
    """Return the vectors of a matrix, with the reasons that its own numbers add to those given."""
    rows = np.empty(matrix.shape, np.float32)
    codes = reasons.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for at in range(0, len(matrix), _BLOCK):
            part = slice(at, at + _BLOCK)
            rows[part] = matrix[part]
            is_finite = np.isfinite(rows[part]).all(axis=1)
            is_zero = ~rows[part].any(axis=1)
            own = np.where(~is_finite, _NOT_FINITE, np.where(is_zero, _ZERO, 0))
            codes[part] = np.where(codes[part] == 0, own, codes[part])
    places = np.arange(len(rows))
    source = FileSource(key=key)
    return FileVectors(title, file, sha256, dtype, _frozen(rows), codes, places, source=source)


def are_vectors(lists: Sequence[NDArray[Any]]) -> int:
    """Return the length of the vectors if lists of numbers are likely vectors, else 0.

    They are if most have the same length, of `MIN_DIMS` or more, and hold decimals; or whole
    numbers as quantised vectors do, which are small, of both signs or over a byte, and many.
    """
    if not lists:
        return 0
    n_dims, n = Counter(map(len, lists)).most_common(1)[0]
    if not MIN_DIMS <= n_dims <= MAX_DIMS or n < _SHARE * len(lists):
        return 0
    same = np.stack([numbers for numbers in lists if len(numbers) == n_dims]).astype(np.float64)
    known = same[np.isfinite(same)]
    if not known.size:
        return 0
    if (known != np.round(known)).any():
        return n_dims
    is_byte = known.min() >= -128 and known.max() <= 255
    is_spread = (known < 0).any() or known.max() > 127
    return n_dims if is_byte and is_spread and len(np.unique(known)) >= _N_DIFFERENT else 0


def numbers_in(cell: str) -> NDArray[np.float64] | None:
    """Return the numbers of a cell: JSON's list, or NumPy's without commas; None for others."""
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = text[1:-1].replace(",", " ").split()
    try:
        numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    return numbers if numbers.ndim == 1 else None


def _is_list(cell: str | None) -> bool:
    return cell is not None and cell.lstrip()[:1] == "["


def is_cut_short(cells: Sequence[str | None]) -> bool:
    """True if cells hold lists of numbers that were printed with an ellipsis in their middle."""
    sample = list(islice((cell for cell in cells if cell and not cell.isspace()), _N_SAMPLE))
    n = sum(_NUMBERS.match(cell.lstrip()) is not None for cell in sample)
    return bool(sample) and n >= _SHARE * len(sample)


def column_vectors(
    cells: Sequence[str | None], *, title: str, file: str, sha256: str, max_bytes: int
) -> FileVectors | None:
    """Return the vectors of a column of cells; None if it likely holds none.

    Raises:
        CorpusError: they take too much memory.
    """
    sample = list(islice((cell for cell in cells if cell and not cell.isspace()), _N_SAMPLE))
    if sum(map(_is_list, sample)) < _SHARE * max(1, len(sample)):
        return None
    lists = [numbers for cell in sample if (numbers := numbers_in(cell)) is not None]
    n_dims = are_vectors(lists) if len(lists) >= _SHARE * len(sample) else 0
    if not n_dims:
        return None
    check_size(file, title, len(cells), n_dims, max_bytes)
    matrix = np.full((len(cells), n_dims), np.nan, np.float32)
    reasons = np.zeros(len(cells), np.int8)
    with np.errstate(over="ignore"):
        for i, cell in enumerate(cells):
            if cell is None or cell.strip().casefold() in _NONE:
                reasons[i] = MISSING
                continue
            numbers = numbers_in(cell)
            if numbers is None:
                reasons[i] = _UNREADABLE
            elif len(numbers) != n_dims:
                reasons[i] = LENGTH
            else:
                matrix[i] = numbers
    given = {"title": title, "file": file, "sha256": sha256, "dtype": "text"}
    return matrix_vectors(matrix, reasons, **given)


def check_size(file: str, title: str, n: int, n_dims: int, max_bytes: int) -> None:
    """Check that vectors fit into memory.

    Raises:
        CorpusError: they do not.
    """
    if 4 * n * n_dims > max_bytes:
        raise CorpusError(
            f"{file}: the vectors of “{title}” take {4e-6 * n * n_dims:,.1f} MB ({n:,} rows of "
            f"{n_dims:,} numbers); at most {max_bytes / 1e6:,.1f} MB are kept here. Give fewer "
            "rows, or shorter vectors."
        )


# --- Arrays of NumPy, read from their bytes


def arrays_in(
    name: str, content: bytes, *, max_bytes: int
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return the matrices of numbers in a .npy or .npz file by name, and why others are none.

    Raises:
        CorpusError: it is damaged, holds Python objects or no matrix of numbers, or is too large.
    """
    if name.strip().casefold().endswith(".npy"):
        stem = name.strip().rpartition("/")[2][: -len(".npy")] or "vectors"
        return {stem: _array(name, content, max_bytes)}, ()
    arrays: dict[str, NDArray[Any]] = {}
    problems: list[str] = []
    for member, inner in _members(name, content, max_bytes):
        try:
            arrays[member] = _array(f"{name}: {member}", inner, max_bytes)
        except CorpusError as exc:
            problems.append(str(exc))
    if not arrays:
        raise CorpusError(problems[0] if problems else f"{name} holds no array.")
    return arrays, tuple(problems)


def _members(name: str, content: bytes, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    n_left = max_bytes
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = [f for f in archive.infolist() if f.filename.casefold().endswith(".npy")]
            if len(files) > _MAX_MEMBERS:
                raise CorpusError(f"{name} holds {len(files):,} arrays. Keep those of the vectors.")
            for file in files:
                with archive.open(file) as stream:
                    inner = stream.read(n_left + 1)
                n_left -= len(inner)
                if n_left < 0:
                    raise CorpusError(
                        f"{name} unpacks to more than {max_bytes / 1e6:,.0f} MB, the most that is "
                        "read here. Keep the array of the vectors, as float32 or float16."
                    )
                yield file.filename.removesuffix(".npy"), inner  # as NumPy does
    except _ZIP_FAILURES as exc:
        raise CorpusError(
            f"{name} cannot be read as arrays: it is damaged, or no file of numpy.savez. Write it "
            "again."
        ) from exc


_ZIP_FAILURES = (
    *(zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, ValueError),
    *(zlib.error, struct.error),
)


def _array(name: str, content: bytes, max_bytes: int) -> NDArray[Any]:
    """Return the matrix in the bytes of a .npy file."""
    damaged = CorpusError(
        f"{name} cannot be read as an array: it is damaged, or not written by numpy.save. Write it "
        "again."
    )
    if content[:6] != _MAGIC or len(content) < 12:
        raise damaged
    size_of_length = 2 if content[6] == 1 else 4
    start = 8 + size_of_length
    n_header = int.from_bytes(content[8:start], "little")
    if content[6] not in {1, 2, 3} or n_header > _MAX_HEADER or start + n_header > len(content):
        raise damaged
    try:
        header = ast.literal_eval(content[start : start + n_header].decode("utf-8").strip())
        descr, shape = header["descr"], header["shape"]
        is_fortran = header["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError) as exc:
        raise damaged from exc
    if isinstance(descr, str) and "O" in descr:
        raise CorpusError(
            f"{name} holds Python objects, which are a pickle and can run any code. Save the "
            "vectors as numbers: numpy.save(file, numpy.array(vectors, dtype=numpy.float32))."
        )
    try:
        dtype = np.dtype(descr) if isinstance(descr, str) else None
    except (TypeError, ValueError) as exc:
        raise damaged from exc
    if dtype is None or dtype.kind not in "fiu" or dtype.itemsize > 8:
        raise CorpusError(
            f"{name} holds no numbers. Give an array of numbers, a row for each text."
        )
    is_matrix = isinstance(shape, tuple) and len(shape) == 2
    if not is_matrix or not all(type(side) is int and side >= 0 for side in shape):
        shown = " x ".join(map(str, shape))[:40] if isinstance(shape, tuple) else "no shape"
        raise CorpusError(
            f"{name} has the shape {shown or 'of one number'}; vectors have two sides: a row for "
            "each text, and a column for each number of its vector."
        )
    n, n_dims = shape
    if n < 1 or n_dims < 2 or n_dims > MAX_DIMS:
        raise CorpusError(
            f"{name} has {n:,} rows of {n_dims:,} numbers; vectors have 2 to {MAX_DIMS:,} numbers."
        )
    if n * n_dims * dtype.itemsize != len(content) - start - n_header:
        raise damaged
    check_size(name, "its array", n, n_dims, max_bytes)
    flat = np.frombuffer(content, dtype, n * n_dims, start + n_header)
    matrix: NDArray[Any] = flat.reshape((n, n_dims), order="F" if is_fortran else "C")
    return matrix


def array_vectors(
    name: str, content: bytes, n_rows: int, texts: str, *, max_bytes: int
) -> tuple[tuple[FileVectors, ...], tuple[str, ...]]:
    """Return the vectors of a .npy or .npz file, a row for each row of texts, and notes.

    Args:
        name: the file's name.
        content: its bytes.
        n_rows: the number of rows of the texts.
        texts: the name of their file.
        max_bytes: the most memory for each array, and for a file that is unpacked.

    Raises:
        CorpusError: it cannot be read, or no array has as many rows.
    """
    arrays, problems = arrays_in(name, content, max_bytes=max_bytes)
    fitting = {title: array for title, array in arrays.items() if len(array) == n_rows}
    if not fitting:
        title, array = next(iter(arrays.items()))
        raise CorpusError(
            f"{name} has {len(array):,} vectors and {texts} has {n_rows:,} rows, so we cannot tell "
            "which vector belongs to which text. Give a vector for each row, in the same order."
        )
    sha256 = hashlib.sha256(content).hexdigest()
    has_keys = name.strip().casefold().endswith(".npz")
    vectors, n_left = [], max_bytes
    for title, array in fitting.items():
        check_size(name, title, n_rows, array.shape[1], n_left)
        n_left -= 4 * array.size
        none = np.zeros(len(array), np.int8)
        given = {"title": title, "file": name, "sha256": sha256, "dtype": str(array.dtype)}
        key = title if has_keys else ""
        vectors.append(matrix_vectors(array, none, key=key, **given))
    notes = [
        f"{name}: the array “{title}” has {len(array):,} rows, and was left out."
        for title, array in arrays.items()
        if title not in fitting
    ]
    return tuple(vectors), (*notes, *problems)
