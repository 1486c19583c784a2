"""The route that sends a corpus as Parquet."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.ui.access.roles import EVERYBODY
from components.ui.corpora import exports
from components.ui.models.background import store
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.pages import app_settings


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    away = tmp_path / "on_its_way"
    away.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(away))
    with app_settings(DATA_DIR=str(tmp_path / "data")):
        yield TestClient(Starlette(routes=exports.routes()))


def left(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "on_its_way").iterdir()]


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


def test_so_many_are_written_at_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    name = indexed(store(), made_up_corpus(5))
    for _ in range(2):
        assert exports._writing.acquire(blocking=False)
    answer = client.get(f"/{exports.address(name)}")
    for _ in range(2):
        exports._writing.release()
    assert answer.status_code == 503
    assert "Try again in a moment" in answer.text
    assert client.get(f"/{exports.address(name)}").status_code == 200


def test_so_many_are_on_their_way_however_slowly_they_are_taken(
    client: TestClient, tmp_path: Path
) -> None:
    name = indexed(store(), made_up_corpus(5))
    slow = [exports._written(name, EVERYBODY) for _ in range(4)]
    answer = client.get(f"/{exports.address(name)}")
    assert answer.status_code == 503
    assert "on their way to other browsers" in answer.text
    assert len(left(tmp_path)) == 4
    for _, folder, file in slow:
        file.close()
        folder.cleanup()
    assert left(tmp_path) == []
    for _ in range(5):
        assert client.get(f"/{exports.address(name)}").status_code == 200


def test_what_nobody_takes_gives_its_place_back(client: TestClient, tmp_path: Path) -> None:
    name = indexed(store(), made_up_corpus(5))
    for _ in range(6):  # the browser has gone before the first byte
        _, folder, file = exports._written(name, EVERYBODY)
        file.close()
        with pytest.warns(ResourceWarning, match="Implicitly cleaning up"):
            del folder
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
