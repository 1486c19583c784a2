"""What the tests of Pairs' page share: the app, and no file kept from the test before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from components.ui.files.uploads import forget_all
from tests.support.pages import bundled_app


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


@pytest.fixture(autouse=True)
def _no_files() -> None:
    forget_all()
