"""A hub of many tiny models, slow, silent or broken for each as a test asks."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from tests.support.hub_server import HubServer, Reply, Repository, Request, error

__all__ = ["Hub", "asked_of"]

WEIGHTS = "model.safetensors"
SECONDS = 300


class Hub:
    """A hub of many tiny models under names of their own: each test takes fresh ones."""

    def __init__(self, server: HubServer, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self._n = 0
        self.slow: dict[str, float] = {}
        self.hurry = threading.Event()  # what was slow comes at once
        self.broken: set[str] = set()
        self.closed: dict[str, threading.Event] = {}
        server.faults = self._answer

    def new(self) -> str:
        """The id of a model that nobody has asked for yet."""
        self.hurry = threading.Event()
        self._n += 1
        name = f"org/tiny-{self._n}"
        self.server.repositories[name] = Repository(self._folder)
        return name

    def _answer(self, request: Request, reply: Reply) -> Reply:
        repo = request.repo or ""
        if repo in self.broken:
            return error(500)
        if repo in self.closed:
            self.closed[repo].wait(SECONDS)
        if request.method == "GET" and request.file == WEIGHTS and repo in self.slow:
            return replace(reply, bytes_per_second=self.slow[repo], hurry=self.hurry)
        return reply


def asked_of(hub: Hub, model: str) -> list[Request]:
    return [request for request in hub.server.requests if request.repo == model]
