"""Several servers with the same corpora on object storage: nothing is stored twice, or half."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from contextlens.core.errors import BusyError, CorpusError
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.store import Store
from tests.cluster.object_store import BUCKET, ObjectStore, overdue
from tests.support.corpus_store import (
    MadeUpService,
    ignore,
    indexed,
    indexing,
    made_up_corpus,
    rows_in,
)

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[3]
NAME = "a" * 16


@pytest.fixture
def root(
    object_store: ObjectStore, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.setattr("contextlens.corpus.store.run._MAX_TEXTS", 4)
    monkeypatch.setattr("contextlens.corpus.store.run._COMMIT_SECONDS", 0.0)
    monkeypatch.setattr("contextlens.corpus.store.lease._POLL_SECONDS", 0.1)
    return f"s3://{BUCKET}/{request.node.name}"


@pytest.fixture
def whole(tmp_path: Path) -> Any:
    own = Store(str(tmp_path))
    return rows_in(own, indexed(own, made_up_corpus(40)))


def service(before: Any = lambda: None) -> Any:
    return MadeUpService(before=before)


def test_one_of_two_servers_indexes_a_corpus_and_both_read_it(
    root: str, whole: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextlens.corpus.store.lease._RENEW_SECONDS", 0.2)
    first, second = Store(root), Store(root)
    first.create(made_up_corpus(40), indexing(), name=NAME)
    told: list[str] = []
    n_asked = 0

    def other() -> None:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 4:
            end = time.monotonic() + 30
            while not second.open(NAME).n_occurrences:  # a commit takes some requests
                assert time.monotonic() < end
            try:
                index(second, service(), NAME, ignore)
            except BusyError as exc:
                told.append(str(exc))

    index(first, service(other), NAME, ignore)
    assert told == ["Another server is indexing this corpus. Wait for it."]
    assert rows_in(second, NAME).equals(whole)
    index(second, service(), NAME, ignore)  # the lease is free, and nothing is left to do
    assert rows_in(first, NAME).equals(whole)


def test_of_two_servers_that_store_the_same_name_at_once_one_does(root: str) -> None:
    begin, results = threading.Barrier(2), list[str]()

    def create(store: Store) -> None:
        store.names()
        begin.wait(60)
        try:
            results.append(store.create(made_up_corpus(400), indexing(), name=NAME).state)
        except (BusyError, CorpusError) as exc:
            results.append(str(exc))

    threads = [threading.Thread(target=create, args=(Store(root),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other, stored = sorted(results)
    assert stored == "waiting"
    assert other.startswith(("There is a corpus", "Somebody else is storing this corpus"))
    index(Store(root), service(), NAME, ignore)
    assert Store(root).about(NAME).state == "done"


@pytest.mark.parametrize("is_begun", [False, True])
def test_who_was_stopped_too_long_adds_nothing_any_more(
    root: str, whole: Any, is_begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other takes over after the commit has begun, or just before it."""
    first, second = Store(root), Store(root)
    first.create(made_up_corpus(40), indexing(), name=NAME)
    monkeypatch.setattr("contextlens.corpus.store.run._COMMIT_SECONDS", 0.0)
    n_appended = 0
    append = first._tables.append

    def take_over(*_: Any) -> None:
        overdue(root, NAME)
        index(second, service(), NAME, ignore)

    def appended(*given: Any) -> None:
        nonlocal n_appended
        n_appended += 1
        if n_appended == 3:
            if is_begun:
                lease = first._tables._leases[NAME]
                monkeypatch.setattr(lease, "check", take_over)  # right after the check
            else:
                take_over()
        append(*given)

    monkeypatch.setattr(first._tables, "append", appended)
    with pytest.raises(BusyError, match="took the indexing of this corpus over"):
        index(first, service(), NAME, ignore)
    again = Store(root)
    assert again.about(NAME).state == "done"
    assert rows_in(again, NAME).equals(whole)


def test_a_server_that_is_killed_is_followed_by_another(root: str, whole: Any) -> None:
    """The other reads the corpus while it is indexed."""
    store = Store(root)
    store.create(made_up_corpus(40), indexing(), name=NAME)
    command = [sys.executable, "-m", "tests.support.index_process"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps({"root": root, "name": NAME}) + "\n")
        server.stdin.flush()
        pid = 0
        for line in server.stdout:
            if line.startswith("pid "):
                pid = int(line.split()[1])
            if line.startswith("stored ") and int(line.split()[1]) >= 12:
                break
        seen = Store(root).open(NAME)
        assert len(seen.occurrences("python")) == len(seen.at(seen.occurrences("python").rows))
        os.kill(pid, 9)
        server.stdin.close()
        server.stdout.read()
    about = Store(root).about(NAME)
    assert about.state == "indexing"
    assert 12 <= about.n_texts_done < 40
    waits = threading.Event()

    def report(stage: str, _: float) -> None:
        if stage.startswith("Waiting to see") and not waits.is_set():
            waits.set()
            overdue(root, NAME)

    index(store, service(), NAME, report)
    assert waits.is_set()
    assert rows_in(store, NAME).equals(whole)
    assert store.about(NAME).state == "done"


def test_deleting_what_another_server_indexes_leaves_nothing(
    root: str, object_store: ObjectStore
) -> None:
    first = Store(root)
    first.create(made_up_corpus(40), indexing(), name=NAME)
    n_asked = 0

    def delete() -> None:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 4:
            Store(root).delete(NAME)

    with pytest.raises(Exception, match="no longer"):
        index(first, service(delete), NAME, ignore)
    assert first.names() == ()
    assert not object_store.keys(f"{root.removeprefix(f's3://{BUCKET}/')}/{NAME}")
