"""Progress while a model arrives, and fetches that go on or end after a cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from contextlens.core.errors import FetchError
from contextlens.core.hub import cached
from contextlens.core.schema import ProgressEvent
from tests.core.hub.fetches import ID, LARGE, STEP, WEIGHTS, assert_good, get, names
from tests.support.hub_server import Faults, HubServer, Reply, Request, error, hub_server


def on_file(name: str, reply: Callable[[Reply], Reply]) -> Faults:
    """A fault that changes the replies to GET of one file."""

    def fault(request: Request, normal: Reply) -> Reply:
        return reply(normal) if (request.method, request.file) == ("GET", name) else normal

    return fault


def test_progress_counts_bytes_up_to_the_size_of_the_files(server: HubServer, cache: Path) -> None:
    events: list[ProgressEvent] = []
    folder = get(server, progress=events.append).folder
    total = sum((folder / name).stat().st_size for name in names(folder))
    assert_good(events)
    assert events[0] == ProgressEvent(f"Fetching {ID}", 0, total)
    assert events[-1] == ProgressEvent(f"Fetching {ID}", total, total)
    assert len(events) > 2


def test_progress_of_a_large_file_comes_in_small_steps(large: Path, cache: Path) -> None:
    events: list[ProgressEvent] = []
    with hub_server({ID: large}) as server:
        get(server, progress=events.append)
    steps = [after.done_bytes - before.done_bytes for before, after in pairwise(events)]
    assert max(steps) <= STEP
    assert_good(events)


@pytest.mark.usefixtures("hasty")
def test_progress_is_never_ahead_of_what_arrived(large: Path, cache: Path) -> None:
    replies = iter([2 * STEP + 1000, None])

    def cut_then_refuse(reply: Reply) -> Reply:
        cut = next(replies)
        return error(403) if cut is None else replace(reply, cut_after=cut)

    events: list[ProgressEvent] = []
    with (
        hub_server({ID: large}, faults=on_file(LARGE, cut_then_refuse)) as server,
        pytest.raises(FetchError, match="403"),
    ):
        get(server, progress=events.append)
    others = sum(p.stat().st_size for p in cache.glob("*/snapshots/*/*") if p.name != LARGE)
    assert others < events[-1].done_bytes <= others + 2 * STEP


# Files that arrive in part


@pytest.mark.usefixtures("hasty")
def test_a_cut_connection_goes_on_from_the_last_whole_step(large: Path, cache: Path) -> None:
    def cut_once(reply: Reply) -> Reply:
        return replace(reply, cut_after=2 * STEP + 1000) if reply.status == 200 else reply

    events: list[ProgressEvent] = []
    with hub_server({ID: large}, faults=on_file(LARGE, cut_once)) as server:
        folder = get(server, progress=events.append).folder
    assert (folder / LARGE).read_bytes() == (large / LARGE).read_bytes()
    asked = [(r.method, r.headers.get("range")) for r in server.requests if r.file == LARGE]
    assert asked == [("HEAD", None), ("GET", None), ("GET", f"bytes={2 * STEP}-")]
    assert_good(events)


@pytest.mark.usefixtures("hasty")
def test_a_server_that_sends_all_again_takes_no_progress_back(large: Path, cache: Path) -> None:
    whole = (large / LARGE).read_bytes()
    cuts = iter([2 * STEP + 1000, None])

    def cut_and_ignore_ranges(_reply: Reply) -> Reply:
        return Reply(200, {}, whole, cut_after=next(cuts))

    events: list[ProgressEvent] = []
    with hub_server({ID: large}, faults=on_file(LARGE, cut_and_ignore_ranges)) as server:
        folder = get(server, progress=events.append).folder
    assert (folder / LARGE).read_bytes() == whole
    assert_good(events)


def test_a_shorter_file_than_announced_does_not_count(server: HubServer, cache: Path) -> None:
    server.faults = on_file(WEIGHTS, lambda reply: replace(reply, body=reply.body[:-10]))
    with pytest.raises(FetchError, match="did not arrive whole"):
        get(server)
    assert cached(ID) is None


# Who listens


def test_what_progress_raises_stops_the_fetch_and_comes_out(server: HubServer, cache: Path) -> None:
    class Cancelled(BaseException):
        pass

    def cancel(event: ProgressEvent) -> None:
        if event.done_bytes:
            raise Cancelled

    with pytest.raises(Cancelled):
        get(server, progress=cancel)
    assert cached(ID) is None
    assert not list(cache.rglob("*.incomplete"))


def test_an_error_of_the_callers_own_is_not_taken_for_the_hubs(
    server: HubServer, cache: Path
) -> None:
    mistake = OSError("the caller's own")

    def fail(event: ProgressEvent) -> None:
        if event.done_bytes:
            raise mistake

    with pytest.raises(OSError, match="own") as caught:
        get(server, progress=fail)
    assert caught.value is mistake
