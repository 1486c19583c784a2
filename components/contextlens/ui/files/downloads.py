"""Files that a click on a download button makes, until the browser has fetched them.

The browser fetches such a file with a second request. Streamlit 1.67 deletes it as soon as two runs
of any visitors have ended since: on a busy server, before that request arrives. So files are kept
longer here, and bounded. Streamlit also names a file by samples of it, so two large files that
differ could share an address; here, a file's name is the digest of all of it.
"""

from __future__ import annotations

import hashlib
import posixpath
import time
from collections import Counter
from dataclasses import dataclass

from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime import media_file_manager, memory_media_file_storage
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileKind

from contextlens.content.language import say

KEEP_SECONDS = 60.0
"""How long a file can be fetched after the click; the first run to end after that deletes it."""
MAX_VISIT_BYTES = 64_000_000
"""The bytes of one visit's files, after which its next click gets a sentence."""
MAX_ALL_BYTES = 256_000_000
"""The bytes of all files, after which the visit with most loses its oldest file."""
_EXPECTED_BYTES = 8_000_000
"""The bytes that count for a file while it is made."""
_handle = DeferredFileHandler.handle


class _Metadata(media_file_manager.MediaFileMetadata):
    def __init__(self, kind: MediaFileKind = MediaFileKind.MEDIA) -> None:
        super().__init__(kind)
        self._made = time.monotonic()

    @property
    def is_marked_for_delete(self) -> bool:
        return super().is_marked_for_delete and time.monotonic() - self._made > KEEP_SECONDS


@dataclass(eq=False)
class _Download:
    """A file for a visit.

    Attributes:
        visit: the visit.
        file: its name in Streamlit's store; "" while it is made.
        n_bytes: its size.
    """

    visit: str
    file: str = ""
    n_bytes: int = _EXPECTED_BYTES


class _Downloads:
    """The files of all visits. Only the event loop's thread uses it."""

    def __init__(self) -> None:
        self._downloads: list[_Download] = []  # oldest first

    async def handle(
        self, manager: MediaFileManager, handler: DeferredFileHandler,
        request: BackendOperationRequest, visit: str,
    ) -> BackendOperationResponse:  # fmt: skip
        """Make a file if its visit has room; return its address, or a sentence for the button."""
        self._forget_deleted(manager)
        if self._is_full(visit):
            for _ in range(2):  # the first call marks files, the second deletes what is old
                manager.remove_orphaned_files()
            self._forget_deleted(manager)
        if self._is_full(visit):
            return BackendOperationResponse(
                request_id=request.request_id, error_msg=say("files.downloads.busy")
            )
        download = _Download(visit)
        self._downloads.append(download)
        try:
            response = await _handle(handler, request, visit)
        finally:
            self._downloads.remove(download)
        if response.deferred_file.url:
            file = posixpath.splitext(posixpath.basename(response.deferred_file.url))[0]
            stored = manager.read_file(file)
            self._count(_Download(visit, file, stored.content_size if stored else 0))
            self._make_room(manager)
        return response

    def _count(self, download: _Download) -> None:
        """Count a file, once for each visit that asked for it."""
        same = (download.visit, download.file)
        others = [other for other in self._downloads if (other.visit, other.file) != same]
        self._downloads = [*others, download]

    def _make_room(self, manager: MediaFileManager) -> None:
        """Delete files until all fit; the newest stays, as its browser comes for it now."""
        while self._bytes_by_visit().total() > MAX_ALL_BYTES:
            n_bytes = self._bytes_by_visit()
            older = [other for other in self._downloads[:-1] if other.file]
            if not older:
                return
            oldest = max(older, key=lambda other: n_bytes[other.visit])  # the first of the largest
            self._downloads.remove(oldest)
            self._delete(manager, oldest.file)

    def _delete(self, manager: MediaFileManager, file: str) -> None:
        is_another_s = any(other.file == file for other in self._downloads)
        with manager._lock:
            if not is_another_s and file in manager._file_metadata:
                manager._delete_file(file)

    def _is_full(self, visit: str) -> bool:
        n_bytes = self._bytes_by_visit()[visit]
        return bool(n_bytes) and n_bytes + _EXPECTED_BYTES > MAX_VISIT_BYTES

    def _forget_deleted(self, manager: MediaFileManager) -> None:
        self._downloads = [
            other for other in self._downloads if not other.file or manager.read_file(other.file)
        ]

    def _bytes_by_visit(self) -> Counter[str]:
        n_bytes: Counter[str] = Counter()
        for download in self._downloads:
            n_bytes[download.visit] += download.n_bytes
        return n_bytes


def begin() -> None:
    """Keep each file for `KEEP_SECONDS` within the bounds, from now on and in this process."""
    downloads = _Downloads()

    async def handle(
        handler: DeferredFileHandler, request: BackendOperationRequest, session_id: str
    ) -> BackendOperationResponse:
        manager = handler._get_media_file_mgr()
        return await downloads.handle(manager, handler, request, session_id)

    media_file_manager.MediaFileMetadata = _Metadata  # type: ignore[misc]
    memory_media_file_storage._calculate_file_id = _file_id
    DeferredFileHandler.handle = handle  # type: ignore[method-assign, assignment]


def _file_id(data: bytes, mimetype: str, filename: str | None = None) -> str:
    """Return a name that only equal files share."""
    digest = hashlib.sha256(f"{mimetype}\n{filename}\n".encode("utf-8", "replace"))
    digest.update(data)
    return digest.hexdigest()
