"""Runs what "Under the hood" hands out, as a reader would run it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def run(code: str, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The names that a script leaves; those that its beginning left are given where it goes on."""
    namespace: dict[str, Any] = {"__name__": "snippet", **(names or {})}
    exec(compile(code, "snippet.py", "exec"), namespace)
    return namespace
