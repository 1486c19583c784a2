"""A folder of models, and what lies in and beside it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A model folder with two models, something else, and a model beside it."""
    inside = tmp_path / "models"
    for folder in (inside / "one", inside / "two", tmp_path / "x", inside / "one" / "deeper"):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
    (inside / "no-model").mkdir()
    (inside / "config.json").write_text("{}", encoding="utf-8")
    return inside
