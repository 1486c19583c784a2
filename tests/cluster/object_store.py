"""An S3-compatible server on this machine that a test can stop, restart and change."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

__all__ = ["BUCKET", "ObjectStore", "object_store", "overdue", "s3_server"]

BUCKET = "corpora"


class ObjectStore:
    """A server with one bucket."""

    def __init__(self) -> None:
        self._server: Any = None
        self._port = 0
        self.start()
        self._ask("PUT", "")

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self._port}"

    def environment(self) -> dict[str, str]:
        """The variables that lead to it."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }

    def start(self) -> None:
        """Begin to answer, at the same address and with the same objects as before."""
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self._port, verbose=False)
        self._server.start()
        self._port = self._server.get_host_and_port()[1]

    def stop(self) -> None:
        """Stop answering."""
        self._server.stop()

    def keys(self, prefix: str) -> list[str]:
        """The keys below a path."""
        found = self._ask("GET", f"?list-type=2&max-keys=10000&prefix={quote(prefix)}").decode()
        return re.findall(r"<Key>([^<]+)</Key>", found)

    def get(self, key: str) -> bytes:
        """An object."""
        return self._ask("GET", f"/{quote(key)}")

    def put(self, key: str, content: bytes) -> None:
        """Store an object."""
        self._ask("PUT", f"/{quote(key)}", content)

    def delete(self, key: str) -> None:
        """Delete an object."""
        self._ask("DELETE", f"/{quote(key)}")

    @contextmanager
    def only_known_keys(self) -> Iterator[None]:
        """Refuse all credentials in the block: the server knows none."""
        self._moto("reset-auth", b"0")
        try:
            yield
        finally:
            self._moto("reset-auth", b"1000000000")

    def _ask(self, method: str, rest: str, content: bytes | None = None) -> bytes:
        url = f"{self.url}/{BUCKET}{rest}"
        headers = {
            "Authorization": "AWS testing:testing",
            "Content-Type": "application/octet-stream",  # else it is read as a form
        }
        request = Request(url, content, headers, method=method)
        with urlopen(request, timeout=20) as answer:
            return bytes(answer.read())

    def _moto(self, what: str, content: bytes) -> None:
        kind = {"Content-Type": "text/plain"}
        request = Request(f"{self.url}/moto-api/{what}", content, kind)
        with urlopen(request, timeout=20):
            pass


def overdue(root: str, name: str) -> None:
    """Let a corpus's lease expire, as if its holder had been silent for half a minute."""
    import lancedb

    lancedb.connect(root).open_table(f"{name}.lease").update(values={"until": 0.0})


@pytest.fixture(scope="session")
def s3_server() -> Iterator[ObjectStore]:
    """One for the whole run: each test uses a path of its own."""
    server = ObjectStore()
    yield server
    server.stop()


@pytest.fixture
def object_store(s3_server: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    """The server; variables lead this process and those that it starts to it."""
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    return s3_server
