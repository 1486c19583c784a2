"""Fixtures of the Map's tests: the app's settings, and the map of the two pythons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contextlens.core import EncoderService
from contextlens.maps.result import MapResult
from tests.support.maps import QUICK, drawn_map, map_view
from tests.support.pages import app_settings


@pytest.fixture(scope="module", autouse=True)
def _app() -> Iterator[None]:
    with app_settings(ALLOW_DOWNLOADS="0"):
        yield


@pytest.fixture(scope="module")
def pythons(service: EncoderService) -> MapResult:
    """The two pythons at all layers."""
    return drawn_map(service, map_view(**QUICK))
