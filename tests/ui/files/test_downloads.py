"""A file made at a click is there for the browser's request, not for ever, and within bounds."""

from __future__ import annotations

import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.runtime import media_file_manager, memory_media_file_storage
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from contextlens.ui.files import downloads


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Server:
    """Streamlit's store of files, and clicks on download buttons."""

    def __init__(self) -> None:
        self._storage = MemoryMediaFileStorage("/media")
        self._manager = MediaFileManager(self._storage)

    def click(self, visit: str, content: bytes = b"rows") -> str:
        """The file's name, or what the button says instead."""
        request = BackendOperationRequest(request_id="1")
        request.deferred_file.file_id = self._manager.add_deferred(
            lambda: content, "text/csv", "0.1", "rows.csv"
        )
        response = asyncio.run(DeferredFileHandler(lambda: self._manager).handle(request, visit))
        url = response.deferred_file.url
        return url.rpartition("/")[2] if url else response.error_msg

    def has(self, file: str) -> bool:
        return self._manager.read_file(file.partition(".")[0]) is not None

    def content(self, file: str) -> bytes:
        return self._storage.get_file(file).content

    def end_runs(self) -> None:
        for _ in range(2):
            self._manager.remove_orphaned_files()

    @property
    def n_bytes(self) -> int:
        return sum(file.content_size for file in self._storage._files_by_id.values())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    for owner, name in (
        (media_file_manager, "MediaFileMetadata"),
        (memory_media_file_storage, "_calculate_file_id"),
        (DeferredFileHandler, "handle"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # restored after the test
    monkeypatch.setattr(downloads, "MAX_VISIT_BYTES", 64_000)
    monkeypatch.setattr(downloads, "MAX_ALL_BYTES", 256_000)
    monkeypatch.setattr(downloads, "_EXPECTED_BYTES", 8_000)
    downloads.begin()
    clock = Clock()
    monkeypatch.setattr(downloads, "time", clock)
    return clock


def test_a_file_outlives_the_runs_of_others_for_a_minute_and_then_goes(clock: Clock) -> None:
    server = Server()
    file = server.click("ann")
    server.end_runs()
    assert server.content(file) == b"rows"
    clock.now += downloads.KEEP_SECONDS - 1
    assert server.click("ann") == file  # keeps it for another minute
    clock.now += 2
    server.end_runs()
    assert server.has(file)
    clock.now += downloads.KEEP_SECONDS
    server.end_runs()
    assert not server.has(file)


def test_files_that_differ_anywhere_have_addresses_of_their_own(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "MAX_ALL_BYTES", 10_000_000)
    server = Server()
    contents = [b"x" * 900_000 + own + b"x" * 2_000_000 for own in (b"a", b"b")]
    files = [server.click(f"visit {i}", content) for i, content in enumerate(contents)]
    assert [server.content(file) for file in files] == contents


def test_a_visit_s_files_are_bounded_and_the_button_says_so(clock: Clock) -> None:
    server = Server()
    clicks = [server.click("ann", bytes([i]) * 22_000) for i in range(10)]
    assert server.n_bytes == 66_000
    assert (
        clicks[3:]
        == ["Your last downloads take all the room that you have here. Try again in a minute."] * 7
    )
    assert all(map(server.has, clicks[:3]))
    assert server.has(server.click("bob"))
    clock.now += downloads.KEEP_SECONDS + 1  # though nobody's run has ended since
    assert server.has(server.click("ann"))


def test_all_files_are_bounded_and_only_who_has_most_loses_any(clock: Clock) -> None:
    server = Server()
    small = server.click("bob", b"small")
    large = {visit: [server.click(visit, f"{visit}{i}".encode() * 10_000) for i in range(2)]
             for visit in ("c1", "c2", "c3", "c4", "c5")}  # fmt: skip
    assert server.n_bytes == 300_005 - 60_000
    assert server.has(small)
    assert [len(list(filter(server.has, files))) for files in large.values()] == [1, 1, 2, 2, 2]
    same = server.click("bob", b"c50" * 10_000)  # also somebody else's
    assert same == large["c5"][0]
    huge = server.click("dan", b"d" * 300_000)
    assert server.has(huge)
    assert server.n_bytes == 300_000
