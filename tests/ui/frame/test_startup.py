"""What happens once behind the first page, and that it leaves every run light."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from components.core import BUNDLED_ID
from components.ui.frame import startup
from components.ui.models import runtime
from components.ui.models.background import maps
from tests.support.pages import app_settings


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Everything made ready."""
    data = str(tmp_path_factory.mktemp("startup"))
    with app_settings(DATA_DIR=data, ALLOW_DOWNLOADS="0"):
        runtime.service().load(BUNDLED_ID)
        startup._prepare()
        yield
        gc.unfreeze()


def test_the_libraries_are_left_out_of_garbage_collection(prepared: None) -> None:
    assert gc.get_freeze_count() > 100_000
    assert len(gc.get_objects()) < gc.get_freeze_count()


def test_the_map_process_is_ready(prepared: None) -> None:
    running = [process.is_alive for process in maps()._placing.processes._all]
    assert sorted(running) == [False, True]
