"""Files that whoever runs the server offers to everybody as corpora: one folder, read only.

A file's stored corpus has a name that follows from the file and the model, so that everybody finds
the one that somebody had indexed, and a file that is replaced is another one.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import CorpusError
from components.corpus.readers import FORMATS, Sheet, read
from components.corpus.sheet import named

__all__ = ["MOST_FILES", "Offered", "offered", "read_offered", "stored_name"]

MOST_FILES = 100
"""That are offered of one folder, by the alphabet."""


@dataclass(frozen=True)
class Offered:
    """A file of the folder.

    Attributes:
        title: its name.
        path: where it is.
        mark: changes with what is in it: its size, and when it was written.
    """

    title: str
    path: Path
    mark: tuple[int, int]


def offered(folder: Path | None) -> tuple[Offered, ...]:
    """The files of a folder that can be read as corpora, by name; linked files are none of it."""
    found = []
    try:
        paths = sorted(folder.iterdir()) if folder is not None else []
        for path in paths:
            if path.suffix.casefold() in FORMATS and path.is_file() and not path.is_symlink():
                about = path.stat()
                found.append(Offered(named(path.name), path, (about.st_size, about.st_mtime_ns)))
    except OSError:  # it was taken away since the server began
        return tuple(found[:MOST_FILES])
    return tuple(found[:MOST_FILES])


def stored_name(file: Offered, model: str) -> str:
    """The name of the corpus that a file becomes with a model: the same for everybody."""
    given = repr((file.path.name, file.mark, model)).encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(hashlib.sha256(given).digest())[:16].decode()


def read_offered(file: Offered, *, max_bytes: int) -> Sheet:
    """What is in a file.

    Raises:
        CorpusError: it is too large, cannot be read, or is no longer there.
    """
    if file.mark[0] > max_bytes:
        raise CorpusError(
            f"{file.title} is {file.mark[0] / 1e6:,.1f} MB; at most {max_bytes / 1e6:,.0f} MB are "
            "read here. Whoever runs this server can raise CONTEXTLENS_MAX_UPLOAD_MB."
        )
    try:
        content = file.path.read_bytes()
    except OSError as exc:
        raise CorpusError(
            f"{file.title} cannot be read on this server any more. Choose another corpus, or ask "
            "whoever runs it."
        ) from exc
    return read(file.path.name, content, max_bytes=max_bytes)
