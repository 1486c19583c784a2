"""A folder as a model hub sees it: files with their hashes, at one commit."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = ["LARGE", "Repository"]

LARGE = (".safetensors", ".bin", ".model", ".h5", ".onnx", ".pt")


@dataclass(frozen=True)
class Repository:
    """A folder seen as a repository with one commit."""

    folder: Path

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Every file's bytes, by its path in the folder."""
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in paths}

    @cached_property
    def commit(self) -> str:
        """A hash of names and contents, 40 hexadecimal digits."""
        digest = hashlib.sha1(usedforsecurity=False)
        for name, data in self.files.items():
            digest.update(f"{name} {len(data)}\n".encode() + data)
        return digest.hexdigest()

    def is_large(self, name: str) -> bool:
        """Whether the hub would keep this file outside of git."""
        return name.endswith(LARGE)

    def blob_id(self, name: str) -> str:
        """Git's own hash of a file."""
        data = self.files[name]
        return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    def sha256(self, name: str) -> str:
        """The SHA-256 of a file."""
        return hashlib.sha256(self.files[name]).hexdigest()
