"""Checksums of files, read in chunks so that weights of any size fit in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

__all__ = ["checksum_of"]


def checksum_of(paths: Iterable[Path], more: str = "") -> str:
    """SHA-256 over the concatenated files and a text after them, in hexadecimal."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    digest.update(more.encode())
    return digest.hexdigest()
