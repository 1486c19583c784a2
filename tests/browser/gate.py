"""A way to a server that a test can close and open: as if the network between them were cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

__all__ = ["Gate", "gate"]

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
