"""The service that the tests of its API serve."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.core import EncoderService
from components.core.cache import CachedService


@pytest.fixture(scope="session")
def local(open_with: Callable[..., EncoderService]) -> EncoderService:
    service = open_with(model_folder=None)
    assert isinstance(service, CachedService)
    return service.uncached
