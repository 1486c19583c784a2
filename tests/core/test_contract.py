"""One contract, whatever service: local, cached, behind HTTP, and that cached too.

`tests/cluster/test_contract.py` has the same on Ray.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contextlens.core import EncoderService
from contextlens.core.cache import ByteCache, CachedService
from contextlens.core.remote.service import RemoteService
from contextlens.serving.api import create_app
from tests.support.contract import CHECKS, Subject
from tests.support.oracle import Oracle
from tests.support.remote_server import serving


@pytest.fixture(scope="module")
def local(open_with: Callable[..., EncoderService]) -> EncoderService:
    service = open_with(model_folder=None)
    assert isinstance(service, CachedService)
    return service.uncached


@pytest.fixture(scope="module")
def address(local: EncoderService) -> Iterator[str]:
    with serving(create_app(local)) as url:
        yield url


@pytest.fixture(scope="module")
def oracle(bundled_folder: Path) -> Oracle:
    return Oracle(bundled_folder, 512)


@pytest.fixture(scope="module", params=["local", "cached", "remote", "cached remote"])
def subject(
    request: pytest.FixtureRequest, local: EncoderService, address: str, oracle: Oracle
) -> Iterator[Subject]:
    remote = RemoteService(address)
    inner = remote if "remote" in request.param else local
    service = CachedService(inner, ByteCache(10**8)) if "cached" in request.param else inner
    yield Subject(service, local, oracle)
    remote.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_service_keeps_to_the_contract(
    check: Callable[[Subject], None], subject: Subject
) -> None:
    check(subject)
