"""The app with its models on Ray: the model's numbers, and a clear page while Ray is away."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.visit import Visit
from tests.support.ray_service import RayService

pytestmark = [pytest.mark.browser, pytest.mark.cluster, pytest.mark.ray]

_CHUNK = 65536


class Gate:
    """A port of its own that leads to a server as long as it is open."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._server = (parts.hostname or "", parts.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_open = True
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def open(self) -> None:
        """Let all through again."""
        self._is_open = True

    def shut(self) -> None:
        """Cut what goes through, and let nobody in."""
        self._is_open = False
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End it."""
        self.shut()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._sockets.append(client)
                if not self._is_open:
                    client.shutdown(socket.SHUT_RDWR)
                    continue
                server = socket.create_connection(self._server)
                self._sockets.append(server)
                self._start(_copy, client, server)
                self._start(_copy, server, client)

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        thread.start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def gate(address: str) -> Iterator[Gate]:
    """An open gate before a server."""
    own = Gate(address)
    try:
        yield own
    finally:
        own.close()


AWAY = "does not answer"


@pytest.fixture(scope="module")
def way(on_ray: RayService) -> Iterator[Gate]:
    with gate(on_ray.address) as own:
        yield own


@pytest.fixture(scope="module")
def served(run_app: Callable[..., str], app_settings: Mapping[str, str], way: Gate) -> str:
    return run_app("app.py", {**app_settings, "CONTEXTLENS_SERVICE_URL": way.address})


def test_pages_show_the_models_numbers(
    visit: Callable[..., Visit], served: str, facts: Mapping[str, Any]
) -> None:
    """Of the default view's words, those measured on the model by itself."""
    reader = visit("/meaning", address=served)
    measured = facts["bundled_model_cosines"]
    shown = reader.main.inner_text()
    for names in ("pet~snake", "pet~programming", "language~snake", "language~programming"):
        assert f"{measured[names][-1]:.2f}" in shown
    reader.goto("/attention")
    assert reader.figure.is_visible()
    assert reader.reading


def answer(reader: Visit) -> Locator:
    return reader.main.locator(".st-key-headline p.said")


def test_while_ray_is_away_pages_say_so_and_show_what_they_have(
    visit: Callable[..., Visit], served: str, way: Gate
) -> None:
    reader = visit("/meaning", address=served)
    before = reader.reading
    way.shut()
    try:
        reader.retype("sentence A", "I feed my pet python")
        reader.settle()
        expect(
            reader.main.get_by_text("What was computed before can still be seen")
        ).to_be_visible()
        assert reader.rows[0] == "I feed my pet python"
        expect(answer(reader)).to_have_count(0)
        again = visit("/meaning", address=served)
        assert again.reading == before
        expect(again.main.get_by_text(AWAY)).to_be_visible()
    finally:
        way.open()
    with reader.rerun():
        reader.main.get_by_role("button", name="Try again").click()
    reader.settle()
    expect(answer(reader)).to_have_text("A: the animal. B: the language.")
    assert reader.figure.is_visible()
