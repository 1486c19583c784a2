"""Fixtures of the runtime's tests: tiny models on disk, and a hub that has one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hub_server import HubServer, hub_server
from tests.support.pages import app_data, app_settings
from tests.support.tiny_models import build
from tests.ui.models.runtime.getting import OTHER, PRESET


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tiny models: two that take texts of all lengths, and one that takes 64 tokens."""
    folder = tmp_path_factory.mktemp("models")
    for family in ("bert", "electra"):
        build(family, folder / family, max_position_embeddings=512)
        config = folder / family / "tokenizer_config.json"
        settings = json.loads(config.read_text())
        config.write_text(json.dumps({**settings, "model_max_length": 512}))
    build("bert", folder / "short")
    return folder


@pytest.fixture
def server(
    served: Path, hub_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HubServer]:
    """The app on an empty hub cache, and a hub that has one tiny model under two names."""
    with (
        hub_server({PRESET: served, OTHER: served}) as running,
        app_settings(DATA_DIR=str(app_data(tmp_path_factory)), HUB_ENDPOINT=running.endpoint),
    ):
        yield running
