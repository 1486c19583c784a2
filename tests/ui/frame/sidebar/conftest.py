"""What the tests of the picker share: an empty hub cache, a hub and the app on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hub_server import HubServer, Reply, Request, hub_server
from tests.support.tiny_models import build
from tests.ui.frame.sidebar.headless import PRESET, SECOND, SECONDS, TYPED, WEIGHTS, app_on


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "model"
    return build("bert", folder, hidden_size=160, intermediate_size=640)


@pytest.fixture(autouse=True)
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def server(served: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    """The app with its bundled model loaded, on an empty hub cache, and a hub."""
    with (
        hub_server(dict.fromkeys((PRESET, SECOND, TYPED), served)) as running,
        app_on(tmp_path_factory, running.endpoint),
    ):
        yield running


@pytest.fixture
def gate(server: HubServer) -> Iterator[threading.Event]:
    """A hub that sends no weights until the gate is open."""
    opened = threading.Event()

    def wait(request: Request, reply: Reply) -> Reply:
        if (request.method, request.file) == ("GET", WEIGHTS):
            opened.wait(SECONDS)
        return reply

    server.faults = wait
    yield opened
    opened.set()
