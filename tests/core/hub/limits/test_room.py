"""Room for what comes from a hub: in its cache, and on the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.core.errors import FetchError
from components.core.hub import Limits, cached
from components.core.hub.room import room_for
from tests.core.hub.fetches import ID, WEIGHTS
from tests.core.hub.limits.limited import asked, get
from tests.support.hub_server import HubServer, error

# Room in the hub cache


def test_a_fetch_that_would_overfill_the_hub_cache_is_refused(
    server: HubServer, tiny: Path, cache: Path
) -> None:
    other = cache / "models--org--other" / "blobs"
    other.mkdir(parents=True)
    (other / "blob").write_bytes(b"x" * 3_000_000)
    (cache / "linked").symlink_to(other, target_is_directory=True)  # counts once
    with pytest.raises(FetchError, match=r"1 MB more .* holds 3 MB of at most 3 MB .*_CACHE_MB"):
        get(server, limits=Limits(cache_bytes=3_000_000))
    assert not asked(server)
    assert get(server, limits=Limits(cache_bytes=4_000_000)).revision == server.commit(ID)


def test_what_is_here_already_needs_no_room(server: HubServer) -> None:
    whole = get(server)
    assert get(server, limits=Limits(cache_bytes=1)) == whole
    (whole.folder / "tokenizer_config.json").unlink()
    with pytest.raises(FetchError, match="CONTEXTLENS_HUB_CACHE_MB"):
        get(server, limits=Limits(cache_bytes=1))


def test_fetches_at_the_same_time_share_the_room(tmp_path: Path) -> None:
    limits = Limits(cache_bytes=10_000_000)
    with room_for(6_000_000, ID, tmp_path, limits):
        with pytest.raises(FetchError, match="holds 6 MB of at most 10 MB"):
            room_for(6_000_000, ID, tmp_path, limits).__enter__()
        with room_for(4_000_000, ID, tmp_path, limits):
            pass
    with room_for(10_000_000, ID, tmp_path, limits):
        pass


def test_a_fetch_that_failed_gives_its_room_back(server: HubServer) -> None:
    limits = Limits(cache_bytes=1_500_000)  # for one, not for two
    server.faults = lambda request, reply: error(403) if request.file == WEIGHTS else reply
    for _ in range(2):
        with pytest.raises(FetchError, match="403"):
            get(server, limits=limits)
    server.faults = None
    assert get(server, limits=limits).revision == server.commit(ID)


# Room on the disk


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[Path]]:
    """Says how much is free; gives the folders that were asked about."""

    def set_free(free: int) -> list[Path]:
        seen: list[Path] = []
        monkeypatch.setattr(
            "shutil.disk_usage", lambda path: seen.append(Path(path)) or SimpleNamespace(free=free)
        )
        return seen

    return set_free


def test_a_disk_without_room_is_said_before_anything_is_fetched(
    server: HubServer, cache: Path, disk: Callable[[int], list[Path]]
) -> None:
    seen = disk(500_000_000)
    with pytest.raises(FetchError, match=r"needs 1 MB on the disk.*500 MB are free and 500 MB"):
        get(server)
    assert not asked(server)
    assert seen == [cache.parent], "the cache is not there yet"
    disk(502_000_000)
    assert get(server).revision == server.commit(ID)


def test_a_disk_that_cannot_be_asked_is_no_reason_to_refuse(
    server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: object) -> None:
        raise PermissionError

    monkeypatch.setattr("components.core.hub.room.shutil.disk_usage", fail)
    assert get(server).revision == server.commit(ID)


def test_a_page_that_is_only_drawn_does_not_sum_the_cache(
    server: HubServer, disk: Callable[[int], list[Path]]
) -> None:
    get(server)
    seen = disk(0)
    assert cached(ID) is not None
    assert get(server).revision == server.commit(ID)
    assert not seen


def test_the_sum_is_right_from_several_threads(tmp_path: Path) -> None:
    limits = Limits(cache_bytes=8_000_000)
    refused = []

    def take() -> None:
        for _ in range(50):
            try:
                with room_for(1_000_000, ID, tmp_path, limits):
                    pass
            except FetchError as exc:
                refused.append(exc)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not refused
