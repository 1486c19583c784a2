"""Fetches within limits from a local hub, and which files it was asked for."""

from __future__ import annotations

from typing import Any

from components.core.hub import Fetched, fetch
from tests.core.hub.fetches import ID
from tests.support.hub_server import HubServer

__all__ = ["asked", "get"]


def get(server: HubServer, **more: Any) -> Fetched:
    return fetch(ID, endpoint=server.endpoint, allow_downloads=True, **more)


def asked(server: HubServer) -> list[str]:
    return [request.file for request in server.requests if request.file]
