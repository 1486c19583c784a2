"""Ports of this machine that nobody listens on, for servers that tests start."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress

__all__ = ["free_port"]

_given: set[int] = set()


def free_port(n: int = 1) -> int:
    """The first of so many ports in a row that nobody listens on, and that none was told of before.

    A system may name a port again as soon as nobody listens on it.
    """
    while True:
        with ExitStack() as probes, suppress(OSError, OverflowError):
            port = 0
            for i in range(n):
                probe = probes.enter_context(socket.socket())
                probe.bind(("127.0.0.1", port + i if port else 0))
                port = port or int(probe.getsockname()[1])
            own = set(range(port, port + n))
            if not own & _given:
                _given.update(own)
                return port
