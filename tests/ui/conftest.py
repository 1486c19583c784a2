"""Fixtures of tests that get a model, by the picker or a page: an empty hub cache, and a hub."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hub_server import HubServer, Reply, Request
from tests.support.tiny_models import build

SECONDS = 300


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of some megabytes, so that fetching it has steps."""
    folder = tmp_path_factory.mktemp("served") / "model"
    return build("bert", folder, hidden_size=160, intermediate_size=640)


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def _closed(server: HubServer, only: str = "") -> Iterator[threading.Event]:
    opened = threading.Event()

    def wait(request: Request, reply: Reply) -> Reply:
        if not only or (request.method, request.file) == ("GET", only):
            opened.wait(SECONDS)
        return reply

    server.faults = wait
    yield opened
    opened.set()


@pytest.fixture
def gate(server: HubServer) -> Iterator[threading.Event]:
    """A hub that sends no weights until the gate is open."""
    yield from _closed(server, "model.safetensors")


@pytest.fixture
def silence(server: HubServer) -> Iterator[threading.Event]:
    """A hub that says nothing at all until this is set."""
    yield from _closed(server)
