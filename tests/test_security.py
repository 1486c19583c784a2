"""SECURITY.md's table of threats: every row names a test, and every test is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
THREATS = TEXT.partition("\n## Threats\n")[2].partition("\n## ")[0]
HEAD = ["Threat", "What protects", "Test"]


def rows() -> list[list[str]]:
    """The cells of every row of every table under "Threats"."""
    lines = [line for line in THREATS.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row != HEAD and set(row) != {"---"}]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:60])
def test_every_threat_has_what_protects_and_a_test_that_is_there(row: list[str]) -> None:
    assert len(row) == 3
    assert all(row)
    tests = re.findall(r"`([^`]+)`", row[2])
    assert tests, row[2]
    for test in tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), f"{path} is not there"
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        assert name in functions, f"{path} has no {name}"


def test_there_are_threats_of_every_kind() -> None:
    parts = THREATS.split("\n### ")[1:]
    assert len(parts) == 7
    assert all(part.count("`tests/") for part in parts)


def test_the_settings_it_names_are_those_of_the_app() -> None:
    from contextlens.core import settings

    known = {name for name, _, _ in settings.table()}
    assert set(re.findall(r"CONTEXTLENS_\w+", TEXT)) <= known


def test_the_second_source_of_the_bundled_model_has_its_checksum() -> None:
    from contextlens.core.registry import BUNDLED_PACKAGE, BUNDLED_SHA256

    paragraph = next(part for part in TEXT.split("\n- ") if f"`{BUNDLED_PACKAGE}`" in part)
    assert f"`{BUNDLED_SHA256}`" in paragraph
    assert "`sentence-transformers/all-MiniLM-L6-v2`" in paragraph
