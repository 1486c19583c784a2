"""Fixtures of the cache's tests: a service without one, and one that counts behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextlens.core.cache import ByteCache, CachedService
from contextlens.core.service import LocalService
from contextlens.core.settings import Settings
from tests.core.cache.cached import MODEL, CountingService


@pytest.fixture(scope="session")
def local(tiny_root: Path) -> LocalService:
    """The same service without a cache."""
    return LocalService(Settings(model_folder=tiny_root, allow_downloads=False))


@pytest.fixture(scope="session")
def counting(tiny_root: Path) -> CountingService:
    service = CountingService(Settings(model_folder=tiny_root, allow_downloads=False))
    service.load(MODEL)
    return service


@pytest.fixture
def inner(counting: CountingService) -> CountingService:
    counting.encoded, counting.intervened = [], []
    counting.seconds = 0.0
    return counting


@pytest.fixture
def cached(inner: CountingService) -> CachedService:
    return CachedService(inner, ByteCache(50_000_000))
