"""The docstring and `__all__` of every module, and calls that are allowed in none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import (
    SOURCES,
    assert_none,
    file_of,
    imports_of,
    nodes_of,
    origin,
    part_of,
    short,
    tree_of,
)

# What stays out


def test_only_the_state_module_touches_session_state() -> None:
    assert_none(
        short(path)
        for path in SOURCES
        if any(n.attr == "session_state" for n in attributes_of(path))
        and short(path) != "components/contextlens/ui/state/session.py"
    )


def attributes_of(path: Path) -> list[ast.Attribute]:
    return [n for n in nodes_of(path) if isinstance(n, ast.Attribute)]


def test_no_html_is_let_through() -> None:
    assert_none(
        short(path)
        for path in SOURCES
        if "unsafe_allow_html" in path.read_text(encoding="utf-8")
        or {"write_html", "iframe"} & {n.attr for n in attributes_of(path)}
    )


def test_no_pickles_and_no_remote_code() -> None:
    pickles = {"pickle", "dill", "joblib", "shelve"}
    assert_none(
        [
            f"{short(path)}:{found.line} imports {found.name}"
            for path in SOURCES
            for found in imports_of(path)
            if found.top in pickles
        ]
        + [
            f"{short(path)}:{node.value.lineno} {node.arg}"
            for path in SOURCES
            for node in nodes_of(path)
            if isinstance(node, ast.keyword)
            and node.arg in {"allow_pickle", "trust_remote_code"}
            and not (isinstance(node.value, ast.Constant) and node.value.value is False)
        ]
    )


def test_results_are_remembered_in_one_store() -> None:
    """The shared one, or that of a service whose settings were given to `open_service`."""
    allowed = {f"components/contextlens/core/{name}.py" for name in ("byte_cache", "service")}
    assert_none(
        f"{short(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "ByteCache"
        and short(path) not in allowed
    )


def test_no_process_runs_python_between_fork_and_exec() -> None:
    """If another thread holds a lock at that moment, the process never begins."""
    assert_none(
        f"{short(path)}:{node.value.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.keyword) and node.arg == "preexec_fn"
    )


def test_nothing_is_validated_by_assert() -> None:
    assert_none(
        f"{short(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Assert)
    )


# Modules


def test_all_names_what_a_module_has() -> None:
    assert_none(f"{short(path)}: {why}" for path in SOURCES for why in wrongly_stated(path))


STATED = {"core", "analysis", "corpus", "maps", "jobs"}
"""Parts that others may import on their own: their modules list what is public."""


def wrongly_stated(path: Path) -> Iterator[str]:
    stated = public_names(path)
    if stated is None:
        if part_of(path) not in STATED:
            return
        defined = [n for n in tree_of(path).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        if any(not each.name.startswith("_") for each in defined):
            yield "__all__ is missing"
        return
    if len(set(stated)) != len(stated):
        yield "__all__ names something twice"
    yield from (f"{name} is not there" for name in sorted(set(stated) - bound_names(path)))


def test_what_others_use_is_public() -> None:
    """A name that another module of ours takes is in `__all__`, or has no underscore."""
    assert_none(
        f"{short(path)}:{line} takes {name}, which is not public in {short(module)}"
        for path in SOURCES
        for module, name, line in taken_names(path)
        if not (module.parent / f"{name}.py").is_file()
        and not is_public(name, public_names(module))
    )


def is_public(name: str, stated: list[str] | None) -> bool:
    return not name.startswith("_") if stated is None else name in stated


def public_names(path: Path) -> list[str] | None:
    """`__all__` of a module; None where it has none."""
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            return list(ast.literal_eval(node.value))
    return None


def bound_names(path: Path) -> set[str]:
    """Names that a module binds at its top level, or for types alone and then when asked for."""
    names: set[str] = set()
    body = tree_of(path).body
    for_types = [n for each in body if isinstance(each, ast.If) for n in each.body]
    is_lazy = any(isinstance(n, ast.FunctionDef) and n.name == "__getattr__" for n in body)
    for node in [*body, *(for_types if is_lazy else ())]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def taken_names(path: Path) -> Iterator[tuple[Path, str, int]]:
    """Names taken from modules of ours, with `from module import name` and as `module.name`."""
    aliases: dict[str, Path] = {}
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = file_of(origin(path, node))
                inner = file_of(f"{origin(path, node)}.{alias.name}")
                if inner is not None:
                    aliases[alias.asname or alias.name] = inner
                elif module is not None:
                    yield module, alias.name, node.lineno
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = aliases.get(node.value.id)
            if module is not None and not node.attr.startswith("__"):
                yield module, node.attr, node.lineno
