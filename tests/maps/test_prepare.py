"""Compiled code is there before the first start; settings that cannot be are said in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.core import Settings
from components.maps.prepare import compiled_folder

ROOT = Path(__file__).parents[2]
READ = """
import sys
from pathlib import Path
from components.maps.prepare import warm_up
warm_up(Path(sys.argv[1]))
from components.maps.layout_kernel import move
print(sum(move.stats.cache_hits.values()), sum(move.stats.cache_misses.values()))
"""


def run(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    own = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**own, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_prepared_needs_no_compiling(tmp_path: Path) -> None:
    done = run("-m", "components.maps.prepare", CONTEXTLENS_DATA_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    read = run("-c", READ, str(tmp_path / "compiled"))
    hits, misses = map(int, read.stdout.split())
    assert hits > 0
    assert misses == 0


def test_a_setting_that_cannot_be_is_said() -> None:
    done = run("-m", "components.maps.prepare", CONTEXTLENS_CACHE_MB="much")
    assert done.returncode == 1
    assert "CONTEXTLENS_CACHE_MB" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_compiler_s_own_folder_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=Path("data"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    assert compiled_folder(settings) == Path("elsewhere")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert compiled_folder(settings) == Path("data", "compiled")
