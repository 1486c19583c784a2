"""The baseline and the ruler of the bundled model, measured once in a run of all workers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from contextlens.core import BUNDLED_ID, Settings, open_service
from contextlens.ui.models import tasks

__all__ = ["folder_of_the_run", "measured", "measured_data"]


def folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The temporary folder that all workers of a run see."""
    root = tmp_path_factory.getbasetemp()
    return root.parent if root.name.startswith("popen-") else root  # a worker has one of its own


def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the model's baseline and ruler, which nobody writes to."""
    root = folder_of_the_run(tmp_path_factory)
    folder = root / "measured"
    with FileLock(root / "measured.lock"):
        if not folder.exists():
            begun = root / "measured-begun"
            service = open_service(Settings(data_dir=begun, allow_downloads=False))
            tasks.keep_measures(service.load(BUNDLED_ID), service, begun)
            begun.rename(folder)
    return folder


def measured_data(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Path:
    """A server's data folder, with a copy of the baseline and the ruler in it."""
    with FileLock(folder_of_the_run(tmp_path_factory) / "measured-copies.lock"):
        if not folder.exists():
            shutil.copytree(measured(tmp_path_factory), folder)
    return folder
