"""A service behind a cache: what it was asked for, and whether two results are the same."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any

import numpy as np

from contextlens.core.calls import Call
from contextlens.core.schema import Tokens
from contextlens.core.service import LocalService
from contextlens.core.settings import Settings

__all__ = ["MODEL", "TEXT", "CountingService", "assert_same"]

MODEL = "folder:bert"
TEXT = "A python slept under the warm lamp"


class CountingService(LocalService):
    """A real service that notes which texts were encoded, and which read with changes."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.encoded: list[str] = []
        self.intervened: list[tuple[str, ...]] = []
        self.seconds = 0.0  # to wait, so that other threads ask meanwhile

    def _answer(self, call: Call) -> Any:
        if call.method.name == "encode":
            self.encoded += call.arguments["texts"]
            time.sleep(self.seconds)
        if call.method.name == "intervene":
            self.intervened.append(tuple(call.arguments["texts"]))
        return super()._answer(call)


def assert_same(ours: Tokens, plain: Tokens, name: str) -> None:
    assert type(ours) is type(plain)
    for field in fields(plain):
        one, other = getattr(ours, field.name), getattr(plain, field.name)
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(one, other, err_msg=f"{name}: {field.name}")
            assert one.dtype == other.dtype
        else:
            assert one == other, f"{name}: {field.name}"
