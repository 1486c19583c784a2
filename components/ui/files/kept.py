"""The files that visitors brought, kept in this process's memory for the pages that read them.

A file is its visitor's alone: it is kept under a name that only that visit knows. What a page shows
of it, the chosen columns and no other, is kept beside it under the digest that stands in the
address, so that whoever has the address finds that, and nothing else of the file. A bound for each
visitor and one for all count what every page keeps.
"""

from __future__ import annotations

import uuid
from functools import lru_cache
from typing import Any

from components.core import Settings
from components.corpus.readers import Sheet, read
from components.corpus.shelf import Shelf
from components.corpus.uploads import Uploads
from components.ui.access import guard
from components.ui.access.roles import UPLOAD
from components.ui.models.services import settings

__all__ = ["forget_all", "keep", "keep_shared", "shared", "sheet_of"]

_N_OWN = 16  # files and chosen columns of one visitor that are kept
_TIMES_UPLOAD = 10  # what one visitor's files may take in memory, in uploads of the largest size
_N_UPLOADS = 100  # files of one visit; they may add up to ten of the largest
_SECONDS = 30.0  # that a file waits while others are read


@lru_cache(maxsize=1)
def _shelf_of(own: Settings) -> Shelf:
    return Shelf(own.file_bytes, max_own_bytes=_own_bytes(own), max_own=_N_OWN)


@lru_cache(maxsize=1)
def _uploads_of(own: Settings) -> Uploads:
    max_bytes = _TIMES_UPLOAD * own.max_upload_bytes
    return Uploads(max_files=_N_UPLOADS, max_bytes=max_bytes, seconds=_SECONDS)


def _shelf() -> Shelf:
    return _shelf_of(settings())


def _own_bytes(own: Settings) -> int:
    """The memory that one visitor's files may take: never all that there is for files."""
    return min(own.file_bytes // 2, _TIMES_UPLOAD * own.max_upload_bytes)


def keep(visitor: str, name: str, content: bytes) -> str:
    """Read a visitor's file and keep it; gives the name under which this visit finds it.

    Raises:
        AccessError: the visitor may not upload files.
        CorpusError: it cannot be used, or this visit has uploaded too much; what was kept stays.
    """
    guard.require(UPLOAD)
    own = settings()
    with _uploads_of(own).reading(visitor, name, len(content)):
        sheet = read(name, content, max_bytes=own.max_upload_bytes, max_held=_own_bytes(own))
        n_bytes = sheet.n_bytes
    secret = f"file {uuid.uuid4().hex}"
    _shelf().put(guard.current_owner() or visitor, secret, sheet, n_bytes)
    return secret


def sheet_of(secret: str) -> Sheet | None:
    """The file that was kept under a name, where this process still has it and it is theirs."""
    found = _shelf().get(secret, of=guard.current_owner()) if secret else None
    return found if isinstance(found, Sheet) else None


def keep_shared(visitor: str, digest: str, chosen: Any, n_bytes: int) -> None:
    """Keep what was chosen of a file for whoever has its digest."""
    _shelf().put(guard.current_owner() or visitor, digest, chosen, n_bytes)


def shared(digest: str) -> Any:
    """What was chosen of a file and has a digest, or None; never a file itself."""
    found = _shelf().get(digest)
    return None if isinstance(found, Sheet) else found


def forget_all() -> None:
    """Let go of all files and counts, as a server does that starts again."""
    _shelf_of.cache_clear()
    _uploads_of.cache_clear()
