"""The tests themselves: they mirror the house, mock none of it, and share what they need."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

from tests.architecture.source import PACKAGE, ROOT, TESTS, assert_none, imports_of, short, tree_of


def test_the_tests_mirror_the_house() -> None:
    folders = {
        path.relative_to(ROOT / "tests").parent
        for path in TESTS
        if path.name.startswith("test_") and path.parent != ROOT / "tests"
    }
    apart = {"architecture", "deploy", "browser", "benchmarks", "fuzz", "load", "cluster"}
    assert_none(
        f"tests/{folder} mirrors nothing"
        for folder in sorted(folders)
        if folder.parts[0] not in apart and not is_room(folder)
    )
    assert not list(ROOT.glob("tests/**/__init__.py"))


def is_room(folder: Path) -> bool:
    """True if there is a folder of that name, or a file with many tests."""
    room = PACKAGE / folder
    return room.is_dir() or room.with_suffix(".py").is_file()


def test_our_own_code_is_not_mocked() -> None:
    assert_none(
        f"{short(path)}:{found.line}"
        for path in TESTS
        for found in imports_of(path)
        if "mock" in found.name.lower()
    )


def test_no_test_file_imports_another() -> None:
    """Shared code stands beside the tests that need it, or in `tests/support`."""
    assert_none(
        f"{short(path)}:{found.line} imports {found.name}"
        for path in TESTS
        for found in imports_of(path)
        if any(part.startswith("test_") for part in found.name.split(".")[:-1])
        or (found.name.startswith("tests.") and found.name.split(".")[-1].startswith("test_"))
    )


def test_support_has_what_several_rooms_need() -> None:
    """Code that the tests of one room alone need stands beside them."""
    wide = {ROOT / "tests" / part for part in (".", "core", "features", "support", "ui")}
    assert_none(
        f"{short(path)} is for {sorted(map(short, folders)) or 'nobody'}"
        for path in TESTS
        if path.parent == ROOT / "tests" / "support"
        and not (wide & (folders := users(path)))
        and not (folders and Path(os.path.commonpath(folders)) in wide)
    )


def users(path: Path) -> set[Path]:
    """The folders of the tests that name a module of `tests/support`."""
    name = re.compile(rf"tests\.support\.{path.stem}\b|tests\.support import {path.stem}\b")
    return {
        other.parent
        for other in TESTS
        if other != path and name.search(other.read_text(encoding="utf-8"))
    }


def test_every_test_file_tests() -> None:
    assert_none(
        short(path)
        for path in TESTS
        if path.name.startswith("test_") and not has_a_test(tree_of(path))
    )


def has_a_test(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for node in ast.walk(tree)
    )
