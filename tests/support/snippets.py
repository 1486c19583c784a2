"""Runs what "Under the hood" hands out, as a reader would run it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plotly.graph_objects import Figure


def run(code: str, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The names that a script leaves; those that its beginning left are given where it goes on."""
    namespace: dict[str, Any] = {"__name__": "snippet", **(names or {})}
    exec(compile(code, "snippet.py", "exec"), namespace)
    return namespace


def run_alone(code: str, root: Path) -> dict[str, Any]:
    """The names that a script leaves which needs nothing of ours, with its files in a folder."""
    assert "contextlens" not in code
    return run(code.replace("path/to/", f"{root}/"))


def drawn(code: str, names: Mapping[str, Any]) -> Figure:
    """The figure that a script which goes on from another one has on its last line."""
    *_, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    figure = eval(compile(ast.Expression(last.value), "snippet.py", "eval"), run(code, names))
    assert isinstance(figure, Figure)
    assert figure.data
    return figure
