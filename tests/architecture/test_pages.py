"""The scripts, the pages and their controls: short, of one name, and declared in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from contextlens.ui.page.navigation import PAGES
from contextlens.ui.state.controls import FRAME, TEXTS, Control
from tests.architecture.source import (
    PACKAGE,
    ROOT,
    SOURCES,
    assert_none,
    imports_of,
    n_lines,
    nodes_of,
    part_of,
    short,
)

SCRIPTS = [ROOT / "main.py", *sorted((ROOT / "pages").glob("*.py"))]
SCRIPT_LINES = 60  # of main.py, and of a page


# The scripts and the pages


def test_scripts_are_short() -> None:
    assert_none(
        f"{short(path)} has {n_lines(path)} lines"
        for path in SCRIPTS
        if n_lines(path) > SCRIPT_LINES
    )


def test_scripts_only_read_state_call_and_render() -> None:
    assert_none(
        f"{short(path)}:{node.lineno}"
        for path in SCRIPTS
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.While)
        or (isinstance(node, ast.For) and any(isinstance(n, ast.For) for n in inner_nodes(node)))
    )


def inner_nodes(node: ast.AST) -> list[ast.AST]:
    return [n for n in ast.walk(node) if n is not node]


def test_every_page_has_a_row_a_script_and_a_folder_of_one_name() -> None:
    names = {page.name for page in PAGES}
    folders = {p.parent.name for p in (PACKAGE / "features").glob("*/__init__.py")}
    assert {page.file for page in PAGES} == {short(path) for path in SCRIPTS[1:]}
    assert names == {path.stem for path in SCRIPTS[1:]} == folders
    assert len(names) == len({page.title for page in PAGES}) == len(PAGES)


def test_every_row_says_which_question_its_page_answers() -> None:
    for page in PAGES:
        assert page.question.endswith("?")
        assert page.icon.startswith(":material/")


# Controls


def declared_controls() -> Iterator[tuple[Path, str, Control]]:
    """Every control that is declared: where, its name there, and itself."""
    for path in SOURCES:
        if path.name == "controls.py" and part_of(path) in {"features", "ui"}:
            module = import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
            for name, value in vars(module).items():
                if isinstance(value, Control):
                    yield path, name, value


def test_controls_are_declared_in_one_place_only() -> None:
    """A default that is stated elsewhere, or read past its control, is found here."""
    makers = {"choice", "number", "sentence_choice", "switch", "text"}
    home = "contextlens.ui.state.controls"
    raw = {"control", "with_control"}
    assert_none(
        [
            f"{short(path)}:{line} makes a control outside of controls.py"
            for path in SOURCES
            if path.name != "controls.py"
            for name in makers
            for line in lines_importing(path, f"{home}.{name}")
        ]
        + [
            f"{short(path)}:{node.lineno} reads or writes past the control"
            for path in SOURCES
            if short(path)
            not in {f"components/contextlens/ui/state/{name}.py" for name in ("view", "controls")}
            for node in nodes_of(path)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in raw
        ]
    )


def lines_importing(path: Path, name: str) -> list[int]:
    return [found.line for found in imports_of(path) if found.name == name]


def test_every_control_belongs_to_one_page_or_the_frame_and_allows_its_own_default() -> None:
    pages = {FRAME, TEXTS, *(page.name for page in PAGES)}
    controls = list(declared_controls())
    keys = [control.key for _, _, control in controls]
    assert len(controls) > 40
    assert len(set(keys)) == len(keys)
    assert_none(
        f"{short(path)}: {name}"
        for path, name, control in controls
        if control.page not in pages or control.allowed(control.default) != control.default
    )
