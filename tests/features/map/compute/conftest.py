"""What the tests of the map's computing share: the app's settings, and one picture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from components.core import EncoderService
from components.maps.picture import Picture
from tests.support.maps import QUICK, drawn_map, map_view
from tests.support.pages import app_settings


@pytest.fixture(scope="module", autouse=True)
def _app() -> Iterator[None]:
    with app_settings(ALLOW_DOWNLOADS="0"):
        yield


@pytest.fixture(scope="module")
def pythons(service: EncoderService) -> Picture:
    """The two pythons at all layers."""
    return drawn_map(service, map_view(**QUICK))
