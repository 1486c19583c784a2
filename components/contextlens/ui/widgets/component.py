"""A page component from an `assets` folder: its HTML, style sheet and JavaScript.

It is registered once per process. A browser can send anything, so each component validates what it
receives. Must not import torch or transformers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from contextlens.ui.state import session

# --- Several JavaScript modules bundled into one

_NAMES = r"[\w$]+(?:,\s*[\w$]+)*,?"
_IMPORT = re.compile(
    rf'^import \{{\s*({_NAMES})\s*\}} from "(\.\.?/[^"\n]+\.js)";\n?', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_STATEMENT = re.compile(r"^[ \t]*(?:import|export)\b.*", re.MULTILINE)


@dataclass(frozen=True)
class _Module:
    """A source: its imports by file, its exports, and its text without imports."""

    path: Path
    imports: tuple[tuple[Path, tuple[str, ...]], ...]
    exports: tuple[str, ...]
    text: str


def bundle(entry: Path) -> str:
    """Return the text of one module that does what `entry` does and includes all its imports.

    Each imported module runs once, before those that import it, in a function of its own, so that
    names that it does not export stay private.

    Raises:
        ValueError: For an import without a file, a name that the file does not export, files that
            import each other, another form of `import` or `export`, or an entry that has no `export
            default` or more than one.
    """
    modules = {module.path: module for module in _in_order(entry.resolve(), ())}
    constants = {path: f"__module{i}" for i, path in enumerate(modules)}
    *imported, main = modules.values()
    parts = [_enclosed(module, constants) for module in imported]
    return "".join([*parts, _taking(main, constants), main.text])


def _in_order(path: Path, importing: tuple[Path, ...]) -> Iterator[_Module]:
    """Yield the modules that a module needs, each after those that it needs; itself last."""
    if path in importing:
        circle = " -> ".join(file.name for file in (*importing[importing.index(path) :], path))
        raise ValueError(f"{circle}: these files import each other. Move what they share to one.")
    module = _read(path, is_entry=not importing)
    for source, names in module.imports:
        if not source.is_file():
            raise ValueError(f"{path.name} imports {source}, which is no file. Correct the path.")
        needed = list(_in_order(source, (*importing, path)))
        if unknown := sorted(set(names) - set(needed[-1].exports)):
            exported = ", ".join(needed[-1].exports) or "nothing"
            wanted = f"{', '.join(unknown)} from {source.name}"
            raise ValueError(f"{path.name} imports {wanted}, which exports {exported}.")
        yield from needed
    yield module


def _read(path: Path, *, is_entry: bool) -> _Module:
    text = path.read_text(encoding="utf-8")
    imports = tuple(
        ((path.parent / source).resolve(), tuple(re.findall(r"[\w$]+", names)))
        for names, source in _IMPORT.findall(text)
    )
    exports = tuple(_EXPORT.findall(text))
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    _check(path, _DEFAULT.sub("", body) if is_entry else body)
    if is_entry and len(_DEFAULT.findall(body)) != 1:
        raise ValueError(f"{path.name} must have one `export default`: what the page calls.")
    return _Module(path, imports, exports, body if body.endswith("\n") else f"{body}\n")


def _check(path: Path, body: str) -> None:
    if statement := _STATEMENT.search(body):
        raise ValueError(
            f"{path.name} has the line {statement[0].strip()!r}. Lines that begin with import or "
            'export can be: import { a, b } from "./file.js"; export function, export async '
            "function, export class, export const; and in a component's own file one export "
            "default."
        )


def _enclosed(module: _Module, constants: Mapping[Path, str]) -> str:
    inner = _taking(module, constants) + module.text
    exports = ", ".join(module.exports)
    return f"const {constants[module.path]} = (() => {{\n{inner}return {{ {exports} }};\n}})();\n"


def _taking(module: _Module, constants: Mapping[Path, str]) -> str:
    return "".join(
        f"const {{ {', '.join(names)} }} = {constants[source]};\n"
        for source, names in module.imports
    )


def component(
    package: str,
    name: str,
    data: Mapping[str, object],
    *,
    key: str,
    on_pick: Callable[[object], None] | None = None,
    width: Literal["stretch", "content"] = "stretch",
) -> None:
    """Show `name`.html, .css and .js of a package's `assets` with data.

    Args:
        package: the Python package that has the folder, "contextlens.ui.widgets".
        name: the files' name, "chips": no two components of the app share one.
        data: the data for JavaScript, as JSON.
        key: the component's own key.
        on_pick: receives what JavaScript sends as "picked", in a callback in Streamlit's sense.
        width: the full width, or that of its content.
    """

    def receive() -> None:
        if on_pick is not None:
            on_pick(session.trigger(key, "picked"))

    if on_pick is None:
        _renderer(package, name)(key=key, data=data, width=width)
    else:
        _renderer(package, name)(key=key, data=data, width=width, on_picked_change=receive)


@cache
def _renderer(package: str, name: str) -> ComponentRenderer:
    assets = Path(str(files(package))) / "assets"
    html, css = (
        (assets / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "css")
    )
    js = bundle(assets / f"{name}.js")
    return st.components.v2.component(f"contextlens_{name}", html=html, css=css, js=js)


def css_class(key: str) -> str:
    """Return the class that Streamlit's frontend gives an element with this key."""
    return "st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key.strip())
