"""Coroutines, run from tests that are none."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["alone"]

T = TypeVar("T")


def alone(asked: Coroutine[Any, Any, T]) -> T:
    """Runs it in a thread of its own: a browser's tests leave a running loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asked).result()
