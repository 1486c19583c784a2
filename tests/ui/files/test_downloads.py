"""A file made at a click is there for the browser's request, and not for ever."""

from __future__ import annotations

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileMetadata
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from contextlens.ui.files import downloads


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(media_file_manager, "MediaFileMetadata", MediaFileMetadata)
    downloads.begin()
    clock = Clock()
    monkeypatch.setattr(downloads, "time", clock)
    return clock


def made_at_a_click(manager: MediaFileManager) -> str:
    button = manager.add_deferred(lambda: b"rows", "text/csv", "0.1", "rows.csv")
    return manager.execute_deferred(button).rsplit("/", maxsplit=1)[-1]


def test_a_file_outlives_the_runs_of_others_for_a_minute_and_then_goes(clock: Clock) -> None:
    storage = MemoryMediaFileStorage("/media")
    manager = MediaFileManager(storage)
    file = made_at_a_click(manager)
    for _ in range(5):
        manager.remove_orphaned_files()
    assert storage.get_file(file).content == b"rows"
    clock.now += downloads.KEEP_SECONDS + 1
    manager.remove_orphaned_files()
    with pytest.raises(MediaFileStorageError):
        storage.get_file(file)


def test_a_second_click_keeps_the_file_for_another_minute(clock: Clock) -> None:
    storage = MemoryMediaFileStorage("/media")
    manager = MediaFileManager(storage)
    file = made_at_a_click(manager)
    clock.now += downloads.KEEP_SECONDS - 1
    assert made_at_a_click(manager) == file
    clock.now += 2
    for _ in range(2):
        manager.remove_orphaned_files()
    assert storage.get_file(file).content == b"rows"
