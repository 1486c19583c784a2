"""Where compiled code is kept; settings that cannot be are said in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.core import Settings
from components.maps.prepare import compiled_folder

ROOT = Path(__file__).parents[2]


def test_a_setting_that_cannot_be_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "components.maps.prepare"],
        cwd=ROOT,
        env={**os.environ, "CONTEXTLENS_CACHE_MB": "much"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "CONTEXTLENS_CACHE_MB" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_compiler_s_own_folder_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=Path("data"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    assert compiled_folder(settings) == Path("elsewhere")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert compiled_folder(settings) == Path("data", "compiled")
