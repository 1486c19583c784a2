"""Reasons for which `make release` stops: names, tags and files that do not fit."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
assert SPEC is not None
assert SPEC.loader is not None
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)

METADATA = b"""Metadata-Version: 2.4
Name: contextlens
Version: 0.1.0
Summary: A summary.
License-Expression: Apache-2.0
Description-Content-Type: text/markdown

# Contextlens
"""


def test_the_version_has_the_newest_section_of_the_changelog() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    named = release.misnamed(project["version"], changelog)
    assert named == [] or "is [Unreleased]" in named[0]


def test_a_section_of_another_version_is_named() -> None:
    assert release.misnamed("0.2.0", "# Changelog\n\n## [0.2.0] - 2027-01-31\n\n## [0.1.0]\n") == []
    (sentence,) = release.misnamed("0.2.0", "# Changelog\n\n## [0.1.0]\n")
    assert "version 0.2.0" in sentence
    assert "[0.1.0]" in sentence


def test_changed_files_are_named() -> None:
    assert release.changed("") == []
    status = " M a.py\n?? b.py\n M c.py\n M d.py\n"
    assert release.changed(status) == ["Commit or remove first: a.py, b.py, c.py and 1 more."]


@pytest.mark.parametrize(
    ("here", "everywhere", "n_wrong"),
    [
        ("", "", 0),
        ("v0.1.0\n", "v0.1.0\n", 0),
        ("demo\n", "demo\nv0.0.9\n", 0),
        ("v0.0.9\n", "v0.0.9\n", 1),
        ("", "v0.0.9\nv0.1.0\n", 1),
    ],
)
def test_tags_fit_the_version(here: str, everywhere: str, n_wrong: int) -> None:
    assert len(release.mistagged("0.1.0", here, everywhere)) == n_wrong


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ("tests/__init__.py", "contextlens, tests at its top"),
        ("contextlens/core/test_words.py", "has tests: contextlens/core/test_words.py"),
        ("contextlens/left_over.py", "has contextlens/left_over.py, and git has not"),
    ],
)
def test_a_wheel_with_too_much_is_refused(extra: str, sentence: str) -> None:
    tracked = ["contextlens/__init__.py"]
    names = [*tracked, "contextlens-0.1.0.dist-info/METADATA"]
    assert release.misplaced(names, tracked) == []
    assert any(sentence in wrong for wrong in release.misplaced([*names, extra], tracked))


def test_the_wheel_has_the_package_and_the_scripts_that_streamlit_runs() -> None:
    tracked = [
        *("components/contextlens/cli.py", "app.py", "pages/map.py", ".streamlit/config.toml"),
        *("tests/test_cli.py", "docs/map.md", "Makefile"),
    ]
    app = [
        f"contextlens/app/{name}" for name in ("app.py", "pages/map.py", ".streamlit/config.toml")
    ]
    assert release.in_wheel(tracked) == ["contextlens/cli.py", *app]


def test_a_wheel_that_lacks_a_file_is_refused() -> None:
    tracked = ["contextlens/__init__.py", "contextlens/app.css"]
    (sentence,) = release.misplaced(tracked[:1], tracked)
    assert sentence == "The wheel lacks contextlens/app.css."


def test_metadata_is_complete_and_valid() -> None:
    assert release.misdescribed(METADATA, "0.1.0") == []
    assert len(release.misdescribed(METADATA, "0.2.0")) == 1
    (sentence,) = release.misdescribed(METADATA.replace(b"Summary: A summary.\n", b""), "0.1.0")
    assert sentence == "Metadata: summary is missing."
    wrong = METADATA.replace(b"Apache-2.0", b"Apache-licence")
    assert "license-expression" in "".join(release.misdescribed(wrong, "0.1.0"))


def test_a_version_without_links_to_keep_is_named() -> None:
    assert release.unlinked("0.1.0", ["tests/data/links-0.1.0.json"]) == []
    (sentence,) = release.unlinked("0.2.0", ["tests/data/links-0.1.0.json"])
    assert "links-0.2.0.json" in sentence
