"""The contract of `tests/core/test_contract.py`, kept by the service on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contextlens.core import EncoderService
from contextlens.core.cache import CachedService
from contextlens.core.remote.service import RemoteService
from tests.support.contract import CHECKS, Subject
from tests.support.oracle import Oracle
from tests.support.ray_service import RayService

pytestmark = [pytest.mark.cluster, pytest.mark.ray]


@pytest.fixture(scope="module")
def subject(
    on_ray: RayService, open_with: Callable[..., EncoderService], bundled_folder: Path
) -> Iterator[Subject]:
    local = open_with()
    assert isinstance(local, CachedService)
    service = RemoteService(on_ray.address)
    yield Subject(service, local.uncached, Oracle(bundled_folder, 512))
    service.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ray_keeps_to_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
