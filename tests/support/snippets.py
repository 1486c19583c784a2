"""Runs what "Under the hood" hands out, as a reader would run it."""

from __future__ import annotations

from typing import Any


def run(code: str) -> dict[str, Any]:
    """The names that a script leaves."""
    namespace: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, "snippet.py", "exec"), namespace)
    return namespace
