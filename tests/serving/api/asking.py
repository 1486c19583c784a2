"""Questions to a served service, as its clients send them and as any other program does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from components.core.remote.connection import Connection
from components.core.remote.wire import MEDIA_TYPE

__all__ = ["asking", "post"]


@contextmanager
def asking(address: str) -> Iterator[Connection]:
    client = Connection(address)
    yield client
    client.close()


def post(address: str, method: str, body: bytes, **headers: str) -> httpx2.Response:
    own = {"content-type": MEDIA_TYPE, **{k.replace("_", "-"): v for k, v in headers.items()}}
    with httpx2.Client(trust_env=False) as client:
        return client.post(f"{address}/v1/{method}", content=body, headers=own)
