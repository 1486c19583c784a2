"""A bundle's contents and order, and what is refused; browser tests show that it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contextlens.ui.widgets.component import bundle

ROOT = Path(__file__).parents[3]
SCRIPTS = sorted(ROOT.glob("components/contextlens/**/assets/*.js"))
ENTRIES = [path for path in SCRIPTS if path.with_suffix(".html").is_file()]
ENTRY = "export default () => {};\n"


def write(folder: Path, **sources: str) -> Path:
    """Write modules by name; return the path of "entry"."""
    for name, source in sources.items():
        (folder / f"{name}.js").write_text(source, encoding="utf-8")
    return folder / "entry.js"


def test_a_module_that_imports_nothing_is_itself(tmp_path: Path) -> None:
    source = 'const said = "a";\nexport default () => said;\n'
    assert bundle(write(tmp_path, entry=source)) == source


def test_what_is_imported_comes_before_it_and_keeps_its_names_to_itself(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        parts="const hidden = 1;\nexport const shown = hidden;\nexport class Part {}\n",
        entry='// Why.\n\nimport {\n  Part,\n  shown,\n} from "./parts.js";\n\n' + ENTRY,
    )
    assert bundle(entry) == (
        "const __module0 = (() => {\n"
        "const hidden = 1;\nconst shown = hidden;\nclass Part {}\n"
        "return { shown, Part };\n"
        "})();\n"
        "const { Part, shown } = __module0;\n"
        "// Why.\n\n\nexport default () => {};\n"
    )


def test_a_module_that_two_import_is_there_once_and_first(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        base="export const base = 1;\n",
        left='import { base } from "./base.js";\nexport const left = base;\n',
        right='import { base } from "./base.js";\nexport const right = base;\n',
        entry='import { right } from "./right.js";\nimport { left } from "./left.js";\n' + ENTRY,
    )
    text = bundle(entry)
    assert re.findall(r"const (base|left|right) =", text) == ["base", "right", "left"]
    assert text.count("const { base } = __module0;") == 2


def test_paths_lead_through_folders(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "shared").mkdir()
    write(tmp_path / "shared", parts="export const part = 1;")
    entry = write(
        tmp_path / "own", entry='import { part } from "../shared/parts.js";\n' + ENTRY.strip()
    )
    assert "const part = 1;\nreturn { part };\n" in bundle(entry)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('import { part } from "./nowhere.js";\n', "nowhere.js, which is no file"),
        ('import { other } from "./parts.js";\n', "imports other from parts.js.* exports part"),
        ('import { part as other } from "./parts.js";\n', "has the line 'import { part as other"),
        ('import * as parts from "./parts.js";\n', r"has the line 'import \* as"),
        ('import parts from "./parts.js";\n', "has the line 'import parts"),
        ('import "./parts.js";\n', "has the line"),
        ("import { part } from './parts.js';\n", "has the line"),
        ('  import { part } from "./parts.js";\n', "has the line 'import { part }"),
        ('import { part } from "parts";\n', "has the line"),
        ('export * from "./parts.js";\n', r"has the line 'export \*"),
        ("export { entry };\n", "has the line 'export { entry };'"),
        ("export let count = 0;\n", "has the line 'export let"),
        (ENTRY, "entry.js must have one `export default`"),
    ],
)
def test_other_forms_are_refused_by_name(tmp_path: Path, source: str, named: str) -> None:
    entry = write(tmp_path, parts="export const part = 1;\n", entry=source + ENTRY)
    with pytest.raises(ValueError, match=named):
        bundle(entry)


def test_an_entry_without_a_default_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must have one `export default`"):
        bundle(write(tmp_path, entry="export const part = 1;\n"))


def test_a_default_that_nobody_can_import_is_refused(tmp_path: Path) -> None:
    entry = write(tmp_path, parts=ENTRY, entry='import { part } from "./parts.js";\n' + ENTRY)
    with pytest.raises(ValueError, match=r"parts\.js has the line 'export default"):
        bundle(entry)


def test_files_that_import_each_other_are_refused(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        left='import { right } from "./right.js";\nexport const left = 1;\n',
        right='import { left } from "./left.js";\nexport const right = 1;\n',
        entry='import { left } from "./left.js";\n' + ENTRY,
    )
    with pytest.raises(ValueError, match=r"left\.js -> right\.js -> left\.js"):
        bundle(entry)


# The app's own


def test_every_component_is_one_module_that_needs_no_other() -> None:
    assert len(ENTRIES) >= 5
    for path in ENTRIES:
        text = bundle(path)
        assert re.findall(r"^\s*import\b.*", text, re.MULTILINE) == [], path.name
        assert len(re.findall(r"^export\b", text, re.MULTILINE)) == 1, path.name


def test_every_script_is_a_component_or_part_of_one_or_of_the_document() -> None:
    document = ROOT / "components/contextlens/ui/frame/assets"
    used = {document / name for name in ("present.js", "follow.js", "minus.js", "charts.js")} | {
        (path.parent / source).resolve()
        for path in SCRIPTS
        for source in re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert [path.name for path in SCRIPTS if path not in used and path not in ENTRIES] == []


def test_no_function_is_written_twice() -> None:
    """A function whose text stands in two files belongs in one that both import."""
    files: dict[str, list[str]] = {}
    function = re.compile(r"^(?:export )?(function .*?^\})$", re.MULTILINE | re.DOTALL)
    for path in SCRIPTS:
        for text in function.findall(path.read_text(encoding="utf-8")):
            files.setdefault(text, []).append(path.name)
    twice = {text.splitlines()[0]: names for text, names in files.items() if len(names) > 1}
    assert twice == {}


def test_no_two_components_share_a_name() -> None:
    names = [path.stem for path in ENTRIES]
    assert len(set(names)) == len(names)
