"""The real app, killed in the middle of indexing and started again: nothing is lost or doubled."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.cache import CachedService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import About, indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.store import Store
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.load.visitor import visit
from tests.support.app_server import ROOT, AppServer, launch
from tests.support.corpus_store import assert_same_rows, ignore, rows_in
from tests.support.loop import alone
from tests.support.measured import measured_data

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

SECONDS = 180.0


def test_who_indexes_is_killed_and_the_next_one_goes_on(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, service: EncoderService
) -> None:
    """Its visitor reloads meanwhile, and again once the server is back."""
    own = indexing_of(service.load(BUNDLED_ID), (0, 6), "exact")
    for n_texts in (2_000, 20_000, 200_000):  # a fast machine may finish the smaller ones too soon
        data = measured_data(tmp_path_factory, tmp_path / f"data-{n_texts}")
        root = str(data / "corpora")
        corpus = Corpus("days", days(n_texts))
        name = Store(root).create(corpus, own).name
        query = urlencode({"s": encode(COLLECTION.put(DEFAULT, name))})
        killed_once_some_are_stored(tmp_path / "first.log", data, name, query)
        left = Store(root).about(name)
        if left.n_texts_done < n_texts:
            break
    assert left.state == "indexing"
    assert 0 < left.n_texts_done < n_texts

    server = begun(tmp_path / "second.log", data)
    try:
        shown(server, query, b"days")
        until(lambda: Store(root).about(name).state == "done")
        shown(server, query, b"python")
    finally:
        server.stop()
    whole = Store(str(tmp_path / "whole"))
    whole.create(corpus, own, name=name)
    assert isinstance(service, CachedService)
    index(whole, service, name, ignore)
    assert_same_rows(rows_in(Store(root), name), rows_in(whole, name))


def days(n: int) -> tuple[str, ...]:
    """n texts of several lengths."""
    return tuple(
        f"On day {i} the old python slept by the bank {'and ' * (i % 5)}." for i in range(n)
    )


def killed_once_some_are_stored(log: Path, data: Path, name: str, query: str) -> None:
    """The app indexes, says so at each reload, and dies after the first commit of rows."""

    def about() -> About:
        return Store(str(data / "corpora")).about(name)

    server = begun(log, data)
    try:
        for _ in range(2):  # a reload stops nothing
            until(lambda: b"Indexing text" in seen(server, query) or about().state == "done")
        until(lambda: about().n_texts_done > 0)
        os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait(10)
    finally:
        server.stop()


def begun(log: Path, data: Path) -> AppServer:
    """The app with this data, once it answers."""
    env = {**os.environ, "CONTEXTLENS_DATA_DIR": str(data), "CONTEXTLENS_ALLOW_DOWNLOADS": "0"}
    server = launch(ROOT / "app.py", log, env)
    server.wait()
    return server


def shown(server: AppServer, query: str, text: bytes) -> None:
    """Open Corpora as new visitors until it shows the text."""
    until(lambda: text in seen(server, query))


def seen(server: AppServer, query: str) -> bytes:
    """Corpora's page for a new visitor."""

    async def look() -> bytes:
        async with visit(server.address, "corpora", keeps=True) as visitor:
            answer = await visitor.ask(query)
            assert not answer.error, answer.error
            return answer.shown

    return alone(look())


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
