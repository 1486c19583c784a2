"""What the tests of this page share: the app with its model, and two ways to open the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.pages import alone, bundled_app, framed


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


@pytest.fixture(params=[alone, framed], ids=["alone", "framed"])
def opened(request: pytest.FixtureRequest) -> Callable[..., AppTest]:
    """Opens the page by itself, and inside the frame."""
    return request.param
