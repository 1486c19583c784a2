"""What the tests of Senses' page share: the app."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.pages import bundled_app


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield
