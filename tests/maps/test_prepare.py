"""The folder of compiled code; impossible settings are reported in a sentence."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextlens.core import Settings
from contextlens.maps import prepare
from contextlens.maps.compiled import umap_functions
from contextlens.maps.prepare import compiled_folder, keep_compiled

ROOT = Path(__file__).parents[2]


def test_a_setting_that_cannot_be_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "contextlens.maps.prepare"],
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


@pytest.fixture
def numba_s_folder(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Returns numba's cache folder, which is restored after the test."""
    with umap_functions() as umap:
        config = umap.numba.config
    monkeypatch.setattr(config, "CACHE_DIR", config.CACHE_DIR)
    monkeypatch.setattr(prepare, "_enable", lambda _: None)
    return lambda: str(config.CACHE_DIR)


def test_the_folder_is_made_for_its_owner_alone(
    tmp_path: Path, numba_s_folder: Callable[[], str]
) -> None:
    folder = tmp_path / "data" / "compiled"
    keep_compiled(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert Path(numba_s_folder()).parent == folder


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_is_refused_in_a_sentence(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    numba_s_folder: Callable[[], str],
    mode: int,
) -> None:
    tmp_path.chmod(mode)
    before = numba_s_folder()
    with caplog.at_level(logging.WARNING, "contextlens"):
        keep_compiled(tmp_path)
    assert numba_s_folder() == before
    assert f"{tmp_path}, can be written by others, so it is not used" in caplog.text


def test_a_folder_of_another_user_is_refused_in_a_sentence(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    numba_s_folder: Callable[[], str],
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    before = numba_s_folder()
    with caplog.at_level(logging.WARNING, "contextlens"):
        keep_compiled(tmp_path)
    assert numba_s_folder() == before
    assert f"{tmp_path}, belongs to another user, so it is not used" in caplog.text


def test_a_folder_that_cannot_be_made_changes_nothing(
    tmp_path: Path, numba_s_folder: Callable[[], str]
) -> None:
    blocked, before = tmp_path / "file", numba_s_folder()
    blocked.write_text("not a folder", encoding="utf-8")
    keep_compiled(blocked / "inside")
    assert numba_s_folder() == before
