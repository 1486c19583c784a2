"""Questions to a served service, as its clients send them and as any other program does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import httpx2

from contextlens.core.remote.service import Connection
from contextlens.core.remote.wire import REQUEST_TYPE

__all__ = ["CARD", "asking", "post"]

CARD: Any = SimpleNamespace(n_layers=6, n_dims=384, n_heads=12, max_length=512, vocabulary_size=9)
"""A model card, for sizes of answers."""


@contextmanager
def asking(address: str) -> Iterator[Connection]:
    client = Connection(address)
    yield client
    client.close()


def post(address: str, method: str, body: bytes, **headers: str) -> httpx2.Response:
    own = {"content-type": REQUEST_TYPE, **{k.replace("_", "-"): v for k, v in headers.items()}}
    with httpx2.Client(trust_env=False, timeout=120) as client:
        return client.post(f"{address}/v1/{method}", content=body, headers=own)
