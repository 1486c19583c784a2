"""Maps of the bundled model, whose processes are started once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from contextlens.core import BUNDLED_ID, ModelCard, Settings
from contextlens.corpus.corpus import Corpus
from contextlens.jobs import Jobs
from contextlens.maps import placing
from contextlens.maps.engine import Maps
from contextlens.maps.prepare import compiled_folder
from contextlens.maps.result import MapResult
from tests.maps.engine.counting import WAIT, Clock, CountingService, request_for
from tests.support.drawing import KeptProcesses


@pytest.fixture(scope="module", autouse=True)
def _processes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "Processes", KeptProcesses)
        yield


@pytest.fixture(scope="session")
def counting() -> CountingService:
    return CountingService(Settings(allow_downloads=False))


@pytest.fixture(scope="session")
def card(counting: CountingService) -> ModelCard:
    return counting.load(BUNDLED_ID)


@pytest.fixture(scope="session")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def jobs(clock: Clock) -> Iterator[Jobs]:
    own = Jobs(10**9, clock=clock)
    yield own
    own.stop(WAIT)


@pytest.fixture(scope="session")
def maps(counting: CountingService, jobs: Jobs) -> Iterator[Maps]:
    with Maps(counting, jobs, compiled=compiled_folder(Settings())) as own:
        yield own


@pytest.fixture(scope="session")
def draw(maps: Maps, card: ModelCard) -> Any:
    def draw(corpus: Corpus, **changes: Any) -> MapResult:
        picture = maps.draw(request_for(corpus, **changes), corpus, card).result(WAIT)
        assert isinstance(picture, MapResult)
        return picture

    return draw
