"""The route that sends a corpus as Parquet."""

from __future__ import annotations

import asyncio
import io
import shutil
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from contextlens.corpus.store.space import FREE_BYTES
from contextlens.ui.access.roles import EVERYBODY
from contextlens.ui.corpora import exports
from contextlens.ui.models.background import store
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.pages import app_settings


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with app_settings(DATA_DIR=str(tmp_path / "data")):
        yield TestClient(Starlette(routes=exports.routes()))


def left(tmp_path: Path) -> list[str]:
    folder = tmp_path / "data/exports"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


def test_who_has_the_name_gets_the_file_and_nothing_stays(
    client: TestClient, tmp_path: Path
) -> None:
    corpus = made_up_corpus(30, name="größe & so.csv")
    name = indexed(store(), corpus)
    answer = client.get(f"/{exports.address(name)}")
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) == len(answer.content)
    called = "attachment; filename*=utf-8''gr%C3%B6%C3%9Fe-so.parquet"
    assert answer.headers["content-disposition"] == called
    rows = pq.read_table(io.BytesIO(answer.content))
    assert len(rows) == store().about(name).n_occurrences
    assert set(rows["sentence"].to_pylist()) <= set(corpus.texts)
    assert left(tmp_path) == []


@pytest.mark.parametrize("name", ["a" * 16, "short", "..%2F..%2Fetc", "' OR 1=1 --xxxx", "%00"])
def test_there_is_no_other_corpus(client: TestClient, name: str, tmp_path: Path) -> None:
    answer = client.get(f"/export/{name}.parquet")
    assert answer.status_code == 404
    assert left(tmp_path) == []


def test_a_damaged_corpus_is_said(client: TestClient, tmp_path: Path) -> None:
    name = indexed(store(), made_up_corpus(5))
    for path in (tmp_path / "data/corpora" / f"{name}.texts.lance").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    answer = client.get(f"/{exports.address(name)}")
    assert answer.status_code == 404
    assert answer.text.endswith(".\n")
    assert left(tmp_path) == []


class Reader:
    """A browser at an address that asks for a corpus, takes the headers, and then no more of it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.status = 0
        self.text = b""

    async def ask(self, name: str) -> None:
        """Ends once the server has sent all, refused, or given up."""
        scope = {"type": "http", "method": "GET", "path": f"/{exports.address(name)}",
                 "headers": [], "query_string": b"", "client": (self.address, 1)}  # fmt: skip
        await Starlette(routes=exports.routes())(scope, self._nothing, self._take)

    async def _nothing(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def _take(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif self.status == 200:
            await asyncio.Event().wait()
        else:
            self.text += message["body"]


def test_one_visitor_does_not_stop_the_exports_of_others(client: TestClient) -> None:
    name = indexed(store(), made_up_corpus(5))

    async def run(readers: list[Reader]) -> None:
        tasks = []
        for reader in readers:
            tasks.append(asyncio.create_task(reader.ask(name)))
            while not reader.status:
                await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    greedy = [Reader("192.0.2.1") for _ in range(6)]
    others = [Reader("192.0.2.2"), Reader("192.0.2.3")]
    asyncio.run(run([*greedy, *others]))
    assert [reader.status for reader in greedy] == [200, 200, 503, 503, 503, 503]
    assert {reader.text for reader in greedy if reader.status == 503} == {
        b"2 exports of yours are on their way. Try again once one has arrived, or in a minute.\n"
    }
    assert [reader.status for reader in others] == [200, 200]
    assert client.get(f"/{exports.address(name)}").status_code == 200


def test_a_reader_that_is_too_slow_is_dropped(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "_SECONDS", 0.2)
    name = indexed(store(), made_up_corpus(5))
    reader = Reader("192.0.2.1")
    asyncio.run(asyncio.wait_for(reader.ask(name), 30))
    assert reader.status == 200
    assert left(tmp_path) == []
    assert exports._places == []


def test_so_many_lie_on_disk_at_once_and_it_is_said_when_to_try_again(
    client: TestClient, tmp_path: Path
) -> None:
    name = indexed(store(), made_up_corpus(5))
    taken = [exports._ExportFolder(f"192.0.2.{i // 2}") for i in range(6)]
    answer = client.get(f"/{exports.address(name)}")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert answer.text == "6 exports are on their way to others. Try again in a minute.\n"
    for folder in taken:
        folder.cleanup()
    assert left(tmp_path) == []
    for _ in range(7):
        assert client.get(f"/{exports.address(name)}").status_code == 200


def test_what_nobody_takes_gives_its_place_back(client: TestClient, tmp_path: Path) -> None:
    name = indexed(store(), made_up_corpus(5))
    for _ in range(7):  # the browser has gone before the first byte
        with pytest.warns(ResourceWarning):
            exports._write_export(name, EVERYBODY, "192.0.2.1")
    assert left(tmp_path) == []


def test_the_free_space_is_that_of_the_volume_that_it_is_written_on(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = indexed(store(), made_up_corpus(5))
    asked = []

    def usage(folder: Path) -> Any:
        asked.append(Path(folder))
        return SimpleNamespace(free=FREE_BYTES)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    answer = client.get(f"/{exports.address(name)}")
    assert answer.status_code == 404
    assert "this server has 0.0 MB for files on their way." in answer.text
    assert {path.parent for path in asked} == {tmp_path / "data/exports"}
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("a.csv", "a.parquet"),
        ("reviews.2024.csv", "reviews.2024.parquet"),
        ("../../etc/passwd", "corpus.parquet"),
        ('x"; rm -rf.txt', "x-rm--rf.parquet"),
        ("<img>", "img.parquet"),
        ("", "corpus.parquet"),
        ("…", "corpus.parquet"),
        ("n" * 300, f"{'n' * 60}.parquet"),
    ],
)
def test_a_file_s_name_is_plain(title: str, expected: str) -> None:
    assert exports.file_name(title) == expected
