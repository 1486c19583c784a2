"""Every package is pinned and locked by its hashes, and every action by its commit."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# --- pins ----------------------------------------------------------------------------------


def _pins() -> dict[str, Version]:
    lines = (ROOT / "locks/constraints.txt").read_text(encoding="utf-8").splitlines()
    stated = [line.split("#")[0].strip() for line in lines]
    found = {}
    for line in filter(None, stated):
        name, separator, version = line.partition("==")
        assert separator, f"{line!r} in locks/constraints.txt is not pinned with =="
        found[canonicalize_name(name)] = Version(version)
    return found


def _stated(*extras: str) -> list[Requirement]:
    """The requirements of the app and the named extras; by default the development ones."""
    project = PYPROJECT["project"]
    groups = [project["optional-dependencies"][name] for name in extras or ("dev",)]
    return [Requirement(line) for group in (project["dependencies"], *groups) for line in group]


def _needed(requirement: Requirement, seen: set[str]) -> Iterator[str]:
    """The requirement's name and, from installed metadata, those of all it needs here."""
    name = canonicalize_name(requirement.name)
    if name in seen:
        return
    seen.add(name)
    yield name
    for line in importlib.metadata.requires(name) or []:
        inner = Requirement(line)
        extras = requirement.extras or {""}
        if inner.marker is None or any(inner.marker.evaluate({"extra": e}) for e in extras):
            yield from _needed(inner, seen)


def test_every_stated_dependency_is_pinned_within_its_range() -> None:
    pins = _pins()
    for requirement in _stated(*PYPROJECT["project"]["optional-dependencies"]):
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned is not None, f"{requirement.name} is not in locks/constraints.txt"
        assert pinned in requirement.specifier, f"{requirement} excludes {pinned}"


def test_everything_that_set_up_installs_is_pinned() -> None:
    seen: set[str] = set()
    needed = {name for requirement in _stated() for name in _needed(requirement, seen)}
    assert needed - _pins().keys() == set()


def test_what_is_installed_is_what_is_pinned() -> None:
    for requirement in _stated():
        name = canonicalize_name(requirement.name)
        installed = Version(importlib.metadata.version(name))
        assert installed.public == _pins()[name].public, name


# --- locks ---------------------------------------------------------------------------------


def _lock(name: str) -> dict[str, Version]:
    text = (ROOT / "locks" / name).read_text(encoding="utf-8")
    pairs = re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)
    return {canonicalize_name(package): Version(version) for package, version in pairs}


LOCKS = tuple(
    f"{name}.txt" for name in ("app", "dev", "serve", "cluster", "bench", "tools", "docs", "torch")
)


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_version_and_hashes(name: str) -> None:
    lines = (ROOT / "locks" / name).read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    stated = [line for line in lines if not line.startswith("#")]
    form = re.compile(r"[\w.-]+==[\w.]+ (; [^-]*)?(    --hash=sha256:[0-9a-f]{64} ?)+")
    assert [line[:80] for line in stated if not form.fullmatch(line)] == []
    assert "torch" not in _lock(name)  # the one that another index may replace


@pytest.mark.parametrize("name", LOCKS)
def test_locks_and_pins_agree(name: str) -> None:
    pins = _pins()
    locked = _lock(name)
    differ = {package for package in locked.keys() & pins if locked[package] != pins[package]}
    assert differ == set()


def test_no_package_is_locked_in_two_versions() -> None:
    """`make audit` reads all locks as one, and pip-audit refuses a package with two versions."""
    texts = [(ROOT / "locks" / name).read_text(encoding="utf-8") for name in LOCKS]
    pins = {pin.lower() for text in texts for pin in re.findall(r"^[\w.-]+==[^\s;]+", text, re.M)}
    names = [pin.partition("==")[0] for pin in sorted(pins)]
    assert [name for name in names if names.count(name) > 1] == []


def test_the_locks_hold_all_that_set_up_installs() -> None:
    seen: set[str] = set()
    needed = {name for requirement in _stated() for name in _needed(requirement, seen)}
    assert needed - {"torch"} - _lock("dev.txt").keys() == set()
    app = [Requirement(line) for line in PYPROJECT["project"]["dependencies"]]
    seen = set()
    needed = {name for requirement in app for name in _needed(requirement, seen)}
    unused = {"sentence-transformers"}  # what the bundled model's package asks for
    assert needed - {"torch"} - _lock("app.txt").keys() == unused
    assert not unused & _lock("serve.txt").keys()
    assert _lock("app.txt").items() <= _lock("dev.txt").items() <= _lock("cluster.txt").items()
    stated = {canonicalize_name(found.name) for found in _stated("cluster", "cluster-test")}
    assert stated - {"torch"} <= _lock("cluster.txt").keys()
    stated = {canonicalize_name(found.name) for found in _stated("cluster")}
    assert stated - {"torch"} <= _lock("serve.txt").keys()
    assert _lock("app.txt").items() <= _lock("serve.txt").items() <= _lock("cluster.txt").items()
    assert _lock("dev.txt").items() <= _lock("bench.txt").items()
    assert "bertviz" in _lock("bench.txt")
    assert not {"pytest", "moto"} & _lock("serve.txt").keys()  # an image is made of it
    stated = {
        canonicalize_name(Requirement(line).name) for line in PYPROJECT["dependency-groups"]["docs"]
    }
    assert stated <= _lock("docs.txt").keys() & _pins().keys()
    assert "setuptools" in _lock("app.txt")  # with which the app itself is installed


def test_actions_are_named_by_commit() -> None:
    used = [
        line.split("uses:")[1].strip()
        for path in (ROOT / ".github").rglob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert used
    form = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [line for line in used if not form.fullmatch(line)] == []
