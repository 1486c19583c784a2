"""The one file in a .gz or .zip file, bounded while it unpacks."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

from contextlens.core.errors import CorpusError
from contextlens.corpus.table import named

__all__ = [
    "ARCHIVES",
    "FAILURES",
    "MAX_ENTRIES",
    "METHODS",
    "is_locked",
    "is_side_file",
    "n_entries",
    "unpacked",
]

ARCHIVES = (".gz", ".zip")

MAX_ENTRIES = 10_000
"""The most files in an archive whose list of files is read."""
_ENTRY = b"PK\x01\x02"  # begins the entry of each file in the list at the end
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1
_N_LISTED = 5
FAILURES = (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError, RuntimeError)


def unpacked(name: str, content: bytes, *, max_bytes: int) -> tuple[str, bytes]:
    """Return the name and the content of the file in an archive; of any other file, its own.

    Raises:
        CorpusError: it is damaged, holds no file or several, or unpacks to more than `max_bytes`.
    """
    plain = name.strip()
    if not plain.casefold().endswith(ARCHIVES):
        return name, content
    try:
        is_gzip = plain.casefold().endswith(".gz")
        inner, unzipped = (
            (plain[:-3], _gunzipped(content, max_bytes))
            if is_gzip
            else _unzipped(name, content, max_bytes)
        )
    except FAILURES as exc:
        raise CorpusError(
            f"{named(name)} cannot be unpacked: it is damaged, or no such archive. Pack it again, "
            "or give the file in it."
        ) from exc
    if len(unzipped) > max_bytes:
        raise CorpusError(
            f"{named(name)} unpacks to more than {max_bytes / 1e6:,.0f} MB, the most that is read "
            "here. Split it, or keep the columns that are needed."
        )
    if inner.casefold().endswith(ARCHIVES):
        raise CorpusError(f"{named(name)} holds another archive. Give the file in it.")
    return inner, unzipped


def n_entries(content: bytes) -> int:
    """Return the most files that the list of a ZIP archive can name, without reading the list."""
    return content.count(_ENTRY)


def _gunzipped(content: bytes, max_bytes: int) -> bytes:
    with gzip.open(io.BytesIO(content)) as stream:
        return stream.read(max_bytes + 1)


def _unzipped(name: str, content: bytes, max_bytes: int) -> tuple[str, bytes]:
    if n_entries(content) > MAX_ENTRIES:
        raise CorpusError(
            f"{named(name)} holds over {MAX_ENTRIES:,} files. Give a file with one of them."
        )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = [file for file in archive.infolist() if not is_side_file(file)]
        if len(files) != 1:
            raise CorpusError(_not_one(name, files))
        (file,) = files
        if is_locked(file):
            raise CorpusError(f"{named(name)} needs a password. Pack it without one.")
        if file.compress_type not in METHODS:
            raise CorpusError(
                f"{named(name)} is packed in a way that is not read here. Pack it as a usual ZIP "
                "file, or give the file in it."
            )
        with archive.open(file) as stream:
            return file.filename.rpartition("/")[2], stream.read(max_bytes + 1)


def is_locked(file: zipfile.ZipInfo) -> bool:
    """True if a file needs a password."""
    return bool(file.flag_bits & _ENCRYPTED)


def is_side_file(file: zipfile.ZipInfo) -> bool:
    """True for folders, and for what macOS adds."""
    return (
        file.is_dir()
        or file.filename.startswith("__MACOSX/")
        or file.filename.rpartition("/")[2].startswith(".")
    )


def _not_one(name: str, files: list[zipfile.ZipInfo]) -> str:
    if not files:
        return f"{named(name)} holds no file. Give an archive with one file of texts."
    listed = ", ".join(named(file.filename) for file in files[:_N_LISTED])
    more = ", …" if len(files) > _N_LISTED else ""
    return (
        f"{named(name)} holds {len(files):,} files ({listed}{more}), and one can be read at a "
        "time. Give that file alone."
    )
