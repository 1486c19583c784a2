"""The service that the tests of its API serve."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contextlens.core import EncoderService
from contextlens.core.cache import CachedService


@pytest.fixture(scope="session")
def local(open_with: Callable[..., EncoderService]) -> EncoderService:
    service = open_with(model_folder=None)
    assert isinstance(service, CachedService)
    return service.uncached
