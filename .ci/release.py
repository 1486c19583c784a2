"""`make release`: build the wheel and the source of the checked-out commit, and check them.

Both are made from what git has, not from the folder. They are in build/dist, with their SHA-256
sums. Nothing is signed or uploaded.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "contextlens"
DIST = ROOT / "build" / "dist"
TEST = re.compile(r"(^|/)(tests/|test_[^/]*\.py$|conftest\.py$)")


def main() -> str | int:
    """Return 0 if all is well, else what is wrong, each thing on a line."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    wrong = [
        *changed(git("status", "--porcelain")),
        *misnamed(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")),
        *mistagged(version, git("tag", "--points-at", "HEAD"), git("tag", "--list")),
        *unlinked(version, git("ls-files", "tests/data").split()),
    ]
    if wrong:
        return "\n".join(["Nothing was built.", *wrong])
    build()
    (wheel,) = DIST.glob("*.whl")
    tracked = in_wheel(git("ls-tree", "-r", "--name-only", "HEAD").splitlines())
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        described = archive.read(f"{PACKAGE}-{version}.dist-info/METADATA")
    wrong = [*misplaced(names, tracked), *misdescribed(described, version)]
    if wrong:
        return "\n".join(wrong)
    print(write_sums([wheel, *DIST.glob("*.tar.gz")]), end="")
    return 0


def git(*arguments: str) -> str:
    """Return the answer of git."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def in_wheel(tracked: Iterable[str]) -> list[str]:
    """Return the names in the wheel of those tracked files that belong in it."""
    names = []
    for path in tracked:
        if path.startswith(f"components/{PACKAGE}/"):
            names.append(path.removeprefix("components/"))
        elif path.startswith(("app.py", "main.py", "pages/", ".streamlit/")):
            names.append(f"{PACKAGE}/app/{path}")
    return names


def build() -> None:
    """Build the source from the commit and the wheel from the source; hatchling is locked."""
    uv = Path(sys.executable).with_name("uv")
    constraints = ["--build-constraints", str(ROOT / "locks" / "app.txt"), "--require-hashes"]
    when = {"SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct").strip()}
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "commit.tar"
        source = Path(folder) / "source"
        source.mkdir()
        git("archive", "--output", str(archive), "HEAD")
        subprocess.run(["tar", "-xf", str(archive), "-C", str(source)], check=True)
        options = ["--quiet", "--clear", "--no-create-gitignore", "--python", sys.executable]
        places = ["--out-dir", str(DIST), str(source)]
        command = [str(uv), "build", *options, *constraints, *places]
        subprocess.run(command, env={**os.environ, **when}, check=True)


def changed(status: str) -> list[str]:
    """Return a sentence if files differ from the commit."""
    files = [line[3:] for line in status.splitlines()]
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return [f"Commit or remove first: {', '.join(files[:3])}{more}."] if files else []


def misnamed(version: str, changelog: str) -> list[str]:
    """Return a sentence if the newest section of the changelog is not this version's."""
    newest = re.search(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    name = newest[1] if newest else "missing"
    if name == version:
        return []
    return [
        f"pyproject.toml has version {version}, the newest section of CHANGELOG.md is [{name}]."
    ]


def mistagged(version: str, here: str, everywhere: str) -> list[str]:
    """Return a sentence if the tags name another version, or another commit, for this one."""
    tags = [tag for tag in here.split() if re.match(r"v\d", tag)]
    if tags and tags != [f"v{version}"]:
        return [f"The commit is tagged {', '.join(tags)}, pyproject.toml has version {version}."]
    if not tags and f"v{version}" in everywhere.split():
        return [f"Another commit is tagged v{version}. Raise the version in pyproject.toml."]
    return []


def unlinked(version: str, files: Iterable[str]) -> list[str]:
    """Return a sentence if no links of this version are kept for later versions to open."""
    file = f"tests/data/links-{version}.json"
    return [] if file in files else [f"{file} is missing: keep one link of each page in it."]


def misplaced(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """Return a sentence for each file that the wheel should not have, or lacks."""
    inside = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    top = {name.split("/")[0] for name in inside}
    tests = sorted(name for name in inside if TEST.search(name))
    wrong = [f"The wheel has {', '.join(sorted(top))} at its top."] if top != {PACKAGE} else []
    wrong += [f"The wheel has tests: {tests[0]}."] if tests else []
    lost, extra = sorted(set(tracked) - inside), sorted(inside - set(tracked))
    wrong += [f"The wheel lacks {name}." for name in lost]
    return wrong + [f"The wheel has {name}, and git has not." for name in extra]


def misdescribed(described: bytes, version: str) -> list[str]:
    """Return a sentence for each field of the metadata that is missing or not valid."""
    try:
        metadata = Metadata.from_email(described)
    except ExceptionGroup as errors:
        return [f"Metadata: {error}." for error in errors.exceptions]
    wrong = [] if str(metadata.version) == version else [f"Metadata: version {metadata.version}."]
    needed = "description", "description_content_type", "license_expression", "summary"
    return wrong + [
        f"Metadata: {field} is missing." for field in needed if not getattr(metadata, field)
    ]


def write_sums(files: Iterable[Path]) -> str:
    """Write SHA256SUMS, which `sha256sum --check` reads, and return its text."""
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (DIST / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    return "".join(sums)


if __name__ == "__main__":
    sys.exit(main())
