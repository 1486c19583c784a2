"""Bounds on a hub's lists, files and answers, and the room that they need."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contextlens.core import registry
from contextlens.core.errors import CheckpointError, FetchError
from contextlens.core.hub import Limits, cached, fetching
from contextlens.core.hub.fetching import check_sizes, room_for
from contextlens.core.schema import ProgressEvent
from contextlens.core.settings import Settings
from tests.core.hub.fetches import ID, WEIGHTS, asked, get
from tests.support.hub_server import Faults, HubServer, Reply, Request, error

# Lists of false or huge sizes, or of countless files


def listed(change: Callable[[list[dict[str, Any]]], None]) -> Faults:
    """A fault in the list of files."""

    def fault(request: Request, reply: Reply) -> Reply:
        if request.kind != "info":
            return reply
        answer = json.loads(reply.body)
        change(answer["siblings"])
        return replace(reply, body=json.dumps(answer).encode())

    return fault


def sized(name: str, size: object) -> Faults:
    """A fault that lists this file, new or not, with this size."""

    def change(siblings: list[dict[str, Any]]) -> None:
        siblings[:] = [sibling for sibling in siblings if sibling["rfilename"] != name]
        siblings.append({"rfilename": name, "size": size, "blobId": "0" * 40})

    return listed(change)


def test_a_size_that_no_file_has_is_refused(server: HubServer) -> None:
    for size in (-1, 1.5, True, "12", None, float("inf"), [], {}):
        server.faults = sized(WEIGHTS, size)
        with pytest.raises(FetchError, match="sizes that no file has"):
            get(server)
    assert not asked(server)


@pytest.mark.parametrize(
    ("name", "size"),
    [(WEIGHTS, 4_096_000_001), ("extra.model", 10**12), ("config.json", 10**9), (WEIGHTS, 10**30)],
)
def test_more_than_a_model_may_be_is_refused_before_any_file_comes(
    server: HubServer, name: str, size: int
) -> None:
    server.faults = sized(name, size)
    with pytest.raises(CheckpointError, match=r"at most .* Choose") as caught:
        get(server)
    assert len(str(caught.value)) < 300
    assert not asked(server)


def test_the_files_of_a_model_count_together(server: HubServer, tiny: Path) -> None:
    total = sum((tiny / n).stat().st_size for n in ("config.json", WEIGHTS, "tokenizer.json"))
    with pytest.raises(CheckpointError, match=r"takes 1 MB; at most 1 MB .*CONTEXTLENS_MODEL_MB"):
        get(server, limits=Limits(model_bytes=total))
    assert not asked(server)
    total += (tiny / "tokenizer_config.json").stat().st_size
    assert get(server, limits=Limits(model_bytes=total)).revision == server.commit(ID)


def test_the_registry_asks_with_the_settings_limits(server: HubServer) -> None:
    server.faults = sized(WEIGHTS, 8_000_000)
    settings = Settings(hub_endpoint=server.endpoint, model_bytes=7_000_000)
    with pytest.raises(CheckpointError, match="at most 7 MB"):
        registry.locate(ID, settings)
    server.faults = None
    full = Settings(hub_endpoint=server.endpoint, hub_cache_bytes=1000)
    with pytest.raises(FetchError, match="CONTEXTLENS_HUB_CACHE_MB"):
        registry.locate(ID, full)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("config.json", 1_000_000),
        ("tokenizer_config.json", 16_000_000),
        ("model.safetensors.index.json", 16_000_000),
        ("tokenizer.json", 64_000_000),
        ("vocab.txt", 64_000_000),
        ("spiece.model", 64_000_000),
    ],
)
def test_each_small_file_has_its_own_bound(name: str, most: int) -> None:
    check_sizes({name: most}, ID, Limits())
    with pytest.raises(CheckpointError, match=rf"{name} of {most + 1:,} bytes; at most {most:,}"):
        check_sizes({name: most + 1}, ID, Limits())


def test_a_model_of_countless_shards_is_refused(server: HubServer) -> None:
    def shatter(siblings: list[dict[str, Any]]) -> None:
        siblings[:] = [s for s in siblings if s["rfilename"] != WEIGHTS]
        names = [f"model-{i:05}-of-09000.safetensors" for i in range(9000)]
        siblings += [{"rfilename": n, "size": 1} for n in [*names, f"{WEIGHTS}.index.json"]]

    server.faults = listed(shatter)
    with pytest.raises(CheckpointError, match="9,004 files"):
        get(server)
    assert not asked(server)


def test_a_repository_of_countless_other_files_is_refused(
    server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_MAX_LISTED", 5)
    with pytest.raises(CheckpointError, match="8 files; at most 5 are listed"):
        get(server)
    assert [request.kind for request in server.requests] == ["info"]


def test_what_honest_models_list_is_let_through() -> None:
    limits = Limits(Settings().model_bytes, Settings().hub_cache_bytes)
    for spec in registry.PRESETS:
        sizes = {"config.json": 700, "tokenizer.json": 466_000, "vocab.txt": 232_000}
        check_sizes({**sizes, WEIGHTS: spec.download_bytes or 0}, spec.id, limits)
    largest = {"tokenizer.json": 17_100_000, "sentencepiece.bpe.model": 5_070_000}  # XLM-RoBERTa
    check_sizes({**largest, "config.json": 616, WEIGHTS: 2_240_000_000}, ID, limits)


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
    """Set the free space; return the folders that were asked about."""

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

    monkeypatch.setattr("shutil.disk_usage", fail)
    assert get(server).revision == server.commit(ID)


def test_a_page_that_is_only_drawn_does_not_sum_the_cache(
    server: HubServer, disk: Callable[[int], list[Path]]
) -> None:
    get(server)
    seen = disk(0)
    assert cached(ID) is not None
    assert get(server).revision == server.commit(ID)
    assert not seen


# Answers that are too long or late

CHUNK = b"x" * 100_000


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", WEIGHTS])
def test_a_file_without_end_is_cut_off(server: HubServer, cache: Path, name: str) -> None:
    def pour(request: Request, reply: Reply) -> Reply:
        wanted = (request.method, request.file) == ("GET", name)
        return replace(reply, body=CHUNK, endless=True) if wanted else reply

    server.faults = pour
    with pytest.raises(FetchError, match="sent more than it listed"):
        get(server)
    assert cached(ID) is None
    assert not list(cache.rglob("*.incomplete"))
    server.faults = None
    assert get(server).revision == server.commit(ID)


def test_a_config_is_cut_off_at_its_own_size(server: HubServer, tiny: Path) -> None:
    """Not at that of a model of 60 MB; huggingface_hub hands bytes on in chunks of 10 MB."""
    size, large = (tiny / "config.json").stat().st_size, sized(WEIGHTS, 60_000_000)

    def pour(request: Request, reply: Reply) -> Reply:
        is_config = (request.method, request.file) == ("GET", "config.json")
        return replace(reply, body=CHUNK, endless=True) if is_config else large(request, reply)

    server.faults = pour
    events: list[ProgressEvent] = []
    with pytest.raises(FetchError, match="sent more than it listed"):
        get(server, progress=events.append)
    assert max(event.done_bytes for event in events) <= size


def test_a_file_that_the_hub_swells_after_the_list_is_cut_off(
    server: HubServer, cache: Path
) -> None:
    """The headers give its new size, not the listed one."""
    server.faults = lambda request, reply: (
        replace(reply, headers={**reply.headers, "X-Linked-Size": "40000000"}, body=CHUNK * 400)
        if request.file == WEIGHTS
        else reply
    )
    with pytest.raises(FetchError, match="sent more than it listed"):
        get(server)
    assert WEIGHTS not in {path.name for path in cache.glob("*/snapshots/*/*")}
    assert max((p.stat().st_size for p in cache.glob("*/blobs/*")), default=0) < 1_000_000


@pytest.mark.parametrize("header", ["ETag", "X-Linked-Etag", "X-Repo-Commit"])
@pytest.mark.parametrize("value", ["../../../../out", '"../out"', "x" * 300])
def test_no_header_names_a_file_outside_the_cache(
    server: HubServer, cache: Path, header: str, value: str
) -> None:
    def lead_out(request: Request, reply: Reply) -> Reply:
        if request.file is None:
            return reply
        status = 404 if header == "X-Repo-Commit" else reply.status
        code = {"X-Error-Code": "EntryNotFound"}
        return replace(reply, status=status, headers={**reply.headers, **code, header: value})

    server.faults = lead_out
    before = {path for path in cache.parent.rglob("*") if cache not in path.parents}
    with pytest.raises(FetchError, match="impossible name"):
        get(server)
    after = {path for path in cache.parent.rglob("*") if cache not in path.parents}
    assert after - before <= {cache}
    assert not list(cache.rglob("out"))


@pytest.mark.parametrize(
    "wish",
    [{"Retry-After": "99999999"}, {"RateLimit": '"api";r=0;t=99999999'}, {"Retry-After": "9" * 99}],
    ids=["retry-after", "ratelimit", "digits"],
)
def test_a_hub_cannot_put_a_fetch_to_sleep(
    server: HubServer, wish: dict[str, str], hasty: list[float]
) -> None:
    server.faults = lambda request, reply: (
        Reply(429, wish) if request.method == "GET" and request.file else reply
    )
    with pytest.raises(FetchError, match="wants a pause"):
        get(server)
    assert hasty
    assert max(hasty) <= 60


def test_a_list_that_never_comes_is_not_waited_for(
    server: HubServer, hasty: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlens.core.hub import client

    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.1)
    server.faults = lambda request, reply: (
        replace(reply, delay=0.3) if request.kind == "tree" else reply
    )
    with pytest.raises(FetchError, match="took too long"):
        get(server)
