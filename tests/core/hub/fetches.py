"""Fetches from a local hub: the model of the tests, and what is said while it comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contextlens.core.hub import Fetched, fetch
from contextlens.core.schema import ProgressEvent
from tests.support.hub_server import HubServer

__all__ = ["ID", "LARGE", "STEP", "WEIGHTS", "asked", "assert_good", "get", "names"]

ID = "org/tiny-bert"
WEIGHTS = "model.safetensors"
LARGE = "spiece.model"
STEP = 1 << 18


def get(server: HubServer, **more: Any) -> Fetched:
    return fetch(ID, endpoint=server.endpoint, allow_downloads=True, **more)


def asked(server: HubServer) -> list[str]:
    """The files that the hub was asked for."""
    return [request.file for request in server.requests if request.file]


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def assert_good(events: list[ProgressEvent]) -> None:
    """One total, never less than before, never more than the total."""
    done = [event.done_bytes for event in events]
    assert done == sorted(done)
    assert len({event.total_bytes for event in events}) == 1
    assert max(done) <= (events[0].total_bytes or 0)
