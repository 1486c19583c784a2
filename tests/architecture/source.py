"""The source of the house and of its tests: files, syntax trees, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = [
    "PACKAGE",
    "ROOT",
    "SOURCES",
    "TESTS",
    "Import",
    "assert_none",
    "file_of",
    "imports_of",
    "is_within",
    "n_lines",
    "nodes_of",
    "origin",
    "part_of",
    "parts_of",
    "short",
    "tree_of",
]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "components" / "contextlens"
SOURCES = [
    *sorted(PACKAGE.rglob("*.py")),
    *(ROOT / name for name in ("app.py", "main.py")),
    *sorted((ROOT / "pages").glob("*.py")),
]
TESTS = sorted(ROOT.glob("tests/**/*.py"))


@dataclass(frozen=True)
class Import:
    """One imported name, absolute: "contextlens.core.words.split_words"."""

    name: str
    line: int
    inside_function: bool

    @property
    def top(self) -> str:
        return self.name.split(".")[0]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def assert_none(offenders: Iterator[str] | list[str]) -> None:
    """Fail if a file breaks the rule, with the list of those that do."""
    found = list(offenders)
    assert not found, "\n" + "\n".join(found)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def n_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def part_of(path: Path) -> str:
    """The part of the house that a file belongs to: "core", ..., "pages", "app" or "main"."""
    return parts_of(path)[0]


def parts_of(path: Path) -> tuple[str, ...]:
    """A file's path from the package, or else from the root: ("core", "encoder", "loading")."""
    root = PACKAGE if path.is_relative_to(PACKAGE) else ROOT
    return path.relative_to(root).with_suffix("").parts


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    """Every import in a file, those inside functions and behind TYPE_CHECKING too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[Import]:
    functions = [n for n in nodes_of(path) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(n) for function in functions for n in ast.walk(function)}
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{origin(path, node)}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (Import(name, node.lineno, id(node) in inside) for name in names)


def origin(path: Path, node: ast.ImportFrom) -> str:
    """The module that a `from` names, a relative one resolved."""
    if not node.level:
        return node.module or ""
    package = path.relative_to(PACKAGE.parent).with_suffix("").parts[: -node.level]
    return ".".join([*package, *(node.module or "").split(".")]).strip(".")


def is_within(name: str, allowed: str) -> bool:
    return name == allowed or name.startswith(f"{allowed}.")


def file_of(module: str) -> Path | None:
    """The file of a module of ours."""
    if not is_within(module, "contextlens"):
        return None
    base = PACKAGE.parent.joinpath(*module.split("."))
    found = (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file())
    return next(found, None)
