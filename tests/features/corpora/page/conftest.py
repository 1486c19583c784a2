"""What the tests of Corpora's page share: the app, and a store that each test leaves empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from components.corpus.store.indexing import INDEXES
from components.ui.files.uploads import forget_all
from components.ui.models.background import jobs, store
from tests.features.corpora.page.headless import SECONDS
from tests.support.pages import bundled_app


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    forget_all()
    _empty_the_store()  # other pages' tests may have kept a corpus in the same folder
    yield
    for job in jobs().under_way(INDEXES):
        assert job.wait(SECONDS)
    _empty_the_store()


def _empty_the_store() -> None:
    for name in store().names():
        store().delete(name)
