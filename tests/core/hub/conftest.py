"""Fixtures of the hub's tests: repositories, a server that has one, and an empty cache."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.core.hub.fetches import ID, LARGE, STEP
from tests.support.hub_server import HubServer, hub_server
from tests.support.tiny_models import build


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = build("bert", tmp_path_factory.mktemp("tiny"))
    (folder / "README.md").write_text("# Not needed")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle, never to be fetched")
    (folder / "modeling_tiny.py").write_text("raise SystemExit('code, never to be fetched')")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "spiece.model").write_bytes(b"in a folder, never to be fetched")
    return folder


@pytest.fixture
def repository(tiny: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model's folder to modify."""
    return Path(shutil.copytree(tiny, tmp_path / "repository"))


@pytest.fixture
def large(repository: Path) -> Path:
    """A repository with a file of several steps."""
    (repository / LARGE).write_bytes(random.Random(0).randbytes(5 * STEP + 5))
    return repository


@pytest.fixture
def server(tiny: Path) -> Iterator[HubServer]:
    with hub_server({ID: tiny}) as running:
        yield running


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, as if the environment named it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of huggingface_hub, recorded and skipped."""
    pauses: list[float] = []
    for module in ("file_download", "utils._http"):
        monkeypatch.setattr(f"huggingface_hub.{module}.time", SimpleNamespace(sleep=pauses.append))
    return pauses
